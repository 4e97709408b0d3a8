#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables of README.md and benchmarks/README.md.

usage: benchmarks/tables.py [--check]

The tables hold what benchmarks/results/models-CPU.json says, a column for each
kind of CPU, that of README.md two, untuned and tuned. A figure that is not there
is called missing. --check changes nothing; its exit status is 1 if a table is not
what this program writes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, NamedTuple, Sequence

from machine import ROOT
from model_results import JUDGED, PEERS, ModelResults, compute_geometric_mean, find_fastest, read_all

sys.path.insert(0, str(ROOT / "models/zoo"))
from quantised_networks import QUANTISED_NETWORKS  # noqa: E402

# The kinds of CPU that figures are wanted from, by LLVM's names.
WANTED = ("znver5", "znver4", "icelake-server")
TITLES = {
    "alderlake": "Alder Lake",
    "cascadelake": "Cascade Lake",
    "graniterapids": "Granite Rapids",
    "haswell": "Haswell",
    "icelake-server": "Ice Lake",
    "sapphirerapids": "Sapphire Rapids",
    "skylake-avx512": "Skylake-X",
    "znver2": "Zen 2",
    "znver3": "Zen 3",
    "znver4": "Zen 4",
    "znver5": "Zen 5",
}
MISSING = "missing"
THREADS = (1, 2)
BATCH = 1

# What a mark behind a ratio means.
MARKS = {
    "\\*": "provisional: measured while the machine did other work; CPU time with one thread",
    "†": "not all peers took part: the fastest of those that did",
}
# Its meaning names versions: describe_former.
FORMER = "‡"

TABLES = {
    "tarpon fp32": "fp32, tuned",
    "tarpon untuned": "fp32, untuned, nhwc, without any measurement",
    "tarpon int8": "int8, tuned",
}

# Networks that a quantiser wrote, of which ONNX Runtime runs the same file.
QUANTISED = frozenset(network.name for network in QUANTISED_NETWORKS)
QUANTISED_NAME, QUANTISED_TITLE = "tarpon untuned", "models that were quantised, untuned, nhwc"

OVERVIEW = {"tarpon untuned": "untuned", "tarpon fp32": "tuned"}

Entry = dict[str, Any]


def get_title(cpu: str) -> str:
    return TITLES.get(cpu, cpu)


def is_former(entry: Entry) -> bool:
    """Whether the method was that of before: a number of runs for each round, and no
    digest of the program that was measured."""
    return "seconds_per_round" not in entry["settings"]


def find_mark(entry: Entry, dtype: str) -> str:
    """The marks of a ratio in this entry."""
    marks = iter(MARKS)
    provisional, incomplete = next(marks), next(marks)
    peers = [peer for peer in PEERS if dtype == "fp32" or peer != "torch"]
    absent = [peer for peer in peers if f"{peer} {dtype}" not in entry["contestants"]]
    return (
        (provisional if entry["provisional"] else "")
        + (incomplete if absent else "")
        + (FORMER if is_former(entry) else "")
    )


def format_ratio(entry: Entry | None, name: str) -> str:
    """One ratio with its marks."""
    if entry is None or name not in entry["ratios"]:
        return MISSING
    return f"{entry['ratios'][name]:.2f}{find_mark(entry, JUDGED[name])}"


def format_times(entry: Entry | None, name: str) -> str:
    """Both times, and the name of the peer."""
    if entry is None or name not in entry["ratios"]:
        return ""
    fastest = find_fastest(entry["contestants"], JUDGED[name])
    assert fastest
    ours, theirs = (entry["contestants"][who]["median_ms"] for who in (name, fastest))
    return f"{ours:.1f} ms, {PEERS[fastest.split()[0]]} {theirs:.1f}; "


def format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def join(ratios: Sequence[str]) -> str:
    """The ratios of one and of two threads, or that both are missing."""
    return MISSING if set(ratios) == {MISSING} else " / ".join(ratios)


def describe_mean(results: ModelResults, name: str, threads: int, networks: Sequence[str]) -> str:
    """The geometric mean of the ratios that there are, and of how many."""
    entries = [results.entries.get((network, BATCH, threads)) for network in networks]
    known = [entry for entry in entries if entry and name in entry["ratios"]]
    if not known:
        return MISSING
    mean = compute_geometric_mean([entry["ratios"][name] for entry in known])
    return f"{mean:.2f}{FORMER if any(map(is_former, known)) else ''} ({len(known)})"


class Shown(NamedTuple):
    """What a column of a table shows: a contestant on a kind of CPU."""

    results: ModelResults
    name: str
    title: str


def has_figure(shown: Shown, network: str) -> bool:
    entries = (shown.results.entries.get((network, BATCH, threads)) for threads in THREADS)
    return any(entry and shown.name in entry["ratios"] for entry in entries)


def make_cell(shown: Shown, network: str, has_times: bool) -> str:
    entries = [shown.results.entries.get((network, BATCH, threads)) for threads in THREADS]
    ratios = join([format_ratio(entry, shown.name) for entry in entries])
    return (format_times(entries[0], shown.name) if has_times else "") + ratios


