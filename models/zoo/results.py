# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of results, results.md: rows of single networks are replaced."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from check import QUANTISED_TOLERANCE, TOLERANCE, Check, Outcome

if TYPE_CHECKING:
    from network import Network

RESULTS = Path(__file__).with_name("results.md")
TITLE = "# What `scripts/zoo --check --update` found\n\n"
# Other versions export other graphs.
PACKAGES = (
    "torch", "onnxscript", "torchvision", "timm", "transformers", "onnxruntime", "nncf", "torchao",
)  # fmt: skip
ROWS = """
| network | exporter | batch | result |
|---|---|---|---|
"""


def tabulate(group: str, outcomes: Iterable[tuple[str, Outcome]]) -> str:
    """Numbers of networks by what groups them and by outcome."""
    counts = Counter(outcomes)
    groups = list(dict.fromkeys(name for name, _ in counts))
    columns = [o for o in Outcome if any(counts[name, o] for name in groups)]
    lines = [f"| {group} | " + " | ".join(o.value for o in columns) + " |"]
    lines.append("|---|" + "---:|" * len(columns))
    for name in groups:
        cells = [str(counts[name, o] or "") for o in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    sums = [str(sum(counts[name, o] for name in groups)) for o in columns]
    lines.append("| all | " + " | ".join(sums) + " |")
    return "\n".join(lines)


def describe_run(known: int, networks: int) -> str:
    """Where and with what the last row was written, and what the numbers mean."""
    sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    from machine import cpu_name

    versions = ", ".join(f"{package} {metadata.version(package)}" for package in PACKAGES)
    return (
        f"The last ones on {cpu_name()} ({platform.machine()}), {date.today()}, with {versions}; the\n"
        "others before, as the history of this file tells.\n"
        f"{known} of the {networks} networks were run.\n"
        "A network agrees if the relative L2 distance of each output from ONNX Runtime's "
        f"is at most {TOLERANCE:g}, of a quantised one {QUANTISED_TOLERANCE:g}.\n\n"
    )


class Results:
    @staticmethod
    def read() -> dict[tuple[str, str], str]:
        """The result of each network and exporter in the file."""
        if not RESULTS.exists():
            return {}
        text = RESULTS.read_text().partition(ROWS)[2]
        rows = (line.strip("| ").split(" | ", 3) for line in text.splitlines())
        return {(row[0], row[1]): row[3] for row in rows}

    @staticmethod
    def update(network: Network, exporter: str, check: Check) -> None:
        results = Results.read()
        # Distances differ between machines.
        agrees = check.outcome is Outcome.AGREES
        text = Outcome.AGREES.value if agrees else str(check).replace("|", "/")
        results[network.name, exporter] = text
        RESULTS.write_text(render(results))


def render(results: dict[tuple[str, str], str]) -> str:
    """The file's text, in the order of the lists, without networks that are gone."""
    from networks import ALL

    exporters = sorted({exporter for _, exporter in results})
    keys = [(n, e) for n in ALL for e in exporters if (n.name, e) in results]
    outcomes = [parse_outcome(results[n.name, e]) for n, e in keys]
    rows = [
        f"| {n.name} | {e} | {n.batch or 'fixed'} | {results[n.name, e]} |\n" for n, e in keys
    ]
    by_exporter = tabulate("exporter", zip([e for _, e in keys], outcomes, strict=True))
    by_family = tabulate("family", zip([n.family for n, _ in keys], outcomes, strict=True))
    head = TITLE + describe_run(len({n for n, _ in keys}), len(ALL))
    return f"{head}{by_exporter}\n\n{by_family}\n{ROWS}{''.join(rows)}"


def parse_outcome(text: str) -> Outcome:
    return Outcome(text.partition(":")[0])
