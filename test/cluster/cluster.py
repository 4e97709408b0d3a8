# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cluster on one machine: Slurm, munge and PostgreSQL from Debian, on nodes that
are namespaces. To be made within isolation.enter()."""

from __future__ import annotations

import grp
import os
import pwd
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import isolation
import slurm
from database import Database
from isolation import STATE, call
from memory_groups import MemoryGroups
from node import BRIDGE, CLOCK_LIBRARY, USER, Node, NodeSpec, empty, fill

CONTROLLER = "control"
CLOCK_SOURCE = Path(__file__).with_name("clock.c")
# Where jobs find what all nodes share.
SHARED = STATE / "shared"
FIRST_USER_ID = 64000
# How much each folder takes at most. They are tmpfs, so that what is unused costs nothing.
SIZES = {"shared": "2g", "database": "1g"}


class Cluster:
    def __init__(self, specs: list[NodeSpec], seconds_to_down: int = 10) -> None:
        """Slurm takes a node as down that it does not reach for so many seconds."""
        assert isolation.is_inside()
        self.groups = MemoryGroups(os.environ[isolation.MARK])
        for name in ("etc", "etc/slurm", "logs", *SIZES):
            (STATE / name).mkdir()
        for name, size in SIZES.items():
            call("mount", "-t", "tmpfs", "-o", f"mode=755,size={size}", "tarpon-cluster", str(STATE / name))
        self.add_user()
        self.controller = Node(NodeSpec(CONTROLLER, is_controller=True), 1, self.groups)
        self.nodes = [Node(spec, 10 + i, self.groups) for i, spec in enumerate(specs)]
        self.database = Database(self.controller, CONTROLLER)
        self.write_configuration(seconds_to_down)

    def __enter__(self) -> Cluster:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __getitem__(self, name: str) -> Node:
        return next(node for node in self.all_nodes if node.name == name)

    @property
    def all_nodes(self) -> list[Node]:
        return [self.controller, *self.nodes]

    @staticmethod
    def mount_over_etc(name: str, text: str) -> None:
        copy = STATE / "etc" / name
        copy.write_text(text)
        call("mount", "--bind", str(copy), f"/etc/{name}")

    def add_user(self) -> None:
        taken = {entry.pw_uid for entry in pwd.getpwall()} | {entry.gr_gid for entry in grp.getgrall()}
        number = next(n for n in range(FIRST_USER_ID, 1 << 16) if n not in taken)
        lines = {
            "passwd": f"{USER}:x:{number}:{number}::/home/{USER}:/bin/bash\n",
            "group": f"{USER}:x:{number}:\n",
        }
        for name, line in lines.items():
            self.mount_over_etc(name, Path("/etc", name).read_text() + line)
        shutil.chown(SHARED, USER, USER)

    def write_configuration(self, seconds_to_down: int) -> None:
        hosts = "".join(f"{node.address} {node.name}\n" for node in self.all_nodes)
        self.mount_over_etc("hosts", f"127.0.0.1 localhost\n{hosts}")
        key = STATE / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        call("cc", "-O2", "-shared", "-fPIC", "-o", str(CLOCK_LIBRARY), str(CLOCK_SOURCE))
        slurm.write_configuration(STATE / "etc" / "slurm", self.controller, self.nodes, seconds_to_down)
        call("mount", "--bind", str(STATE / "etc" / "slurm"), "/etc/slurm")

    def start(self) -> None:
        call("ip", "link", "add", BRIDGE, "type", "bridge")
        call("ip", "link", "set", BRIDGE, "up")
        call("ip", "link", "set", "lo", "up")
        for node in self.all_nodes:
            node.begin_boot()
        # The nodes boot meanwhile.
        self.database.create()
        for node in self.all_nodes:
            node.end_boot()
        self.controller.path("/run/slurmctld").mkdir()
        self.controller.start("slurmctld", "slurmctld", "-D")
        for node in self.nodes:
            node.start_slurmd()
        self.database.start()
        self.wait_for_nodes()

    def stop(self) -> None:
        for node in self.all_nodes:
            node.power_off()
        self.groups.remove()

    # Slurm.

    def slurm(self, *command: str, check: bool = True) -> str:
        return self.controller.run(*command, user=USER, check=check).stdout

    def read_states(self) -> dict[str, str]:
        """The state of each node, as Slurm has it."""
        lines = self.slurm("sinfo", "--noheader", "--Node", "--format=%N %T", check=False).splitlines()
        return dict(line.split() for line in lines)

    def wait_for_nodes(self, seconds: float = 30) -> None:
        """Until Slurm may start jobs on all nodes."""
        usable = {"idle", "mixed", "allocated", "completing"}
        self.wait(
            lambda: [*self.read_states().values()] and set(self.read_states().values()) <= usable,
            f"Slurm has not all nodes after {seconds} s", seconds,
        )

    def report_down(self, node: Node) -> None:
        """Tells Slurm that a node is down, as a site's monitoring does: it would notice later."""
        self.controller.run("scontrol", "update", f"NodeName={node.name}", "State=DOWN", "Reason=no-power")

    def submit(self, script: str, *options: str) -> str:
        """Submits a script; returns the job's number. Its output is in the shared folder."""
        text = script if script.startswith("#!") else f"#!/bin/bash\n{script}\n"
        command = ("sbatch", "--parsable", f"--chdir={SHARED}", *options)
        return self.controller.run(*command, user=USER, text=text).stdout.strip()

    def read_jobs(self, number: str) -> dict[str, str]:
        """The state of a job, or of each of an array's."""
        lines = self.slurm("squeue", "--noheader", "--array", "--states=all", f"--jobs={number}",
                           "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def wait_for_job(self, number: str, seconds: float = 60) -> dict[str, str]:
        going = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED"}
        self.wait(
            lambda: not going & set(self.read_jobs(number).values()),
            f"job {number} has not ended after {seconds} s", seconds,
        )
        return self.read_jobs(number)

    def wait(self, condition: Callable[[], object], message: str, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{message}; nodes: {self.read_states()}")
            time.sleep(0.05)

    def repair(self) -> None:
        """Ends all faults."""
        self.empty_shared()
        for node in self.all_nodes:
            if not node.is_running:
                node.boot()
            node.heal_network()
            node.set_clock(0)
            node.empty()
        for node in self.nodes:
            if not node.has_slurmd():
                node.start_slurmd()
        if not self.database.accepts_connections():
            self.database.kill()
            self.database.start()

    @staticmethod
    def fill_shared() -> None:
        """Leaves no room in what all nodes share."""
        fill(SHARED)

    @staticmethod
    def empty_shared() -> None:
        empty(SHARED)

    def keep_logs(self, folder: Path) -> None:
        """Copies the logs of all daemons, and what jobs printed, to where they outlive the cluster."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(STATE / "logs", folder)
        for file in SHARED.glob("*.out"):
            shutil.copy(file, folder)
