# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet (He et al. 2015), as torchvision builds and exports it.

The stride of a bottleneck is on its 3x3 convolution (version 1.5).
"""

from __future__ import annotations

from typing import Sequence

import onnx

from builder import CLASSES, ModelBuilder, Value

# What the last gamma of a residual block is multiplied with, so that sums of
# many blocks keep their order of magnitude.
RESIDUAL_SCALE = 0.3

WIDTHS = (64, 128, 256, 512)


def basic_block(b: ModelBuilder, x: Value, width: int, stride: int) -> Value:
    """Two 3x3 convolutions and a shortcut."""
    y = b.relu(b.batch_norm(b.conv(x, width, 3, stride, 1)))
    y = b.batch_norm(b.conv(y, width, 3, 1, 1), RESIDUAL_SCALE)
    return b.relu(b.add(y, shortcut(b, x, width, stride)))


def bottleneck(b: ModelBuilder, x: Value, width: int, stride: int) -> Value:
    """A 1x1, a 3x3 and a widening 1x1 convolution and a shortcut."""
    y = b.relu(b.batch_norm(b.conv(x, width, 1)))
    y = b.relu(b.batch_norm(b.conv(y, width, 3, stride, 1)))
    y = b.batch_norm(b.conv(y, 4 * width, 1), RESIDUAL_SCALE)
    return b.relu(b.add(y, shortcut(b, x, 4 * width, stride)))


def shortcut(b: ModelBuilder, x: Value, channels: int, stride: int) -> Value:
    """The identity, or a 1x1 convolution where the shape changes."""
    if stride == 1 and x.channels == channels:
        return x
    return b.batch_norm(b.conv(x, channels, 1, stride, after_relu=False))


def resnet(
    name: str, block, depths: Sequence[int], batch: int | None
) -> onnx.ModelProto:
    """A ResNet of `block`s, `depths` of them in the four stages."""
    b = ModelBuilder(name, batch)
    x = b.conv(b.image(), 64, 7, 2, 3, after_relu=False)
    x = b.max_pool(b.relu(b.batch_norm(x)), 3, 2, 1)
    for stage, (width, depth) in enumerate(zip(WIDTHS, depths)):
        for index in range(depth):
            stride = 2 if stage > 0 and index == 0 else 1
            x = block(b, x, width, stride)
    x = b.flatten(b.global_average_pool(x))
    b.output(b.linear(x, CLASSES), [CLASSES])
    return b.model()
