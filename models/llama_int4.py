# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Llama with a cache, whose products have weights of 4 bits; embeddings are floats."""

from __future__ import annotations

import onnx

from llama_cached import build_on
from narrow import NarrowBuilder
from transformer import OPSET


def build(batch: int | None = None) -> onnx.ModelProto:
    """A Llama of up to 1024 tokens."""
    return build_on(NarrowBuilder("llama_int4", batch, opset=OPSET))
