# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantises exported models with ONNX Runtime's tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from network import Network

# Inputs that the ranges of activations are taken from.
CALIBRATION_INPUTS = 4


def quantise(path: Path, network: Network) -> None:
    """Quantises the model in place, as the network asks for.

    "qdq" writes QuantizeLinear and DequantizeLinear around all operators,
    "operators" QLinearConv and QLinearMatMul, and "dynamic" the integer products
    whose scales are computed at run time. Weights have 7 bits: on x86-64 without
    VNNI, ONNX Runtime adds two products of 8 bits in 16 bits, which saturate, and
    would be no reference.
    """
    import numpy as np
    from onnxruntime.quantization import (
        CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static,
    )  # fmt: skip

    if network.quantised == "dynamic":
        quantize_dynamic(path, path, op_types_to_quantize=["MatMul"], reduce_range=True)
        return

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            generator = np.random.default_rng(2)
            self.drawn = iter(
                [draw_all(network, generator) for _ in range(CALIBRATION_INPUTS)]
            )

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.drawn, None)

    is_qdq = network.quantised == "qdq"
    quantize_static(
        path, path, Reader(),
        quant_format=QuantFormat.QDQ if is_qdq else QuantFormat.QOperator,
        op_types_to_quantize=None if is_qdq else ["Conv", "MatMul"],
        per_channel=is_qdq,
        reduce_range=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip


def draw_all(network: Network, generator: np.random.Generator) -> dict[str, np.ndarray]:
    return {x.name: x.draw(generator, network.batch or 1) for x in network.all_inputs()}
