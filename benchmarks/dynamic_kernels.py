#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures dynamic against static kernels; see benchmarks/dynamic-kernels."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from convs import BenchmarkError, Server, choose_shapes, read_shapes
from machine import ROOT, describe_machine, write_json

BUILD = ROOT / "build/bin"
BUILT = ROOT / "models/built"
WINNERS = ROOT / "build/benchmarks/convs-winners-t1.json"
RESULTS = ROOT / "benchmarks/results/dynamic-kernels.json"
DOCUMENT = ROOT / "docs/dynamic-kernels.md"

NETWORKS = ("resnet18", "resnet50", "vgg16", "mobilenetv2", "squeezenet", "densenet121",
            "googlenet", "shufflenet")
DTYPES = ("fp32", "int8")
# A static variant that is this much faster somewhere may stay in the product.
GAIN = 0.10
ROUNDS, ROUND_MS = 7, 3
TUNING_SECONDS = 1.5

DOCUMENT_TEXT = """\
# Dynamic kernels

<!-- Written by benchmarks/dynamic-kernels; edit benchmarks/dynamic_kernels.py. -->

A kernel is specialised on dtype, layout, tile and epilogue; shapes are arguments of the launch. That keeps the kernels
of a network few; another batch size adds at most as many as `models/test.py` allows for ResNet-50. A static kernel has
its launch's parameters as constants (scales and zero points included), so that LLVM can fold address arithmetic and
trip counts. This page says what each of the two costs, which is the data collection that MIOpen's work on dynamic
kernels began with.

`graph-opt perf MODEL --compile-report` lists the kernels of a model or package: what each cost to compile, its bytes
of code, and the launches and distinct problems that it serves. `benchmarks/dynamic-kernels` makes this page.

## Networks
Batch 1, one thread, nhwc, default configs. *Problems* are the distinct problem keys; *compiling* is that of all
kernels, one by one on one core, past every cache; *static / dynamic* is the ratio of the medians of whole runs,
measured in turn in one process: below 1.00, static kernels would be faster.

{networks}

## Convolutions
The {shapes} problems of `benchmarks/problems/convs.txt` with the fastest config of each.

{convolutions}

## What follows
The bar: a solver may offer a static variant where it is at least {gain:.0%} faster on some shape of the list. {verdict}

Measured on {cpu}, {date}, commit {commit}.{remark}
"""


def run(*command: str | Path, **environment: str) -> str:
    """The output of a program; if it fails, its last line of stderr."""
    process = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={**os.environ, **environment},
    )
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines() or ["no message"]
        raise BenchmarkError(f"{Path(command[0]).name} ended with {process.returncode}: {lines[-1]}")
    return process.stdout


def measure_network(name: str, dtype: str, folder: Path) -> dict[str, Any]:
    """Compiles a network with default configs and compares the variants."""
    run("/usr/bin/python3", ROOT / "models/build.py", name, "--output", BUILT)
    package = folder / f"{name}.tpn"
    # Without the user's measurements, the configs are the default ones.
    run(
        BUILD / "graph-opt", "compile", BUILT / f"{name}.onnx", "--dtype", dtype,
        "--layout", "nhwc", "--threads", "1", "--quiet", "-o", package,
        XDG_CONFIG_HOME=str(folder), TARPON_USER_DB_PATH="",
    )
    report = json.loads(run(BUILD / "static-benchmark", package, "1"))
    package.unlink()
    ratio = report["static_ms"] / report["dynamic_ms"]
    print(
        f"{name:12} {dtype}: {report['distinct_kernels']} kernels, static "
        f"{report['static_kernels']}, static / dynamic {ratio:.3f}",
        flush=True,
    )
    return {"network": name, "dtype": dtype, "ratio": ratio, **report}


def measure_convolutions(only: str | None) -> list[dict[str, Any]]:
    """Compares the variants on every shape, in the fastest config."""
    tarpon = Server([BUILD / "conv-benchmark", "1"], {})
    winners = json.loads(WINNERS.read_text()) if WINNERS.exists() else {}
    rows = []
    for dtype in DTYPES:
        for shape in choose_shapes(read_shapes(), quick=False, only=only):
            if not shape.takes(dtype):
                continue
            key = shape.key(dtype)
            row = measure_convolution(tarpon, winners.get(key), key)
            rows.append({"shape": shape.text, "dtype": dtype, "problem": key, **row})
            print(f"{dtype} {shape.text:36} {row['ratio']:6.3f}  {row['solver']}", flush=True)
    return rows


