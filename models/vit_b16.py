# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ViT-B/16 (Dosovitskiy et al. 2021) with the mean of all positions in place of a class token."""

from __future__ import annotations

import math

import numpy as np
import onnx

from builder import CLASSES, ModelBuilder, Value
from transformer import OPSET, gelu, norm, project

WIDTH, DEPTH, HEADS, HIDDEN, PATCH = 768, 12, 12, 3072, 16
CHANNELS = WIDTH // HEADS

# Those of the paper's, without its class token and that token's position.
PARAMETERS = 86_566_120


def split_heads(b: ModelBuilder, x: Value, order: list[int]) -> Value:
    heads = b.reshape(x, [0, 0, HEADS, CHANNELS], CHANNELS)
    return b.node("Transpose", [heads.name], CHANNELS, perm=order)


def attend(b: ModelBuilder, x: Value) -> Value:
    query = split_heads(b, project(b, x, WIDTH), [0, 2, 1, 3])
    key = split_heads(b, project(b, x, WIDTH), [0, 2, 3, 1])
    value = split_heads(b, project(b, x, WIDTH), [0, 2, 1, 3])
    scores = b.node("MatMul", [query.name, key.name], 0)
    root = b.constant("root", np.float32(math.sqrt(CHANNELS)).reshape(()))
    scores = b.node("Div", [scores.name, root], 0)
    weights = b.node("Softmax", [scores.name], 0, axis=-1)
    heads = b.node("MatMul", [weights.name, value.name], CHANNELS)
    heads = b.node("Transpose", [heads.name], CHANNELS, perm=[0, 2, 1, 3])
    return project(b, b.reshape(heads, [0, 0, WIDTH], WIDTH), WIDTH)


def build(batch: int | None = None) -> onnx.ModelProto:
    """ViT-B/16, at 224 x 224 with 196 positions."""
    b = ModelBuilder("vit_b16", batch, opset=OPSET)
    side = b.image_size // PATCH
    x = b.conv(b.image(), WIDTH, PATCH, PATCH, bias=True, after_relu=False)
    x = b.reshape(x, [0, WIDTH, side * side], WIDTH)
    x = b.node("Transpose", [x.name], WIDTH, perm=[0, 2, 1])
    places = b.constant("positions_weight", b.normal([1, side * side, WIDTH], 0.02))
    x = b.node("Add", [x.name, places], WIDTH)
    for _ in range(DEPTH):
        x = b.add(x, attend(b, norm(b, x)))
        x = b.add(x, project(b, gelu(b, project(b, norm(b, x), HIDDEN)), WIDTH))
    mean = b.node("ReduceMean", [norm(b, x).name], WIDTH, axes=[1], keepdims=0)
    b.output(b.linear(mean, CLASSES, after_relu=False), [CLASSES])
    return b.model()
