#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares reports of graph-opt perf on one network (benchmarks/anytime).

usage: anytime.py FOLDER NAME...

FOLDER holds NAME.ROUND.json and NAME.seconds. The first two NAMEs are untuned, the
last one is the longest run. Prints a line for each: the median of its rounds, the
medians of the rounds' ratios to the faster untuned one and to the longest run, the
ratio of the least rounds to the untuned one, which other work on the machine disturbs
less, and the seconds that compiling took.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path


def read_rounds(folder: Path, name: str) -> list[float]:
    """The milliseconds of each round, in their order."""
    files = sorted(folder.glob(f"{name}.*.json"), key=lambda file: int(file.suffixes[-2][1:]))
    return [json.loads(file.read_text())["median_ms"] for file in files]


def read_seconds(folder: Path, name: str) -> float:
    begin, end = (folder / f"{name}.seconds").read_text().split()
    return float(end) - float(begin)


def take_ratio(rounds: list[float], others: list[float]) -> float:
    """Of each round by itself, since a machine's speed changes over the rounds."""
    return statistics.median(a / b for a, b in zip(rounds, others, strict=True))


def write_table(times: dict[str, list[float]], seconds: dict[str, float]) -> list[str]:
    names = list(times)
    untuned = min(names[:2], key=lambda name: statistics.median(times[name]))
    lines = [f"{'':10}{'ms':>10}{'untuned':>10}{'longest':>10}{'least':>10}{'seconds':>10}"]
    for name, rounds in times.items():
        lines.append(
            f"{name:10}{statistics.median(rounds):10.2f}"
            f"{take_ratio(rounds, times[untuned]):10.3f}"
            f"{take_ratio(rounds, times[names[-1]]):10.3f}"
            f"{min(rounds) / min(times[untuned]):10.3f}{seconds[name]:10.1f}"
        )
    return lines


def main() -> int:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    times = {name: read_rounds(folder, name) for name in names}
    seconds = {name: read_seconds(folder, name) for name in names}
    print("\n".join(write_table(times, seconds)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
