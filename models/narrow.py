# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A builder whose products have weights of 4 bits, in blocks along k."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from builder import ModelBuilder, Value

BLOCK, BITS, ZERO = 32, 4, 8
DOMAIN = "com.microsoft"


def pack(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of columns x blocks x pairs, and a scale of each block, as MatMulNBits takes them."""
    k, columns = weight.shape
    blocks = weight.T.reshape(columns, k // BLOCK, BLOCK)
    scales = np.abs(blocks).max(axis=2, keepdims=True) / (ZERO - 1)
    steps = np.clip(np.rint(blocks / scales) + ZERO, 0, 2**BITS - 1).astype(np.uint8)
    return steps[..., 0::2] | steps[..., 1::2] << BITS, scales.reshape(-1).astype(np.float32)


class NarrowBuilder(ModelBuilder):
    def product(self, x: Value, weight: np.ndarray, name: str) -> Value:
        k, columns = weight.shape
        steps, scales = pack(weight)
        inputs = [x.name, self.constant(name, steps), self.constant(f"{name}_scales", scales)]
        return self.node(
            "MatMulNBits", inputs, columns, domain=DOMAIN,
            K=k, N=columns, bits=BITS, block_size=BLOCK,
        )  # fmt: skip

    def product_by_rows(self, x: Value, rows: np.ndarray, name: str) -> Value:
        return self.product(x, rows.T, f"{name}_narrow")

    def model(self) -> onnx.ModelProto:
        model = super().model()
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
        return model
