# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""EfficientNet-B0 (Tan and Le 2019), with x * sigmoid(x) as exporters write it."""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 5_288_548

# Expansion, channels, blocks, stride of the first block, kernel.
STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)

RESIDUAL_SCALE = 0.5


def silu(b: ModelBuilder, x: Value) -> Value:
    return b.mul(x, b.unary("Sigmoid", x))


def squeeze_and_excite(b: ModelBuilder, x: Value, squeezed: int) -> Value:
    """Scales the channels by what two 1x1 convolutions make of their means."""
    y = b.conv(b.global_average_pool(x), squeezed, 1, bias=True, after_relu=False)
    y = b.conv(silu(b, y), x.channels, 1, bias=True)
    return b.mul(x, b.unary("Sigmoid", y))


def mobile_block(
    b: ModelBuilder, x: Value, expansion: int, channels: int, stride: int, kernel: int
) -> Value:
    """Expands, filters and scales each channel, and projects back."""
    hidden = expansion * x.channels
    y = x
    if expansion != 1:
        y = silu(b, b.batch_norm(b.conv(y, hidden, 1, after_relu=False)))
    y = b.conv(y, hidden, kernel, stride, kernel // 2, groups=hidden)
    y = squeeze_and_excite(b, silu(b, b.batch_norm(y)), x.channels // 4)
    y = b.conv(y, channels, 1)
    if stride == 1 and x.channels == channels:
        return b.add(b.batch_norm(y, RESIDUAL_SCALE), x)
    return b.batch_norm(y)


def build(batch: int | None = None) -> onnx.ModelProto:
    """EfficientNet-B0 at 224 x 224."""
    b = ModelBuilder("efficientnet", batch)
    x = silu(b, b.batch_norm(b.conv(b.image(), 32, 3, 2, 1, after_relu=False)))
    for expansion, channels, blocks, first_stride, kernel in STAGES:
        for index in range(blocks):
            stride = first_stride if index == 0 else 1
            x = mobile_block(b, x, expansion, channels, stride, kernel)
    x = silu(b, b.batch_norm(b.conv(x, 1280, 1, after_relu=False)))
    x = b.flatten(b.global_average_pool(x))
    b.output(b.linear(b.dropout(x, 0.2), CLASSES), [CLASSES])
    return b.model()
