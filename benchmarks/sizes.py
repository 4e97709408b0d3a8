# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One package for all sizes against a package for each (benchmarks/sizes)."""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from machine import BenchmarkError, ROOT, describe_machine, write_json
from packages import graph_opt
from sized_model import SizedModel


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


def make_inputs(session: object, case: Case, size: int) -> dict[str, np.ndarray]:
    """Pixels, ids of words, and a mask that hides the last quarter of them."""
    generator = np.random.default_rng(size)
    inputs = {}
    for value in session.get_inputs():
        shape = [size if dim == case.dimension else 1 if isinstance(dim, str) else dim for dim in value.shape]
        if value.type == "tensor(float)":
            inputs[value.name] = generator.standard_normal(shape, dtype=np.float32)
        elif "mask" in value.name:
            inputs[value.name] = (np.arange(size) <= 3 * size // 4).astype(np.int64).reshape(shape)
        else:
            inputs[value.name] = generator.integers(0, WORDS, shape)
    return inputs


def measure(
    model: Path, case: Case, ours: SizedModel, session: object, size: int, threads: int, rounds: int
) -> dict:
    inputs = make_inputs(session, case, size)
    (wanted,) = session.run(None, inputs)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "own.tpn"
        graph_opt("compile", model, *case.options(str(size)), "--layout", "nhwc",
                  "--threads", str(threads), "-o", package, is_tuned=False)  # fmt: skip
        own = SizedModel(package, threads)
    ours.choose(size)
    for contestant in (ours, own):
        contestant.bind(list(inputs.values()))
        contestant.run()
    times = [(ours.run(), own.run()) for _ in range(rounds)]
    error = float(np.linalg.norm(ours.outputs[0] - wanted) / np.linalg.norm(wanted))
    own.close()
    return {
        "size": size,
        "error": error,
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
    ours = SizedModel(package, threads)
    # Each size is chosen for the first time, and other programs have not run in between.
    sizes = list(range(1, case.high + 1))
    random.Random(0).shuffle(sizes)
    choosing = [ours.choose(size) for size in sizes]
    rows = []
    print(f"{name}: {case.dimension} of 1 to {case.high}, {threads} threads; compiled in {compiling:.0f} s, "
          f"{package.stat().st_size / 1e6:.0f} MB, the model has {model.stat().st_size / 1e6:.0f}")  # fmt: skip
    for size in case.choose(count):
        row = measure(model, case, ours, session, size, threads, rounds)
        rows.append(row)
        print(f"{row['size']:6} {row['error']:9.1e} {row['all_ms']:10.3f} {row['own_ms']:10.3f} "
              f"{row['ratio']:7.3f}", flush=True)  # fmt: skip
    ours.close()
    return {
        "network": name, "dimension": case.dimension, "high": case.high, "threads": threads,
        "compile_s": compiling, "package_bytes": package.stat().st_size,
        "model_bytes": model.stat().st_size, "rows": rows,
        "choosing_ms": {"median": statistics.median(choosing), "most": max(choosing)},
    }  # fmt: skip


def summarise(results: list[dict]) -> None:
    for result in results:
        rows = result["rows"]
        mean = statistics.geometric_mean(row["ratio"] for row in rows)
        print(f"{result['network']}: ratio {mean:.3f} in the geometric mean, "
              f"{max(row['ratio'] for row in rows):.3f} at worst; error {max(row['error'] for row in rows):.1e}; "
              f"choosing a size {result['choosing_ms']['median']:.2f} ms, "
              f"{result['choosing_ms']['most']:.2f} at worst")  # fmt: skip


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
