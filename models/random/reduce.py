#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a random model that fails smaller.

usage: reduce.py GRAPH_OPT FOLDER

FOLDER is one that scripts/random-models --keep made. Writes FOLDER/reduced with as
few nodes as still fail: what others compute becomes an input with the numbers of
ONNX Runtime. A model fails if graph-opt crashes, or if an output is further from
ONNX Runtime's than the folder's verdict tolerates.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from graph import make_session
from values import distance
from verdict import TIME_LIMIT, TOLERANCE

# What fp16 rounds is no failure.
COARSE_TOLERANCE = 2e-2


class Case:
    """A model with its inputs."""

    def __init__(self, model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> None:
        self.model = model
        self.inputs = inputs

    def keep_needed(self, outputs: list[str]) -> Case:
        """The part of the model that computes these outputs."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        graph, needed, nodes = model.graph, set(outputs), []
        for node in reversed(graph.node):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= set(node.input) | find_captured(node)
        types = {one.name: one for one in [*graph.value_info, *graph.output]}
        lists = {
            "node": nodes,
            "input": [one for one in graph.input if one.name in needed],
            "initializer": [one for one in graph.initializer if one.name in needed],
            "output": [types[name] for name in outputs],
        }
        for name, kept in lists.items():
            copies = [type(one).FromString(one.SerializeToString()) for one in kept]
            graph.ClearField(name)
            getattr(graph, name).extend(copies)
        return Case(model, {k: v for k, v in self.inputs.items() if k in needed})

    def cut(self, name: str, value: np.ndarray) -> Case:
        """Makes an input of a value, and drops what computes it."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        kept = []
        for node in model.graph.node:
            if name in node.output:
                node.output[list(node.output).index(name)] = f"{name}_unused"
            kept.append(node)
        model.graph.input.append(helper.make_tensor_value_info(name, dtype, value.shape))
        case = Case(model, {**self.inputs, name: value})
        return case.keep_needed([one.name for one in model.graph.output])


def find_captured(node: onnx.NodeProto) -> set[str]:
    graphs = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return {name for graph in graphs for inner in graph.node for name in inner.input}


def show_all(case: Case) -> tuple[Case, dict[str, np.ndarray]]:
    """The case with types of all values, and the values."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    had = {one.name for one in model.graph.output}
    names = [n for node in model.graph.node for n in node.output if n and n not in had]
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    session = make_session(model)
    named = [one.name for one in model.graph.output]
    values = dict(zip(named, session.run(None, case.inputs), strict=True))
    typed = onnx.ModelProto()
    typed.CopyFrom(case.model)
    for name, value in values.items():
        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        info = helper.make_tensor_value_info(name, dtype, value.shape)
        typed.graph.value_info.append(info)
    for one in typed.graph.output:
        dtype = helper.np_dtype_to_tensor_dtype(values[one.name].dtype)
        one.CopyFrom(helper.make_tensor_value_info(one.name, dtype, values[one.name].shape))
    return Case(typed, case.inputs), values


def find_failing(case: Case, graph_opt: str, options: list[str], folder: Path) -> list[str]:
    """Names of the outputs that differ; all of them if graph-opt crashes."""
    names = [one.name for one in case.model.graph.output]
    write(case, folder)
    command = [graph_opt, "run", str(folder / "model.onnx"), *options]
    command += ["--output-dir", str(folder)]
    for name in case.inputs:
        command += ["--input", f"{name}={folder / name}.npy"]
    try:
        wanted = make_session(case.model).run(None, case.inputs)
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=TIME_LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return names
    except Exception:  # noqa: BLE001 (ONNX Runtime has a class for each code)
        return []
    if process.returncode:
        return [] if process.returncode == 1 else names
    types = {value.dtype for value in [*wanted, *case.inputs.values()]}
    types |= {numpy_helper.to_array(one).dtype for one in case.model.graph.initializer}
    limit = COARSE_TOLERANCE if np.dtype("float16") in types else TOLERANCE
    failing = []
    for i, (name, value) in enumerate(zip(names, wanted, strict=True)):
        error = distance(np.load(folder / f"{i}.npy"), value)
        if not error <= (limit if value.dtype.kind == "f" else 0):
            failing.append(name)
    return failing


def write(case: Case, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    onnx.save(case.model, folder / "model.onnx")
    for name, value in case.inputs.items():
        np.save(folder / f"{name}.npy", value)


def reduce(case: Case, graph_opt: str, options: list[str], folder: Path) -> Case | None:
    """A smaller case, or nothing if this one does not fail."""
    failing = find_failing(case, graph_opt, options, folder)
    if not failing:
        return None
    case, values = show_all(case)
    for name in failing:
        smaller = case.keep_needed([name])
        if find_failing(smaller, graph_opt, options, folder):
            case = smaller
            break
    has_changed = True
    while has_changed:
        has_changed = False
        outputs = {one.name for one in case.model.graph.output}
        made = [n for node in case.model.graph.node for n in node.output if n in values]
        for name in reversed([name for name in made if name not in outputs]):
            if name not in {n for node in case.model.graph.node for n in node.output}:
                continue
            smaller = case.cut(name, values[name])
            if find_failing(smaller, graph_opt, options, folder):
                case, has_changed = smaller, True
    return case


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    graph_opt, folder = sys.argv[1], Path(sys.argv[2])
    model = onnx.load(folder / "model.onnx")
    inputs = {one.name: np.load(folder / f"{one.name}.npy") for one in model.graph.input}
    options = shlex.split((folder / "options.txt").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        case = reduce(Case(model, inputs), graph_opt, options, Path(scratch))
    if case is None:
        print("reduce.py: the model does not fail", file=sys.stderr)
        return 1
    write(case, folder / "reduced")
    print(f"{len(model.graph.node)} nodes became {len(case.model.graph.node)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
