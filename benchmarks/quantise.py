#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantises a model to int8 as each peer's users do.

usage: quantise.py onnxruntime|openvino MODEL RESULT

ONNX Runtime gets a QDQ model of its static quantiser: activations uint8, weights
int8 with a scale per output channel. OpenVINO gets what NNCF makes of the same
model with its default preset, or with the one for transformers. Both calibrate
on the same seeded images.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onnx_models import input_of

CALIBRATION_IMAGES = 8
# A classifier may end in a softmax; a model with more of them has attention.
MAX_SOFTMAXES = 1


def is_transformer(model: onnx.ModelProto) -> bool:
    return sum(node.op_type == "Softmax" for node in model.graph.node) > MAX_SOFTMAXES


def quantise_for_onnxruntime(path: Path, result: Path) -> None:
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    source = input_of(onnx.load(path), 1)

    class SeededImages(CalibrationDataReader):
        def __init__(self) -> None:
            self.seeds = iter(range(CALIBRATION_IMAGES))

        def get_next(self) -> dict[str, np.ndarray] | None:
            seed = next(self.seeds, None)
            return None if seed is None else {source.name: source.draw(seed)}

    with tempfile.TemporaryDirectory(dir=result.parent) as folder:
        prepared, scratch = Path(folder) / "prepared.onnx", Path(folder) / "int8.onnx"
        quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
        quantize_static(
            str(prepared), str(scratch), SeededImages(),
            quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        )
        os.replace(scratch, result)


def quantise_for_openvino(path: Path, result: Path) -> None:
    import nncf
    import openvino

    source = input_of(onnx.load(path), 1)
    model = openvino.Core().read_model(path)
    model.reshape(source.shape)
    images = nncf.Dataset([source.draw(seed) for seed in range(CALIBRATION_IMAGES)])
    options: dict[str, Any] = {"subset_size": CALIBRATION_IMAGES}
    if is_transformer(onnx.load(path)):
        options["model_type"] = nncf.ModelType.TRANSFORMER
    quantised = nncf.quantize(model, images, **options)
    with tempfile.TemporaryDirectory(dir=result.parent) as folder:
        scratch = Path(folder) / "int8.xml"
        openvino.save_model(quantised, scratch, compress_to_fp16=False)
        # The weights are there before the file that says that all is done.
        for suffix in (".bin", ".xml"):
            os.replace(scratch.with_suffix(suffix), result.with_suffix(suffix))


QUANTISERS = {"onnxruntime": quantise_for_onnxruntime, "openvino": quantise_for_openvino}


def main() -> int:
    peer, path, result = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    QUANTISERS[peer](path, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
