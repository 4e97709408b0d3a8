# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations and attention in the arithmetic that exporters write."""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from builder import ModelBuilder, Value


class Arithmetic:
    """Activations in the arithmetic that exporters write."""

    def __init__(self, b: ModelBuilder) -> None:
        self.b = b

    def number(self, value: float) -> str:
        return self.b.constant("number", np.float32(value).reshape(()))

    def apply(self, operator: str, *operands: Value | float) -> Value:
        """An operator of values and numbers."""
        values = [x for x in operands if isinstance(x, Value)]
        names = [x.name if isinstance(x, Value) else self.number(x) for x in operands]
        return self.b.node(operator, names, values[0].channels)

    def silu(self, x: Value) -> Value:
        """PyTorch's, by either exporter."""
        return self.apply("Mul", x, self.b.unary("Sigmoid", x))

    def hard_swish(self, x: Value) -> Value:
        """PyTorch's in TorchScript, before opset 14."""
        gate = self.b.unary("HardSigmoid", x, alpha=1 / 6, beta=0.5)
        return self.apply("Mul", x, gate)

    def hard_swish_decomposed(self, x: Value) -> Value:
        """PyTorch's, decomposed by torch.export."""
        gate = self.apply("Max", self.apply("Add", x, 3.0), 0.0)
        return self.apply("Div", self.apply("Mul", x, self.apply("Min", gate, 6.0)), 6.0)

    def hard_swish_of_relu6(self, x: Value) -> Value:
        """Keras's, by tf2onnx."""
        gate = self.b.relu6(self.apply("Add", x, 3.0))
        return self.apply("Mul", x, self.apply("Mul", gate, 0.16666667))

    def gelu(self, x: Value) -> Value:
        """PyTorch's in TorchScript."""
        gate = self.b.unary("Erf", self.apply("Div", x, math.sqrt(2)))
        gate = self.apply("Add", gate, 1.0)
        return self.apply("Mul", self.apply("Mul", x, gate), 0.5)

    def gelu_tanh(self, x: Value) -> Value:
        """PyTorch's by torch.export."""
        cube = self.apply("Mul", 0.044715, self.apply("Pow", x, 3.0))
        half_pi = self.b.node("Div", [self.number(2.0), self.number(math.pi)], 1)
        root = self.b.unary("Sqrt", half_pi)
        gate = self.b.unary("Tanh", self.apply("Mul", root, self.apply("Add", x, cube)))
        gate = self.apply("Mul", 0.5, self.apply("Add", gate, 1.0))
        return self.apply("Mul", x, gate)

    def mish(self, x: Value) -> Value:
        """PyTorch's, before opset 18."""
        return self.apply("Mul", x, self.b.unary("Tanh", self.b.unary("Softplus", x)))


class Attention:
    """Attention in the arithmetic that exporters write, over tokens of 1 x positions x channels."""

    def __init__(self, b: ModelBuilder, positions: int, heads: int) -> None:
        self.b = b
        self.positions = positions
        self.heads = heads

    def project(self, x: Value, features: int) -> Value:
        """A fully connected layer of every token."""
        weight = self.b.normal([x.channels, features], math.sqrt(1.0 / x.channels))
        x = self.b.node("MatMul", [x.name, self.b.constant("weight", weight)], features)
        bias = self.b.constant("bias", self.b.normal([features], 0.02))
        return self.b.node("Add", [x.name, bias], features)

    def head(self, x: Value, order: Sequence[int]) -> Value:
        """The heads of the tokens' channels, with the dimensions in this order."""
        width = x.channels // self.heads
        x = self.b.reshape(x, [1, self.positions, self.heads, width], width)
        return self.b.node("Transpose", [x.name], width, perm=order)

    def hidden(self) -> np.ndarray:
        """What is added to the scores of keys behind their query."""
        shape = (self.positions, self.positions)
        return np.triu(np.full(shape, np.finfo(np.float32).min, np.float32), 1)

    def apply(self, x: Value, mask: np.ndarray | None, divides: bool) -> Value:
        """Attention of the tokens to themselves."""
        width = x.channels // self.heads
        root = math.sqrt(width)
        operator, factor = ("Div", root) if divides else ("Mul", 1.0 / root)
        query, value = (self.head(self.project(x, x.channels), [0, 2, 1, 3]) for _ in range(2))
        key = self.head(self.project(x, x.channels), [0, 2, 3, 1])
        scores = self.b.node("MatMul", [query.name, key.name], self.heads)
        number = self.b.constant("number", np.float32(factor).reshape(()))
        scores = self.b.node(operator, [scores.name, number], self.heads)
        if mask is not None:
            scores = self.b.node("Add", [scores.name, self.b.constant("mask", mask)], self.heads)
        scores = self.b.node("Softmax", [scores.name], self.heads, axis=-1)
        result = self.b.node("MatMul", [scores.name, value.name], self.heads)
        result = self.b.node("Transpose", [result.name], self.heads, perm=[0, 2, 1, 3])
        return self.b.reshape(result, [1, self.positions, x.channels], x.channels)