def make_table(columns: Sequence[Shown], networks: Sequence[str], has_times: bool) -> list[str]:
    """One row for each network."""
    lines = [format_row(["", *(column.title for column in columns)])]
    lines.append(format_row(["---"] * (1 + len(columns))).replace(" ", ""))
    for network in networks:
        cells = [make_cell(column, network, has_times) for column in columns]
        lines.append(format_row([network, *cells]))
    means = [
        join([describe_mean(column.results, column.name, threads, networks) for threads in THREADS])
        for column in columns
    ]
    lines.append(format_row(["geometric mean (networks)", *means]))
    return lines


def describe_former(columns: Sequence[ModelResults]) -> str:
    """Who took part in the former method."""
    entries = [e for column in columns for e in column.entries.values() if is_former(e)]
    versions = {
        f"{PEERS[peer]} {'.'.join(version.split('.')[:2])}"
        for entry in entries
        for peer, version in entry["versions"].items()
    }
    return f"measured with the former method, against {' and '.join(sorted(versions))} alone"


def explain_marks(table: Sequence[str], columns: Sequence[ModelResults]) -> list[str]:
    text = "\n".join(table)
    marks = {**MARKS, FORMER: describe_former(columns)} if FORMER in text else MARKS
    return [f"{mark} {meaning}." for mark, meaning in marks.items() if mark in text]


def list_unmeasured(columns: Sequence[ModelResults]) -> list[str]:
    known = {column.cpu for column in columns}
    absent = [get_title(cpu) for cpu in WANTED if cpu not in known]
    return [f"No such CPU was there, so that all its figures are missing: {', '.join(absent)}."] if absent else []


def list_reasons(columns: Sequence[ModelResults]) -> list[str]:
    """Why a contestant is missing from networks that were measured."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for column in columns:
        for entry in column.entries.values():
            for name, reason in entry["missing"].items():
                key = (entry["network"], reason)
                reasons.setdefault(key, {})[name] = None
    if not reasons:
        return []
    lines = ["", "Who could not take part:", ""]
    for (network, reason), names in sorted(reasons.items()):
        lines.append(f"- {network}, {' and '.join(sorted(names))}: {reason}")
    return lines


def list_networks(columns: Sequence[ModelResults], *, quantised: bool) -> list[str]:
    """All of one kind that any CPU has, those of the fewest operations first."""
    sizes: dict[str, float] = {}
    for column in columns:
        for (network, _, _), entry in column.entries.items():
            if (network in QUANTISED) == quantised:
                sizes[network] = entry["gflop"]
    return sorted(sizes, key=lambda network: (sizes[network], network))


def write_overview(columns: Sequence[ModelResults]) -> list[str]:
    """README.md: the ratios in fp32, of what has any."""
    networks = list_networks(columns, quantised=False)
    wanted = [
        Shown(column, name, f"{get_title(column.cpu)}, {title}")
        for column in columns
        for name, title in OVERVIEW.items()
    ]
    shown = [column for column in wanted if any(has_figure(column, network) for network in networks)]
    measured = [network for network in networks if any(has_figure(column, network) for column in shown)]
    table = [line.replace(MISSING, "") for line in make_table(shown, measured, has_times=False)]
    legend = ["An empty cell has not been measured yet.", *explain_marks(table, columns)]
    return [*table, "", *legend, *list_unmeasured(columns)]


def write_details(columns: Sequence[ModelResults]) -> list[str]:
    """benchmarks/README.md: every table, and why figures are missing."""
    lines = []
    fp32 = [(name, title, False) for name, title in TABLES.items()]
    for name, title, quantised in (*fp32, (QUANTISED_NAME, QUANTISED_TITLE, True)):
        shown = [Shown(column, name, get_title(column.cpu)) for column in columns]
        networks = list_networks(columns, quantised=quantised)
        if networks:
            table = make_table(shown, networks, has_times=True)
            lines += [f"**{title}**", "", *table, ""]
    return [*lines, *explain_marks(lines, columns), *list_unmeasured(columns), *list_reasons(columns)]


WRITERS: dict[str, Callable[[Sequence[ModelResults]], list[str]]] = {
    "README.md": write_overview,
    "benchmarks/README.md": write_details,
}
BEGIN, END = "<!-- benchmarks/tables.py: begin -->\n", "<!-- benchmarks/tables.py: end -->\n"


def replace_table(text: str, lines: Sequence[str]) -> str:
    """`text` with `lines` between the two marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n".join(lines) + "\n" + END + after


def order(columns: Sequence[ModelResults]) -> list[ModelResults]:
    """The kinds of CPU that are wanted first, in their order."""
    rank = {cpu: index for index, cpu in enumerate(WANTED)}
    return sorted(columns, key=lambda column: (rank.get(column.cpu, len(rank)), column.cpu))


def main() -> int:
    columns = order(list(read_all()))
    status = 0
    for name, write in WRITERS.items():
        path: Path = ROOT / name
        text = path.read_text()
        wanted = replace_table(text, write(columns))
        if text == wanted:
            continue
        if "--check" in sys.argv[1:]:
            print(f"{name}: its table is not what benchmarks/tables.py writes", file=sys.stderr)
            status = 1
        else:
            path.write_text(wanted)
            print(f"{name} written")
    return status


if __name__ == "__main__":
    sys.exit(main())
