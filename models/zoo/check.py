# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what Tarpon computes with what ONNX Runtime does."""

from __future__ import annotations

import enum
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from network import Network

# Relative L2 distance from ONNX Runtime up to which outputs agree.
TOLERANCE = 1e-4
# The same of quantised networks: sums that are added in another order are rounded
# to the neighbouring step here and there, and random weights amplify that.
QUANTISED_TOLERANCE = 5e-2
# Small networks on two busy cores take seconds.
TIME_LIMIT = 600


class Outcome(enum.Enum):
    AGREES = "agrees"
    REFUSED = "refused"
    WRONG = "wrong"
    CRASHED = "crashed"
    # These are no fault of Tarpon's, and no merit.
    NOT_EXPORTED = "not exported"
    NO_REFERENCE = "not run by ONNX Runtime"
    SHOWS_NOTHING = "shows nothing"


@dataclass(frozen=True)
class Check:
    outcome: Outcome
    message: str

    def __str__(self) -> str:
        return f"{self.outcome.value}: {self.message}"

    @staticmethod
    def run(graph_opt: Path, path: Path, network: Network) -> Check:
        import numpy as np

        generator = np.random.default_rng(0)
        drawn = {x.name: x.draw(generator, network.batch or 1) for x in network.all_inputs()}
        wanted = run_reference(path, drawn, is_optimised=not network.quantised)
        with tempfile.TemporaryDirectory() as folder:
            check = run_tarpon(graph_opt, path, network, drawn, folder)
            if check is not None:
                return check
            if isinstance(wanted, str):
                return Check(Outcome.NO_REFERENCE, wanted)
            got = [np.load(Path(folder) / f"{i}.npy") for i in range(len(wanted))]
        return compare_all(got, wanted, QUANTISED_TOLERANCE if network.quantised else TOLERANCE)


def run_reference(
    path: Path, drawn: dict[str, np.ndarray], is_optimised: bool
) -> list[np.ndarray] | str:
    """ONNX Runtime's outputs, or why there are none. Its optimisations make other
    roundings of a quantised network than the model asks for."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    try:
        options = onnxruntime.SessionOptions()
        if not is_optimised:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        # Exporters drop inputs that nothing reads.
        for name in drawn.keys() - {x.name for x in session.get_inputs()}:
            del drawn[name]
        return session.run(None, drawn)
    except Exception as error:  # noqa: BLE001: ONNX Runtime has a class for each code
        return str(error).splitlines()[0]


def run_tarpon(graph_opt: Path, path: Path, network: Network,
               drawn: dict[str, np.ndarray], folder: str) -> Check | None:  # fmt: skip
    """Writes the outputs into the folder, or says why there are none."""
    import numpy as np

    command: list[str | Path] = [graph_opt, "run", path, "--layout", "nhwc"]
    command += ["--output-dir", folder]
    if network.batch is not None:
        command += ["--batch", str(network.batch)]
    for i, (name, value) in enumerate(drawn.items()):
        np.save(f"{folder}/input{i}.npy", value)
        command += ["--input", f"{name}={folder}/input{i}.npy"]
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, errors="replace", text=True,
            timeout=TIME_LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Check(Outcome.CRASHED, f"graph-opt took more than {TIME_LIMIT} s")
    if process.returncode == 0:
        return None
    errors = [line for line in process.stderr.splitlines() if "error: " in line]
    if process.returncode == 1 and errors:
        message = errors[-1].split("error: ", 1)[1]
        return Check(Outcome.REFUSED, message.replace(f" in {path}", "").replace(f"{path}: ", ""))
    return Check(Outcome.CRASHED, f"graph-opt ended with {process.returncode}")


def compare_all(
    got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], tolerance: float
) -> Check:
    worst = 0.0
    for i, (ours, theirs) in enumerate(zip(got, wanted, strict=True)):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            found = f"{ours.dtype}{list(ours.shape)}"
            message = f"output {i} is {found}, not {theirs.dtype}{list(theirs.shape)}"
            return Check(Outcome.WRONG, message)
        error = distance(ours, theirs)
        # A NaN is no agreement.
        if not error <= tolerance:
            return Check(Outcome.WRONG, f"output {i}: relative L2 {error:.1e}")
        worst = max(worst, error)
    if all(x.size > 1 and (x == x.flat[0]).all() for x in wanted):
        return Check(Outcome.SHOWS_NOTHING, "all elements of each output are equal")
    return Check(Outcome.AGREES, f"relative L2 {worst:.1e}")


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    import numpy as np

    if np.array_equal(ours, theirs):
        return 0.0
    if theirs.dtype.kind != "f":
        return float(np.mean(ours != theirs))
    ours, theirs = ours.astype("float64"), theirs.astype("float64")
    # What both agree to be infinite is no distance.
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    ours, theirs = np.where(same, 0, ours), np.where(same & ~np.isfinite(theirs), 0, theirs)
    ours = np.where(same, theirs, ours)
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
