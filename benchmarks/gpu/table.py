#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what run-there has brought back as Markdown tables.

usage: table.py DIR

DIR holds results.json and, where peers were measured, peers.json. A ratio is Tarpon's
time over that of the fastest peer, so that less than 1 is faster.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PEERS = {"cudnn": "cuDNN", "cudnn folded": "cuDNN, folded", "torch.compile": "torch.compile"}
MISSING = "-"


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def format_time(ms: float | None) -> str:
    return MISSING if ms is None else f"{ms:.3f}"


def format_rate(flops: float | None, ms: float | None) -> str:
    """TFLOP/s; `flops` are in 10^9."""
    return MISSING if ms is None or flops is None else f"{flops / ms:.0f}"


def divide(time: float | None, other: float | None) -> str:
    return MISSING if time is None or other is None else f"{time / other:.2f}"


def format_budget(figures: dict[str, Any]) -> str:
    """How long tuning took, and how long it was to take."""
    if "tuning_s" not in figures:
        return MISSING
    return f"{figures['tuning_s']:.0f} ({figures.get('tuning_budget_s', 0):.0f})"


def get_median(figures: dict[str, Any], name: str) -> float | None:
    return figures.get(name, {}).get("median_ms")


def find_fastest(times: list[float | None]) -> float | None:
    return min((time for time in times if time is not None), default=None)


def print_row(cells: list[str]) -> None:
    print(f"| {' | '.join(cells)} |")


def print_header(cells: list[str]) -> None:
    print_row(cells)
    print("|" + "---|" * len(cells))


def print_networks(ours: dict[str, Any], peers: dict[str, Any]) -> None:
    print_header(
        ["ms", "untuned", "tuned", "of untuned", "in s (of)", "error", *PEERS.values(), "ratio"]
    )
    cases = list(ours)
    for name in peers:
        case = " ".join(name.split()[:3])
        if case not in cases and any(name == f"{case} {peer}" for peer in PEERS):
            cases.append(case)
    for case in cases:
        figures = ours.get(case, {})
        untuned, tuned = get_median(figures, "perf"), get_median(figures, "perf-tuned")
        rivals = [get_median(peers, f"{case} {peer}") for peer in PEERS]
        error = figures.get("error-tuned", figures.get("error"))
        print_row([
            case, format_time(untuned), format_time(tuned), divide(tuned, untuned),
            format_budget(figures), MISSING if error is None else f"{error:.1e}", *map(format_time, rivals),
            divide(find_fastest([untuned, tuned]), find_fastest(rivals)),
        ])


def print_layers(ours: dict[str, Any], peers: dict[str, Any]) -> None:
    """Tarpon's layers have a bias and a rectifier; so has the second of cuDNN's figures."""
    print_header([
        "layer", "ms", "TFLOP/s", "solution", "cuDNN", "cuDNN, bias, ReLU", "its TFLOP/s", "ratio"
    ])
    for name, figure in peers.items():
        if not name.startswith("layer ") or name.endswith("bias relu"):
            continue
        layer = name.split()[1]
        own = ours.get(layer, {})
        time = own.get("time_ms")
        rivals = [figure.get("median_ms"), get_median(peers, f"{name} bias relu")]
        fastest = find_fastest(rivals)
        flops = figure["tflops"] * figure["median_ms"] if "tflops" in figure else None
        print_row([
            layer, format_time(time), format_rate(flops, time), own.get("solution", MISSING),
            *map(format_time, rivals), format_rate(flops, fastest), divide(time, fastest),
        ])


def print_attention(ours: dict[str, Any], peers: dict[str, Any]) -> None:
    print_header([
        "attention", "ms", "TFLOP/s", "solution", "flash", "cuDNN", "its TFLOP/s", "ratio"
    ])
    for name, own in ours.items():
        time = own.get("time_ms")
        rivals = [get_median(peers, f"{name} {peer}") for peer in ("flash", "cudnn")]
        fastest = find_fastest(rivals)
        flops = own.get("flops", 0) / 1e9
        print_row([
            name, format_time(time), format_rate(flops, time), own.get("solution", MISSING),
            *map(format_time, rivals), format_rate(flops, fastest), divide(time, fastest),
        ])


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    results, peers = read(folder / "results.json"), read(folder / "peers.json")
    figures = peers.get("figures", {})
    print(f"Tarpon on {results.get('machine', {}).get('gpu', 'a machine that was not described')}")
    print(f"peers on {peers.get('machine', 'none')}\n")
    for name, stage in results.get("stages", {}).items():
        print(f"{name}: {stage['outcome']}, {stage['seconds']} s")
    for name in ("matmul fp16 8192", "copy"):
        if name in figures:
            print(f"{name}: {figures[name]}")
    print()
    print_networks(results.get("figures", {}), figures)
    print()
    print_layers(results.get("layers", {}), figures)
    if "attention" in results:
        print()
        print_attention(results["attention"], figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
