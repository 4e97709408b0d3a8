#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares search methods: how good is what they find, and what does it take.

Shapes: benchmarks/problems/search.txt, fp32, and int8 where it has 64 channels
and more; nhwc, constant filter, bias and the layer's activation.

1. Every candidate of every problem is measured once (--search-method
   exhaustive), into a store of this script's own in build/benchmarks/search.
   That takes long: --seconds ends it early, and the next run goes on.
2. Each method searches each problem in a replay: the recorded table answers
   instead of the machine. Those that draw do so with --seeds seeds. "listed" is
   every config that a solver lists; "guided, alone" knows no other problem,
   "guided" has searched those before it in the list.
3. --real lets methods search for real, each into a store of its own.
4. Who comes into a final of some method is timed once more, in turn with the
   others of its problem. Half of the rounds decide which finalist a method
   takes, the other half what that is worth (of both the fastest samples count,
   since noise only adds): the best of thousands of short samples is a lucky
   one, and a method is not to be blamed for missing luck. "best known" takes
   the best of all finalists of all methods.

The numbers go to benchmarks/results/search.json.
"""

from __future__ import annotations

import argparse
import math
import os
import sqlite3
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable

from convs import BenchmarkError, Server, Shape
from machine import ROOT, describe_machine, write_json

LIST = ROOT / "benchmarks/problems/search.txt"
RESULTS = ROOT / "benchmarks/results/search.json"
WORK = ROOT / "build/benchmarks/search"
PROGRAMS = ROOT / "build/bin"

# As lib/Autotune/Search/ProblemSearch.cpp goes by (Policy.h).
FINALIST_RATIO = 1.1
MAX_FINALISTS = 3

Solution = tuple[str, str]


@dataclass
class Problem:
    """One problem with its table, and what each method has made of it."""

    name: str
    key: str
    candidates: list[dict[str, Any]] = field(default_factory=list)
    # Per method, one run or one per seed: finalists and share of measurements.
    runs: dict[str, list[tuple[list[Solution], float]]] = field(default_factory=dict)
    rounds: dict[Solution, list[float]] = field(default_factory=dict)

    def finalists(self, indices: Iterable[int]) -> list[Solution]:
        """The finalists among a method's candidates, as the tuner picks them."""
        measured = [self.candidates[i] for i in indices]
        ranked = sorted(
            (c for c in measured if "median_ms" in c), key=lambda c: c["median_ms"]
        )
        return [
            (c["solver"], c["config"])
            for c in ranked[:MAX_FINALISTS]
            if c["median_ms"] <= FINALIST_RATIO * ranked[0]["median_ms"]
        ]

    def judge(self, finalists: list[Solution]) -> float:
        """The time of the candidate that a final would choose."""
        winner = min(finalists, key=lambda s: min(self.rounds[s][::2]))
        return min(self.rounds[winner][1::2])

    def compare_in_table(self, finalists: list[Solution]) -> float:
        """The best time of the table over that of the best of these there."""
        times = {
            (c["solver"], c["config"]): c["median_ms"]
            for c in self.candidates
            if "median_ms" in c
        }
        return min(times.values()) / min(times[s] for s in finalists)


def read_problems() -> list[Problem]:
    problems = []
    for line in LIST.read_text().splitlines():
        if not line or line[0] == "#":
            continue
        shape = Shape.parse(line)
        for dtype in ("fp32", "int8"):
            if shape.takes(dtype):
                name = f"{dtype} {shape.layers[0]} {shape.text}"
                problems.append(Problem(name, shape.key(dtype)))
    return problems


def environment(store: str) -> dict[str, str]:
    """A store of its own and no system store."""
    return {
        "TARPON_USER_DB_PATH": str(WORK / store),
        "TARPON_SYSTEM_DB_PATH": str(WORK / "none"),
    }


def tune(store: str, method: str, keys: list[str], seconds: float | None) -> None:
    """graph-opt tune on these problems; what is known is not measured again."""
    workload = WORK / f"{store}.txt"
    workload.parent.mkdir(parents=True, exist_ok=True)
    workload.write_text("".join(f"{key}\n" for key in keys))
    command = [
        PROGRAMS / "graph-opt", "tune", workload, "--threads", "1", "--quiet",
        "--search-method", method,
    ]
    if seconds is not None:
        command += ["--tuning-time", str(seconds)]
    process = subprocess.run(
        command, env={**os.environ, **environment(store)}, capture_output=True,
        text=True,
    )
    if process.returncode:
        raise BenchmarkError(f"graph-opt tune: {process.stderr.strip()}")
    print(f"{store}: {process.stdout.strip()}".replace("\n", "; "))


def find_store(store: str) -> Path:
    files = list((WORK / store).glob("*.journal"))
    if len(files) != 1:
        raise BenchmarkError(f"expected one journal in {WORK / store}")
    return files[0]


def searched_keys(store: str) -> set[str]:
    """Problems whose search was finished by this build."""
    with sqlite3.connect(find_store(store)) as db:
        rows = db.execute(
            "select problem from finding where kind = 'searched' and tarpon = "
            "(select tarpon from finding order by id desc limit 1)"
        )
        return {row[0] for row in rows}


def add_real(problem: Problem, store: str, method: str) -> None:
    """The measurements and the choice of a real search."""
    with sqlite3.connect(find_store(store)) as db:
        rows = db.execute(
            "select solver, config, origin, status, median from latest where "
            "problem = ? and tarpon = (select tarpon from finding order by id desc "
            "limit 1)",
            (problem.key,),
        ).fetchall()
    count = len({row[:2] for row in rows})
    right = [row for row in rows if row[3] == "ok"]
    if not right:
        return
    best = min(right, key=lambda row: (row[2] != "final", row[4]))
    share = count / len(problem.candidates)
    problem.runs[f"{method}, real"] = [([(best[0], best[1])], share)]


