# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks all the time at who runs candidates on the nodes: the processes that measure are children of
evaluators alone."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable

from node import read_command, read_name, read_parent

SECONDS_BETWEEN_LOOKS = 0.1
# A process's name has 15 characters.
MEASURERS = ("tarpon-evaluator"[:15], "tarpon-emulator"[:15])
ROLE = re.compile(r" fleet worker .*--role (\w+)")


def list_processes() -> Iterable[int]:
    return map(int, filter(str.isdigit, os.listdir("/proc")))


def find_role(process: int, parent_of: Callable[[int], int] = read_parent,
              command_of: Callable[[int], str] = read_command) -> str | None:
    """The role of the worker that a process belongs to; none if it ends meanwhile, or has lost it."""
    while (process := parent_of(process)) > 1:
        if match := ROLE.search(command_of(process)):
            return match.group(1)
    return None


class Watch:
    """Counts the processes that measure, by the role of their workers, from a thread of its own."""

    def __init__(self) -> None:
        self.roles: dict[int, str] = {}
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> Watch:
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.ending.set()
        self.thread.join()

    def run(self) -> None:
        while not self.ending.wait(SECONDS_BETWEEN_LOOKS):
            self.look()

    def look(self) -> None:
        for process in list_processes():
            if read_name(process) in MEASURERS and (role := find_role(process)):
                self.roles[process] = role

    def check(self) -> list[str]:
        """What is wrong, one sentence each. Where nobody was seen to measure, nothing was watched."""
        counts = Counter(self.roles.values())
        faults = [f"a {role} ran {count} processes that measure" for role, count in counts.items() if role != "evaluator"]
        if not counts["evaluator"]:
            faults.append("no evaluator was seen to run a process that measures")
        return faults
