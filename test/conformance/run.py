#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the generated ONNX node tests through graph-opt verify.

usage: run.py GRAPH_OPT_CASES CASES [--expected FILE] [--jobs N] [--timeout S]
              [--filter TEXT] [--update]

Every case is compared with its expected state in FILE (expected.txt): it passes, or
it is unsupported, which means that graph-opt refuses it with the sentence that
stands there. One line is printed per case that does something else, an unsupported case that
passes among them, and last a line with the counts. --update rewrites
FILE from what happened; a case that gives wrong numbers, crashes or
hangs stays expected to pass, and so stays a failure.
"""

from __future__ import annotations

import argparse
import os
import queue
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

HEADER = """\
# The ONNX node tests and what graph-opt verify is expected to do with each:
#   NAME pass
#   NAME unsupported MESSAGE
# Rewritten by: test/conformance/run.py GRAPH_OPT_CASES CASES --expected FILE --update
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


class Server:
    """A process that runs graph-opt on one case after the other."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def verify(self, model: Path, data: Path, timeout: float) -> Outcome:
        """What graph-opt verify says of a case on one of its data sets."""
        command = f"verify\t{model}\t--test-data\t{data}"
        # A case may say how large the relative error of its results may be.
        budget = model.with_name("max_error")
        if budget.exists():
            command += f"\t--max-error\t{budget.read_text().strip()}"
        command += "\n"
        self.process.stdin.write(command.encode())
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        if not ready:
            # The session holds the server and the run that hangs, nothing else.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.start()
            return Outcome(State.FAIL, f"no result after {timeout:g} s")
        status, size = map(int, self.process.stdout.readline().split())
        message = self.process.stdout.read(size).decode(errors="replace")
        return classify(os.waitstatus_to_exitcode(status), message, model)

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def classify(status: int, message: str, model: Path) -> Outcome:
    """Reads the exit status and the message of graph-opt verify."""
    if status == 0:
        return Outcome(State.PASS)
    line = one_line(message, model)
    if status < 0:
        return Outcome(State.FAIL, f"killed by signal {-status}: {line}")
    if status != 1:
        return Outcome(State.FAIL, f"exit status {status}: {line}")
    if "mismatch" in message.lower():
        return Outcome(State.FAIL, line)
    return Outcome(State.UNSUPPORTED, line)


def run_case(server: Server, case: Path, timeout: float) -> Outcome:
    """Verifies one case against each of its data sets."""
    outcome = Outcome(State.FAIL, "the case has no data set")
    for data in sorted(case.glob("test_data_set_*")):
        outcome = server.verify(case / "model.onnx", data, timeout)
        if outcome.state is not State.PASS:
            break
    return outcome


def run_cases(
    program: Path, cases: list[Path], jobs: int, timeout: float
) -> dict[str, Outcome]:
    """What became of each case, by name."""
    servers: queue.SimpleQueue[Server] = queue.SimpleQueue()
    for _ in range(jobs):
        servers.put(Server(program))

    def run(case: Path) -> tuple[str, Outcome]:
        server = servers.get()
        try:
            return case.name, run_case(server, case, timeout)
        finally:
            servers.put(server)

    with ThreadPoolExecutor(jobs) as pool:
        results = dict(pool.map(run, cases))
    for _ in range(jobs):
        servers.get().stop()
    return results


def unexpected(name: str, got: Outcome, wanted: Outcome | None) -> str | None:
    """One line on a result that was not expected, or None."""
    if wanted is None:
        return f"{name}: not expected at all; the result is: {got}"
    if got == wanted:
        return None
    if got.state is State.PASS:
        return f"{name}: passes, but is expected to be unsupported"
    return f"{name}: expected: {wanted}, but: {got}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Runs the generated ONNX node tests through graph-opt verify."
    )
    parser.add_argument("program", type=Path, metavar="GRAPH_OPT_CASES")
    parser.add_argument("cases", type=Path, metavar="CASES")
    parser.add_argument(
        "--expected",
        type=Path,
        default=Path(__file__).with_name("expected.txt"),
        metavar="FILE",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--timeout", type=float, default=60, metavar="S")
    parser.add_argument("--filter", default="", metavar="TEXT")
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    program = arguments.program.resolve()
    if not program.is_file():
        raise SystemExit(f"run.py: there is no program {program}")
    cases = sorted(
        path.parent
        for path in arguments.cases.glob("*/model.onnx")
        if arguments.filter in path.parent.name
    )
    if not cases:
        raise SystemExit(f"run.py: there are no cases in {arguments.cases}")

    results = run_cases(program, cases, arguments.jobs, arguments.timeout)
    path = arguments.expected
    expected = read_expected(path) if path.exists() else {}
    if arguments.update:
        write_expected(path, expected, results)
        expected = read_expected(path)

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
            print(f"{name}: is in {path.name}, but was not generated")
            failed += 1
    print(f"{unsupported} cases are unsupported, each as {path.name} says")
    print(f"conformance: {passed} passed, {failed} failed, {unsupported} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