def replay(server: Server, problems: list[Problem], seeds: int) -> None:
    """All methods on the recorded table."""

    def search(problem: Problem, name: str, method: str, seed: int) -> None:
        order = server.ask(f"replay\t{method}\t{seed}\t{problem.key}")["order"]
        share = len(order) / len(problem.candidates)
        run = (problem.finalists(order), share)
        problem.runs.setdefault(name, []).append(run)

    for problem in problems:
        everything = range(len(problem.candidates))
        listed = [i for i in everything if problem.candidates[i]["listed"]]
        problem.runs["exhaustive"] = [(problem.finalists(everything), 1.0)]
        share = len(listed) / len(problem.candidates)
        problem.runs["listed"] = [(problem.finalists(listed), share)]
        first = [(problem.candidates[0]["solver"], problem.candidates[0]["config"])]
        problem.runs["first guess"] = [(first, 0.0)]
        for method in ("random", "local"):
            for seed in range(seeds):
                server.ask("forget")
                search(problem, method, method, seed)
        server.ask("forget")
        search(problem, "guided, alone", "guided", 0)
    server.ask("forget")
    for problem in problems:
        search(problem, "guided", "guided", 0)


def measure_choices(server: Server, problem: Problem, rounds: int, ms: float) -> None:
    chosen = {s for runs in problem.runs.values() for final, _ in runs for s in final}
    order = sorted(chosen)
    words = "\t".join(word for solution in order for word in solution)
    answer = server.ask(f"time\t{rounds}\t{ms}\t{problem.key}\t{words}")
    problem.rounds = dict(zip(order, answer["rounds_ms"]))


# Reports


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def summarise(problems: list[Problem], method: str) -> dict[str, float]:
    qualities, of_known, of_table, shares, counts = [], [], [], [], []
    for problem in problems:
        best = problem.judge(problem.runs["exhaustive"][0][0])
        known = problem.judge(list(problem.rounds))
        for finalists, share in problem.runs.get(method, []):
            milliseconds = problem.judge(finalists)
            qualities.append(best / milliseconds)
            of_known.append(known / milliseconds)
            of_table.append(problem.compare_in_table(finalists))
            shares.append(share)
            counts.append(share * len(problem.candidates))
    total = sum(len(p.candidates) * len(p.runs.get(method, [])) for p in problems)
    return {
        "of_exhaustive": geometric_mean(qualities),
        "of_best_known": geometric_mean(of_known),
        "of_table": geometric_mean(of_table),
        "worst_tenth": statistics.quantiles(qualities, n=10)[0],
        "measurements": statistics.fmean(counts),
        "mean_share": statistics.fmean(shares),
        "share": sum(counts) / total,
    }


def print_table(problems: list[Problem]) -> dict[str, Any]:
    methods = [m for m in problems[0].runs]
    table = {method: summarise(problems, method) for method in methods}
    print(
        "| method | of exhaustive | 10th percentile | of the best known | "
        "in the table | measurements | share |"
    )
    print("|---|---|---|---|---|---|---|")
    for method, row in table.items():
        print(
            f"| {method} | {row['of_exhaustive']:.1%} | {row['worst_tenth']:.1%} | "
            f"{row['of_best_known']:.1%} | {row['of_table']:.1%} | "
            f"{row['measurements']:.0f} | {row['share']:.1%} |"
        )
    return table


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/search", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="measure the table for no longer than this")
    parser.add_argument("--table-only", action="store_true",
                        help="end when the table is measured, or its time is over")
    parser.add_argument("--real", nargs="*", default=[], metavar="METHOD",
                        help="methods that search for real")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--rounds", type=int, default=8, metavar="N")
    parser.add_argument("--round-time", type=float, default=5, metavar="MS")
    return parser.parse_args()


def run(arguments: argparse.Namespace) -> None:
    problems = read_problems()
    keys = [problem.key for problem in problems]
    tune("exhaustive", "exhaustive", keys, arguments.seconds)
    server = Server(
        [PROGRAMS / "search-benchmark", "1", find_store("exhaustive")], {}
    )
    for problem in problems:
        answer = server.ask(f"space\t{problem.key}")
        problem.key, problem.candidates = answer["key"], answer["candidates"]
    done = searched_keys("exhaustive")
    problems = [problem for problem in problems if problem.key in done]
    print(f"{len(problems)} of {len(keys)} problems have a full table")
    if arguments.table_only or not problems:
        return
    for method in arguments.real:
        tune(f"real-{method}", method, [problem.key for problem in problems], None)
    replay(server, problems, arguments.seeds)
    for problem in problems:
        for method in arguments.real:
            add_real(problem, f"real-{method}", method)
        measure_choices(server, problem, arguments.rounds, arguments.round_time)
    table = print_table(problems)
    rows = [
        {
            "problem": problem.key,
            "name": problem.name,
            "candidates": len(problem.candidates),
            "listed": sum(c["listed"] for c in problem.candidates),
            "methods": {
                method: [
                    {"ms": problem.judge(final), "share": share} for final, share in runs
                ]
                for method, runs in problem.runs.items()
            },
        }
        for problem in problems
    ]
    write_json(RESULTS, {**describe_machine(), "methods": table, "problems": rows})
    print(f"wrote {RESULTS.relative_to(ROOT)}")


def main() -> int:
    try:
        run(parse_arguments())
    except BenchmarkError as error:
        print(f"benchmarks/search: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
