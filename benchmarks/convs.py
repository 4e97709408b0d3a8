#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares Tarpon's convolutions with those of oneDNN and ONNX Runtime.

Shapes: benchmarks/problems/convs.txt. In every round each contestant runs in
turn on the same cores; the result is the median of all samples. Buffers rotate
over 8 MiB for all. Tarpon: nhwc, constant filter, bias and the layer's
activation, every config of every solver raced within --tuning-time; winners are
kept in build/benchmarks and only measured the next time. oneDNN: its own choice
of layouts and algorithm, without reorders. ONNX Runtime: see ort_conv.py; its
fp32 times include what it reorders at the model's border. int8 is u8 activations
and s8 weights, from 64 channels on. Writes benchmarks/results/convs-tTHREADS.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable

from machine import ROOT, describe_machine, write_json

LIST = ROOT / "benchmarks/problems/convs.txt"
RESULTS = ROOT / "benchmarks/results"
WORK = ROOT / "build/benchmarks"
PROGRAMS = ROOT / "build/bin"

DTYPES = ("fp32", "int8")
CONTESTANTS = ("tarpon", "onednn", "ort")
# vpdpbusd takes the place of fma; below, its vectors are not filled.
MIN_INT8_CHANNELS = 64
QUICK_SHAPES = 24
WORST = 10


class BenchmarkError(Exception):
    """Something that a comparison needs cannot be had; the text says what."""


# Shapes


@dataclass(frozen=True)
class Shape:
    """One line of the list."""

    n: int
    c: int
    h: int
    w: int
    k: int
    r: int
    s: int
    strides: tuple[int, int]
    pads: tuple[int, int, int, int]
    dilations: tuple[int, int]
    groups: int
    activation: str
    layers: tuple[str, ...]

    @staticmethod
    def parse(line: str) -> Shape:
        words = line.split()
        if len(words) != 18:
            raise BenchmarkError(f"{LIST.name}: not a shape: {line}")
        n, c, h, w, k, r, s, sh, sw, *rest = map(int, words[:16])
        return Shape(
            n, c, h, w, k, r, s, (sh, sw), tuple(rest[:4]), tuple(rest[4:6]),
            rest[6], words[16], tuple(words[17].split(",")),
        )

    @property
    def output(self) -> tuple[int, int]:
        top, left, bottom, right = self.pads
        return (
            (self.h + top + bottom - self.dilations[0] * (self.r - 1) - 1)
            // self.strides[0] + 1,
            (self.w + left + right - self.dilations[1] * (self.s - 1) - 1)
            // self.strides[1] + 1,
        )

    @property
    def networks(self) -> list[str]:
        return [layer.split("/")[0] for layer in self.layers]

    @property
    def kind(self) -> str:
        if self.groups > 1:
            return "depthwise" if self.groups == self.c else "grouped"
        return "1x1" if self.r == self.s == 1 else "dense"

    @property
    def text(self) -> str:
        """Short and readable: 1x64x56x56 k64 3x3 s2 g64."""
        text = f"{self.n}x{self.c}x{self.h}x{self.w} k{self.k} {self.r}x{self.s}"
        if self.strides != (1, 1):
            text += f" s{self.strides[0]}"
        return text + (f" g{self.groups}" if self.groups > 1 else "")

    def gemm(self) -> dict[str, int]:
        """The matrix product behind it, per image and group."""
        height, width = self.output
        return {
            "m": height * width,
            "n": self.k // self.groups,
            "k": self.c // self.groups * self.r * self.s,
        }

    def takes(self, dtype: str) -> bool:
        return dtype == "fp32" or (
            min(self.c, self.k) // self.groups >= MIN_INT8_CHANNELS
        )

    def request(self, dtype: str) -> str:
        """As onednn-conv wants it."""
        numbers = (
            self.n, self.c, self.h, self.w, self.k, self.r, self.s, *self.strides,
            *self.pads, *self.dilations, self.groups,
        )
        return f"conv {dtype} {self.activation} " + " ".join(map(str, numbers))

    def key(self, dtype: str) -> str:
        """Tarpon's problem key."""
        data, weight = ("f32", "f32") if dtype == "fp32" else ("u8q", "i8q")
        height, width = self.output
        filter_shape = f"{self.k}x{self.c // self.groups}x{self.r}x{self.s}"
        steps = {
            "none": "",
            "relu": " | relu",
            "relu6": " | clip {high=6 low=0}",
            "leaky": " | leaky_relu {alpha=0.1}",
        }
        top, left, bottom, right = self.pads
        return (
            f"conv({self.n}x{self.c}x{self.h}x{self.w}x{data}:nhwc, "
            f"{filter_shape}x{weight}:const; 1x{self.k}x1x1xf32:const)"
            f"->{self.n}x{self.k}x{height}x{width}x{data}:nhwc "
            f"{{dilations={self.dilations[0]},{self.dilations[1]} "
            f"group={self.groups} pads={top},{left},{bottom},{right} "
            f"strides={self.strides[0]},{self.strides[1]}}} | add(2)"
            + steps[self.activation]
        )


