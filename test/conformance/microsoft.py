#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes cases of the operators that ONNX Runtime adds to ONNX.

usage: microsoft.py --output DIR

The cases are those of microsoft_cases.py and microsoft_attention_cases.py, in the
layout of generate.py. Their results are what the ONNX Runtime of the Python that
runs this computes, with no graph optimisation; only operators that it has no CPU
kernel for bring their results with them. An operator of
lib/Import/MicrosoftOps.def without a case is an error. Nothing is written again
while DIR is up to date.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import ModelProto, ValueInfoProto, helper, numpy_helper

from generate import generate_unless_current, replace_cases, write_case
from microsoft_attention_cases import attention_cases
from microsoft_case import Const, MicrosoftCase
from microsoft_cases import own_cases

FOLDER = Path(__file__).resolve().parent
OP_TABLE = FOLDER.parents[1] / "lib/Import/MicrosoftOps.def"
SOURCES = [OP_TABLE, *FOLDER.glob("microsoft*.py"), FOLDER / "generate.py"]

# The opset of ONNX that the models import beside com.microsoft.
OPSET = 17


def value_info(name: str, value: np.ndarray) -> ValueInfoProto:
    dtype = numpy_helper.from_array(value).data_type
    return helper.make_tensor_value_info(name, dtype, value.shape)


def make_model(case: MicrosoftCase, outputs: list[ValueInfoProto]) -> ModelProto:
    """A model of one node; constants are initialisers, others inputs."""
    names = ["" if v is None else f"x{i}" for i, v in enumerate(case.inputs)]
    node = helper.make_node(
        case.operator,
        names,
        case.outputs,
        domain="com.microsoft",
        **case.attributes,
    )
    infos, constants = [], []
    for name, value in zip(names, case.inputs):
        if isinstance(value, Const):
            constants.append(numpy_helper.from_array(value.value, name))
        elif value is not None:
            infos.append(value_info(name, value))
    graph = helper.make_graph([node], case.name, infos, outputs, constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def compute(case: MicrosoftCase) -> list[np.ndarray]:
    """The results of the case in ONNX Runtime, or those that it brings."""
    if case.expected is not None:
        return case.expected
    names = listed(case)
    model = make_model(case, [ValueInfoProto(name=name) for name in names])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feeds = {
        f"x{i}": value
        for i, value in enumerate(case.inputs)
        if isinstance(value, np.ndarray)
    }
    return session.run(names, feeds)


def listed(case: MicrosoftCase) -> list[str]:
    """The outputs of the model."""
    return [name for name in case.outputs if name and name[0] != "_"]


class Complete:
    """What generate.write_case reads."""

    def __init__(self, case: MicrosoftCase) -> None:
        results = [np.asarray(result) for result in compute(case)]
        infos = [value_info(*item) for item in zip(listed(case), results)]
        inputs = [v for v in case.inputs if isinstance(v, np.ndarray)]
        self.model = make_model(case, infos)
        self.data_sets = [(inputs, results)]


def check_coverage(cases: list[MicrosoftCase]) -> None:
    """Ends the program unless each operator of the table has a case, and each
    case a name of its own."""
    names = set(re.findall(r"^MICROSOFT_OP\((\w+),", OP_TABLE.read_text(), re.M))
    missing = names - {case.operator for case in cases}
    if missing or not names:
        raise SystemExit(f"microsoft.py: no case uses {', '.join(sorted(missing))}")
    if len({case.name for case in cases}) != len(cases):
        raise SystemExit("microsoft.py: two cases have the same name")


def write(folder: Path) -> str:
    """Writes the cases into a folder and returns the line that counts them."""
    cases = own_cases() + attention_cases()
    check_coverage(cases)
    for case in cases:
        write_case(Complete(case), folder / case.name)
        if case.max_error is not None:
            (folder / case.name / "max_error").write_text(f"{case.max_error}\n")
    return f"conformance cases: {len(cases)} of com.microsoft"


if __name__ == "__main__":
    generate_unless_current(__doc__, SOURCES, lambda output: replace_cases(output, write))
