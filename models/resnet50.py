# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-50, version 1.5."""

from __future__ import annotations

import onnx

from resnet import bottleneck, resnet

PARAMETERS = 25_557_032


def build(batch: int | None = None) -> onnx.ModelProto:
    """ResNet-50 at 224 x 224."""
    return resnet("resnet50", bottleneck, (3, 4, 6, 3), batch)
