# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 with a cache, whose products have weights of 4 bits; embeddings are floats."""

from __future__ import annotations

import onnx

from gpt2_cached import build_on
from narrow import NarrowBuilder
from transformer import OPSET


def build(batch: int | None = None) -> onnx.ModelProto:
    """GPT-2 of up to 1024 tokens."""
    return build_on(NarrowBuilder("gpt2_int4", batch, opset=OPSET))
