# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNeXt-50, 32x4d (Xie et al. 2016): 3x3 convolutions in 32 groups."""

from __future__ import annotations

import onnx

from builder import ModelBuilder, Value
from resnet import RESIDUAL_SCALE, resnet, shortcut

PARAMETERS = 25_028_904

GROUPS = 32


def grouped_bottleneck(b: ModelBuilder, x: Value, width: int, stride: int) -> Value:
    """A bottleneck twice as wide as ResNet's, whose 3x3 convolution has groups."""
    y = b.relu(b.batch_norm(b.conv(x, 2 * width, 1)))
    y = b.conv(y, 2 * width, 3, stride, 1, groups=GROUPS)
    y = b.conv(b.relu(b.batch_norm(y)), 4 * width, 1)
    y = b.batch_norm(y, RESIDUAL_SCALE)
    return b.relu(b.add(y, shortcut(b, x, 4 * width, stride)))


def build(batch: int | None = None) -> onnx.ModelProto:
    """ResNeXt-50 at 224 x 224."""
    return resnet("resnext50", grouped_bottleneck, (3, 4, 6, 3), batch)
