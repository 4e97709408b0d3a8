#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares whole networks side by side with ONNX Runtime.

Every round lets each contestant run in turn, in rotating order, on the same
cores with the same number of threads, so that what the machine does meanwhile
falls on all of them. What is told is the median over the rounds of each
round's median, and the median over the rounds of the ratio. How idle threads
wait differs between the two and is out of scope. The numbers go to
benchmarks/results/NETWORK-bBATCH-tTHREADS.json, and those of several networks
with their geometric means to benchmarks/results/models-bBATCH.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import onnx
import onnxruntime

import peer
from machine import ROOT, describe_machine, write_json

GRAPH_OPT = ROOT / "build/bin/graph-opt"
BUILT = ROOT / "models/built"
WORK = ROOT / "build/benchmarks"
RESULTS = ROOT / "benchmarks/results"

NETWORKS = (
    "resnet18",
    "resnet50",
    "vgg16",
    "mobilenetv2",
    "squeezenet",
    "densenet121",
    "googlenet",
    "shufflenet",
)
DTYPES = ("fp32", "int8", "bf16", "fp16", "direct")
# "direct" is fp32 whose convolutions multiply all that they are defined by.
TRANSFORMS = ("conv-winograd-f2x3-v1", "conv-winograd-f4x3-v1", "conv-fft-v1")
WARM_UP = 3
# Every dtype takes part in every network, whatever the budget of a user may be:
# the errors of all contestants stand in the table.
MAX_ERROR = "0.5"

# Told as a ratio: the first is so many times as slow as the second.
RATIOS = (
    ("tarpon fp32", "ort fp32"),
    ("tarpon int8", "ort int8"),
    ("tarpon fp32", "tarpon int8"),
    ("tarpon fp32", "tarpon bf16"),
    ("tarpon bf16", "tarpon direct"),
    ("tarpon fp32", "tarpon fp16"),
    ("ort fp32", "ort int8"),
)


class BenchmarkError(Exception):
    """Something that a comparison needs cannot be had; the text says what."""


@dataclass
class Contestant:
    """One way to run a network, and the median of each of its rounds."""

    name: str
    error: float = 0.0
    rounds: list[float] = field(default_factory=list)
    peak_gflops: float | None = None

    def output(self, x: np.ndarray) -> np.ndarray:
        """The network's output for `x`."""
        raise NotImplementedError

    def measure(self, iterations: int) -> float:
        """Runs one round; returns its median in milliseconds."""
        raise NotImplementedError

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def deviation(self) -> float:
        """The median absolute deviation over the rounds."""
        return statistics.median(abs(time - self.median) for time in self.rounds)


class Peer(Contestant):
    """ONNX Runtime, in this process."""

    def __init__(self, name: str, path: Path, cores: list[int], batch: int) -> None:
        super().__init__(name)
        self.session = peer.session(path, cores, batch)
        self.input, shape = peer.input_of(onnx.load(path), batch)
        self.feed = {self.input: peer.seeded_input(shape, 0)}

    def output(self, x: np.ndarray) -> np.ndarray:
        return self.session.run(None, {self.input: x})[0]

    def measure(self, iterations: int) -> float:
        times = []
        for index in range(WARM_UP + iterations):
            start = time.perf_counter()
            self.session.run(None, self.feed)
            if index >= WARM_UP:
                times.append(time.perf_counter() - start)
        return 1e3 * statistics.median(times)


