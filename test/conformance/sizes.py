#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes cases of graphs in which sizes depend on data.

usage: sizes.py --output DIR

The cases are those of size_cases.py, in the layout of generate.py. Their results are
what the ONNX Runtime of the Python that runs this computes. Nothing is written again
while DIR is up to date.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import ModelProto, parser

from generate import write_case
from size_cases import AFTER_SELECT, list_inputs, write_graph

SOURCES = [Path(__file__), *Path(__file__).resolve().parent.glob("size_cases.py")]


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


def generate(output: Path) -> str:
    """Writes the cases below `output` and returns the line that counts them."""
    scratch = output.with_name(output.name + ".tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    for name in AFTER_SELECT:
        write_case(Complete(name), scratch / name)
    line = f"conformance cases: {len(AFTER_SELECT)} of sizes that depend on data"
    (scratch / "stamp").write_text(line + "\n")
    shutil.rmtree(output, ignore_errors=True)
    scratch.rename(output)
    return line


def main() -> int:
    options = argparse.ArgumentParser(description="Writes cases of sizes that depend on data.")
    options.add_argument("--output", type=Path, required=True, metavar="DIR")
    output = options.parse_args().output
    stamp = output / "stamp"
    written = stamp.stat().st_mtime if stamp.exists() else 0
    if all(source.stat().st_mtime < written for source in SOURCES):
        print(stamp.read_text().strip())
    else:
        print(generate(output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
