# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of transformers, in the arithmetic that exporters of opset 17 write."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto, helper

from builder import ModelBuilder, Value

# LayerNormalization is of opset 17.
OPSET = 17


def number(b: ModelBuilder, value: float) -> str:
    return b.constant("number", np.float32(value).reshape(()))


def norm(b: ModelBuilder, x: Value, epsilon: float = 1e-6) -> Value:
    name = b.unique("ln")
    scale = b.constant(f"{name}_gamma", b.uniform(x.channels, 0.8, 1.2))
    bias = b.constant(f"{name}_bias", b.normal([x.channels], 0.02))
    return b.node(
        "LayerNormalization", [x.name, scale, bias], x.channels, name, axis=-1, epsilon=epsilon
    )


def project(b: ModelBuilder, x: Value, features: int) -> Value:
    """A product of the last dimension with weights, and a bias."""
    name = b.unique("project")
    weight = b.normal([x.channels, features], 1 / math.sqrt(x.channels))
    product = b.product(x, weight, f"{name}_weight")
    bias = b.constant(f"{name}_bias", b.normal([features], 0.02))
    return b.node("Add", [product.name, bias], features, name)


def gelu(b: ModelBuilder, x: Value) -> Value:
    scaled = b.node("Div", [x.name, number(b, math.sqrt(2))], x.channels)
    erf = b.node("Erf", [scaled.name], x.channels)
    plus = b.node("Add", [erf.name, number(b, 1)], x.channels)
    product = b.node("Mul", [x.name, plus.name], x.channels)
    return b.node("Mul", [product.name, number(b, 0.5)], x.channels)


class Tokens:
    """A language model over tokens of batch x seq, both symbolic unless they are given."""

    def __init__(self, b: ModelBuilder, words: int, places: int, width: int, heads: int) -> None:
        self.b = b
        self.places = places
        self.width = width
        self.heads = heads
        if isinstance(b.batch, str):
            b.batch = "batch"
        self.ids = self.integers_input("input_ids")
        self.embeddings = b.normal([words, width], 0.02)
        self.table = b.constant("wte_weight", self.embeddings)

    def integers_input(self, name: str) -> Value:
        """An input of an int64 for each token."""
        self.b.inputs.append(
            helper.make_tensor_value_info(name, TensorProto.INT64, [self.b.batch, "seq"])
        )
        return Value(name, 0)

    def size(self, x: Value, dim: int) -> str:
        """The size of a dimension, of one element."""
        shape = self.b.node("Shape", [x.name], 0)
        return self.b.node("Gather", [shape.name, self.b.integers("dim", [dim])], 0, axis=0).name

    def slice_places(self, table: str, dims: list[int], channels: int) -> Value:
        """The first `seq` of a table of all places, in some of its dimensions."""
        size = self.size(self.ids, 1)
        ends = size
        if len(dims) > 1:
            ends = self.b.node("Concat", [size] * len(dims), 0, axis=0).name
        starts = self.b.integers("starts", [0] * len(dims))
        return self.b.node(
            "Slice", [table, starts, ends, self.b.integers("axes", dims)], channels
        )

    def embed(self) -> Value:
        words = self.b.node("Gather", [self.table, self.ids.name], self.width)
        numbers = self.b.constant("position_ids", np.arange(self.places).reshape(1, -1))
        weight = self.b.normal([self.places, self.width], 0.02)
        table = self.b.constant("wpe_weight", weight)
        places = self.slice_places(numbers, [1], 0)
        places = self.b.node("Gather", [table, places.name], self.width)
        return self.b.add(words, places)

    def split_heads(self, x: Value, order: list[int]) -> Value:
        channels = self.width // self.heads
        rest = self.b.integers("heads", [self.heads, channels])
        sizes = [self.size(x, 0), self.size(x, 1), rest]
        shape = self.b.node("Concat", sizes, 0, axis=0)
        heads = self.b.node("Reshape", [x.name, shape.name], channels)
        return self.b.node("Transpose", [heads.name], channels, perm=order)

    def join_heads(self, x: Value) -> Value:
        x = self.b.node("Transpose", [x.name], x.channels, perm=[0, 2, 1, 3])
        sizes = [self.size(x, 0), self.size(x, 1), self.b.integers("width", [self.width])]
        shape = self.b.node("Concat", sizes, 0, axis=0)
        return self.b.node("Reshape", [x.name, shape.name], self.width)

    def scores(self, query: Value, key: Value) -> Value:
        query = self.split_heads(query, [0, 2, 1, 3])
        key = self.split_heads(key, [0, 2, 3, 1])
        scores = self.b.node("MatMul", [query.name, key.name], 0)
        root = number(self.b, math.sqrt(query.channels))
        return self.b.node("Div", [scores.name, root], 0)

    def mix(self, scores: Value, value: Value) -> Value:
        """The attention's result, before its last projection."""
        weights = self.b.node("Softmax", [scores.name], 0, axis=-1)
        value = self.split_heads(value, [0, 2, 1, 3])
        return self.join_heads(self.b.node("MatMul", [weights.name, value.name], value.channels))

    def compare(self, x: Value) -> Value:
        """The product with the words' embeddings, which are the last layer's weights, too."""
        return self.b.product_by_rows(x, self.embeddings, self.table)

    def output(self, x: Value) -> None:
        """Makes a value of each token the output."""
        shape = [self.b.batch, "seq", x.channels]
        self.b.outputs.append(helper.make_tensor_value_info(x.name, TensorProto.FLOAT, shape))


