# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of results, results.md: rows of single networks are replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from check import Check, Outcome

if TYPE_CHECKING:
    from network import Network

RESULTS = Path(__file__).with_name("results.md")
HEAD = """\
# What `scripts/zoo --check --update` found

"""
ROWS = """
| network | exporter | batch | result |
|---|---|---|---|
"""


def tabulate(outcomes: Iterable[tuple[str, Outcome]]) -> str:
    """Numbers of networks by family and outcome."""
    counts = Counter(outcomes)
    families = list(dict.fromkeys(family for family, _ in counts))
    columns = [o for o in Outcome if any(counts[family, o] for family in families)]
    lines = ["| family | " + " | ".join(o.value for o in columns) + " |"]
    lines.append("|---|" + "---:|" * len(columns))
    for family in families:
        cells = [str(counts[family, o] or "") for o in columns]
        lines.append(f"| {family} | " + " | ".join(cells) + " |")
    sums = [str(sum(counts[family, o] for family in families)) for o in columns]
    lines.append("| all | " + " | ".join(sums) + " |")
    return "\n".join(lines)


class Results:
    @staticmethod
    def read() -> dict[str, str]:
        """The result of each network in the file."""
        if not RESULTS.exists():
            return {}
        text = RESULTS.read_text().partition(ROWS)[2]
        rows = (line.strip("| ").split(" | ", 3) for line in text.splitlines())
        return {row[0]: row[3] for row in rows}

    @staticmethod
    def update(network: Network, check: Check) -> None:
        from networks import ALL

        results = Results.read()
        # Distances differ between machines.
        agrees = check.outcome is Outcome.AGREES
        results[network.name] = Outcome.AGREES.value if agrees else str(check).replace("|", "/")
        known = [network for network in ALL if network.name in results]
        rows = [
            f"| {n.name} | {n.exporter} | {n.batch or 'fixed'} | {results[n.name]} |\n"
            for n in known
        ]
        table = tabulate((n.family, parse_outcome(results[n.name])) for n in known)
        RESULTS.write_text(HEAD + table + "\n" + ROWS + "".join(rows))


def parse_outcome(text: str) -> Outcome:
    return Outcome(text.partition(":")[0])
