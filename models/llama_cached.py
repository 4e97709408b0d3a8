# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama (Touvron et al. 2023) of 125 million parameters with a cache of keys and values.

RMS norms, rotary embeddings, gated layers, and three heads of queries for each of keys and
values, in the arithmetic that PyTorch's exporter writes of transformers' model.
"""

from __future__ import annotations

import math

import numpy as np
import onnx

from builder import ModelBuilder, Value
from transformer import OPSET, CachedTokens, number

WORDS, PLACES, WIDTH, DEPTH, HEADS, CACHED, HIDDEN = 32_000, 1024, 768, 12, 12, 4, 2048
CHANNELS = WIDTH // HEADS

PARAMETERS = 124_668_672

EPSILON, BASE = 1e-5, 10_000.0


def rms_norm(b: ModelBuilder, x: Value) -> Value:
    square = b.node("Pow", [x.name, number(b, 2)], x.channels)
    mean = b.node("ReduceMean", [square.name], 1, axes=[-1])
    sum_ = b.node("Add", [mean.name, number(b, EPSILON)], 1)
    root = b.node("Sqrt", [sum_.name], 1)
    inverse = b.node("Div", [number(b, 1), root.name], 1)
    scaled = b.mul(x, inverse)
    name = f"{b.unique('norm')}_weight"
    weight = b.constant(name, b.uniform(x.channels, 0.8, 1.2))
    return b.node("Mul", [weight, scaled.name], x.channels)


def linear(b: ModelBuilder, x: Value, features: int) -> Value:
    weight = b.normal([x.channels, features], 1 / math.sqrt(x.channels))
    return b.product(x, weight, f"{b.unique('linear')}_weight")


class Rotary:
    """Rotary embeddings of the new tokens."""

    def __init__(self, b: ModelBuilder, tokens: CachedTokens) -> None:
        rates = BASE ** (-np.arange(0, CHANNELS, 2) / CHANNELS)
        angles = np.arange(PLACES)[:, None] * np.concatenate([rates, rates])[None]
        self.b = b
        self.cosine, self.sine = (
            tokens.slice_places(
                b.constant(name, f(angles).astype(np.float32)[None, None]), [2], CHANNELS
            )
            for name, f in (("cosine", np.cos), ("sine", np.sin))
        )

    def half(self, x: Value, start: int, end: int) -> Value:
        bounds = [self.b.integers("bound", [n]) for n in (start, end, 3)]
        return self.b.node("Slice", [x.name, *bounds], CHANNELS // 2)

    def turn(self, x: Value) -> Value:
        minus = self.b.unary("Neg", self.half(x, CHANNELS // 2, CHANNELS))
        first = self.half(x, 0, CHANNELS // 2)
        turned = self.b.node("Concat", [minus.name, first.name], CHANNELS, axis=3)
        return self.b.add(self.b.mul(x, self.cosine), self.b.mul(turned, self.sine))


def repeat_heads(b: ModelBuilder, tokens: CachedTokens, x: Value) -> Value:
    """Gives each head of queries keys or values."""
    count = HEADS // CACHED
    wide = b.node("Unsqueeze", [x.name, b.integers("axes", [2])], CHANNELS)
    sizes = [tokens.size(x, 0), b.integers("heads", [CACHED, count]), tokens.end,
             b.integers("channels", [CHANNELS])]  # fmt: skip
    shape = b.node("Concat", sizes, 0, axis=0)
    wide = b.node("Expand", [wide.name, shape.name], CHANNELS)
    joined = b.node("Concat", [sizes[0], b.integers("heads", [HEADS]), *sizes[2:]], 0, axis=0)
    return b.node("Reshape", [wide.name, joined.name], CHANNELS)


def attend(b: ModelBuilder, tokens: CachedTokens, rotary: Rotary, triangle: str, layer: int,
           x: Value) -> Value:  # fmt: skip
    query = split(b, tokens, linear(b, x, WIDTH), HEADS)
    key, value = (split(b, tokens, linear(b, x, CACHED * CHANNELS), CACHED) for _ in range(2))
    key = tokens.append(layer, 0, rotary.turn(key))
    value = tokens.append(layer, 1, value)
    key, value = (repeat_heads(b, tokens, heads) for heads in (key, value))
    turned = b.node("Transpose", [key.name], 0, perm=[0, 1, 3, 2])
    scores = b.node("MatMul", [rotary.turn(query).name, turned.name], 0)
    scores = b.node("Mul", [scores.name, number(b, CHANNELS**-0.5)], 0)
    hidden = tokens.slice_places(triangle, [2, 3], 0)
    weights = b.node("Softmax", [b.add(scores, hidden).name], 0, axis=-1)
    mixed = b.node("MatMul", [weights.name, value.name], CHANNELS)
    return linear(b, tokens.join_heads(mixed), WIDTH)


def split(b: ModelBuilder, tokens: CachedTokens, x: Value, heads: int) -> Value:
    rest = b.integers("heads", [heads, CHANNELS])
    shape = b.node("Concat", [tokens.size(x, 0), tokens.size(x, 1), rest], 0, axis=0)
    parts = b.node("Reshape", [x.name, shape.name], CHANNELS)
    return b.node("Transpose", [parts.name], CHANNELS, perm=[0, 2, 1, 3])


def gated(b: ModelBuilder, x: Value) -> Value:
    gate = linear(b, x, HIDDEN)
    gate = b.mul(gate, b.unary("Sigmoid", gate))
    return linear(b, b.mul(gate, linear(b, x, HIDDEN)), WIDTH)


def build(batch: int | None = None) -> onnx.ModelProto:
    """A Llama of up to 1024 tokens."""
    return build_on(ModelBuilder("llama_cached", batch, opset=OPSET))


def build_on(b: ModelBuilder) -> onnx.ModelProto:
    """The same, by a builder that may store weights in its own way."""
    tokens = CachedTokens(b, WORDS, 1, WIDTH, HEADS, CACHED, DEPTH)
    least = np.float32(np.finfo(np.float32).min)
    triangle = b.constant("mask", np.triu(np.full((1, 1, PLACES, PLACES), least), 1))
    rotary = Rotary(b, tokens)
    x = b.node("Gather", [tokens.table, tokens.ids.name], WIDTH)
    for layer in range(DEPTH):
        x = b.add(x, attend(b, tokens, rotary, triangle, layer, rms_norm(b, x)))
        x = b.add(x, gated(b, rms_norm(b, x)))
    last = rms_norm(b, tokens.take_last(x))
    tokens.output_logits(linear(b, last, WORDS))
    return b.model()
