# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SqueezeNet 1.1 (Iandola et al. 2016)."""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 1_235_496

# Squeeze and expand widths of the fire modules, a tuple for each stage.
STAGES = (
    ((16, 64), (16, 64)),
    ((32, 128), (32, 128)),
    ((48, 192), (48, 192), (64, 256), (64, 256)),
)


def fire(b: ModelBuilder, x: Value, squeeze: int, expand: int) -> Value:
    """Narrows with 1x1, then widens with 1x1 and 3x3 side by side."""
    x = b.relu(b.conv(x, squeeze, 1, bias=True))
    left = b.relu(b.conv(x, expand, 1, bias=True))
    right = b.relu(b.conv(x, expand, 3, 1, 1, bias=True))
    return b.concat([left, right])


def build(batch: int | None = None) -> onnx.ModelProto:
    """SqueezeNet 1.1 at 224 x 224."""
    b = ModelBuilder("squeezenet", batch)
    x = b.relu(b.conv(b.image(), 64, 3, 2, bias=True, after_relu=False))
    for stage in STAGES:
        x = b.pool("MaxPool", x, 3, 2, ceil_mode=1)
        for squeeze, expand in stage:
            x = fire(b, x, squeeze, expand)
    x = b.conv(b.dropout(x, 0.5), CLASSES, 1, bias=True)
    x = b.global_average_pool(b.relu(x))
    b.output(b.flatten(x), [CLASSES])
    return b.model()
