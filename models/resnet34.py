# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-34."""

from __future__ import annotations

import onnx

from resnet import basic_block, resnet

PARAMETERS = 21_797_672


def build(batch: int | None = None) -> onnx.ModelProto:
    """ResNet-34 at 224 x 224."""
    return resnet("resnet34", basic_block, (3, 4, 6, 3), batch)
