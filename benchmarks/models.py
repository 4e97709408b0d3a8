#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares whole networks side by side with the fastest of three peers.

Every contestant loads the network in a process of its own, on the same cores,
with a thread for each. In every round each contestant runs in turn, in rotating
order. What is told is the median over the rounds of each round's median, and the
median over the rounds of the ratio to the peer that is the fastest in the
network. The numbers go to benchmarks/results/models-CPU.json.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import onnx

import model_results
import packages
from contestants import Contestant, Field, compare_outputs
from machine import ROOT, BenchmarkError, describe_machine
from model_results import PEERS, ModelResults
from onnx_models import arithmetic, input_of
from packages import CHOICES, WORK
from runners.job import UNOPTIMISED, Job

sys.path.insert(0, str(ROOT / "models/zoo"))
import networks as zoo  # noqa: E402

BUILT = ROOT / "models/built"
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
ZOO = tuple(network.name for network in zoo.NETWORKS)
QUANTISED = tuple(network.name for network in zoo.QUANTISED_NETWORKS)
EXPORTED = {*ZOO, *QUANTISED}
LISTS = {"models": NETWORKS, "zoo": ZOO, "all": (*NETWORKS, *ZOO), "quantised": QUANTISED}
KNOWN = (*LISTS["all"], *QUANTISED)

# Those that stand in tables; the others are for who looks into something.
DEFAULT_CHOICES = ("fp32", "untuned", "int8")
INT8_PEERS = ("onnxruntime", "openvino")
# What outputs are compared with, also where it is not among the peers.
REFERENCE = "onnxruntime fp32"
# A contestant in fp32 that is further from the reference is wrong.
MAX_FP32_ERROR = 1e-3
# The same of a network that was quantised before it came here: sums that are added in
# another order are rounded to the neighbouring step here and there.
MAX_QUANTISED_ERROR = 0.02
INPUT_SEED = 1000

# Seconds that a network takes before it is measured, but for the time of tuning;
# from runs on two cores of a Zen 5.
PREPARATION = {
    "export": 20,
    "tarpon": 20,
    "onnxruntime int8": 30,
    "openvino int8": 60,
    "torch fp32": 120,
}
START_S = 5
# What a round takes beyond what it was asked for: warm-up, and slow networks.
ROUND_FACTOR = 1.8


def list_contestants(arguments: argparse.Namespace) -> list[str]:
    """Who takes part."""
    peers = [f"{peer} fp32" for peer in arguments.peers]
    if "int8" in arguments.choices:
        peers += [f"{peer} int8" for peer in arguments.peers if peer in INT8_PEERS]
    return [*peers, *(f"tarpon {choice}" for choice in arguments.choices)]


def estimate(name: str, arguments: argparse.Namespace, before: dict[str, Any] | None) -> float:
    """The seconds that a network will take: those of the time before, if the same
    was measured then."""
    wanted = list_contestants(arguments)
    if before and "seconds" in before and set(wanted) <= {*before["contestants"], *before["missing"]}:
        return float(before["seconds"])
    total = PREPARATION["export"] if name in EXPORTED else 0
    for contestant in wanted:
        kind = "tarpon" if contestant in CHOICES else contestant
        total += PREPARATION.get(kind, 0) + START_S
        if contestant in CHOICES and CHOICES[contestant].is_tuned:
            total += arguments.tuning_time
    return total + arguments.rounds * len(wanted) * arguments.seconds * ROUND_FACTOR


