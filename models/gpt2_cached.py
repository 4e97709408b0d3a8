# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 of 124 million parameters with a cache of keys and values, as Optimum exports it.

`seq` new tokens follow `past` earlier ones, whose keys and values are inputs; the outputs
have those of all of them. The logits are the last token's.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from builder import ModelBuilder, Value
from decomposed import Arithmetic
from gpt2 import DEPTH, EPSILON, HEADS, HIDDEN, PLACES, WIDTH, WORDS
from transformer import OPSET, CachedTokens, norm, number, project

PARAMETERS = 124_439_808


def attend(b: ModelBuilder, tokens: CachedTokens, triangle: str, layer: int, x: Value) -> Value:
    y = project(b, x, 3 * WIDTH)
    names = [b.unique("qkv") for _ in range(3)]
    split = b.integers("split", [WIDTH] * 3)
    b.nodes.append(helper.make_node("Split", [y.name, split], names, axis=2))
    heads = [tokens.split_heads(Value(name, WIDTH), [0, 2, 1, 3]) for name in names]
    key = tokens.append(layer, 0, heads[1])
    value = tokens.append(layer, 1, heads[2])
    turned = b.node("Transpose", [key.name], 0, perm=[0, 1, 3, 2])
    scores = b.node("MatMul", [heads[0].name, turned.name], 0)
    scores = b.node("Div", [scores.name, number(b, (WIDTH // HEADS) ** 0.5)], 0)
    seen = tokens.slice_places(triangle, [2, 3], 0)
    least = number(b, float(np.finfo(np.float32).min))
    scores = b.node("Where", [seen.name, scores.name, least], 0)
    weights = b.node("Softmax", [scores.name], 0, axis=-1)
    return tokens.join_heads(b.node("MatMul", [weights.name, value.name], value.channels))


def build(batch: int | None = None) -> onnx.ModelProto:
    """GPT-2 of up to 1024 tokens."""
    return build_on(ModelBuilder("gpt2_cached", batch, opset=OPSET))


def build_on(b: ModelBuilder) -> onnx.ModelProto:
    """The same, by a builder that may store weights in its own way."""
    tokens = CachedTokens(b, WORDS, PLACES, WIDTH, HEADS, HEADS, DEPTH)
    triangle = b.constant("bias", np.tril(np.ones((1, 1, PLACES, PLACES), bool)))
    x = tokens.embed()
    for layer in range(DEPTH):
        x = b.add(x, project(b, attend(b, tokens, triangle, layer, norm(b, x, EPSILON)), WIDTH))
        y = project(b, norm(b, x, EPSILON), HIDDEN)
        x = b.add(x, project(b, Arithmetic(b).gelu_tanh(y), WIDTH))
    last = norm(b, tokens.take_last(x), EPSILON)
    tokens.output_logits(tokens.compare(last))
    return b.model()
