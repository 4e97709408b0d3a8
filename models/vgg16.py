# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""VGG-16 (Simonyan and Zisserman 2014), configuration D without batch norm."""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder

PARAMETERS = 138_357_544

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))


def build(batch: int | None = None) -> onnx.ModelProto:
    """VGG-16 at 224 x 224."""
    b = ModelBuilder("vgg16", batch)
    x = b.image()
    for stage, (width, depth) in enumerate(STAGES):
        for index in range(depth):
            first = stage == 0 and index == 0
            x = b.conv(x, width, 3, 1, 1, bias=True, after_relu=not first)
            x = b.relu(x)
        x = b.max_pool(x, 2, 2)
    x = b.flatten(x, 7 * 7)
    for _ in range(2):
        x = b.dropout(b.relu(b.linear(x, 4096)), 0.5)
    # Max pooling raises the mean of what it passes on; a gain of 1 makes up
    # for it.
    b.output(b.linear(x, CLASSES, after_relu=False), [CLASSES])
    return b.model()
