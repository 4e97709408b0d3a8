# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that benchmarks/models compares, each in a process of its own."""

from __future__ import annotations

import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Sequence

import numpy as np

from machine import ROOT, BenchmarkError
from runners.job import Job

WORKER = ROOT / "benchmarks/worker.py"
# Between a contestant's start and its first answer: torch.compile compiles for
# minutes, where the machine is busy.
START_LIMIT_S = 1800
ROUND_LIMIT_S = 300


def environment(cores: Sequence[int]) -> dict[str, str]:
    """Where each runner's threads go. Those of OpenMP are PyTorch's."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(len(cores)),
        "OMP_PLACES": ",".join(f"{{{core}}}" for core in cores),
        "OMP_PROC_BIND": "close",
        # PyTorch's compiler is GCC, whatever builds Tarpon.
        "CXX": "g++",
        "TORCHINDUCTOR_CACHE_DIR": str(ROOT / "build/benchmarks/inductor"),
    }


@dataclass
class Contestant:
    """One way to run a network, and the median of each of its rounds."""

    name: str
    job: Job
    error: float = 0.0
    cpus: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None
    log: IO[str] | None = None

    def start(self, log: Path) -> None:
        """Loads the network, in a process that stays until close()."""
        self.log = log.open("w")
        self.process = subprocess.Popen(
            [sys.executable, WORKER, self.job.to_json()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            env=environment(self.job.cores), text=True,
        )
        self.read(START_LIMIT_S)

    def read(self, limit_s: float) -> dict[str, Any]:
        """The next answer of the process."""
        assert self.process and self.process.stdout and self.log
        if not select.select([self.process.stdout], [], [], limit_s)[0]:
            raise BenchmarkError(f"no answer within {limit_s:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise BenchmarkError(f"it ended with {self.process.wait()}: see {self.log.name}")
        answer = json.loads(line)
        if "error" in answer:
            raise BenchmarkError(answer["error"])
        return answer

    def ask(self, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        assert self.process and self.process.stdin
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # The answer, or its absence, says why.
        return self.read(limit_s)

    def output(self, x: np.ndarray) -> np.ndarray:
        """The network's output for `x`, which is its input from then on."""
        with tempfile.TemporaryDirectory() as folder:
            source, result = Path(folder) / "input.npy", Path(folder) / "output.npy"
            np.save(source, x)
            self.ask({"input": str(source), "output": str(result)}, START_LIMIT_S)
            return np.load(result)

    def measure(self, seconds: float, clock: str) -> None:
        """Runs one round."""
        answer = self.ask({"seconds": seconds, "clock": clock}, ROUND_LIMIT_S)
        self.rounds.append(answer["median_ms"])
        self.cpus.append(answer["cpus"])

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None
        if self.log:
            self.log.close()
            self.log = None

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def describe(self) -> dict[str, Any]:
        """What was measured, for a results file."""
        deviation = statistics.median(abs(time - self.median) for time in self.rounds)
        return {
            "median_ms": round(self.median, 4),
            "mad_ms": round(deviation, 4),
            "relative_l2": float(f"{self.error:.3g}"),
            "cpus": round(statistics.median(self.cpus), 2),
            "rounds_ms": [round(time, 4) for time in self.rounds],
        }


class Field:
    """All contestants of one network. Who cannot run is missing, with a reason."""

    def __init__(self) -> None:
        self.runners: list[Contestant] = []
        self.missing: dict[str, str] = {}

    def add(self, contestant: Contestant, x: np.ndarray, log: Path) -> np.ndarray | None:
        """Starts a contestant; returns its output, or None if it cannot run."""
        try:
            contestant.start(log)
            result = contestant.output(x)
        except BenchmarkError as error:
            self.remove(contestant, str(error))
            return None
        self.runners.append(contestant)
        return result

    def remove(self, contestant: Contestant, reason: str) -> None:
        contestant.close()
        self.missing[contestant.name] = reason
        self.runners = [runner for runner in self.runners if runner is not contestant]

    def race(self, rounds: int, seconds: float, clock: str) -> None:
        """Measures all contestants in turn, `rounds` times, in rotating order, so
        that what the machine does meanwhile falls on all of them."""
        for index in range(rounds):
            turn = index % max(1, len(self.runners))
            for contestant in (*self.runners[turn:], *self.runners[:turn]):
                try:
                    contestant.measure(seconds, clock)
                except BenchmarkError as error:
                    self.remove(contestant, str(error))

    def close(self) -> None:
        for contestant in self.runners:
            contestant.close()


def compare_outputs(got: np.ndarray, wanted: np.ndarray) -> float:
    """The relative L2 distance; not a number if the shapes differ."""
    if got.shape != wanted.shape:
        return float("nan")
    difference = np.linalg.norm(got.astype(np.float64) - wanted)
    return float(difference / np.linalg.norm(wanted))
