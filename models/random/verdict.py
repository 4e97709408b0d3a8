# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what Tarpon computes of a random model with what ONNX Runtime does."""

from __future__ import annotations

import enum
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from generate import RandomModel
from graph import make_session
from values import FLOATS, Value, distance, find_sensitivity

# Relative L2 distance from ONNX Runtime up to which outputs of fp32 agree.
TOLERANCE = 1e-4
# That of outputs that descend from fp16, if it is more: a multiple of what noise does
# to them, which is as large as fp16's roundings.
TOLERATED_NOISE = 4
TIME_LIMIT = 60


class Outcome(enum.Enum):
    AGREES = "agrees"
    REFUSED = "refused"
    WRONG = "wrong"
    CRASHED = "crashed"
    # These are no fault of Tarpon's, and no merit.
    NO_REFERENCE = "not run by ONNX Runtime"
    SHOWS_NOTHING = "shows nothing"


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    message: str = ""

    def __str__(self) -> str:
        return f"{self.outcome.value}: {self.message}"


@dataclass(frozen=True)
class Program:
    """graph-opt, with options that choose a target in place of the model's own."""

    path: Path
    options: tuple[str, ...] = ()


def write(made: RandomModel, folder: Path, program: Program) -> list[str]:
    """Writes the model and its inputs; returns the command that runs it."""
    path = folder / "model.onnx"
    path.write_bytes(made.model.SerializeToString())
    options = [*made.options, *program.options]
    if not program.options:
        options += made.host_options
    (folder / "options.txt").write_text(" ".join(options) + "\n")
    command = [str(program.path), "run", str(path), *options, "--output-dir", str(folder)]
    for name, value in made.inputs.items():
        np.save(folder / f"{name}.npy", value)
        command += ["--input", f"{name}={folder / name}.npy"]
    return command


def judge(made: RandomModel, folder: Path, program: Program) -> Verdict:
    """Runs the model with both. Leaves its files, and ONNX Runtime's outputs as
    wanted0.npy, ..., in the folder."""
    command = write(made, folder, program)
    try:
        wanted = make_session(made.model).run(None, made.inputs)
    except Exception as error:  # noqa: BLE001 (ONNX Runtime has a class for each code)
        return Verdict(Outcome.NO_REFERENCE, str(error).splitlines()[0])
    for i, value in enumerate(wanted):
        np.save(folder / f"wanted{i}.npy", value)
    failure = run(command, folder / "model.onnx")
    if failure is not None:
        return failure
    got = [np.load(folder / f"{i}.npy") for i in range(len(wanted))]
    return compare_all(got, wanted, made.outputs)


def run(command: Sequence[str], path: Path) -> Verdict | None:
    """Says why graph-opt wrote no outputs, or nothing if it did."""
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, errors="replace", text=True,
            timeout=TIME_LIMIT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Verdict(Outcome.CRASHED, f"graph-opt took more than {TIME_LIMIT} s")
    if process.returncode == 0:
        return None
    errors = [line for line in process.stderr.splitlines() if "error: " in line]
    if process.returncode == 1 and errors:
        message = errors[-1].split("error: ", 1)[1]
        message = message.replace(f" in {path}", "").replace(f"{path}: ", "")
        return Verdict(Outcome.REFUSED, message)
    return Verdict(Outcome.CRASHED, f"graph-opt ended with {process.returncode}")


def compare_all(
    got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], values: Sequence[Value]
) -> Verdict:
    verdicts = [
        compare(i, *each) for i, each in enumerate(zip(got, wanted, values, strict=True))
    ]
    for verdict in verdicts:
        if verdict.outcome is Outcome.WRONG:
            return verdict
    # One output that shows something is enough.
    for verdict in verdicts:
        if verdict.outcome is Outcome.AGREES:
            return verdict
    return verdicts[0] if verdicts else Verdict(Outcome.SHOWS_NOTHING, "no outputs")


def compare(i: int, ours: np.ndarray, theirs: np.ndarray, value: Value) -> Verdict:
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        found = f"{ours.dtype}{list(ours.shape)}"
        message = f"output {i} is {found}, not {theirs.dtype}{list(theirs.shape)}"
        return Verdict(Outcome.WRONG, message)
    error = distance(ours, theirs)
    if value.dtype not in FLOATS:
        if error:
            share = f"{error:.1e} of output {i}, of {ours.dtype}, differs"
            return Verdict(Outcome.WRONG, share)
    else:
        noise = max(find_sensitivity(value.copies), distance(theirs, value.data))
        limit = max(TOLERANCE, TOLERATED_NOISE * noise if value.is_coarse else 0)
        # A NaN is no agreement.
        if not error <= limit:
            message = f"output {i}, of {ours.dtype}: relative L2 {error:.1e}, not {limit:.1e}"
            return Verdict(Outcome.WRONG, message)
    if not theirs.size:
        return Verdict(Outcome.SHOWS_NOTHING, "all outputs are empty")
    if theirs.size > 1 and (theirs == theirs.flat[0]).all():
        return Verdict(Outcome.SHOWS_NOTHING, "all elements of each output are equal")
    return Verdict(Outcome.AGREES)