def read_shapes() -> list[Shape]:
    lines = LIST.read_text().splitlines()
    return [Shape.parse(line) for line in lines if line and line[0] != "#"]


def choose_shapes(shapes: list[Shape], quick: bool, only: str | None) -> list[Shape]:
    if quick:
        # Spread over the list, and so over the networks.
        step = len(shapes) / QUICK_SHAPES
        shapes = [shapes[int(index * step)] for index in range(QUICK_SHAPES)]
    if only:
        pattern = re.compile(only)
        shapes = [
            shape
            for shape in shapes
            if pattern.search(f"{shape.text} {','.join(shape.layers)}")
        ]
    if not shapes:
        raise BenchmarkError("no shape is left to measure")
    return shapes


# Contestants in processes of their own


class Server:
    """A program that answers a line of JSON to each line."""

    def __init__(self, command: list[str | Path], environment: dict[str, str]) -> None:
        self.command = command
        self.environment = {**os.environ, **environment}
        self.process: subprocess.Popen[str] | None = None

    def ask(self, request: str) -> dict[str, Any]:
        """The answer; an error if there is none, and a new process next time."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                env=self.environment, text=True,
            )
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait()
            self.process = None
            name = Path(self.command[0]).name
            raise BenchmarkError(f"{name} ended with {status} at: {request}")
        answer = json.loads(line)
        if "error" in answer:
            raise BenchmarkError(answer["error"])
        return answer


@dataclass
class Run:
    """The state of a run of this script."""

    arguments: argparse.Namespace
    tarpon: Server
    onednn: Server
    peaks: dict[str, Any]
    winners: dict[str, Any]
    winners_path: Path
    failures: list[str] = field(default_factory=list)


def find_winner(run: Run, key: str) -> dict[str, Any]:
    """The solution of a problem, loaded; raced if none is known that fits."""
    known = run.winners.get(key)
    if known and not run.arguments.retune:
        try:
            loaded = run.tarpon.ask(f"load\t{known['solver']}\t{known['config']}\t{key}")
            return {**known, **loaded}
        except BenchmarkError:
            pass  # from another version: raced anew
    found = run.tarpon.ask(f"tune\t{run.arguments.tuning_time}\t{key}")
    run.winners[key] = found
    loaded = run.tarpon.ask(f"load\t{found['solver']}\t{found['config']}\t{key}")
    return {**found, **loaded}


Sampler = Callable[[float], list[float]]


def prepare(run: Run, shape: Shape, dtype: str) -> tuple[dict[str, Any], dict[str, Sampler]]:
    """A row of the results, and how to take samples of each contestant."""
    from ort_conv import OrtConv

    key = shape.key(dtype)
    winner = find_winner(run, key)
    implementation = run.onednn.ask(shape.request(dtype))["implementation"]
    peer = OrtConv(shape, dtype, run.arguments.threads)
    row = {
        "shape": shape.text,
        "layers": list(shape.layers),
        "kind": shape.kind,
        "dtype": dtype,
        "problem": key,
        "solver": winner["solver"],
        "config": winner["config"],
        "candidates": winner["candidates"],
        "measured_candidates": winner["measured"],
        "rejected": winner["rejected"],
        "onednn_implementation": implementation,
        "gflop": winner["flops"] / 1e9,
        "bytes": winner["bytes"],
        "gemm": shape.gemm(),
    }
    samplers: dict[str, Sampler] = {
        "tarpon": lambda ms: run.tarpon.ask(f"time\t{ms}")["samples_ms"],
        "onednn": lambda ms: run.onednn.ask(f"time {ms}")["samples_ms"],
        "ort": peer.sample,
    }
    return row, samplers


def rate(row: dict[str, Any], peaks: dict[str, Any]) -> None:
    """Adds rates, fractions of the peak and the roofline."""
    gflop, size = row["gflop"], row["bytes"]
    peak = peaks["gflops"][row["dtype"]]
    row["intensity"] = 1e9 * gflop / size
    row["roofline_gflops"] = min(peak, row["intensity"] * peaks["gbps"])
    for name in CONTESTANTS:
        numbers = row[name]
        numbers["gflops"] = 1e3 * gflop / numbers["median_ms"]
        numbers["peak"] = numbers["gflops"] / peak
        numbers["gbps"] = 1e-6 * size / numbers["median_ms"]
    row["roofline"] = row["tarpon"]["gflops"] / row["roofline_gflops"]
    for name in CONTESTANTS[1:]:
        row[f"tarpon/{name}"] = row["tarpon"]["median_ms"] / row[name]["median_ms"]


def measure(run: Run, shape: Shape, dtype: str) -> dict[str, Any]:
    """One row of the results."""
    row, samplers = prepare(run, shape, dtype)
    samples: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    for turn in range(run.arguments.rounds):
        order = (*CONTESTANTS[turn % 3 :], *CONTESTANTS[: turn % 3])
        for name in order:
            samples[name] += samplers[name](run.arguments.round_time)
    for name in CONTESTANTS:
        middle = statistics.median(samples[name])
        row[name] = {
            "median_ms": middle,
            "mad_ms": statistics.median(abs(x - middle) for x in samples[name]),
            "min_ms": min(samples[name]),
            "samples": len(samples[name]),
        }
    rate(row, run.peaks)
    return row


# Reports


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means over rows."""
    return {
        "shapes": len(rows),
        "peak": geometric_mean(row["tarpon"]["peak"] for row in rows),
        "onednn_peak": geometric_mean(row["onednn"]["peak"] for row in rows),
        "ort_peak": geometric_mean(row["ort"]["peak"] for row in rows),
        "roofline": geometric_mean(row["roofline"] for row in rows),
        "tarpon/onednn": geometric_mean(row["tarpon/onednn"] for row in rows),
        "tarpon/ort": geometric_mean(row["tarpon/ort"] for row in rows),
    }