class Tarpon(Contestant):
    """A package that graph-opt compiled, in a process of its own."""

    def __init__(self, name: str, package: Path, input_name: str, threads: int) -> None:
        super().__init__(name)
        self.package = package
        self.input = input_name
        self.threads = threads

    def output(self, x: np.ndarray) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            image = Path(folder) / "input.npy"
            np.save(image, x)
            feed = f"{self.input}={image}"
            graph_opt("run", self.package, "--input", feed, "--output-dir", folder)
            return np.load(Path(folder) / "0.npy")

    def measure(self, iterations: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "perf.json"
            graph_opt(
                "perf", self.package, "--threads", str(self.threads),
                "--iterations", str(iterations), "--json", report,
            )
            numbers = json.loads(report.read_text())
        self.peak_gflops = numbers.get("peak_gflops", self.peak_gflops)
        return float(numbers["median_ms"])


def graph_opt(*arguments: str | Path) -> None:
    """Runs graph-opt, whose last line of stderr says why it failed."""
    process = subprocess.run(
        [GRAPH_OPT, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        errors="replace",
        text=True,
    )
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines() or ["no message"]
        raise BenchmarkError(
            f"graph-opt {arguments[0]} ended with {process.returncode}: {lines[-1]}"
        )


def compile_package(model: Path, dtype: str, threads: int, batch: int) -> Path:
    """Compiles `model` in one dtype, unless a newer package is there."""
    package = WORK / f"{model.stem}-{dtype}-b{batch}-t{threads}.tpn"
    sources = (model, GRAPH_OPT)
    if package.exists() and all(
        source.stat().st_mtime < package.stat().st_mtime for source in sources
    ):
        return package
    WORK.mkdir(parents=True, exist_ok=True)
    print(f"compiling {model.stem} in {dtype}", flush=True)
    shape = ("--threads", str(threads), "--batch", str(batch))
    record = package.with_suffix(".json")
    graph_opt(
        "compile", model, "--dtype", "fp32" if dtype == "direct" else dtype,
        "--layout", "pick_global", *shape, "--max-error", MAX_ERROR,
        "--tuning-file", record, "-o", package,
    )
    if dtype == "direct":
        avoid_transforms(record, threads)
        graph_opt("compile", model, *shape, "--replay", record, "-o", package)
    return package


def avoid_transforms(record: Path, threads: int) -> None:
    """Gives convolutions by transforms the best solution without them."""
    tuned = json.loads(record.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for layer in tuned["candidates"][tuned["winner"]]["layers"]:
            if layer["solver"] not in TRANSFORMS:
                continue
            found = Path(folder) / "found.json"
            disabled = [word for solver in TRANSFORMS for word in ("--disable-solver", solver)]
            graph_opt(
                "find", "--tune", *disabled, "--threads", str(threads), "--quiet",
                "--save", found, layer["problem"],
            )
            solution = json.loads(found.read_text())
            layer["solver"] = solution["solver"]
            fields = (item.split("=") for item in solution["config"].split(",") if item)
            layer["config"] = {name: int(value) for name, value in fields}
    record.write_text(json.dumps(tuned, indent=1) + "\n")


def build_network(name: str) -> Path:
    """Builds a network with Debian's onnx, as everything but this does."""
    command = ["/usr/bin/python3", ROOT / "models/build.py", name, "--output", BUILT]
    process = subprocess.run(command, stdin=subprocess.DEVNULL)
    if process.returncode != 0:
        raise BenchmarkError(f"models/build.py could not build {name}")
    return BUILT / f"{name}.onnx"


def contestants(
    model: Path, int8: Path, packages: dict[str, Path], cores: list[int], batch: int
) -> list[Contestant]:
    """All that take part, each with its error against ONNX Runtime in fp32."""
    input_name, shape = peer.input_of(onnx.load(model), batch)
    entrants: list[Contestant] = [
        Peer("ort fp32", model, cores, batch),
        Peer("ort int8", int8, cores, batch),
    ]
    for dtype, package in packages.items():
        entrants.append(Tarpon(f"tarpon {dtype}", package, input_name, len(cores)))
    x = peer.seeded_input(shape, 1000)
    wanted = entrants[0].output(x)
    for entrant in entrants:
        got = entrant.output(x)
        if got.shape != wanted.shape:
            raise BenchmarkError(f"{entrant.name} gives {got.shape}, not {wanted.shape}")
        difference = np.linalg.norm(got.astype(np.float64) - wanted)
        entrant.error = float(difference / np.linalg.norm(wanted))
    return entrants


def race(entrants: Sequence[Contestant], rounds: int, iterations: int) -> None:
    """Measures all contestants in turn, `rounds` times."""
    for index in range(rounds):
        print(f"\rround {index + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        turn = index % len(entrants)
        for entrant in (*entrants[turn:], *entrants[:turn]):
            entrant.rounds.append(entrant.measure(iterations))
    print("\r" + " " * 24 + "\r", end="", file=sys.stderr)


def ratios(entrants: Sequence[Contestant]) -> dict[str, float]:
    """The median over the rounds of the ratios of times."""
    by_name = {entrant.name: entrant for entrant in entrants}
    result = {}
    for upper, lower in RATIOS:
        if upper in by_name and lower in by_name:
            pairs = zip(by_name[upper].rounds, by_name[lower].rounds)
            result[f"{upper} / {lower}"] = statistics.median(a / b for a, b in pairs)
    return result


def report(
    name: str, entrants: Sequence[Contestant], flops: float, settings: dict[str, Any]
) -> dict[str, Any]:
    """Everything that was measured, for the results file."""
    peaks = [entrant.peak_gflops for entrant in entrants if entrant.peak_gflops]
    return {
        "schema": "tarpon.benchmark/1",
        "network": name,
        **describe_machine(),
        "versions": {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__},
        "settings": settings,
        "gflop": flops / 1e9,
        "peak_gflops": statistics.median(peaks) if peaks else None,
        "contestants": {
            entrant.name: {
                "median_ms": entrant.median,
                "mad_ms": entrant.deviation,
                "gflops": flops / 1e6 / entrant.median,
                "relative_l2": entrant.error,
                "rounds_ms": entrant.rounds,
            }
            for entrant in entrants
        },
        "ratios": ratios(entrants),
    }


def print_table(numbers: dict[str, Any]) -> None:
    """Prints one network's results."""
    settings, peak = numbers["settings"], numbers["peak_gflops"]
    measured = "not measured" if peak is None else f"{peak:.1f} GFLOP/s"
    print(
        f"\n{numbers['network']}, batch {settings['batch']}, "
        f"{settings['threads']} thread(s), {numbers['gflop']:.2f} GFLOP; "
        f"fp32 FMA peak {measured}"
    )
    print(f"{'':14}{'median ms':>11}{'mad':>8}{'GFLOP/s':>10}{'of peak':>9}{'rel. L2':>10}")
    for name, row in numbers["contestants"].items():
        share = "" if peak is None else f"{row['gflops'] / peak:.0%}"
        print(
            f"{name:14}{row['median_ms']:11.3f}{row['mad_ms']:8.3f}"
            f"{row['gflops']:10.1f}{share:>9}{row['relative_l2']:10.1e}"
        )
    for pair, ratio in numbers["ratios"].items():
        print(f"{pair:30}{ratio:8.3f}")


def write_results(numbers: dict[str, Any]) -> None:
    """Writes the results file of one network."""
    settings = numbers["settings"]
    stem = f"{numbers['network']}-b{settings['batch']}-t{settings['threads']}"
    path = RESULTS / f"{stem}.json"
    write_json(path, numbers)
    print(f"written to {path.relative_to(ROOT)}")


def compare(name: str, arguments: argparse.Namespace, threads: int) -> dict[str, Any]:
    """Compares one network, tells the result and returns it."""
    model = build_network(name)
    batch = arguments.batch
    cores = choose_cores(threads)
    int8 = peer.quantise(model, WORK, batch)
    packages = {
        dtype: compile_package(model, dtype, threads, batch)
        for dtype in arguments.dtypes
    }
    everywhere = os.sched_getaffinity(0)
    try:
        # This thread works for ONNX Runtime, and graph-opt inherits its cores.
        os.sched_setaffinity(0, cores)
        entrants = contestants(model, int8, packages, cores, batch)
        race(entrants, arguments.rounds, arguments.iterations)
    finally:
        os.sched_setaffinity(0, everywhere)
    settings = {
        "threads": threads,
        "batch": batch,
        "cores": cores,
        "rounds": arguments.rounds,
        "iterations": arguments.iterations,
    }
    numbers = report(name, entrants, peer.arithmetic(model, batch), settings)
    print_table(numbers)
    write_results(numbers)
    return numbers


# Reports on several networks

SUMMARY = (("tarpon fp32", "ort fp32"), ("tarpon int8", "ort int8"))


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def summarise(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each number of threads, the geometric mean and the worst of each ratio."""
    rows = []
    for threads in sorted({result["settings"]["threads"] for result in results}):
        row: dict[str, Any] = {"threads": threads, "networks": [], "ratios": {}}
        chosen = [r for r in results if r["settings"]["threads"] == threads]
        row["networks"] = [result["network"] for result in chosen]
        for upper, lower in RATIOS:
            pair = f"{upper} / {lower}"
            known = {r["network"]: r["ratios"][pair] for r in chosen if pair in r["ratios"]}
            if known:
                row["ratios"][pair] = {
                    "geometric_mean": geometric_mean(list(known.values())),
                    "worst": max(known.values()),
                    "worst_network": max(known, key=known.__getitem__),
                }
        rows.append(row)
    return rows


def speedups(results: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """How much faster two threads are than one, by network and contestant."""
    times = {
        (r["network"], r["settings"]["threads"], name): row["median_ms"]
        for r in results
        for name, row in r["contestants"].items()
    }
    result: dict[str, dict[str, float]] = {}
    for (network, threads, name), time_ms in times.items():
        if threads == 1 and (network, 2, name) in times:
            result.setdefault(network, {})[name] = time_ms / times[network, 2, name]
    return result


def print_summary(results: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> None:
    print("\nTarpon's time over ONNX Runtime's")
    for row in rows:
        print(f"\n{row['threads']} thread(s){'fp32':>12}{'int8':>8}")
        for result in results:
            if result["settings"]["threads"] == row["threads"]:
                cells = (result["ratios"].get(f"{a} / {b}") for a, b in SUMMARY)
                print(f"{result['network']:14}" + "".join(map(cell, cells)))
        means = (row["ratios"].get(f"{a} / {b}", {}) for a, b in SUMMARY)
        print(f"{'geometric mean':14}" + "".join(cell(m.get("geometric_mean")) for m in means))
    for network, by_name in speedups(results).items():
        ours = ", ".join(f"{name} {factor:.2f}" for name, factor in by_name.items())
        print(f"two threads over one, {network}: {ours}")


def cell(value: float | None) -> str:
    return f"{'-' if value is None else format(value, '.3f'):>8}"


def read_results(batch: int) -> list[dict[str, Any]]:
    """The results of each network, from this run or an earlier one."""
    return [
        json.loads(path.read_text())
        for path in sorted(RESULTS.glob(f"*-b{batch}-t*.json"))
    ]


def tell_all(batch: int) -> None:
    """Prints the summary of all results that there are and writes it."""
    results = read_results(batch)
    rows = summarise(results)
    print_summary(results, rows)
    path = RESULTS / f"models-b{batch}.json"
    write_json(
        path,
        {
            "schema": "tarpon.models/1",
            **describe_machine(),
            "summary": rows,
            "two_threads_over_one": speedups(results),
            "results": [
                {
                    key: r[key]
                    for key in ("network", "commit", "settings", "ratios", "contestants")
                }
                for r in results
            ],
        },
    )
    print(f"written to {path.relative_to(ROOT)}")


def choose_cores(threads: int) -> list[int]:
    """The last cores of this machine, one for each thread."""
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    if len(cores) < threads:
        raise BenchmarkError(f"{threads} threads need as many cores")
    return cores


def positive(text: str) -> int:
    """A whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def thread_list(text: str) -> list[int]:
    """Numbers of threads, separated by commas."""
    return [positive(number) for number in text.split(",")]


def network(text: str) -> str:
    """The name of a network, or all."""
    if text not in (*NETWORKS, "all"):
        raise argparse.ArgumentTypeError(f"unknown network '{text}'")
    return text


def dtype_list(text: str) -> list[str]:
    """Dtypes, separated by commas."""
    names = text.split(",")
    for name in names:
        if name not in DTYPES:
            raise argparse.ArgumentTypeError(f"unknown dtype '{name}'")
    return names


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/models",
        description="Compares whole networks side by side with ONNX Runtime.",
        epilog="example: benchmarks/models resnet50 --threads 2",
    )
    parser.add_argument(
        "names", nargs="*", type=network, metavar="NETWORK",
        help=", ".join((*NETWORKS, "all")) + "; default: all",
    )
    parser.add_argument(
        "--threads", type=thread_list, default=[1, 2], metavar="LIST",
        help="numbers of threads, default: 1,2",
    )
    parser.add_argument("--batch", type=positive, default=1, metavar="N")
    parser.add_argument("--rounds", type=positive, default=7, metavar="N")
    parser.add_argument("--iterations", type=positive, default=20, metavar="N")
    parser.add_argument(
        "--dtypes", type=dtype_list, default=list(DTYPES), metavar="LIST",
        help="what Tarpon compiles, of " + ",".join(DTYPES),
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    names = arguments.names or ["all"]
    if "all" in names:
        names = NETWORKS
    results, failures = [], 0
    for threads in arguments.threads:
        for name in names:
            try:
                results.append(compare(name, arguments, threads))
            except BenchmarkError as error:
                print(f"{name}, {threads} thread(s): {error}", file=sys.stderr)
                failures += 1
    if len(results) > 1:
        tell_all(arguments.batch)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