def format_time(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def run_tool(what: str, command: Sequence[str | Path], log: Path) -> None:
    """Runs a program for minutes; what it says goes to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    if process.returncode != 0:
        lines = log.read_text(errors="replace").strip().splitlines() or ["no message"]
        raise BenchmarkError(f"{what}: {lines[-1]}")


def build_network(name: str) -> Path:
    """Builds or exports a network unless it is there."""
    log = WORK / f"{name}.log"
    if name in EXPORTED:
        run_tool("export", [sys.executable, ROOT / "models/zoo/export.py", name], log)
        return ROOT / f"build/zoo/{name}.onnx"
    # With Debian's onnx, as everything but the benchmarks does.
    builder = ["/usr/bin/python3", ROOT / "models/build.py", name, "--output", BUILT]
    run_tool("models/build.py", builder, log)
    return BUILT / f"{name}.onnx"


def quantise(model: Path, peer: str) -> Path:
    """The int8 model of a peer, made unless it is there and newer."""
    result = WORK / f"{model.stem}-{peer}-int8{'.xml' if peer == 'openvino' else '.onnx'}"
    if not result.exists() or result.stat().st_mtime < model.stat().st_mtime:
        WORK.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, ROOT / "benchmarks/quantise.py", peer, model, result]
        run_tool("quantisation", command, WORK / f"{model.stem}-{peer}-int8.log")
    return result


class Comparison:
    """One network on a number of threads."""

    def __init__(self, name: str, arguments: argparse.Namespace, threads: int) -> None:
        self.name = name
        self.arguments = arguments
        self.cores = choose_cores(threads)
        self.field = Field()
        self.is_quantised = name in QUANTISED

    def make_job(self, contestant: str, model: Path, shape: Sequence[int]) -> Job:
        """What a contestant's process is to run; compiles or quantises it first."""
        runner, dtype = contestant.split()
        file, extra = str(model), ""
        if runner == "tarpon":
            file = str(
                packages.compile_package(
                    self.name, model, contestant, len(self.cores), shape[0],
                    self.arguments.tuning_time,
                )
            )
            extra = str(packages.LIBRARY)
        elif dtype == "int8":
            file = str(quantise(model, runner))
        elif runner == "torch" and self.name in ZOO:
            file = f"zoo:{self.name}"
        return Job(runner, file, tuple(self.cores), tuple(shape), extra)

    def enter(self, wanted: Sequence[str], model: Path) -> None:
        """Starts all contestants, and compares their outputs with the reference's.
        Without a reference nobody is right: there is no comparison."""
        x = input_of(onnx.load(model), self.arguments.batch).draw(INPUT_SEED)
        reference = self.find_reference(REFERENCE in wanted, model, x)
        for name in wanted:
            if name == REFERENCE and not self.is_quantised:
                continue
            try:
                job = self.make_job(name, model, x.shape)
            except BenchmarkError as error:
                self.field.missing[name] = str(error)
                continue
            contestant = Contestant(name, job)
            got = self.field.add(contestant, x, self.log_of(name))
            if got is None:
                continue
            contestant.error = compare_outputs(got, reference)
            # Not a number is no agreement either.
            if not contestant.error <= self.find_limit(name):
                reason = f"wrong: relative L2 {contestant.error:.1e} from {REFERENCE}"
                self.field.remove(contestant, reason)

    def find_limit(self, contestant: str) -> float:
        """The error above which a contestant is wrong."""
        if not contestant.endswith(("fp32", "untuned", "direct")):
            return 1.0
        if not self.is_quantised:
            return MAX_FP32_ERROR
        # ONNX Runtime with its optimisations is no less the one to be faster than.
        return 1.0 if contestant == REFERENCE else MAX_QUANTISED_ERROR

    def log_of(self, contestant: str) -> Path:
        return WORK / f"{self.name}-{contestant.replace(' ', '-')}.log"

    def find_reference(self, takes_part: bool, model: Path, x: np.ndarray) -> np.ndarray:
        """The output that is right. Who gives it stays in the field if it takes part,
        except for a quantised network, of which optimisations make other roundings than
        the model asks for: the reference runs without them."""
        job = self.make_job(REFERENCE, model, x.shape)
        if self.is_quantised:
            job, takes_part = replace(job, extra=UNOPTIMISED), False
        contestant = Contestant(REFERENCE, job)
        output = self.field.add(contestant, x, self.log_of(REFERENCE))
        if output is None:
            raise BenchmarkError(f"no reference: {REFERENCE}: {self.field.missing[REFERENCE]}")
        if not np.isfinite(output).all() or not output.any():
            raise BenchmarkError(f"no reference: {REFERENCE}: nothing can be compared with its output")
        if not takes_part:
            contestant.close()
            self.field.runners.remove(contestant)
        return output

    def describe(self, model: Path, seconds: float) -> dict[str, Any]:
        """Everything that was measured, for the results file."""
        measured = {runner.name: runner.describe() for runner in self.field.runners}
        return {
            "network": self.name,
            **describe_machine(),
            **describe_run(self.arguments, self.cores),
            "gflop": round(arithmetic(model, self.arguments.batch) / 1e9, 4),
            "seconds": round(seconds),
            "contestants": measured,
            "missing": self.field.missing,
            "ratios": model_results.compute_ratios(measured),
        }

    def run(self) -> dict[str, Any]:
        start = time.monotonic()
        try:
            model = build_network(self.name)
            self.enter(list_contestants(self.arguments), model)
            self.field.race(
                self.arguments.rounds, self.arguments.seconds, choose_clock(self.arguments, self.cores)
            )
        finally:
            self.field.close()
        return self.describe(model, time.monotonic() - start)

    def print_profiles(self) -> None:
        """The time of the layers of each package that took part."""
        for runner in self.field.runners:
            if runner.job.runner == "tarpon":
                print(f"\n{self.name}, {runner.name}: ", end="")
                packages.print_profile(packages.profile(runner.job.path, len(self.cores)))


def choose_clock(arguments: argparse.Namespace, cores: Sequence[int]) -> str:
    """CPU time leaves out what a busy machine gives to others, but is the time of a
    run only where that has one thread."""
    return "cpu" if arguments.provisional and len(cores) == 1 else "wall"


def describe_run(arguments: argparse.Namespace, cores: Sequence[int]) -> dict[str, Any]:
    """The programs and settings that a result is valid for."""
    return {
        "provisional": arguments.provisional,
        "program": packages.digest_program(),
        "versions": {peer: importlib.metadata.version(peer) for peer in arguments.peers},
        "settings": {
            "threads": len(cores),
            "batch": arguments.batch,
            "cores": list(cores),
            "rounds": arguments.rounds,
            "seconds_per_round": arguments.seconds,
            "tuning_seconds": arguments.tuning_time,
            "clock": choose_clock(arguments, cores),
        },
    }


def print_entry(entry: dict[str, Any]) -> None:
    """Prints the results of one network."""
    settings = entry["settings"]
    print(
        f"\n{entry['network']}, batch {settings['batch']}, {settings['threads']} thread(s), "
        f"{entry['gflop']:.2f} GFLOP; {entry['seconds']} s"
    )
    print(f"{'':20}{'median ms':>11}{'mad':>9}{'GFLOP/s':>10}{'CPUs':>6}{'rel. L2':>10}{'ratio':>8}")
    for name, row in entry["contestants"].items():
        ratio = entry["ratios"].get(name)
        print(
            f"{name:20}{row['median_ms']:11.3f}{row['mad_ms']:9.3f}"
            f"{entry['gflop'] / row['median_ms'] * 1e3:10.1f}{row['cpus']:6.2f}"
            f"{row['relative_l2']:10.1e}" + ("" if ratio is None else f"{ratio:8.3f}")
        )
    for name, reason in entry["missing"].items():
        print(f"{name:20}missing: {reason}")
    sys.stdout.flush()


def print_means(entries: Sequence[dict[str, Any]]) -> None:
    """The geometric mean and the worst of each ratio to the fastest peer."""
    for name in model_results.JUDGED:
        ratios = {e["network"]: e["ratios"][name] for e in entries if name in e["ratios"]}
        if ratios:
            worst = max(ratios, key=ratios.__getitem__)
            print(
                f"{name} over the fastest peer: {len(ratios)} networks, geometric mean "
                f"{model_results.compute_geometric_mean(list(ratios.values())):.3f}, "
                f"worst {ratios[worst]:.3f} ({worst})"
            )


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
    """The name of a network."""
    if text not in KNOWN:
        raise argparse.ArgumentTypeError(f"unknown network '{text}'")
    return text


class OneOf:
    """Names of a table, separated by commas."""

    def __init__(self, what: str, known: Sequence[str]) -> None:
        self.what, self.known = what, known

    def __call__(self, text: str) -> list[str]:
        for name in (names := text.split(",")):
            if name not in self.known:
                raise argparse.ArgumentTypeError(f"unknown {self.what} '{name}'")
        return names


def parse_arguments() -> argparse.Namespace:
    choices = [name.removeprefix("tarpon ") for name in CHOICES]
    parser = argparse.ArgumentParser(
        prog="benchmarks/models",
        description="Compares whole networks side by side with the fastest of "
        + ", ".join(PEERS.values()) + ".",
        epilog="example: benchmarks/models --list all --threads 1",
    )
    parser.add_argument(
        "names", nargs="*", type=network, metavar="NETWORK",
        help=", ".join(KNOWN),
    )
    parser.add_argument(
        "--list", choices=LISTS, default="all",
        help="the networks, where none is named: those of models/, of scripts/zoo, all of "
        "these (default), or those that three quantisers have quantised",
    )
    parser.add_argument(
        "--threads", type=thread_list, default=[1, 2], metavar="LIST",
        help="numbers of threads, default: 1,2",
    )
    parser.add_argument("--batch", type=positive, default=1, metavar="N", help="of models/ alone")
    parser.add_argument("--rounds", type=positive, default=7, metavar="N")
    parser.add_argument(
        "--seconds", type=float, default=0.5, metavar="S",
        help="for each round of each contestant, default: 0.5",
    )
    parser.add_argument(
        "--tuning-time", type=positive, default=120, metavar="S",
        help="for each tuned network and dtype, default: 120",
    )
    parser.add_argument(
        "--choices", type=OneOf("choice", choices), default=list(DEFAULT_CHOICES), metavar="LIST",
        help=f"what Tarpon compiles, of {','.join(choices)}; default: {','.join(DEFAULT_CHOICES)}",
    )
    parser.add_argument(
        "--peers", type=OneOf("peer", list(PEERS)), default=list(PEERS), metavar="LIST",
        help=f"of {','.join(PEERS)}; default: all",
    )
    parser.add_argument(
        "--profile", action="store_true", help="tell where Tarpon's time goes in each network"
    )
    parser.add_argument(
        "--provisional", action="store_true",
        help="mark the results: the machine is not quiet. They never replace others",
    )
    parser.add_argument(
        "--again", action="store_true",
        help="measure also what this commit has measured with these settings",
    )
    parser.add_argument(
        "--estimate", action="store_true", help="tell how long it will take, and stop"
    )
    return parser.parse_args()


class Run:
    """All networks and numbers of threads that were asked for."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.results = ModelResults.open(packages.describe_cpu())
        self.names = arguments.names or LISTS[arguments.list]
        self.todo = [
            (name, threads)
            for threads in arguments.threads
            for name in self.names
            if not self.is_done(name, threads)
        ]

    def is_done(self, name: str, threads: int) -> bool:
        key = (name, self.arguments.batch, threads)
        like = describe_run(self.arguments, choose_cores(threads))
        wanted = list_contestants(self.arguments)
        return not self.arguments.again and self.results.has(key, wanted, like)

    def estimate(self, todo: Sequence[tuple[str, int]]) -> float:
        entries, batch = self.results.entries, self.arguments.batch
        return sum(
            estimate(name, self.arguments, entries.get((name, batch, threads)))
            for name, threads in todo
        )

    def print_plan(self) -> None:
        total = len(self.names) * len(self.arguments.threads)
        print(
            f"{total} comparisons on {self.results.cpu}, {total - len(self.todo)} of them done "
            f"before; the others take about {format_time(self.estimate(self.todo))}",
            flush=True,
        )

    def measure(self) -> int:
        """Returns the number of networks that could not be compared."""
        failures = 0
        for index, (name, threads) in enumerate(self.todo):
            try:
                comparison = Comparison(name, self.arguments, threads)
                entry = comparison.run()
            except BenchmarkError as error:
                print(f"{name}, {threads} thread(s): {error}", file=sys.stderr)
                failures += 1
                continue
            print_entry(entry)
            self.keep(entry)
            if self.arguments.profile:
                comparison.print_profiles()
            if rest := self.todo[index + 1 :]:
                print(f"\n{len(rest)} left, about {format_time(self.estimate(rest))}", flush=True)
        return failures

    def keep(self, entry: dict[str, Any]) -> None:
        """Writes an entry, unless it is provisional and there is a better one."""
        before = self.results.entries.get(model_results.key_of(entry))
        if entry["provisional"] and before and not before["provisional"]:
            print("not written: there are results that are not provisional")
            return
        self.results.add(entry)

    def print_summary(self) -> None:
        for threads in self.arguments.threads:
            keys = [(name, self.arguments.batch, threads) for name in self.names]
            entries = [self.results.entries[key] for key in keys if key in self.results.entries]
            print(f"\n{threads} thread(s), {self.results.cpu}")
            print_means(entries)


def main() -> int:
    run = Run(parse_arguments())
    run.print_plan()
    if run.arguments.estimate:
        return 0
    failures = run.measure()
    run.print_summary()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