class CachedTokens(Tokens):
    """Tokens that follow others, whose keys and values are inputs."""

    def __init__(
        self, b: ModelBuilder, words: int, places: int, width: int, heads: int, cached: int,
        depth: int,
    ) -> None:  # fmt: skip
        """`cached` heads have keys and values of their own."""
        super().__init__(b, words, places, width, heads)
        self.cached = cached
        self.channels = width // heads
        self.past = [
            [self.cache_input(f"past_key_values.{layer}.{kind}") for kind in ("key", "value")]
            for layer in range(depth)
        ]
        self.begin = self.size(self.past[0][0], 2)
        self.end = b.node("Add", [self.begin, self.size(self.ids, 1)], 0).name

    def cache_input(self, name: str) -> Value:
        shape = [self.b.batch, self.cached, "past", self.channels]
        self.b.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return Value(name, self.channels)

    def slice_places(self, table: str, dims: list[int], channels: int) -> Value:
        """The new ones of all places in the first dimension, all up to them in the second."""
        zero = self.b.integers("zero", [0])
        count = len(dims)
        start = self.b.node("Concat", [self.begin, zero][:count], 0, axis=0).name
        end = self.b.node("Concat", [self.end, self.end][:count], 0, axis=0).name
        return self.b.node("Slice", [table, start, end, self.b.integers("axes", dims)], channels)

    def append(self, layer: int, kind: int, heads: Value) -> Value:
        """The earlier ones and the new ones, which are an output."""
        name = f"present.{layer}.{('key', 'value')[kind]}"
        past = self.past[layer][kind]
        self.b.nodes.append(helper.make_node("Concat", [past.name, heads.name], [name], axis=2))
        shape = [self.b.batch, self.cached, "past + seq", self.channels]
        self.b.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return Value(name, heads.channels)

    def take_last(self, x: Value) -> Value:
        return self.b.node("Gather", [x.name, self.b.integers("last", [-1])], self.width, axis=1)

    def output_logits(self, logits: Value) -> None:
        """Makes the logits of the last token the first output."""
        shape = [self.b.batch, 1, logits.channels]
        info = helper.make_tensor_value_info(logits.name, TensorProto.FLOAT, shape)
        self.b.outputs.insert(0, info)
