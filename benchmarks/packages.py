# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles networks with graph-opt, for benchmarks/models."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from machine import ROOT, BenchmarkError, write_json

GRAPH_OPT = Path(os.environ.get("GRAPH_OPT", ROOT / "build/bin/graph-opt"))
LIBRARY = GRAPH_OPT.parents[1] / "lib/libtarpon-runtime.so"
WORK = ROOT / "build/benchmarks"
# What tuning measures stays there, for the next run and for other networks.
STORE = WORK / "store"
# What a user may have set that changes what is compiled: no key names it.
SETTINGS_OF_USER = ("TARPON_CPU", "TARPON_FIND_", "TARPON_SEARCH_", "TARPON_TUNING_")

# Every choice takes part, whatever the budget of a user may be: the errors of
# all contestants stand in the results.
MAX_ERROR = "0.5"
# Not used by "direct": convolutions that do not multiply all that they are
# defined by.
TRANSFORMS = ("conv-winograd-f2x3-v1", "conv-winograd-f4x3-v1", "conv-fft-v1")
# The layers that a profile names.
PROFILE_LAYERS = 8


@dataclass(frozen=True)
class Choice:
    """One way to compile a network with Tarpon."""

    dtype: str
    is_tuned: bool = True
    is_direct: bool = False


CHOICES = {
    "tarpon fp32": Choice("fp32"),
    "tarpon untuned": Choice("fp32", is_tuned=False),
    "tarpon int8": Choice("int8"),
    "tarpon bf16": Choice("bf16"),
    "tarpon fp16": Choice("fp16"),
    "tarpon direct": Choice("fp32", is_direct=True),
}