def summaries(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By network, by kind of convolution, by batch and overall."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        names = [layer.split("/")[0] for layer in row["layers"]]
        batch = row["shape"].split("x")[0]
        for name in (*names, row["kind"], f"batch {batch}", "all"):
            groups.setdefault(name, []).append(row)
    order = sorted(groups, key=lambda name: name == "all")
    return {name: summarise(groups[name]) for name in order}


# Lanes of 32 bits in a vector.
LANES = 16
# Launching and packing are felt in anything shorter.
SHORT_MS = 0.05


def reasons(row: dict[str, Any], peak: float) -> str:
    """The reasons that keep a shape from the peak, as far as its numbers tell."""
    found = []
    allowed = row["roofline_gflops"] / peak
    if allowed < 0.9:
        found.append(f"memory bandwidth allows {allowed:.0%}")
    if row["kind"] == "depthwise":
        found.append("depthwise: no input is used by two channels")
    else:
        channels, products = row["gemm"]["n"], row["gemm"]["k"]
        used = channels / (LANES * math.ceil(channels / LANES))
        if used < 0.9:
            found.append(f"{used:.0%} of the lanes have an output channel")
        if products <= 4 * LANES:
            found.append(f"only {products} products per stored result")
    if row["tarpon"]["median_ms"] < SHORT_MS:
        found.append(f"{1000 * row['tarpon']['median_ms']:.0f} us: launch and packing count")
    return "; ".join(found) or "no limit known"


def worst(rows: list[dict[str, Any]], peak: float) -> list[dict[str, Any]]:
    """The rows that are furthest from the peak."""
    order = sorted(rows, key=lambda row: row["tarpon"]["peak"])[:WORST]
    return [
        {
            "shape": row["shape"],
            "layers": row["layers"],
            "peak": row["tarpon"]["peak"],
            "roofline": row["roofline"],
            "bytes": row["bytes"],
            "intensity": row["intensity"],
            "gemm": row["gemm"],
            "tarpon/onednn": row["tarpon/onednn"],
            "reason": reasons(row, peak),
        }
        for row in order
    ]


def line_of(row: dict[str, Any]) -> str:
    return (
        f"{row['dtype']:5}{row['shape']:36}"
        + "".join(f"{row[name]['median_ms']:10.4f}" for name in CONTESTANTS)
        + f"{row['tarpon/onednn']:8.2f}{row['tarpon/ort']:8.2f}"
        + f"{row['tarpon']['gflops']:9.1f}{row['tarpon']['peak']:7.0%}"
        + f"{row['onednn']['peak']:7.0%}{row['roofline']:7.0%}"
        + f"  {row['solver']} {row['config']}"
    )


def print_header() -> None:
    print(
        f"{'':5}{'shape':36}{'tarpon ms':>10}{'onednn':>10}{'ort':>10}{'/onednn':>8}"
        f"{'/ort':>8}{'GFLOP/s':>9}{'peak':>7}{'onednn':>7}{'roof':>7}  solution"
    )


def print_report(report: dict[str, Any]) -> None:
    for dtype, part in report["dtypes"].items():
        print(f"\n{dtype}, geometric means; peak {part['peak_gflops']:.0f} GFLOP/s")
        print(
            f"{'':18}{'shapes':>7}{'peak':>7}{'onednn':>8}{'ort':>7}{'roofline':>10}"
            f"{'tarpon/onednn':>15}{'tarpon/ort':>12}"
        )
        for name, mean in part["means"].items():
            print(
                f"{name:18}{mean['shapes']:7}{mean['peak']:7.1%}"
                f"{mean['onednn_peak']:8.1%}{mean['ort_peak']:7.1%}"
                f"{mean['roofline']:10.1%}{mean['tarpon/onednn']:15.3f}"
                f"{mean['tarpon/ort']:12.3f}"
            )
        print(f"\n{dtype}, furthest from the peak")
        print(f"{'shape':36}{'peak':>7}{'roof':>7}{'KiB':>9}{'flop/B':>8}{'/onednn':>8}  reason")
        for row in part["worst"]:
            print(
                f"{row['shape']:36}{row['peak']:7.0%}{row['roofline']:7.0%}"
                f"{row['bytes'] / 1024:9.0f}{row['intensity']:8.1f}"
                f"{row['tarpon/onednn']:8.2f}  {row['reason']}"
            )


def make_report(run: Run, rows: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    import onnxruntime

    arguments = run.arguments
    parts = {}
    for dtype in arguments.dtype:
        chosen = [row for row in rows if row["dtype"] == dtype]
        if chosen:
            parts[dtype] = {
                "peak_gflops": run.peaks["gflops"][dtype],
                "means": summaries(chosen),
                "worst": worst(chosen, run.peaks["gflops"][dtype]),
            }
    return {
        "schema": "tarpon.convs/1",
        **describe_machine(),
        "versions": {"onnxruntime": onnxruntime.__version__, "onednn": onednn_version()},
        "settings": {
            "threads": arguments.threads,
            "rounds": arguments.rounds,
            "round_ms": arguments.round_time,
            "tuning_seconds": arguments.tuning_time,
            "quick": arguments.quick,
            "only": arguments.only,
        },
        "seconds": seconds,
        "peaks": run.peaks,
        "failures": run.failures,
        "dtypes": parts,
        "rows": rows,
    }


def onednn_version() -> str:
    process = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "libdnnl-dev"],
        capture_output=True, text=True,
    )
    return process.stdout.strip() or "unknown"


