# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One package for all sizes against a package for each (benchmarks/sizes)."""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from machine import BenchmarkError, ROOT, describe_machine, write_json
from packages import LIBRARY, graph_opt
from runners.tarpon_runner import OK, Buffer, TensorInfo, make_tensor


@dataclass(frozen=True)
class Case:
    """A network and the sizes of its one dimension that differ."""

    dimension: str
    high: int
    # Those of other dimensions.
    fixed: tuple[str, ...] = ()

    def options(self, sizes: str) -> list[str]:
        return [word for text in (f"{self.dimension}={sizes}", *self.fixed) for word in ("--dim", text)]

    def choose(self, count: int) -> list[int]:
        """Sizes with equal ratios, and one more, as far as there are so many."""
        if count >= self.high:
            return list(range(1, self.high + 1))
        sizes = {round(self.high ** (i / (count - 1))) for i in range(count)}
        # Rounding makes some of the small ones equal.
        others = (size for size in range(self.high - 1, 0, -self.high // count) if size not in sizes)
        while len(sizes) < count:
            sizes.add(next(others))
        return sorted(sizes)


CASES = {
    "resnet50": Case("N", 16),
    "mobilenetv2": Case("N", 16),
    "bert": Case("seq", 512, ("batch=1",)),
    "gpt2": Case("seq", 512, ("batch=1",)),
}
# The least id of a token that no vocabulary has.
WORDS = 30_000


class Model:
    """A package, loaded through the C interface."""

    def __init__(self, package: Path, threads: int) -> None:
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.tarpon_error_message.restype = ctypes.c_char_p
        self.library.tarpon_model_num_inputs.restype = ctypes.c_size_t
        self.model = ctypes.c_void_p()
        self.call("tarpon_model_load", str(package).encode(), threads, ctypes.byref(self.model))

    def close(self) -> None:
        self.library.tarpon_model_free(self.model)

    def call(self, function: str, *arguments: object) -> None:
        if getattr(self.library, function)(*arguments) != OK:
            raise BenchmarkError(self.library.tarpon_error_message().decode())

    def choose(self, size: int) -> float:
        """Returns the milliseconds that choosing a size takes."""
        sizes = (ctypes.c_int64 * 1)(size)
        start = time.perf_counter()
        self.call("tarpon_model_set_sizes", self.model, sizes, ctypes.c_size_t(1))
        return 1e3 * (time.perf_counter() - start)

    def bind(self, inputs: list[np.ndarray]) -> None:
        self.inputs = []
        for x in inputs:
            floats = make_tensor((x.nbytes // 4,))
            floats.view(np.uint8)[...] = x.reshape(-1).view(np.uint8)
            self.inputs.append(floats)
        info = TensorInfo()
        self.call("tarpon_model_output", self.model, ctypes.c_size_t(0), ctypes.byref(info))
        self.output = make_tensor(tuple(info.shape[: info.rank]))

    def run(self) -> float:
        """Returns the milliseconds of one run."""
        sources = (Buffer * len(self.inputs))(
            *(Buffer(x.ctypes.data, x.nbytes) for x in self.inputs)
        )
        result = Buffer(self.output.ctypes.data, self.output.nbytes)
        count, one = ctypes.c_size_t(len(self.inputs)), ctypes.c_size_t(1)
        start = time.perf_counter()
        self.call("tarpon_model_run", self.model, sources, count, ctypes.byref(result), one)
        return 1e3 * (time.perf_counter() - start)


def make_inputs(session: object, case: Case, size: int) -> dict[str, np.ndarray]:
    """Pixels, ids of words, and a mask that hides the last quarter of them."""
    random = np.random.default_rng(size)
    inputs = {}
    for value in session.get_inputs():
        shape = [size if dim == case.dimension else 1 if isinstance(dim, str) else dim for dim in value.shape]
        if value.type == "tensor(float)":
            inputs[value.name] = random.standard_normal(shape, dtype=np.float32)
        elif "mask" in value.name:
            inputs[value.name] = (np.arange(size) <= 3 * size // 4).astype(np.int64).reshape(shape)
        else:
            inputs[value.name] = random.integers(0, WORDS, shape)
    return inputs


def measure(
    model: Path, case: Case, ours: Model, session: object, size: int, threads: int, rounds: int
) -> dict:
    inputs = make_inputs(session, case, size)
    (wanted,) = session.run(None, inputs)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "own.tpn"
        graph_opt("compile", model, *case.options(str(size)), "--layout", "nhwc",
                  "--threads", str(threads), "-o", package, is_tuned=False)  # fmt: skip
        own = Model(package, threads)
    choosing = ours.choose(size)
    for contestant in (ours, own):
        contestant.bind(list(inputs.values()))
        contestant.run()
    times = [(ours.run(), own.run()) for _ in range(rounds)]
    error = float(np.linalg.norm(ours.output - wanted) / np.linalg.norm(wanted))
    own.close()
    return {
        "size": size,
        "error": error,
        "choosing_ms": choosing,
        "all_ms": statistics.median(t for t, _ in times),
        "own_ms": statistics.median(t for _, t in times),
        "ratio": statistics.median(a / b for a, b in times),
    }


def compare(name: str, count: int, rounds: int, threads: int) -> dict:
    import onnxruntime

    case = CASES[name]
    model = ROOT / "models" / "built" / f"{name}.onnx"
    if not model.exists():
        builder = [sys.executable, ROOT / "models" / "build.py", name]
        subprocess.run(builder, check=True, stdout=subprocess.DEVNULL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    package = ROOT / "build" / "benchmarks" / f"{name}-sizes-t{threads}.tpn"
    package.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    graph_opt("compile", model, *case.options(f"1..{case.high}"), "--layout", "nhwc",
              "--threads", str(threads), "-o", package, is_tuned=False)  # fmt: skip
    compiling = time.perf_counter() - start
    ours = Model(package, threads)
    rows = []
    print(f"{name}: {case.dimension} of 1 to {case.high}, {threads} threads; compiled in {compiling:.0f} s, "
          f"{package.stat().st_size / 1e6:.0f} MB, the model has {model.stat().st_size / 1e6:.0f}")  # fmt: skip
    for size in case.choose(count):
        row = measure(model, case, ours, session, size, threads, rounds)
        rows.append(row)
        print(f"{row['size']:6} {row['error']:9.1e} {row['all_ms']:10.3f} {row['own_ms']:10.3f} "
              f"{row['ratio']:7.3f} {row['choosing_ms']:7.3f}", flush=True)  # fmt: skip
    ours.close()
    return {
        "network": name, "dimension": case.dimension, "high": case.high, "threads": threads,
        "compile_s": compiling, "package_bytes": package.stat().st_size,
        "model_bytes": model.stat().st_size, "rows": rows,
    }  # fmt: skip


def summarise(results: list[dict]) -> None:
    for result in results:
        rows = result["rows"]
        mean = statistics.geometric_mean(row["ratio"] for row in rows)
        print(f"{result['network']}: ratio {mean:.3f} in the geometric mean, "
              f"{max(row['ratio'] for row in rows):.3f} at worst; error {max(row['error'] for row in rows):.1e}; "
              f"choosing a size {max(row['choosing_ms'] for row in rows):.2f} ms at worst")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("networks", nargs="*", choices=[*CASES, []])
    arguments = parser.parse_args()
    try:
        results = [
            compare(name, arguments.count, arguments.rounds, arguments.threads)
            for name in arguments.networks or CASES
        ]
    except BenchmarkError as error:
        sys.exit(f"sizes: {error}")
    summarise(results)
    if arguments.json:
        write_json(arguments.json, {**describe_machine(), "results": results})
    return 0


sys.exit(main())
