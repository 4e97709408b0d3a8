# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GoogLeNet (Szegedy et al. 2014): Inception v1 with LRN, no auxiliary heads.

Pooling pads at the bottom and the right, as exports of the Caffe model do.
"""

from __future__ import annotations

import onnx

from builder import CLASSES, ModelBuilder, Value

PARAMETERS = 6_998_552

# 1x1; 3x3 reduce, 3x3; 5x5 reduce, 5x5; pool projection. A tuple per stage.
STAGES = (
    (
        (64, 96, 128, 16, 32, 32),
        (128, 128, 192, 32, 96, 64),
    ),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    (
        (256, 160, 320, 32, 128, 128),
        (384, 192, 384, 48, 128, 128),
    ),
)


def conv_relu(b: ModelBuilder, x: Value, channels: int, kernel: int) -> Value:
    """A convolution that keeps the image's size, with bias and activation."""
    return b.relu(b.conv(x, channels, kernel, 1, kernel // 2, bias=True))


def lrn(b: ModelBuilder, x: Value) -> Value:
    """Normalises over five neighbouring channels."""
    return b.unary("LRN", x, size=5, alpha=1e-4, beta=0.75, bias=1.0)


def halve(b: ModelBuilder, x: Value) -> Value:
    """Max pooling to half the size."""
    return b.pool("MaxPool", x, 3, 2, [0, 0, 1, 1])


def inception(b: ModelBuilder, x: Value, widths: tuple[int, ...]) -> Value:
    """Four branches, concatenated."""
    one, reduce3, three, reduce5, five, project = widths
    return b.concat(
        [
            conv_relu(b, x, one, 1),
            conv_relu(b, conv_relu(b, x, reduce3, 1), three, 3),
            conv_relu(b, conv_relu(b, x, reduce5, 1), five, 5),
            conv_relu(b, b.max_pool(x, 3, 1, 1), project, 1),
        ]
    )


def build(batch: int | None = None) -> onnx.ModelProto:
    """GoogLeNet at 224 x 224."""
    b = ModelBuilder("googlenet", batch)
    x = b.relu(b.conv(b.image(), 64, 7, 2, 3, bias=True, after_relu=False))
    x = lrn(b, halve(b, x))
    x = conv_relu(b, conv_relu(b, x, 64, 1), 192, 3)
    x = lrn(b, x)
    for stage in STAGES:
        x = halve(b, x)
        for widths in stage:
            x = inception(b, x, widths)
    x = b.dropout(b.pool("AveragePool", x, 7, 1), 0.4)
    x = b.reshape(x, [0, 1024], 1024)
    b.output(b.softmax(b.linear(x, CLASSES, after_relu=False)), [CLASSES])
    return b.model()
