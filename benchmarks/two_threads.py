#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares reports of graph-opt perf on one and on two threads (benchmarks/two-threads).

usage: two_threads.py LABEL FOLDER

FOLDER holds 1.ROUND.json and 2.ROUND.json. Prints one line: of the least of the
medians of one and of two threads how many times faster two are; in parentheses the
same of the median process; and what was to be expected of the memory.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

Report = dict[str, Any]

CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")


def read_reports(folder: Path, threads: int) -> list[Report]:
    return [json.loads(file.read_text()) for file in folder.glob(f"{threads}.*.json")]


def find_fastest(reports: list[Report]) -> Report:
    return min(reports, key=lambda report: report["median_ms"])


def take_median(reports: list[Report]) -> float:
    return statistics.median(report["median_ms"] for report in reports)


def estimate(one: Report, two: Report) -> float:
    """How many times faster two threads were to be, if every layer took half of the
    time, but those with more data than the last-level cache holds no less than reading
    that takes at the rate at which two threads read memory after the run."""
    cache = int(CACHE.read_text().rstrip("K\n")) * 1024 / 1e6  # MB, as GB/s times ms

    def expect(layer: Report) -> float:
        half = layer["median_ms"] / 2
        size = layer["gbps"] * layer["median_ms"]
        return max(half, size / two["peak_gbps"]) if size > cache else half

    layers = one["layers"]
    return sum(layer["median_ms"] for layer in layers) / sum(map(expect, layers))


def main() -> int:
    label, folder = sys.argv[1], Path(sys.argv[2])
    ones, twos = read_reports(folder, 1), read_reports(folder, 2)
    one, two = find_fastest(ones), find_fastest(twos)
    ratio = one["median_ms"] / two["median_ms"]
    median = take_median(ones) / take_median(twos)
    line = f"{label:28} {one['median_ms']:8.1f} ms {two['median_ms']:8.1f} ms"
    line += f"  {ratio:.2f} ({median:.2f})"
    if CACHE.is_file():
        line += f"  {estimate(one, two):.2f} at {two['peak_gbps']:.1f} GB/s"
    print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
