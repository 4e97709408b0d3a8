# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of run-there that search for the solutions of single problems."""

from __future__ import annotations

import time
from typing import Any

import peers


def read_find(text: str) -> dict[str, Any]:
    """The best solution of the table that graph-opt find has printed."""
    lines = text.splitlines()
    header = next(i for i, line in enumerate(lines) if line.split()[:2] == ["time", "ms"])
    time_ms, workspace, source, solution = lines[header + 1].split(None, 3)
    figure: dict[str, Any] = {"source": source, "solution": solution, "workspace": workspace}
    # Times that were not measured are no figures.
    if source == "measured":
        figure["time_ms"] = float(time_ms)
    return figure


def find_each(run: Any, kind: str, keys: dict[str, str], facts: dict[str, dict[str, Any]]) -> None:
    """Tunes the problem of each name for an equal part of the stage's time. What was found goes
    to the results of that kind, beside the facts of the name."""
    names = list(keys)

    def find(name: str) -> None:
        seconds = (run.end - time.monotonic()) / (len(names) - names.index(name)) * 0.8
        stem = name.replace("/", "-").replace(" ", "-")
        text = run.call(stem, [
            run.program("graph-opt"), "find", "--target", run.options.target, "--device",
            run.options.device, "--tune", "--quiet", "--tuning-time", f"{seconds:.0f}",
            "--save", str(run.records / f"{stem}.json"), keys[name],
        ])
        run.results.setdefault(kind, {})[name] = {**read_find(text), **facts.get(name, {})}
        run.write()

    run.each(names, find)


def is_named(layer: Any) -> bool:
    """The largest 1x1 layer from 1024 to 256 channels stands for its kind."""
    return (layer.kernel, layer.channels, layer.filters) == ((1, 1), 1024, 256)


def find_layers(run: Any) -> None:
    """The layers that peers.py measures."""
    known = peers.read_layers("resnet50")
    layers = known[: run.options.layers]
    layers += [layer for layer in known[run.options.layers :] if is_named(layer)]
    keys = {layer.get_name("resnet50"): layer.get_key(peers.LAYER_BATCH) for layer in layers}
    find_each(run, "layers", keys, {})


def find_attention(run: Any) -> None:
    """Attention as peers.py measures it."""
    cases = peers.list_attention()
    facts = {case.name: {"flops": case.count_flops()} for case in cases}
    find_each(run, "attention", {case.name: case.get_key() for case in cases}, facts)
