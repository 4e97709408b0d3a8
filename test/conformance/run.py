#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the generated ONNX node tests through graph-opt verify.

usage: run.py GRAPH_OPT CASES [--jobs N] [--timeout S] [--filter TEXT] [--update]

Every case is compared with its expected state in expected.txt: it passes, or
it is unsupported, which means that graph-opt refuses it with the sentence that
stands there. One line is printed per case that does something else, an unsupported case that
passes among them, and last a line with the counts. --update rewrites
expected.txt from what happened; a case that gives wrong numbers, crashes or
hangs stays expected to pass, and so stays a failure.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

EXPECTED = Path(__file__).with_name("expected.txt")

HEADER = """\
# The ONNX node tests and what graph-opt verify is expected to do with each:
#   NAME pass
#   NAME unsupported MESSAGE
# Rewritten by: test/conformance/run.py GRAPH_OPT CASES --update
"""


class State(str, Enum):
    """What became of a case."""

    PASS = "pass"
    UNSUPPORTED = "unsupported"
    FAIL = "fail"


@dataclass(frozen=True)
class Outcome:
    """The state of a case, and why it does not pass."""

    state: State
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.state.value} {self.reason}".strip()


def read_expected(path: Path) -> dict[str, Outcome]:
    """Reads the list of expected states."""
    expected = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, state, *reason = line.split(maxsplit=2)
        if state not in (State.PASS.value, State.UNSUPPORTED.value):
            raise SystemExit(f"{path}:{number}: unknown state '{state}'")
        expected[name] = Outcome(State(state), reason[0] if reason else "")
    return expected


def write_expected(
    path: Path, old: dict[str, Outcome], results: dict[str, Outcome]
) -> None:
    """Writes `results` as the expected states."""
    merged = dict(old)
    for name, outcome in results.items():
        failed = outcome.state is State.FAIL
        merged[name] = Outcome(State.PASS) if failed else outcome
    lines = [f"{name} {merged[name]}\n" for name in sorted(merged)]
    path.write_text(HEADER + "".join(lines))


def one_line(text: str, path: Path) -> str:
    """The first line of a message that is no remark, with paths from the folder
    of the case."""
    remarks = ("remark: ", "graph-opt: remark: ")
    lines = [line for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(remarks)]
    first = lines[0] if lines else "no message"
    for prefix in (f"{path}: ", "graph-opt: ", "error: ", f"{path}: ", "error: "):
        first = first.removeprefix(prefix)
    return first.replace(f"{path.parent}/", "")


def classify(process: subprocess.CompletedProcess[str], model: Path) -> Outcome:
    """Reads the exit status and the message of graph-opt verify."""
    if process.returncode == 0:
        return Outcome(State.PASS)
    message = one_line(process.stderr or process.stdout, model)
    if process.returncode < 0:
        return Outcome(State.FAIL, f"killed by signal {-process.returncode}: {message}")
    if process.returncode != 1:
        return Outcome(State.FAIL, f"exit status {process.returncode}: {message}")
    if "mismatch" in (process.stdout + process.stderr).lower():
        return Outcome(State.FAIL, message)
    return Outcome(State.UNSUPPORTED, message)


def run_case(graph_opt: Path, case: Path, timeout: float) -> Outcome:
    """Verifies one case against each of its data sets."""
    model = case / "model.onnx"
    outcome = Outcome(State.FAIL, "the case has no data set")
    for data in sorted(case.glob("test_data_set_*")):
        command = [graph_opt, "verify", model, "--test-data", data]
        try:
            process = subprocess.run(
                command,
                capture_output=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return Outcome(State.FAIL, f"no result after {timeout:g} s")
        outcome = classify(process, model)
        if outcome.state is not State.PASS:
            break
    return outcome


def unexpected(name: str, got: Outcome, wanted: Outcome | None) -> str | None:
    """One line on a result that was not expected, or None."""
    if wanted is None:
        return f"{name}: not in {EXPECTED.name}; the result is: {got}"
    if got == wanted:
        return None
    if got.state is State.PASS:
        return f"{name}: passes, but is expected to be unsupported"
    return f"{name}: expected: {wanted}, but: {got}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Runs the generated ONNX node tests through graph-opt verify."
    )
    parser.add_argument("graph_opt", type=Path, metavar="GRAPH_OPT")
    parser.add_argument("cases", type=Path, metavar="CASES")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--timeout", type=float, default=60, metavar="S")
    parser.add_argument("--filter", default="", metavar="TEXT")
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    graph_opt = arguments.graph_opt.resolve()
    if not graph_opt.is_file():
        raise SystemExit(f"run.py: there is no program {graph_opt}")
    cases = sorted(
        path.parent
        for path in arguments.cases.glob("*/model.onnx")
        if arguments.filter in path.parent.name
    )
    if not cases:
        raise SystemExit(f"run.py: there are no cases in {arguments.cases}")

    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = pool.map(
            lambda case: run_case(graph_opt, case, arguments.timeout), cases
        )
        results = {case.name: outcome for case, outcome in zip(cases, outcomes)}

    expected = read_expected(EXPECTED) if EXPECTED.exists() else {}
    if arguments.update:
        write_expected(EXPECTED, expected, results)
        expected = read_expected(EXPECTED)

    passed = failed = unsupported = 0
    for name, got in results.items():
        line = unexpected(name, got, expected.get(name))
        if line is not None:
            print(line)
            failed += 1
        elif got.state is State.PASS:
            passed += 1
        else:
            unsupported += 1
    if not arguments.filter:
        for name in sorted(expected.keys() - results.keys()):
            print(f"{name}: is in {EXPECTED.name}, but was not generated")
            failed += 1
    print(f"{unsupported} cases are unsupported, each as {EXPECTED.name} says")
    print(f"conformance: {passed} passed, {failed} failed, {unsupported} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
