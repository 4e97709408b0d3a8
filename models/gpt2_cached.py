# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 of 124 million parameters with a cache of keys and values, as Optimum exports it.

`seq` new tokens follow `past` earlier ones, whose keys and values are inputs; the outputs
have those of all of them. The logits are the last token's.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from builder import ModelBuilder, Value
from decomposed import Arithmetic
from gpt2 import DEPTH, EPSILON, HEADS, HIDDEN, PLACES, WIDTH, WORDS
from transformer import OPSET, Tokens, norm, number, project

PARAMETERS = 124_439_808


class CachedTokens(Tokens):
    """Tokens that follow others, whose keys and values are inputs."""

    def __init__(self, b: ModelBuilder) -> None:
        super().__init__(b, WORDS, PLACES, WIDTH, HEADS)
        shape = [b.batch, HEADS, "past", WIDTH // HEADS]
        self.past = [
            [self.cache_input(f"past_key_values.{layer}.{kind}", shape) for kind in ("key", "value")]
            for layer in range(DEPTH)
        ]
        first = self.past[0][0]
        self.begin = self.size(first, 2)
        self.end = b.node("Add", [self.begin, self.size(self.ids, 1)], 0).name

    def cache_input(self, name: str, shape: list[int | str]) -> Value:
        self.b.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return Value(name, WIDTH // HEADS)

    def slice_places(self, table: str, dims: list[int], channels: int) -> Value:
        """The new ones of all places in the first dimension, all up to them in the second."""
        zero = self.b.integers("zero", [0])
        starts, ends = [self.begin, zero], [self.end, self.end]
        count = len(dims)
        start = self.b.node("Concat", starts[:count], 0, axis=0).name
        end = self.b.node("Concat", ends[:count], 0, axis=0).name
        return self.b.node("Slice", [table, start, end, self.b.integers("axes", dims)], channels)

    def append(self, layer: int, kind: int, heads: Value) -> Value:
        """The earlier ones and the new ones, which are an output."""
        name = f"present.{layer}.{('key', 'value')[kind]}"
        past = self.past[layer][kind]
        self.b.nodes.append(helper.make_node("Concat", [past.name, heads.name], [name], axis=2))
        shape = [self.b.batch, HEADS, "past + seq", WIDTH // HEADS]
        self.b.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return Value(name, heads.channels)


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
    b = ModelBuilder("gpt2_cached", batch, opset=OPSET)
    tokens = CachedTokens(b)
    triangle = b.constant("bias", np.tril(np.ones((1, 1, PLACES, PLACES), bool)))
    x = tokens.embed()
    for layer in range(DEPTH):
        x = b.add(x, project(b, attend(b, tokens, triangle, layer, norm(b, x, EPSILON)), WIDTH))
        y = project(b, norm(b, x, EPSILON), HIDDEN)
        x = b.add(x, project(b, Arithmetic(b).gelu_tanh(y), WIDTH))
    last = b.node("Gather", [x.name, b.integers("last", [-1])], WIDTH, axis=1)
    head = b.node("Transpose", [tokens.table], 0, perm=[1, 0])
    logits = b.node("MatMul", [norm(b, last, EPSILON).name, head.name], WORDS)
    b.outputs.insert(
        0, helper.make_tensor_value_info(logits.name, TensorProto.FLOAT, [b.batch, 1, WORDS])
    )
    return b.model()
