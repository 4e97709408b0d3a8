# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ShuffleNet v1 (Zhang et al. 2017), width 1.0 with three groups.

Channels are shuffled by Reshape, Transpose, Reshape.
"""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 1_865_728

GROUPS = 3

# Channels, units and size of the image after each stage.
STAGES = ((240, 4, 28), (480, 8, 14), (960, 4, 7))

RESIDUAL_SCALE = 0.3


def shuffle(b: ModelBuilder, x: Value, size: int) -> Value:
    """Deals the channels of each group out to all groups."""
    each = x.channels // GROUPS
    x = b.reshape(x, [0, GROUPS, each, size, size], x.channels)
    x = b.unary("Transpose", x, perm=[0, 2, 1, 3, 4])
    return b.reshape(x, [0, -1, size, size], x.channels)


def unit(
    b: ModelBuilder, x: Value, channels: int, size: int, stride: int, groups: int
) -> Value:
    """Grouped 1x1, shuffle, depthwise 3x3, grouped 1x1, and a shortcut.

    With stride 2 the shortcut is pooled and concatenated, else it is added.
    """
    hidden = channels // 4
    made = channels - x.channels if stride == 2 else channels
    y = b.relu(b.batch_norm(b.conv(x, hidden, 1, groups=groups)))
    y = shuffle(b, y, size * stride)
    y = b.batch_norm(
        b.conv(y, hidden, 3, stride, 1, groups=hidden, after_relu=True)
    )
    y = b.conv(y, made, 1, groups=GROUPS, after_relu=False)
    if stride == 1:
        return b.relu(b.add(x, b.batch_norm(y, RESIDUAL_SCALE)))
    pooled = b.pool("AveragePool", x, 3, 2, [1] * 4, count_include_pad=1)
    return b.relu(b.concat([pooled, b.batch_norm(y)]))


def build(batch: int | None = None) -> onnx.ModelProto:
    """ShuffleNet v1 at 224 x 224."""
    b = ModelBuilder("shufflenet", batch)
    x = b.conv(b.image(), 24, 3, 2, 1, after_relu=False)
    x = b.max_pool(b.relu(b.batch_norm(x)), 3, 2, 1)
    for stage, (channels, units, size) in enumerate(STAGES):
        for index in range(units):
            first = stage == 0 and index == 0
            stride = 2 if index == 0 else 1
            groups = 1 if first else GROUPS
            x = unit(b, x, channels, size, stride, groups)
    x = b.pool("AveragePool", x, 7, 1)
    x = b.reshape(x, [0, -1], x.channels)
    b.output(b.softmax(b.linear(x, CLASSES, after_relu=False)), [CLASSES])
    return b.model()