# The command line


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def dtype_list(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in DTYPES:
            raise argparse.ArgumentTypeError(f"unknown dtype '{name}'")
    return names


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/convs", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: benchmarks/convs --only 'resnet50/' --dtype fp32",
    )
    parser.add_argument("--only", metavar="REGEX", help="shapes or layers that match")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SHAPES} shapes")
    parser.add_argument("--dtype", type=dtype_list, default=list(DTYPES), metavar="LIST")
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    parser.add_argument(
        "--cores", metavar="LIST", help="as 0,1; default: the last ones of this machine"
    )
    parser.add_argument("--rounds", type=positive, default=5, metavar="N")
    parser.add_argument("--round-time", type=float, default=4, metavar="MS")
    parser.add_argument(
        "--tuning-time", type=float, default=2.0, metavar="S",
        help="for the race of one problem (2)",
    )
    parser.add_argument(
        "--keys", action="store_true",
        help="measure nothing: print the problems, for 'graph-opt tune'",
    )
    parser.add_argument("--retune", action="store_true", help="forget the winners")
    parser.add_argument(
        "--output", type=Path, metavar="FILE",
        help="default: benchmarks/results/convs-tTHREADS.json for a whole run, "
        "build/benchmarks for a part",
    )
    return parser.parse_args()


