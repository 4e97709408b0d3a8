# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MobileNetV2 (Sandler et al. 2018), width 1.0.

The head flattens through Shape, Gather, Concat and Reshape, as older PyTorch
exports with a symbolic batch do.
"""

from __future__ import annotations

import numpy as np
import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 3_504_872

# Expansion, channels, blocks, stride of the first block.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)

RESIDUAL_SCALE = 0.5


def inverted_residual(
    b: ModelBuilder, x: Value, expansion: int, channels: int, stride: int
) -> Value:
    """Expands, filters each channel, and projects back without activation."""
    hidden = expansion * x.channels
    y = x
    if expansion != 1:
        y = b.conv(y, hidden, 1, after_relu=False)
        y = b.relu6(b.batch_norm(y))
    y = b.conv(y, hidden, 3, stride, 1, groups=hidden)
    y = b.conv(b.relu6(b.batch_norm(y)), channels, 1)
    if stride == 1 and x.channels == channels:
        return b.add(x, b.batch_norm(y, RESIDUAL_SCALE))
    return b.batch_norm(y)


def flatten_by_shape(b: ModelBuilder, x: Value) -> Value:
    """Reshapes to (Shape(x)[0], -1)."""
    shape = b.node("Shape", [x.name], 4)
    zero = b.constant("zero", np.array(0, np.int64))
    batch = b.node("Gather", [shape.name, zero], 1, axis=0)
    axes = b.integers("axes", [0])
    batch = b.node("Unsqueeze", [batch.name, axes], 1)
    rest = b.integers("rest", [-1])
    target = b.node("Concat", [batch.name, rest], 2, axis=0)
    return b.node("Reshape", [x.name, target.name], x.channels)


def build(batch: int | None = None) -> onnx.ModelProto:
    """MobileNetV2 at 224 x 224."""
    b = ModelBuilder("mobilenetv2", batch)
    x = b.conv(b.image(), 32, 3, 2, 1, after_relu=False)
    x = b.relu6(b.batch_norm(x))
    for expansion, channels, blocks, first_stride in STAGES:
        for index in range(blocks):
            stride = first_stride if index == 0 else 1
            x = inverted_residual(b, x, expansion, channels, stride)
    x = b.relu6(b.batch_norm(b.conv(x, 1280, 1, after_relu=False)))
    x = flatten_by_shape(b, b.global_average_pool(x))
    b.output(b.linear(x, CLASSES), [CLASSES])
    return b.model()
