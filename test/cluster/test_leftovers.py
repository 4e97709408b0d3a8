# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a cluster leaves behind, however it ends.

usage: test_leftovers.py
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import isolation  # noqa: E402
import memory_groups  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import NodeSpec  # noqa: E402

SKIPPED = 77


def list_files(folder: str) -> set[str]:
    return set(os.listdir(folder))


def find_groups() -> set[str]:
    return {
        folder for folder, _, _ in os.walk(memory_groups.CGROUPS)
        if Path(folder).name.startswith(memory_groups.PREFIX)
    }


def look() -> dict[str, object]:
    """What a cluster could leave: everything that is not the business of other programs."""
    return {
        "links": list_files("/sys/class/net"),
        "mounts": {line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "tarpon-" in line},
        "files": [list_files(folder) for folder in (str(isolation.STATE), "/etc", "/run", "/dev/shm")],
    }


def find_processes(mark: str) -> list[str]:
    """The processes that a cluster of this mark started, recognised by their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(Path(f"/proc/{name}/cmdline").read_text())
        except OSError:
            continue
    return found


class LeftoversTest(unittest.TestCase):
    def setUp(self) -> None:
        self.before = look()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True, env={**os.environ, "TARPON_LEFTOVERS": str(os.getpid())},
        )
        self.mark = f"TARPON_LEFTOVERS={os.getpid()}"
        self.groups = f"{memory_groups.PREFIX}{self.process.pid}-"
        self.addCleanup(self.process.kill)
        self.assertEqual(self.process.stdout.readline(), "it runs\n")
        self.assertGreater(len(find_processes(self.mark)), 8)

    def find_groups(self) -> set[str]:
        return {group for group in find_groups() if self.groups in group}

    def end(self, number: int) -> None:
        os.killpg(self.process.pid, number)
        self.process.communicate(timeout=30)
        deadline = time.monotonic() + 10
        while find_processes(self.mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(find_processes(self.mark), [])
        self.assertEqual(look(), self.before)

    def test_after_an_interrupt(self) -> None:
        self.end(signal.SIGINT)
        self.assertEqual(self.find_groups(), set())

    def test_after_termination(self) -> None:
        self.end(signal.SIGTERM)
        self.assertEqual(self.find_groups(), set())

    def test_after_a_kill(self) -> None:
        had_groups = bool(self.find_groups())
        # Not the group: one process dies, and the kernel ends the others.
        self.process.kill()
        self.end(signal.SIGKILL)
        # Empty ones stay until the next cluster starts.
        self.assertEqual(bool(self.find_groups()), had_groups)
        memory_groups.remove_leftovers()
        self.assertEqual(self.find_groups(), set())


def run() -> None:
    isolation.enter()
    with Cluster([NodeSpec("n1"), NodeSpec("n2")]):
        print("it runs", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    if "--run" in sys.argv:
        run()
    elif obstacle := isolation.find_obstacle():
        print(f"left out: {obstacle}")
        sys.exit(SKIPPED)
    else:
        unittest.main(verbosity=2)
