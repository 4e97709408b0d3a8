#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes cases of graphs in which sizes depend on data.

usage: sizes.py --output DIR

The cases are those of size_cases.py, in the layout of generate.py. Their results are
what the ONNX Runtime of the Python that runs this computes. Nothing is written again
while DIR is up to date.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from onnx import ModelProto, parser

from generate import generate_unless_current, replace_cases, write_case
from size_cases import AFTER_SELECT, list_inputs, write_graph

FOLDER = Path(__file__).resolve().parent
SCRIPTS = ("sizes.py", "size_cases.py", "size_body_cases.py", "generate.py")
SOURCES = [FOLDER / name for name in SCRIPTS]


class Complete:
    """What generate.write_case reads."""

    def __init__(self, name: str) -> None:
        self.model: ModelProto = parser.parse_model(write_graph(name))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            self.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        names = [value.name for value in session.get_inputs()]
        self.data_sets = [
            (inputs, [np.asarray(y) for y in session.run(None, dict(zip(names, inputs)))])
            for inputs in list_inputs(name)
        ]


def write(folder: Path) -> str:
    """Writes the cases into a folder and returns the line that counts them."""
    for name in AFTER_SELECT:
        write_case(Complete(name), folder / name)
    return f"conformance cases: {len(AFTER_SELECT)} of sizes that depend on data"


if __name__ == "__main__":
    generate_unless_current(__doc__, SOURCES, lambda output: replace_cases(output, write))
