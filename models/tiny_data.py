#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what the tiny models compute, as ONNX Runtime has it.

usage: build/venv/bin/python models/tiny_data.py

The result, models/tiny/NAME/test_data_set_0/*.pb, is checked in, so that the
importer is tested against something that is not Tarpon. This is run by hand
after tiny.py has changed, in the virtual environment of the benchmarks.
tiny_qdq is left out: a sum that lies on the edge between two quanta may be
rounded either way.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import numpy_helper

from builder import write_bytes

TINY = Path(__file__).resolve().parent / "tiny"
WITHOUT_DATA = ("tiny_qdq",)


def write_data(path: Path) -> None:
    """Evaluates one model on a seeded input."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (image,), (result,) = session.get_inputs(), session.get_outputs()
    # A symbolic dimension has a name instead of a number.
    shape = [dim if isinstance(dim, int) else 1 for dim in image.shape]
    x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    (y,) = session.run([result.name], {image.name: x})
    folder = path.with_suffix("") / "test_data_set_0"
    for stem, array, name in (
        ("input_0", x, image.name),
        ("output_0", y, result.name),
    ):
        tensor = numpy_helper.from_array(array, name)
        write_bytes(tensor.SerializeToString(), folder / f"{stem}.pb")


def main() -> int:
    for path in sorted(TINY.glob("*.onnx")):
        if path.stem not in WITHOUT_DATA:
            write_data(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
