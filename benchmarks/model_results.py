# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/models has measured: one file for each kind of CPU.

benchmarks/results/models-CPU.json, where CPU is LLVM's name of it, has an entry
for each network, batch size and number of threads. An entry is written as soon
as it is measured, so that an interrupted run continues behind it. Needs nothing
but Python.
"""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Sequence

from machine import ROOT, write_json

RESULTS = ROOT / "benchmarks/results"
SCHEMA = "tarpon.models/2"

# The peers, as they are called in results and in tables.
PEERS = {
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "torch": "torch.compile",
}
# What Tarpon is judged by: each is compared with the fastest peer of its dtype.
JUDGED = {"tarpon fp32": "fp32", "tarpon untuned": "fp32", "tarpon int8": "int8"}

Entry = dict[str, Any]
# A network, a batch size and a number of threads.
Key = tuple[str, int, int]


def find_fastest(contestants: dict[str, Any], dtype: str) -> str | None:
    """The peer with the least median in one dtype."""
    peers = [f"{peer} {dtype}" for peer in PEERS if f"{peer} {dtype}" in contestants]
    return min(peers, key=lambda name: contestants[name]["median_ms"], default=None)


def compute_ratios(contestants: dict[str, Any]) -> dict[str, float]:
    """Tarpon's time over that of the fastest peer: the median over the rounds."""
    ratios = {}
    for name, dtype in JUDGED.items():
        fastest = find_fastest(contestants, dtype)
        if name in contestants and fastest:
            rounds = (contestants[who]["rounds_ms"] for who in (name, fastest))
            ratio = statistics.median(ours / theirs for ours, theirs in zip(*rounds))
            ratios[name] = round(ratio, 4)
    return ratios


def compute_geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def key_of(entry: Entry) -> Key:
    return entry["network"], entry["settings"]["batch"], entry["settings"]["threads"]


@dataclass
class ModelResults:
    """The entries of one kind of CPU."""

    cpu: str
    machine: dict[str, Any] = field(default_factory=dict)
    entries: dict[Key, Entry] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> ModelResults:
        text = json.loads(path.read_text())
        if text["schema"] != SCHEMA:
            raise ValueError(f"{path}: the schema is {text['schema']}, not {SCHEMA}")
        entries = {key_of(entry): entry for entry in text["results"]}
        return ModelResults(text["cpu"], text["machine"], entries)

    @staticmethod
    def open(cpu: str, folder: Path = RESULTS) -> ModelResults:
        """The entries that there are, which may be none."""
        path = folder / f"models-{cpu}.json"
        return ModelResults.read(path) if path.exists() else ModelResults(cpu)

    def add(self, entry: Entry, folder: Path = RESULTS) -> Path:
        """Replaces the entry of the same key, and writes the file."""
        self.machine = entry.pop("machine", self.machine)
        self.entries[key_of(entry)] = entry
        path = folder / f"models-{self.cpu}.json"
        write_json(
            path,
            {
                "schema": SCHEMA,
                "cpu": self.cpu,
                "machine": self.machine,
                "results": [self.entries[key] for key in sorted(self.entries)],
            },
        )
        return path

    def has(self, key: Key, wanted: Sequence[str], like: Entry) -> bool:
        """True if the entry of `key` is as a run with the programs and settings of
        `like` would measure it, with all `wanted` contestants."""
        entry = self.entries.get(key)
        if entry is None or (entry["provisional"] and not like["provisional"]):
            return False
        same = ("program", "versions", "settings")
        return all(entry[name] == like[name] for name in same) and all(
            name in entry["contestants"] or name in entry["missing"] for name in wanted
        )


def read_all(folder: Path = RESULTS) -> Iterator[ModelResults]:
    """The results of every kind of CPU that was measured."""
    for path in sorted(folder.glob("models-*.json")):
        yield ModelResults.read(path)
