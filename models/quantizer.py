# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds layers of models that were quantised to int8 before.

Activations have one scale, weights one for each output channel.
"""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from builder import ModelBuilder, Value


class Quantizer:
    """Adds the QuantizeLinear and DequantizeLinear nodes of an int8 model."""

    def __init__(self, b: ModelBuilder) -> None:
        self.b = b

    def pair(self, x: Value, scale: float, zero: int) -> tuple[Value, float]:
        """Rounds an activation to uint8 and back; returns its scale as well."""
        b = self.b
        parameters = [
            b.constant("scale", np.float32(scale).reshape(())),
            b.constant("zero", np.uint8(zero).reshape(())),
        ]
        x = b.node("QuantizeLinear", [x.name, *parameters], x.channels)
        x = b.node("DequantizeLinear", [x.name, *parameters], x.channels)
        return x, scale

    def weight(self, shape: Sequence[int]) -> tuple[str, np.ndarray]:
        """An int8 weight with one scale for each output channel."""
        b = self.b
        numbers = b.normal(shape, math.sqrt(2.0 / math.prod(shape[1:])))
        largest = np.abs(numbers).reshape(shape[0], -1).max(axis=1)
        scales = (largest / 127).astype(np.float32)
        spread = scales.reshape([-1] + [1] * (len(shape) - 1))
        inputs = [
            b.constant("weight", np.rint(numbers / spread).astype(np.int8)),
            b.constant("weight_scale", scales),
            b.constant("weight_zero", np.zeros(shape[0], np.int8)),
        ]
        return b.node("DequantizeLinear", inputs, shape[0], axis=0).name, scales

    def bias(self, scales: np.ndarray) -> str:
        """An int32 bias whose scale is that of the accumulator."""
        b = self.b
        scales = scales.astype(np.float32)
        numbers = np.rint(b.normal(scales.shape, 0.05) / scales).astype(np.int32)
        inputs = [
            b.constant("bias", numbers),
            b.constant("bias_scale", scales),
            b.constant("bias_zero", np.zeros(scales.shape, np.int32)),
        ]
        return b.node("DequantizeLinear", inputs, scales.size, axis=0).name

    def conv(self, x: Value, scale: float, channels: int, stride: int) -> Value:
        """A 3x3 convolution with quantised weights."""
        weight, scales = self.weight([channels, x.channels, 3, 3])
        inputs = [x.name, weight, self.bias(scales * scale)]
        return self.b.node(
            "Conv",
            inputs,
            channels,
            kernel_shape=[3, 3],
            pads=[1] * 4,
            strides=[stride] * 2,
        )

    def linear(self, x: Value, scale: float, features: int) -> Value:
        """A fully connected layer with quantised weights."""
        weight, scales = self.weight([features, x.channels])
        inputs = [x.name, weight, self.bias(scales * scale)]
        return self.b.node("Gemm", inputs, features, transB=1)