def choose_cores(arguments: argparse.Namespace) -> list[int]:
    if arguments.cores:
        cores = [int(core) for core in arguments.cores.split(",")]
    else:
        cores = sorted(os.sched_getaffinity(0))[-arguments.threads :]
    if len(cores) != arguments.threads:
        raise BenchmarkError(f"{arguments.threads} threads need as many cores")
    return cores


def start(arguments: argparse.Namespace) -> Run:
    """Starts the other contestants, on this process's cores."""
    import onnxruntime

    threads = arguments.threads
    if threads > 1:
        onnxruntime.set_global_thread_pool_sizes(threads, 1)
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"convs-winners-t{threads}.json"
    winners = json.loads(path.read_text()) if path.exists() else {}
    tarpon = Server([PROGRAMS / "conv-benchmark", str(threads)], {})
    onednn = Server([PROGRAMS / "onednn-conv"], {"OMP_NUM_THREADS": str(threads)})
    if not (PROGRAMS / "onednn-conv").exists():
        raise BenchmarkError("onednn-conv is not built: install libdnnl-dev and build again")
    return Run(arguments, tarpon, onednn, tarpon.ask("peaks"), winners, path)


def measure_all(run: Run, shapes: list[Shape]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    print_header()
    for dtype in run.arguments.dtype:
        for shape in shapes:
            if not shape.takes(dtype):
                continue
            try:
                rows.append(measure(run, shape, dtype))
                print(line_of(rows[-1]), flush=True)
            except BenchmarkError as error:
                run.failures.append(f"{dtype} {shape.text}: {error}")
                print(f"{dtype:5}{shape.text}: {error}", file=sys.stderr, flush=True)
            write_json(run.winners_path, run.winners)
    return rows


def print_keys(shapes: list[Shape], dtypes: list[str]) -> None:
    for dtype in dtypes:
        for shape in shapes:
            if shape.takes(dtype):
                print(shape.key(dtype))


def main() -> int:
    arguments = parse_arguments()
    try:
        shapes = choose_shapes(read_shapes(), arguments.quick, arguments.only)
        if arguments.keys:
            print_keys(shapes, arguments.dtype)
            return 0
        os.sched_setaffinity(0, choose_cores(arguments))
        begin = time.monotonic()
        run = start(arguments)
        rows = measure_all(run, shapes)
    except BenchmarkError as error:
        print(f"benchmarks/convs: {error}", file=sys.stderr)
        return 1
    if not rows:
        print("benchmarks/convs: nothing could be measured", file=sys.stderr)
        return 1
    report = make_report(run, rows, time.monotonic() - begin)
    print_report(report)
    part = arguments.quick or arguments.only or arguments.dtype != list(DTYPES)
    folder = WORK if part else RESULTS
    path = arguments.output or folder / f"convs-t{arguments.threads}.json"
    write_json(path, report)
    print(f"\n{report['seconds']:.0f} s; written to {path}")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
