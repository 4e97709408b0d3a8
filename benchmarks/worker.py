#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one contestant of benchmarks/models in a process of its own.

usage: worker.py JOB

Reads requests from stdin, a line of JSON each, and answers each by a line on
stdout. Threads, caches and memory of the contestants are thereby apart, and
one that crashes takes no other with it.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from typing import Any, Callable

import numpy as np

from runners.job import Job

WARM_UP_RUNS = 3
MIN_RUNS, MAX_RUNS = 5, 1000
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def measure(run: Callable[[], object], seconds: float, clock: str) -> dict[str, float]:
    """Runs for about `seconds`; the median time, and CPU time over time."""
    now = CLOCKS[clock]
    start = time.perf_counter()
    for _ in range(WARM_UP_RUNS):
        run()
        if time.perf_counter() - start > seconds / 2:
            break
    times = []
    start, cpu_start = time.perf_counter(), time.process_time()
    while len(times) < MIN_RUNS or (
        len(times) < MAX_RUNS and time.perf_counter() - start < seconds
    ):
        before = now()
        run()
        times.append(now() - before)
    elapsed = time.perf_counter() - start
    return {
        "median_ms": 1e3 * statistics.median(times),
        "runs": len(times),
        "cpus": (time.process_time() - cpu_start) / elapsed,
    }


def answer(runner: Any, request: dict[str, Any]) -> dict[str, Any]:
    if "seconds" in request:
        return measure(runner.run, request["seconds"], request["clock"])
    runner.set_input(np.load(request["input"]))
    np.save(request["output"], runner.run())
    return {}


def main() -> int:
    job = Job.from_json(sys.argv[1])
    os.sched_setaffinity(0, job.cores)
    # Libraries print on stdout, which is for answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        module = importlib.import_module(f"runners.{job.runner}_runner")
        runner = module.Runner(job)
        print(json.dumps({}), file=answers)
        for line in sys.stdin:
            print(json.dumps(answer(runner, json.loads(line))), file=answers)
    except Exception as error:  # the libraries' errors have no common base
        lines = str(error).strip().splitlines() or [type(error).__name__]
        print(json.dumps({"error": f"{type(error).__name__}: {lines[0]}"}), file=answers)
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