def measure_convolution(
    tarpon: Server, winner: dict[str, Any] | None, key: str
) -> dict[str, Any]:
    """One problem. What seems to gain is measured again: noise does so, too."""
    if winner:
        try:
            tarpon.ask(f"load\t{winner['solver']}\t{winner['config']}\t{key}")
        except BenchmarkError:
            winner = None  # from another version
    if not winner:
        winner = tarpon.ask(f"tune\t{TUNING_SECONDS}\t{key}")
        tarpon.ask(f"load\t{winner['solver']}\t{winner['config']}\t{key}")
    answer = tarpon.ask(f"static\t{ROUNDS}\t{ROUND_MS}")
    if answer["static_ms"] < (1 - GAIN) * answer["dynamic_ms"]:
        answer = tarpon.ask(f"static\t{4 * ROUNDS}\t{ROUND_MS}")
    return {
        "solver": winner["solver"],
        "config": winner["config"],
        "ratio": answer["static_ms"] / answer["dynamic_ms"],
        **answer,
    }


def network_table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| network | dtype | launches | problems | kernels | compiling, ms | code, KiB | static kernels "
        "| static / dynamic |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['network']} | {row['dtype']} | {row['launches']} | {row['problems']} "
            f"| {row['distinct_kernels']} | {row['compile_ms']:.0f} | {row['code_bytes'] / 1024:.0f} "
            f"| {row['static_kernels']} | {row['ratio']:.3f} |"
        )
    return "\n".join(lines)


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def convolution_table(rows: list[dict[str, Any]]) -> str:
    """By dtype and solver: how much static kernels gain, and where most."""
    lines = [
        "| dtype | solver | problems | static / dynamic, geometric mean | median | faster by the bar on "
        "| least | of |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["dtype"], row["solver"]), []).append(row)
    for (dtype, solver), chosen in sorted(groups.items()):
        ratios = [row["ratio"] for row in chosen]
        least = min(chosen, key=lambda row: row["ratio"])
        lines.append(
            f"| {dtype} | {solver} | {len(chosen)} | {geometric_mean(ratios):.3f} "
            f"| {statistics.median(ratios):.3f} | {sum(map(gains, chosen))} "
            f"| {least['ratio']:.3f} | {least['shape']} |"
        )
    return "\n".join(lines)


def gains(row: dict[str, Any]) -> bool:
    return row["ratio"] < 1 - GAIN


def verdict(rows: list[dict[str, Any]]) -> str:
    solvers = sorted({row["solver"] for row in rows if gains(row)})
    if not solvers:
        return "None is, and so there are no static variants."
    return (
        f"{', '.join(solvers)} reach it, and so may have one; no solver has so far. A kernel that is specialised on a few "
        "small numbers only, as the size of the window, would still serve every image and batch size: how much of the "
        "gain that keeps has to be measured before."
    )


def write_document(results: dict[str, Any]) -> None:
    text = DOCUMENT_TEXT.format(
        networks=network_table(results["networks"]),
        shapes=len(results["convolutions"]),
        convolutions=convolution_table(results["convolutions"]),
        gain=GAIN,
        verdict=verdict(results["convolutions"]),
        cpu=results["machine"]["cpu"],
        date=results["date"][:10],
        commit=results["commit"],
        remark=results.get("remark", ""),
    )
    DOCUMENT.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/dynamic-kernels")
    parser.add_argument("--core", type=int, metavar="N", help="default: the last one")
    parser.add_argument("--networks", default=",".join(NETWORKS), metavar="LIST")
    parser.add_argument("--only", metavar="REGEX", help="convolutions that match")
    arguments = parser.parse_args()
    core = sorted(os.sched_getaffinity(0))[-1] if arguments.core is None else arguments.core
    os.sched_setaffinity(0, [core])
    try:
        with tempfile.TemporaryDirectory() as folder:
            networks = [
                measure_network(name, dtype, Path(folder))
                for name in arguments.networks.split(",")
                for dtype in DTYPES
            ]
        convolutions = measure_convolutions(arguments.only)
    except BenchmarkError as error:
        print(f"benchmarks/dynamic-kernels: {error}", file=sys.stderr)
        return 1
    results = {
        "schema": "tarpon.dynamic-kernels/1",
        **describe_machine(),
        "networks": networks,
        "convolutions": convolutions,
    }
    write_json(RESULTS, results)
    write_document(results)
    print(f"written to {DOCUMENT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