@contextmanager
def environment(is_tuned: bool) -> Iterator[dict[str, str]]:
    """The environment of graph-opt, with the store of the benchmarks. Untuned, there
    are no measurements at all, as on a kind of CPU that Tarpon ships none for: both
    stores are new and empty."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(SETTINGS_OF_USER)
    }
    if is_tuned:
        STORE.mkdir(parents=True, exist_ok=True)
        yield {**variables, "TARPON_USER_DB_PATH": str(STORE)}
        return
    with tempfile.TemporaryDirectory() as user, tempfile.TemporaryDirectory() as system:
        yield {**variables, "TARPON_USER_DB_PATH": user, "TARPON_SYSTEM_DB_PATH": system}


def graph_opt(*arguments: str | Path, is_tuned: bool = True) -> None:
    """Runs graph-opt; its error message becomes this function's."""
    with environment(is_tuned) as variables:
        process = subprocess.run(
            [GRAPH_OPT, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=variables, errors="replace", text=True,
        )
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines() or ["no message"]
        errors = [line for line in lines if "error: " in line] or lines
        # Results name no folder of this machine.
        raise BenchmarkError(errors[-1].split("error: ", 1)[-1].replace(f"{ROOT}/", ""))


def describe_cpu() -> str:
    """LLVM's name of this machine's CPU, which Tarpon generates code for."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "solution.json"
        problem = "relu(1x64x56x56xf32)->1x64x56x56xf32"
        graph_opt(
            "find", "--immediate", "--threads", "1", "--save", answer, problem,
            is_tuned=False,
        )
        return json.loads(answer.read_text())["target"].split("/")[1]


def digest_program() -> str:
    """What tells builds apart, committed or not."""
    digest = hashlib.sha256()
    for file in (GRAPH_OPT, LIBRARY):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def path_of(network: str, name: str, threads: int, batch: int) -> Path:
    return WORK / f"{network}-{name.removeprefix('tarpon ')}-b{batch}-t{threads}.tpn"


def make_key(model: Path, name: str, threads: int, batch: int, tuning_time: int) -> dict[str, Any]:
    """All that a package depends on: program, model and settings."""
    choice = CHOICES[name]
    with model.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "program": digest_program(),
        "model": digest,
        "choice": asdict(choice),
        "threads": threads,
        "batch": batch,
        "tuning_seconds": tuning_time if choice.is_tuned else None,
        "max_error": MAX_ERROR if choice.is_tuned else None,
        "transforms": list(TRANSFORMS) if choice.is_direct else [],
    }


def key_file(package: Path) -> Path:
    return package.with_suffix(".key.json")


def is_up_to_date(package: Path, key: dict[str, Any]) -> bool:
    """Whether the package is there, and was made of exactly what `key` names."""
    try:
        return package.exists() and json.loads(key_file(package).read_text()) == key
    except (OSError, ValueError):
        return False


def compile_package(
    network: str, model: Path, name: str, threads: int, batch: int, tuning_time: int
) -> Path:
    """Compiles `model` in one way, unless just that package is there."""
    package = path_of(network, name, threads, batch)
    key = make_key(model, name, threads, batch, tuning_time)
    if not is_up_to_date(package, key):
        # First, so that no package that is half written has a key.
        key_file(package).unlink(missing_ok=True)
        make_package(package, model, name, threads, batch, tuning_time)
        write_json(key_file(package), key)
    return package


def make_package(
    package: Path, model: Path, name: str, threads: int, batch: int, tuning_time: int
) -> None:
    choice = CHOICES[name]
    package.parent.mkdir(parents=True, exist_ok=True)
    shape = ("--threads", str(threads), "--batch", str(batch), "--dtype", choice.dtype)
    if not choice.is_tuned:
        graph_opt("compile", model, *shape, "--layout", "nhwc", "-o", package, is_tuned=False)
        return
    record = package.with_suffix(".json")
    graph_opt(
        "compile", model, *shape, "--layout", "pick_global", "--max-error", MAX_ERROR,
        "--tuning-time", str(tuning_time), "--tuning-file", record, "--quiet", "-o", package,
    )
    if choice.is_direct:
        avoid_transforms(record, threads)
        graph_opt("compile", model, *shape[:4], "--replay", record, "-o", package)


def avoid_transforms(record: Path, threads: int) -> None:
    """Gives convolutions by transforms the best solution without them."""
    tuned = json.loads(record.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for layer in tuned["candidates"][tuned["winner"]]["layers"]:
            if layer["solver"] not in TRANSFORMS:
                continue
            found = Path(folder) / "found.json"
            disabled = [word for solver in TRANSFORMS for word in ("--disable-solver", solver)]
            graph_opt(
                "find", "--tune", *disabled, "--threads", str(threads), "--quiet",
                "--save", found, layer["problem"],
            )
            solution = json.loads(found.read_text())
            layer["solver"] = solution["solver"]
            fields = (item.split("=") for item in solution["config"].split(",") if item)
            layer["config"] = {name: int(value) for name, value in fields}
    record.write_text(json.dumps(tuned, indent=1) + "\n")


def profile(package: Path, threads: int) -> dict[str, Any]:
    """The report of graph-opt perf, which stays beside the package."""
    report = package.with_suffix(".perf.json")
    graph_opt(
        "perf", package, "--threads", str(threads), "--iterations", "10", "--json", report
    )
    return json.loads(report.read_text())


def print_profile(report: dict[str, Any]) -> None:
    """The layers that take the most time, and the sums by operation and solver."""
    layers = sorted(report["layers"], key=lambda layer: -layer["median_ms"])
    total = sum(layer["median_ms"] for layer in layers)
    sums: dict[str, list[float]] = {}
    for layer in layers:
        operation = layer["problem"].split("(", 1)[0]
        sums.setdefault(f"{operation} by {layer['solver']}", []).append(layer["median_ms"])
    print(f"{len(layers)} launches, {total:.2f} ms, fp32 peak {report['peak_gflops']:.0f} GFLOP/s")
    for name, times in sorted(sums.items(), key=lambda item: -sum(item[1])):
        if sum(times) > total / 100:
            print(f"{sum(times) / total:6.1%} {sum(times):9.3f} ms {len(times):4} x {name}")
    for layer in layers[:PROFILE_LAYERS]:
        print(
            f"{layer['median_ms'] / total:6.1%} {layer['median_ms']:9.3f} ms "
            f"{layer['fraction_of_peak']:4.0%} of {layer['bound']}: {layer['problem']}"
        )
