#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the ONNX backend node tests.

usage: generate.py [--all] --output DIR

The cases come from the Python package onnx.backend.test of the Python that runs
this, and from cases.py. Each becomes DIR/NAME/model.onnx with
DIR/NAME/test_data_set_0/*.pb, in the layout that every ONNX backend reads. Cases
with a node that lib/Import/OpTable.def does not list are left out; with --all,
every case of the package is written, and none of cases.py. An operator of that
table without a case in either is an error: with --all if the newest opset has it,
else if that has not. Nothing is written again while DIR is up to date.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

# The table of all operators that the importer knows.
OP_TABLE = Path(__file__).resolve().parents[2] / "lib/Import/OpTable.def"
OWN_CASES = Path(__file__).with_name("cases.py")

# numpy 1.24 removed these names, which onnx 1.12 still uses.
NUMPY_ALIASES = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
}


def restore_numpy_aliases() -> None:
    """Puts the names that numpy 1.24 removed back where onnx 1.12 looks."""
    for name, value in NUMPY_ALIASES.items():
        if name not in vars(np):
            setattr(np, name, value)


def collect():
    """Returns every node test case of the installed onnx package."""
    restore_numpy_aliases()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(0)
        from onnx.backend.test.case import node

        return node.collect_testcases(None)


def known_operators() -> dict[str, bool]:
    """The operators that the importer knows; true of those that the newest opset
    still has."""
    row = re.compile(r"^OP\((\w+), \d+, (\w+),", re.MULTILINE)
    names = {n: last == "maxOpset" for n, last in row.findall(OP_TABLE.read_text())}
    if not names:
        raise SystemExit(f"generate.py: found no operators in {OP_TABLE}")
    return names


def operators(graph) -> set[str]:
    """The operator names in `graph` and in its sub-graphs."""
    names: set[str] = set()
    for node in graph.node:
        names.add(node.op_type)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                names |= operators(attribute.g)
    return names


def serialise(value, value_info) -> bytes:
    """One input or output as the protobuf its declared type asks for."""
    from onnx import TensorProto, numpy_helper

    # Newer packages make protobufs of what numpy has no type for.
    if isinstance(value, TensorProto):
        return value.SerializeToString()
    kind = value_info.type.WhichOneof("value")
    if kind == "tensor_type":
        tensor = numpy_helper.from_array(np.asarray(value), value_info.name)
        # onnx 1.12 holds bfloat16 as uint16 and would call it that.
        if value_info.type.tensor_type.elem_type == TensorProto.BFLOAT16:
            tensor.data_type = TensorProto.BFLOAT16
        return tensor.SerializeToString()
    convert = {
        "map_type": numpy_helper.from_dict,
        "sequence_type": numpy_helper.from_list,
        "optional_type": numpy_helper.from_optional,
    }[kind]
    return convert(value, value_info.name).SerializeToString()


def write_case(case, folder: Path) -> None:
    """Writes one case: its model and its data sets."""
    graph = case.model.graph
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for index, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        for what, values, infos in (
            ("input", inputs, graph.input),
            ("output", outputs, graph.output),
        ):
            for position, (value, info) in enumerate(zip(values, infos)):
                path = data / f"{what}_{position}.pb"
                path.write_bytes(serialise(value, info))


def generate_unless_current(
    description: str | None, sources: Iterable[Path], generate: Callable[[Path], str]
) -> None:
    """A program that writes cases to --output unless what is there is newer than its
    sources, and prints the line that counts them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    output = parser.parse_args().output
    stamp = output / "stamp"
    written = stamp.stat().st_mtime if stamp.exists() else 0
    if all(source.stat().st_mtime < written for source in sources):
        print(stamp.read_text().strip())
    else:
        print(generate(output))


def replace_cases(output: Path, write: Callable[[Path], str]) -> str:
    """Writes cases beside `output`, with the line that counts them, before they take
    its place."""
    scratch = output.with_name(output.name + ".tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    line = write(scratch)
    (scratch / "stamp").write_text(line + "\n")
    shutil.rmtree(output, ignore_errors=True)
    scratch.rename(output)
    return line


def up_to_date(stamp: Path) -> bool:
    """Whether `stamp` is newer than this file and the onnx package."""
    import onnx

    if not stamp.exists():
        return False
    written = stamp.stat().st_mtime
    sources = (__file__, onnx.__file__, OP_TABLE, OWN_CASES)
    return all(os.path.getmtime(path) < written for path in sources)


def check_coverage(cases: list, wanted: set[str]) -> None:
    """Ends the program unless each of the operators has a case."""
    missing = wanted - set().union(*(operators(case.model.graph) for case in cases))
    if missing:
        names = ", ".join(sorted(missing))
        raise SystemExit(f"generate.py: no case uses {names}: add one to cases.py")


def choose_supported(cases: list, known: set[str]) -> list:
    """The cases whose operators are all known."""
    return [case for case in cases if operators(case.model.graph) <= known]


def generate(output: Path, everything: bool) -> str:
    """Writes the cases below `output` and returns the line that counts them."""
    from cases import own_cases

    known = known_operators()
    found, own = collect(), own_cases()
    cases = found if everything else choose_supported(own + found, set(known))
    # The newer package has the operators of today, the older one those before.
    covered = {name for name in known if known[name] == everything}
    check_coverage(own + cases, covered)
    # Some names occur twice; the last case counts, as in the onnx package.
    chosen = {case.name: case for case in cases}

    def write(folder: Path) -> str:
        for case in chosen.values():
            write_case(case, folder / case.name)
        return f"conformance cases: {len(found)} node tests, {len(chosen)} written"

    return replace_cases(output, write)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Writes the ONNX backend node tests."
    )
    parser.add_argument("--all", action="store_true", dest="everything")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args()
    stamp = arguments.output / "stamp"
    if up_to_date(stamp):
        print(stamp.read_text().strip())
    else:
        print(generate(arguments.output, arguments.everything))
    return 0


if __name__ == "__main__":
    sys.exit(main())
