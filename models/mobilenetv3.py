# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MobileNetV3-Large (Howard et al. 2019), as torchvision builds it."""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 5_483_032

# Kernel, expanded channels, channels, channels that squeeze (0: no scaling), whether the
# activation is hard-swish, stride.
BLOCKS = (
    (3, 16, 16, 0, False, 1),
    (3, 64, 24, 0, False, 2),
    (3, 72, 24, 0, False, 1),
    (5, 72, 40, 24, False, 2),
    (5, 120, 40, 32, False, 1),
    (5, 120, 40, 32, False, 1),
    (3, 240, 80, 0, True, 2),
    (3, 200, 80, 0, True, 1),
    (3, 184, 80, 0, True, 1),
    (3, 184, 80, 0, True, 1),
    (3, 480, 112, 120, True, 1),
    (3, 672, 112, 168, True, 1),
    (5, 672, 160, 168, True, 2),
    (5, 960, 160, 240, True, 1),
    (5, 960, 160, 240, True, 1),
)

RESIDUAL_SCALE = 0.5


def hard_sigmoid(b: ModelBuilder, x: Value) -> Value:
    return b.unary("HardSigmoid", x, alpha=1 / 6, beta=0.5)


def activate(b: ModelBuilder, x: Value, is_swish: bool) -> Value:
    return b.mul(x, hard_sigmoid(b, x)) if is_swish else b.relu(x)


def squeeze_and_excite(b: ModelBuilder, x: Value, squeezed: int) -> Value:
    """Scales the channels by what two 1x1 convolutions make of their means."""
    y = b.conv(b.global_average_pool(x), squeezed, 1, bias=True, after_relu=False)
    y = b.conv(b.relu(y), x.channels, 1, bias=True)
    return b.mul(hard_sigmoid(b, y), x)


def block(
    b: ModelBuilder,
    x: Value,
    kernel: int,
    hidden: int,
    channels: int,
    squeezed: int,
    is_swish: bool,
    stride: int,
) -> Value:
    """Expands, filters and perhaps scales each channel, and projects back."""
    y = x
    if hidden != x.channels:
        y = b.batch_norm(b.conv(y, hidden, 1, after_relu=False))
        y = activate(b, y, is_swish)
    y = b.conv(y, hidden, kernel, stride, kernel // 2, groups=hidden)
    y = activate(b, b.batch_norm(y), is_swish)
    if squeezed:
        y = squeeze_and_excite(b, y, squeezed)
    y = b.conv(y, channels, 1)
    if stride == 1 and x.channels == channels:
        return b.add(b.batch_norm(y, RESIDUAL_SCALE), x)
    return b.batch_norm(y)


def build(batch: int | None = None) -> onnx.ModelProto:
    """MobileNetV3-Large at 224 x 224."""
    b = ModelBuilder("mobilenetv3", batch)
    x = b.batch_norm(b.conv(b.image(), 16, 3, 2, 1, after_relu=False))
    x = activate(b, x, is_swish=True)
    for arguments in BLOCKS:
        x = block(b, x, *arguments)
    x = activate(b, b.batch_norm(b.conv(x, 960, 1, after_relu=False)), is_swish=True)
    x = b.linear(b.flatten(b.global_average_pool(x)), 1280)
    x = b.dropout(activate(b, x, is_swish=True), 0.2)
    b.output(b.linear(x, CLASSES), [CLASSES])
    return b.model()
