#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests graph-opt on the models of this folder.

usage: test.py GRAPH_OPT [--quick] [--jobs N] [--timeout S]

The tiny models must be what tiny.py writes, the networks must have as many
parameters as their papers' authors say, every good model must verify in every
dtype and layout and on its recorded data, and every bad one must be refused in
one sentence that names the file, with nothing written. Networks that were trained
are verified like the tiny ones. The full-size networks
are verified as well, and the kernels that ResNet-50 compiles are counted, unless
--quick leaves them out. One line is printed per
failure, and last the counts.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Sequence

import onnx

import build
import digits
import tiny

HERE = Path(__file__).resolve().parent
DTYPES = ("fp32", "fp16", "bf16", "int8")
LAYOUTS = ("nchw", "nhwc")
# Their sums of products of bytes are beyond 65504, the largest number of fp16 (docs/status.md).
BEYOND_FP16 = ("tiny_dynamic.onnx",)

# What ResNet-50 may compile in one dtype and layout with default configs: 13, and in fp32 and
# nhwc 19 with AVX-512, and a few more with the 16 registers of AVX2: Strassen's scheme has one of
# four tiles and one or two levels.
MAX_KERNELS = 24
# And what another batch size may compile beside them: kernels that calibrate int8, and other tiles
# of that scheme.
MAX_OTHER_KERNELS = 8

# A test gives None, or one line on what is wrong.
Test = Callable[[], "str | None"]


class GraphOpt:
    """Runs graph-opt."""

    def __init__(self, program: Path, timeout: float) -> None:
        self.program = program
        self.timeout = timeout

    def run(
        self, *arguments: str | Path, **environment: str
    ) -> subprocess.CompletedProcess[str] | None:
        """Runs graph-opt; None when it takes too long."""
        try:
            return subprocess.run(
                [self.program, *arguments],
                capture_output=True,
                env={**os.environ, **environment},
                errors="replace",
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=self.timeout,
            )
        except subprocess.TimeoutExpired:
            return None

    def accepts(self, *arguments: str | Path, **environment: str) -> str | None:
        """What is wrong when graph-opt does not end well."""
        process = self.run(*arguments, **environment)
        if process is None:
            return f"no result after {self.timeout:g} s"
        if process.returncode == 0:
            return None
        lines = (process.stderr or process.stdout).splitlines()
        return f"exit status {process.returncode}: {lines[0] if lines else ''}"

    def refuses(self, path: Path, mention: str) -> str | None:
        """What is wrong when graph-opt does not refuse `path` properly."""
        with tempfile.TemporaryDirectory() as folder:
            process = self.run("compile", path, "-o", Path(folder) / "out.tpn")
            leftovers = [entry.name for entry in Path(folder).iterdir()]
        if process is None:
            return f"no result after {self.timeout:g} s"
        message = process.stderr.strip()
        if process.returncode != 1:
            return f"exit status {process.returncode} instead of 1: {message}"
        if len(message.splitlines()) != 1:
            return f"not one sentence: {message!r}"
        for word in (path.name, mention):
            if word not in message:
                return f"the message does not mention '{word}': {message}"
        if leftovers:
            return f"it left {', '.join(leftovers)} behind"
        return None


def check_tiny() -> str | None:
    """Whether the tiny models are what tiny.py writes."""
    return "; ".join(tiny.stale_files()) or None


def check_digits() -> str | None:
    """Whether there are as many images as documented, of all classes, none of them twice."""
    seen = set()
    for part, wanted in (("tune", digits.TUNE), ("held_out", digits.HELD_OUT)):
        images, classes = digits.read(part)
        if len(images) != wanted or len(classes) != wanted or set(classes) != set(range(10)):
            return f"{part} has {len(images)} images and {len(classes)} classes instead of {wanted}"
        seen |= {image.tobytes() for image in images}
    if len(seen) != digits.TUNE + digits.HELD_OUT:
        return f"{digits.TUNE + digits.HELD_OUT - len(seen)} images occur twice"
    return None


def check_schema(path: Path) -> str | None:
    """Whether ONNX's own checker takes `path`."""
    try:
        # Given a path, the full check of onnx 1.12 rewrites the file.
        onnx.checker.check_model(onnx.load(str(path)), full_check=True)
    except Exception as error:  # the checker's errors have no common base
        return str(error).splitlines()[0]
    return None


def check_parameters(name: str) -> str | None:
    """Whether a network has its published number of parameters."""
    network = importlib.import_module(name)
    graph = network.build().graph
    trained = (
        math.prod(tensor.dims)
        for tensor in graph.initializer
        if tensor.name.endswith(("_weight", "_bias", "_gamma", "_beta"))
    )
    count = sum(trained)
    if count == network.PARAMETERS:
        return None
    return f"{count} parameters instead of {network.PARAMETERS}"


