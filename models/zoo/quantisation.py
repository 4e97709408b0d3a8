# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantises networks as the users of three quantisers do: ONNX Runtime's and
OpenVINO's NNCF take exported models, PyTorch's takes modules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import torch

    from network import Network

# Inputs that the ranges of activations are taken from.
CALIBRATION_INPUTS = 4
# A classifier may end in a softmax; a model with more of them has attention.
MAX_SOFTMAXES = 1

# What PyTorch quantises is a module, before it is exported.
MODULE_QUANTISER = "pt2e"


def quantise(path: Path, network: Network) -> None:
    """Quantises the exported model in place, as the network asks for.

    Of ONNX Runtime's quantiser, "qdq" writes QuantizeLinear and DequantizeLinear
    around all operators, with a scale per channel of weights, "operators"
    QLinearConv and QLinearMatMul, with a scale per tensor, "own operators" also
    those of its own domain, such as QLinearAdd, and "dynamic" the integer products
    whose scales are computed at run time. "nncf" writes QuantizeLinear and
    DequantizeLinear where NNCF wants them.
    """
    if network.quantised == "nncf":
        quantise_by_nncf(path, network)
    elif network.quantised == "dynamic":
        quantise_dynamically(path)
    else:
        quantise_statically(path, network)


def has_attention(path: Path) -> bool:
    import onnx

    nodes = onnx.load(path, load_external_data=False).graph.node
    return sum(node.op_type == "Softmax" for node in nodes) > MAX_SOFTMAXES


def draw_calibration_inputs(network: Network) -> list[dict[str, np.ndarray]]:
    import numpy as np

    generator = np.random.default_rng(2)
    return [draw_all(network, generator) for _ in range(CALIBRATION_INPUTS)]


def draw_all(network: Network, generator: np.random.Generator) -> dict[str, np.ndarray]:
    return {x.name: x.draw(generator, network.batch or 1) for x in network.all_inputs()}


def quantise_dynamically(path: Path) -> None:
    """Weights have 7 bits, as in quantise_statically()."""
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(path, path, op_types_to_quantize=["MatMul"], reduce_range=True)


def quantise_statically(path: Path, network: Network) -> None:
    """Weights have 7 bits: on x86-64 without VNNI, ONNX Runtime adds two products of
    8 bits in 16 bits, which saturate, and would be no reference."""
    from onnxruntime.quantization import (
        CalibrationDataReader, QuantFormat, QuantType, quantize_static,
    )  # fmt: skip

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self.drawn = iter(draw_calibration_inputs(network))

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.drawn, None)

    is_qdq = network.quantised == "qdq"
    quantize_static(
        path, path, Reader(),
        quant_format=QuantFormat.QDQ if is_qdq else QuantFormat.QOperator,
        op_types_to_quantize=["Conv", "MatMul"] if network.quantised == "operators" else None,
        per_channel=is_qdq,
        reduce_range=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip


def quantise_by_nncf(path: Path, network: Network) -> None:
    """With NNCF's default preset, or with the one for transformers."""
    import nncf
    import onnx

    options: dict[str, Any] = {"subset_size": CALIBRATION_INPUTS}
    if has_attention(path):
        options["model_type"] = nncf.ModelType.TRANSFORMER
    inputs = nncf.Dataset(draw_calibration_inputs(network))
    onnx.save(nncf.quantize(onnx.load(path), inputs, **options), path)


def quantise_module(module: torch.nn.Module, network: Network) -> torch.nn.Module:
    """What PyTorch's quantiser makes of a module for x86-64: convolutions and
    products by weights in int8, with a scale per output channel of the weights."""
    import torch
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    inputs = [
        tuple(map(torch.from_numpy, drawn.values())) for drawn in draw_calibration_inputs(network)
    ]
    quantiser = x86.X86InductorQuantizer()
    quantiser.set_global(x86.get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(module, inputs[0], strict=True).module(), quantiser)
    for drawn in inputs:
        prepared(*drawn)
    return move_exported_model_to_eval(convert_pt2e(prepared))
