# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-18."""

from __future__ import annotations

import onnx

from resnet import basic_block, resnet

PARAMETERS = 11_689_512


def build(batch: int | None = None) -> onnx.ModelProto:
    """ResNet-18 at 224 x 224."""
    return resnet("resnet18", basic_block, (2, 2, 2, 2), batch)