def check_kernels(graph_opt: GraphOpt, path: Path, dtype: str, layout: str) -> str | None:
    """Whether few kernels serve a network, and another batch size adds few."""
    with tempfile.TemporaryDirectory() as folder:
        # Neither kernels nor measurements that were there before.
        fresh = {"XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder}
        for name in ("TARPON_CACHE_DIR", "TARPON_USER_DB_PATH"):
            fresh[name] = ""
        report = Path(folder) / "report.json"
        compiled: set[Path] = set()
        symbols: set[str] = set()
        for batch in (1, 7):
            wrong = graph_opt.accepts(
                "perf", path, "--dtype", dtype, "--layout", layout, "--threads", "1",
                "--batch", str(batch), "--iterations", "1", "--compile-report",
                "--json", report, **fresh,
            )
            if wrong:
                return wrong
            kernels = json.loads(report.read_text())["compile_report"]["kernels"]
            used = {kernel["symbol"] for kernel in kernels}
            if len(used) > MAX_KERNELS:
                return f"batch {batch}: {len(used)} kernels instead of {MAX_KERNELS}"
            known = {file for file in Path(folder).rglob("kernels/*/*")}
            if len(known) < len(used):
                return f"batch {batch}: {len(used)} kernels, but {len(known)} in the cache"
            added = {symbol for symbol in used - symbols if not symbol.startswith("strassen")}
            if batch > 1 and added:
                return f"batch {batch} adds {', '.join(sorted(added))}"
            if batch > 1 and len(known - compiled) > MAX_OTHER_KERNELS:
                return f"batch {batch} compiles {len(known - compiled)} kernels"
            symbols = used
            compiled = known
    return None


def verifications(graph_opt: GraphOpt, path: Path) -> list[tuple[str, Test]]:
    """The tests that verify one model in every dtype and layout."""
    # Of the tests that run side by side, not all should have all cores.
    threads = {"nchw": ("--threads", "1"), "nhwc": ()}

    def verify(dtype: str, layout: str) -> Test:
        return lambda: graph_opt.accepts(
            "verify", path, "--dtype", dtype, "--layout", layout, *threads[layout]
        )

    return [
        (f"verify {path.name} {dtype} {layout}", verify(dtype, layout))
        for dtype, layout in itertools.product(DTYPES, LAYOUTS)
        if dtype != "fp16" or path.name not in BEYOND_FP16
    ]


def tiny_tests(graph_opt: GraphOpt) -> list[tuple[str, Test]]:
    """The tests of the models that are checked in."""
    tests: list[tuple[str, Test]] = [("tiny.py --check", check_tiny)]
    for path in sorted((HERE / "tiny").glob("*.onnx")):
        tests.append((f"schema {path.name}", lambda path=path: check_schema(path)))
        tests += verifications(graph_opt, path)
        data = path.with_suffix("") / "test_data_set_0"
        if data.exists():
            tests.append(
                (
                    f"verify {path.name} on its data",
                    lambda path=path, data=data: graph_opt.accepts(
                        "verify", path, "--test-data", data
                    ),
                )
            )
    for breaks, mention in tiny.BAD:
        path = HERE / "bad" / f"{breaks.__name__}.onnx"
        tests.append(
            (
                f"refuse {path.name}",
                lambda path=path, mention=mention: graph_opt.refuses(path, mention),
            )
        )
    return tests


def trained_tests(graph_opt: GraphOpt) -> list[tuple[str, Test]]:
    """The tests of the networks that were trained, whose weights are checked in."""
    tests: list[tuple[str, Test]] = [("digits", check_digits)]
    for path in sorted(digits.FOLDER.glob("*.onnx")):
        tests.append((f"schema {path.name}", lambda path=path: check_schema(path)))
        tests += verifications(graph_opt, path)
    return tests


def network_tests(graph_opt: GraphOpt) -> list[tuple[str, Test]]:
    """The tests of the full-size networks, which are built if need be."""
    tests: list[tuple[str, Test]] = []
    for name in build.NETWORKS:
        path = build.build(name, HERE / "built", None)
        tests.append((f"schema {path.name}", lambda path=path: check_schema(path)))
        tests += verifications(graph_opt, path)
    path = HERE / "built/resnet50.onnx"
    for dtype, layout in itertools.product(DTYPES, LAYOUTS):
        tests.append(
            (
                f"kernels of {path.name} {dtype} {layout}",
                lambda dtype=dtype, layout=layout: check_kernels(
                    graph_opt, path, dtype, layout
                ),
            )
        )
    return tests


def run_tests(tests: Sequence[tuple[str, Test]], jobs: int) -> int:
    """Runs `tests`, prints the failures and returns how many there are."""
    failures = 0
    with ThreadPoolExecutor(jobs) as pool:
        for (name, _), wrong in zip(tests, pool.map(lambda test: test[1](), tests)):
            if wrong is not None:
                print(f"{name}: {wrong}", flush=True)
                failures += 1
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Tests graph-opt on the models of this folder."
    )
    parser.add_argument("graph_opt", type=Path, metavar="GRAPH_OPT")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--timeout", type=float, default=600, metavar="S")
    arguments = parser.parse_args()
    program = arguments.graph_opt.resolve()
    if not program.is_file():
        raise SystemExit(f"test.py: there is no program {program}")

    graph_opt = GraphOpt(program, arguments.timeout)
    tests: list[tuple[str, Test]] = [
        (f"parameters of {name}", lambda name=name: check_parameters(name))
        for name in (*build.NETWORKS, *build.LARGE, *build.LANGUAGE)
    ]
    tests += tiny_tests(graph_opt) + trained_tests(graph_opt)
    if not arguments.quick:
        tests += network_tests(graph_opt)
    failures = run_tests(tests, arguments.jobs)
    print(f"models: {len(tests) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
