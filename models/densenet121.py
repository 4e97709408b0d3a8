# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DenseNet-121 (Huang et al. 2016)."""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 7_978_856

GROWTH = 32
BOTTLENECK = 4 * GROWTH
DEPTHS = (6, 12, 24, 16)


def dense_layer(b: ModelBuilder, x: Value) -> Value:
    """Adds GROWTH channels to `x`."""
    y = b.conv(b.relu(b.batch_norm(x)), BOTTLENECK, 1)
    y = b.conv(b.relu(b.batch_norm(y)), GROWTH, 3, 1, 1)
    return b.concat([x, y])


def transition(b: ModelBuilder, x: Value) -> Value:
    """Halves the channels and the image."""
    x = b.conv(b.relu(b.batch_norm(x)), x.channels // 2, 1)
    return b.pool("AveragePool", x, 2, 2)


def build(batch: int | None = None) -> onnx.ModelProto:
    """DenseNet-121 at 224 x 224."""
    b = ModelBuilder("densenet121", batch)
    x = b.conv(b.image(), 64, 7, 2, 3, after_relu=False)
    x = b.max_pool(b.relu(b.batch_norm(x)), 3, 2, 1)
    for stage, depth in enumerate(DEPTHS):
        if stage > 0:
            x = transition(b, x)
        for _ in range(depth):
            x = dense_layer(b, x)
    x = b.flatten(b.global_average_pool(b.relu(b.batch_norm(x))))
    b.output(b.linear(x, CLASSES), [CLASSES])
    return b.model()
