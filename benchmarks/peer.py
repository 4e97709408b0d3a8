# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime as the peer that Tarpon is compared with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

import numpy as np
import onnx
import onnxruntime
from onnx import shape_inference
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

CALIBRATION_IMAGES = 8


def seeded_input(shape: list[int], seed: int) -> np.ndarray:
    """Normal numbers, as normalised images have them."""
    random = np.random.default_rng(seed)
    return random.standard_normal(shape, dtype=np.float32)


def input_of(model: onnx.ModelProto, batch: int) -> tuple[str, list[int]]:
    """The name and the shape of the one input; a symbolic batch is bound."""
    image = model.graph.input[0]
    dims = [dim.dim_value for dim in image.type.tensor_type.shape.dim]
    return image.name, [batch if dim == 0 else dim for dim in dims]


def arithmetic(path: Path, batch: int) -> float:
    """The floating-point operations of all Conv and Gemm nodes."""
    model = onnx.load(path)
    for dim in model.graph.input[0].type.tensor_type.shape.dim[:1]:
        dim.dim_value = batch
    inferred = shape_inference.infer_shapes(model, data_prop=True).graph
    values = [*inferred.value_info, *inferred.output]
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in values
    }
    weights = {tensor.name: tensor.dims for tensor in inferred.initializer}
    total = 0.0
    for node in inferred.node:
        if node.op_type == "Conv":
            inner = np.prod(weights[node.input[1]][1:])
            total += 2.0 * float(inner) * float(np.prod(shapes[node.output[0]]))
        elif node.op_type == "Gemm":
            total += 2.0 * batch * float(np.prod(weights[node.input[1]]))
    return total


class SeededImages(CalibrationDataReader):
    """The inputs that the int8 model is calibrated on."""

    def __init__(self, name: str, shape: list[int]) -> None:
        self.images: Iterator[dict[str, np.ndarray]] = iter(
            {name: seeded_input(shape, seed)} for seed in range(CALIBRATION_IMAGES)
        )

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.images, None)


def quantise(path: Path, folder: Path, batch: int) -> Path:
    """Makes the QDQ int8 model of `path`, unless it is there and newer.

    Activations are uint8, weights int8 with a scale per output channel.
    """
    result = folder / f"{path.stem}.int8.onnx"
    if result.exists() and result.stat().st_mtime > path.stat().st_mtime:
        return result
    folder.mkdir(parents=True, exist_ok=True)
    prepared = folder / f"{path.stem}.prepared.onnx"
    scratch = folder / f"{path.stem}.scratch.onnx"
    quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
    quantize_static(
        str(prepared),
        str(scratch),
        SeededImages(*input_of(onnx.load(path), batch)),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )
    prepared.unlink()
    os.replace(scratch, result)
    return result


def session(path: Path, cores: list[int], batch: int) -> onnxruntime.InferenceSession:
    """Loads a model with every optimisation, a bound batch, a thread per core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(cores)
    if len(cores) > 1:
        # The calling thread is the first; the others count cores from 1.
        others = ";".join(str(core + 1) for core in cores[1:])
        options.add_session_config_entry("session.intra_op_thread_affinities", others)
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_free_dimension_override_by_name("N", batch)
    return onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
