#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the static model's times of candidates with those that a GPU's store holds.

usage: model.py STORE.journal... [--graph-opt PROGRAM] [--json OUT]
       model.py --read OUT

Predicted times are those that the store holds, too (graph-opt find without --device); PROGRAM
is asked for the others. Prints a row for each problem, from all measured candidates but the
naive solver's:

  rho     Spearman's rank correlation of predicted and measured times
  first   the measured time of the model's first choice over that of the best
  of 8    that of the best among the model's first eight, over that of the best
  recall  the share of the eight fastest that are among the model's first eight

and behind them the medians, and the geometric means of times.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import math
import os
import re
import sqlite3
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

# The candidates that are measured first, or put into a package.
FIRST = 8
# Fewer candidates of a problem say nothing of an order.
FEWEST = 5
NAIVE = "gpu-naive-v1"


class Row(NamedTuple):
    """A candidate; times are in ms."""

    problem: str
    solver: str
    config: str
    measured: float
    predicted: float
    target: str = ""


def read_store(path: Path) -> list[Row]:
    """The measured candidates, the last measurement of each."""
    with sqlite3.connect(path) as store:
        rows = store.execute(
            "SELECT target, problem, solver, config, median FROM measurement"
            " WHERE status = 'ok' AND median > 0 AND solver <> ? ORDER BY id", [NAIVE]
        ).fetchall()
    # "sm_90a:cu=132:bw=4800/e3b0c442", and "/model:gpu-model-1" behind that for predictions.
    measured, predicted = {}, {}
    for target, *key, median in rows:
        times = predicted if "/model:" in target else measured
        times[(target.split("/")[0], *key)] = median
    return [
        Row(*key[1:], time, predicted.get(key, math.nan), key[0])
        for key, time in measured.items()
    ]


def predict(program: str, row: Row) -> Row:
    """The row with the model's time, or with NaN where it has none."""
    if not math.isnan(row.predicted):
        return row
    solution = f"{row.solver}:{row.config}" if row.config else row.solver
    command = [program, "solvers", "--target", row.target, "--estimate"]
    command += ["--problem", row.problem, "--solution", solution]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\}: ([0-9.]+) ms$", done.stdout, re.MULTILINE)
    if found is None:
        print(f"{row.problem} {solution}: {done.stdout}{done.stderr}", file=sys.stderr)
    return row._replace(predicted=float(found[1]) if found else math.nan)


def rank(values: list[float]) -> list[float]:
    """Ranks from 0; equal values share the middle of theirs."""
    order = sorted(values)
    return [(order.index(v) + len(order) - 1 - order[::-1].index(v)) / 2 for v in values]


def get_spearman(rows: list[Row]) -> float:
    predicted = rank([row.predicted for row in rows])
    measured = rank([row.measured for row in rows])
    if len(set(predicted)) == 1 or len(set(measured)) == 1:
        return 0.0
    return statistics.correlation(predicted, measured)


def judge(rows: list[Row]) -> dict[str, float]:
    """The figures of one problem."""
    chosen = sorted(rows, key=lambda row: row.predicted)[:FIRST]
    best = sorted(rows, key=lambda row: row.measured)[:FIRST]
    return {
        "candidates": len(rows),
        "best ms": best[0].measured,
        "rho": get_spearman(rows),
        "first": chosen[0].measured / best[0].measured,
        "of 8": min(row.measured for row in chosen) / best[0].measured,
        "recall": len(set(chosen) & set(best)) / len(best),
    }


def group(rows: list[Row]) -> dict[str, list[Row]]:
    problems: dict[str, list[Row]] = {}
    for row in rows:
        if not math.isnan(row.predicted):
            problems.setdefault(row.problem, []).append(row)
    return {key: group for key, group in problems.items() if len(group) >= FEWEST}


def shorten(problem: str) -> str:
    """ "64x256x14x14 256x256x3x3 f16 /1" of a convolution's key."""
    found = re.match(r"conv\(([0-9x]+)x(\w+):\w+, ([0-9x]+)x\w+:const", problem)
    strides = re.search(r"strides=(\d+)", problem)
    if found is None:
        return problem
    return f"{found[1]} {found[3]} {found[2]} /{strides[1] if strides else '?'}"


def print_table(rows: list[Row]) -> None:
    figures = {shorten(key): judge(group) for key, group in group(rows).items()}
    if not figures:
        print("no problem has enough measured candidates")
        return
    print("| problem | candidates | best ms | rho | first | of 8 | recall |")
    print("|---|---|---|---|---|---|---|")
    for name, f in figures.items():
        print(
            f"| {name} | {f['candidates']} | {f['best ms']:.4f} | {f['rho']:.2f}"
            f" | {f['first']:.2f} | {f['of 8']:.2f} | {f['recall']:.2f} |"
        )
    middle = {n: statistics.median(f[n] for f in figures.values()) for n in ("rho", "recall")}
    mean = {
        n: statistics.geometric_mean(f[n] for f in figures.values()) for n in ("first", "of 8")
    }
    count = sum(int(f["candidates"]) for f in figures.values())
    print(
        f"| {len(figures)} problems | {count} | | {middle['rho']:.2f} | {mean['first']:.2f}"
        f" | {mean['of 8']:.2f} | {middle['recall']:.2f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("stores", nargs="*", type=Path, metavar="STORE.journal")
    add("--graph-opt", default="graph-opt", metavar="PROGRAM")
    add("--json", type=Path, metavar="OUT")
    add("--read", type=Path, metavar="OUT", help="print what --json has written")
    add("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()

    if options.read:
        known: list[dict[str, Any]] = json.loads(options.read.read_text())
        rows = [Row(**row) for row in known]
    else:
        rows = [row for path in options.stores for row in read_store(path)]
        with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
            rows = list(pool.map(lambda row: predict(options.graph_opt, row), rows))
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
