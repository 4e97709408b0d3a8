#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random models with Tarpon and ONNX Runtime; scripts/random-models runs it.

Each model has a process of its own, so that one that ends ONNX Runtime ends nothing
else. A line is printed for each that Tarpon does not compute as ONNX Runtime does,
and last how many there were of each kind.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from generate import generate
from verdict import TIME_LIMIT, Outcome, Program, Verdict, judge

ROOT = Path(__file__).resolve().parents[2]
GRAPH_OPT = Path(os.environ.get("GRAPH_OPT", ROOT / "build/bin/graph-opt"))
FAILURES = (Outcome.WRONG, Outcome.CRASHED)


def serve(
    seed: int, number: int, folder: str, program: Program, connection: Connection
) -> None:
    """What a model's process does. Sends a verdict, or what a mistake of ours raises."""
    try:
        connection.send(judge(generate(seed, number), Path(folder), program))
    except Exception as error:
        connection.send(error)
        raise


def check(seed: int, number: int, program: Program, keep: Path | None) -> Verdict:
    """Makes and judges one model; the files go to a folder of `keep`."""
    with tempfile.TemporaryDirectory(prefix="tarpon-random-") as folder:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(
            target=serve, args=(seed, number, folder, program, theirs)
        )
        process.start()
        theirs.close()
        try:
            if ours.poll(2 * TIME_LIMIT):
                verdict = ours.recv()
            else:
                verdict = Verdict(Outcome.NO_REFERENCE, "took too long")
                process.kill()
        except EOFError:
            verdict = Verdict(Outcome.NO_REFERENCE, "its process ended")
        process.join()
        if isinstance(verdict, Exception):
            raise RuntimeError(f"model {seed}-{number} was not made") from verdict  # noqa: TRY004
        if keep and verdict.outcome is not Outcome.AGREES:
            kept = keep / f"{seed}-{number}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            (kept / "verdict.txt").write_text(f"{verdict}\n")
    return verdict


def generalise(message: str) -> str:
    """A refusal without the names, types and numbers of its model."""
    message = re.sub(r" node '\w+': ", ": ", message)
    message = re.sub(r"'[xcv]\d+'", "'...'", message)
    message = re.sub(
        r"(no solver's kernels for \w+)\(.*\).* can be", r"\1(...) can be", message
    )
    message = re.sub(r"tensor<[^>]*>", "tensor<...>", message)
    message = re.sub(r"quant\.uniform<[^>]*>", "quant.uniform<...>", message)
    return re.sub(r"(?<![\w.])-?\d+\b", "N", message)


def summarise(verdicts: Iterable[Verdict]) -> str:
    verdicts = list(verdicts)
    lines = []
    for outcome in Outcome:
        found = [verdict for verdict in verdicts if verdict.outcome is outcome]
        lines.append(f"{outcome.value:24} {len(found):6} {len(found) / len(verdicts):7.2%}")
        if outcome in (Outcome.AGREES, *FAILURES):
            continue
        messages = Counter(generalise(verdict.message) for verdict in found)
        lines += [f"    {count:6} {message}" for message, count in messages.most_common()]
    return "\n".join(lines)


def natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no natural number")
    return int(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/random-models",
        description="Compares Tarpon with ONNX Runtime on random valid models.",
        epilog="example: scripts/random-models --count 3000 --keep build/random",
    )
    parser.add_argument("--count", type=natural, default=100, help="how many models (100)")
    parser.add_argument("--seed", type=natural, default=1, help="which models (1)")
    parser.add_argument("--first", type=natural, default=0, help="number of the first (0)")
    parser.add_argument("--jobs", type=natural, default=1, help="models at a time (1)")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep the files of models that do not agree",
    )
    parser.add_argument(
        "options", nargs="*", metavar="-- OPTION",
        help="of graph-opt run, such as -- --target gfx942 --device emulated",
    )  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="print a line for each model")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    program = Program(GRAPH_OPT, tuple(arguments.options))
    numbers = range(arguments.first, arguments.first + arguments.count)
    verdicts = []
    with ThreadPoolExecutor(max(arguments.jobs, 1)) as pool:
        checks = pool.map(lambda k: check(arguments.seed, k, program, arguments.keep), numbers)
        for number, verdict in zip(numbers, checks, strict=True):
            verdicts.append(verdict)
            if arguments.verbose or verdict.outcome is not Outcome.AGREES:
                print(f"{arguments.seed}-{number:<6} {verdict}", flush=True)
    if verdicts:
        print(summarise(verdicts))
    return 1 if any(verdict.outcome in FAILURES for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
