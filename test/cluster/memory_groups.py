# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control groups that limit the memory of nodes, where the kernel lends them."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
PREFIX = "tarpon-cluster-"


def find_own_group() -> tuple[Path, str] | None:
    """The folder of this process's group, and the file in its children that takes
    the limit; none where there is no controller for memory."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return CGROUPS / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
        if not controllers and (CGROUPS / "cgroup.controllers").exists():
            own = CGROUPS / path.lstrip("/")
            with contextlib.suppress(OSError):
                (own / "cgroup.subtree_control").write_text("+memory")
                return own, "memory.max"
    return None


def read_start(process: str) -> str:
    """When a process started, in ticks; empty if there is none."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def make_name() -> str:
    """The name of the group of a cluster that this process is about to become."""
    return f"{PREFIX}{os.getpid()}-{read_start('self')}"


def remove(group: Path) -> None:
    """Waits for the kernel to let go of processes that have just ended."""
    for folder in (*group.glob("*/"), group):
        deadline = time.monotonic() + 5
        while folder.is_dir():
            try:
                folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def remove_leftovers() -> list[Path]:
    """Removes the groups of clusters that have died; returns them."""
    found = [Path(folder) for folder, _, _ in os.walk(CGROUPS) if f"/{PREFIX}" in folder]
    dead = []
    for group in found:
        name = re.fullmatch(rf"{PREFIX}(\d+)-(\d+)", group.name)
        if name and read_start(name.group(1)) != name.group(2):
            with contextlib.suppress(OSError):
                remove(group)
                dead.append(group)
    return dead


class MemoryGroups:
    """The groups of one cluster, one per node."""

    def __init__(self, name: str) -> None:
        self.group: Path | None = None
        if own := find_own_group():
            folder, self.limit_file = own
            with contextlib.suppress(OSError):
                (folder / name).mkdir()
                self.group = folder / name
                if self.limit_file == "memory.max":
                    (self.group / "cgroup.subtree_control").write_text("+memory")

    @property
    def kind(self) -> str:
        if not self.group:
            return "RLIMIT_DATA of each process, because no control group for memory can be made here"
        return f"control groups ({self.limit_file})"

    def add(self, name: str, limit: int) -> Path | None:
        """A group with a limit in bytes; none where there are no groups."""
        if not self.group:
            return None
        group = self.group / name
        group.mkdir(exist_ok=True)
        (group / self.limit_file).write_text(str(limit))
        return group

    def remove(self) -> None:
        if self.group:
            remove(self.group)
            self.group = None
