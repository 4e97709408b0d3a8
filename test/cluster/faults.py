# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The faults that may happen to a fleet in a cluster. Each ends before its function does, which
returns what it did."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from cluster import Cluster
from fleet import Fleet
from invariants import Outage
from node import Node, read_command


@dataclass
class Rig:
    cluster: Cluster
    fleet: Fleet
    draw: random.Random
    # Keeps the list long and the workers alive.
    keep_busy: Callable[[], None]
    # When the fault of the moment began.
    began: float = 0.0
    # How many jobs there are.
    jobs: int = 0
    outages: list[Outage] = field(default_factory=list)
    # Problems with a harmful candidate, and the status that it should get.
    planted: list[tuple[str, str]] = field(default_factory=list)

    def list_planted(self) -> set[str]:
        """The statuses by which candidates have to fail."""
        return {status for _, status in self.planted}

    def wait(self, shortest: float, longest: float) -> None:
        time.sleep(self.draw.uniform(shortest, longest))

    def choose_owner(self) -> tuple[Node, int, str]:
        """A worker that has jobs right now: its node, its process as seen from here, and its role."""
        found: list[tuple[Node, int, str]] = []

        def look() -> bool:
            rows = self.fleet.database.query(
                """SELECT DISTINCT machine.name, process, role FROM job JOIN worker ON worker.id = worker_id
                JOIN machine ON machine.id = machine_id WHERE job.state = 'leased' ORDER BY 1, 2"""
            )
            for row in rows:
                node = self.cluster[row["name"]]
                process = node.translate(row["process"])
                if process and "fleet worker" in read_command(process):
                    found.append((node, process, row["role"]))
            return bool(found)

        deadline = time.monotonic() + 60
        while not look():
            if time.monotonic() > deadline:
                raise TimeoutError("no worker has a job")
            # The list may have ended meanwhile, and the workers with it.
            self.keep_busy()
            time.sleep(2)
        self.began = time.time()
        return self.draw.choice(found)

    def choose_node(self) -> Node:
        return self.choose_owner()[0]


class Fault(NamedTuple):
    name: str
    inject: Callable[[Rig], str]
    # The causes by which attempts may fail, and those by which some do if it happens often enough.
    causes: frozenset[str]
    must_cause: frozenset[str]


FAULTS: list[Fault] = []


def fault(*must: str, may: tuple[str, ...] = ()) -> Callable[[Callable[[Rig], str]], Callable[[Rig], str]]:
    def add(function: Callable[[Rig], str]) -> Callable[[Rig], str]:
        FAULTS.append(Fault(function.__name__, function, frozenset((*must, *may)), frozenset(must)))
        return function

    return add


@fault("lost", may=("returned",))
def kill_worker(rig: Rig) -> str:
    node, process, role = rig.choose_owner()
    os.kill(process, signal.SIGKILL)
    return f"{role} on {node.name}"


@fault("lost", may=("returned",))
def stop_worker(rig: Rig) -> str:
    """It goes on after its lease has ended."""
    node, process, role = rig.choose_owner()
    os.kill(process, signal.SIGSTOP)
    rig.wait(1.2 * rig.fleet.lease, 2 * rig.fleet.lease)
    os.kill(process, signal.SIGCONT)
    return f"{role} on {node.name}"


@fault()
def kill_slurmd(rig: Rig) -> str:
    node = rig.choose_node()
    node.kill_slurmd()
    rig.wait(0.5, 4)
    node.start_slurmd()
    return node.name


@fault("lost", may=("returned",))
def kill_node(rig: Rig) -> str:
    node = rig.choose_node()
    node.power_off()
    rig.wait(0.5, 5)
    rig.cluster.report_down(node)
    node.boot()
    return node.name


@fault("lost", may=("returned",))
def cut_network(rig: Rig) -> str:
    node = rig.choose_node()
    node.cut_network()
    rig.wait(1.2 * rig.fleet.lease, 2.5 * rig.fleet.lease)
    node.heal_network()
    return node.name


@fault()
def cut_network_shortly(rig: Rig) -> str:
    node = rig.choose_node()
    node.cut_network()
    rig.wait(0.1, 0.3 * rig.fleet.lease)
    node.heal_network()
    return node.name


def interrupt_database(rig: Rig, end: Callable[[], None]) -> str:
    began = time.time()
    end()
    rig.wait(0.2, 1.5 * rig.fleet.lease)
    rig.cluster.database.start()
    rig.outages.append(Outage(began, time.time()))
    return f"away for {time.time() - began:.1f} s"


@fault(may=("lost", "returned", "database"))
def stop_database(rig: Rig) -> str:
    return interrupt_database(rig, rig.cluster.database.stop)


@fault(may=("lost", "returned", "database"))
def kill_database(rig: Rig) -> str:
    return interrupt_database(rig, rig.cluster.database.kill)


@fault("disk")
def fill_disk(rig: Rig) -> str:
    node = rig.choose_node()
    node.fill()
    rig.wait(2, 6)
    node.empty()
    return f"/tmp of {node.name}"


@fault("disk")
def fill_shared_disk(rig: Rig) -> str:
    rig.cluster.fill_shared()
    rig.wait(2, 6)
    rig.cluster.empty_shared()
    return "the shared folder"


@fault()
def set_clock(rig: Rig) -> str:
    node = rig.choose_node()
    seconds = rig.draw.choice((3600, -3600))
    node.set_clock(seconds)
    rig.wait(rig.fleet.lease, 2 * rig.fleet.lease)
    node.set_clock(0)
    return f"{node.name} by {seconds} s"


def plant(rig: Rig, channels: int, status: str, target: str = "host") -> str:
    """A problem that has a harmful candidate besides right ones (graph-opt-hostile.cpp)."""
    number = 2 + len(rig.planted)
    # GPUs have a lane for each of 64 elements.
    height = 1 if target == "host" else 8
    key = f"relu({number}x{channels}x{height}x1xf32)->{number}x{channels}x{height}x1xf32"
    rig.planted.append((key, status))
    rig.fleet.add_problems(f"planted-{number}", [key], target, "--priority", "1")
    rig.jobs += 1
    return key


@fault()
def crash(rig: Rig) -> str:
    return plant(rig, 11, "crashed")


@fault()
def hang(rig: Rig) -> str:
    return plant(rig, 12, "timed-out")


@fault()
def crash_emulated(rig: Rig) -> str:
    return plant(rig, 11, "crashed", "gfx942")


@fault()
def hang_emulated(rig: Rig) -> str:
    return plant(rig, 12, "timed-out", "gfx942")


@fault()
def lie(rig: Rig) -> str:
    return plant(rig, 13, "wrong")


@fault("memory")
def eat_memory(rig: Rig) -> str:
    return plant(rig, 14, "failed")
