# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A list of problems for two targets on three nodes, of which one has no GPU, while a worker is
killed and a node is cut off."""

from __future__ import annotations

import time
from collections.abc import Callable

import invariants
from cluster import Cluster
from fleet import Fleet
from node import Node, NodeSpec
from problems import TARGETS, make_problems, take
from watch import Watch

GPU = {"gfx942": 1}
SPECS = [
    NodeSpec("n1", ("cpu", "gfx942"), GPU),
    NodeSpec("n2", ("cpu", "gfx942"), GPU),
    NodeSpec("n3", ("cpu",)),
]
# Seconds.
LEASE = 6
# What a node sent before it was cut off is in the database by then.
SECONDS_OF_COMMIT = 0.2
# All that three nodes have room for, with an evaluator of each target on each node with a GPU.
BUILDERS = 2
EVALUATORS = 2


def say(text: str) -> None:
    print(text, flush=True)


class ListTest:
    """`problems` for each target, measured once each."""

    def __init__(self, cluster: Cluster, problems: int) -> None:
        self.cluster = cluster
        self.fleet = Fleet(cluster, LEASE)
        self.problems = problems
        self.began = time.monotonic()

    def say(self, text: str) -> None:
        say(f"{time.monotonic() - self.began:6.1f} s  {text}")

    def run(self, seconds: float) -> list[str]:
        """What went wrong, one sentence each."""
        with Watch() as watch:
            faults = self.run_list(seconds)
        return faults + watch.check()

    def run_list(self, seconds: float) -> list[str]:
        fleet, jobs = self.fleet, self.problems * len(TARGETS)
        fleet.create()
        lines = take(make_problems(seed=1), self.problems)
        for target in TARGETS:
            fleet.add_problems(target, lines, target)
        fleet.keep_workers(BUILDERS, EVALUATORS)
        self.say(f"{jobs} jobs, {BUILDERS} builders, {EVALUATORS} evaluators of each target")
        faults = self.kill_evaluator() + self.cut_node_off()
        fleet.wait_for_end(seconds)
        self.cluster.wait(lambda: not self.cluster.slurm("squeue", "--noheader"), "workers do not end", 60)
        self.say("all jobs have ended")
        faults += invariants.check(fleet, jobs)
        if failed := fleet.count("state = 'failed'"):
            faults.append(f"{failed} jobs have failed")
        return faults + invariants.check_rules(fleet) + self.check_status()

    def find_owners(self, phase: str) -> list[tuple[Node, int]]:
        """The nodes of which workers have jobs right now, and the workers' numbers there."""
        rows = self.fleet.database.query(
            f"""SELECT DISTINCT machine.name, process FROM job JOIN worker ON worker.id = worker_id
            JOIN machine ON machine.id = machine_id WHERE job.state = 'leased' AND phase = '{phase}'"""
        )
        return [(self.cluster[row["name"]], row["process"]) for row in rows]

    def wait_for_owner(self, phase: str, suits: Callable[[Node], bool]) -> tuple[Node, int]:
        found: list[tuple[Node, int]] = []

        def look() -> bool:
            found[:] = [owner for owner in self.find_owners(phase) if suits(owner[0])]
            return bool(found)

        self.cluster.wait(look, f"no worker has a job to {phase}", 60)
        return found[0]

    def kill_evaluator(self) -> list[str]:
        node, process = self.wait_for_owner("measure", lambda node: True)
        node.run("kill", "-KILL", str(process))
        self.say(f"an evaluator on {node.name} is killed")
        # Its child must not go on with the device.
        deadline = time.monotonic() + 5
        while orphans := self.find_orphans(node):
            if time.monotonic() > deadline:
                return [f"{node.name} still runs {orphans}, whose worker was killed"]
            time.sleep(0.05)
        return []

    @staticmethod
    def find_orphans(node: Node) -> str:
        return node.run(
            "pgrep", "--parent", "1", "--full", "tarpon-(evaluator|emulator)|graph-opt", check=False
        ).stdout

    def cut_node_off(self) -> list[str]:
        node = self.cut_owner_off()
        self.say(f"{node.name} is cut off")
        self.cluster.wait(lambda: self.find_lost(node), f"no job of {node.name} was lost", 4 * LEASE)
        node.heal_network()
        self.say(f"{node.name} is back")
        return []

    def cut_owner_off(self) -> Node:
        """Cuts a node off while it has a job to measure. The job may end between the look and the cut,
        so the node is looked at again behind it, when nothing that it says arrives any more."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            node, _ = self.wait_for_owner("measure", lambda node: not self.find_lost(node))
            node.cut_network()
            time.sleep(SECONDS_OF_COMMIT)
            if any(owner is node for owner, _ in self.find_owners("measure")):
                return node
            node.heal_network()
        raise TimeoutError("no node was cut off while it had a job to measure")

    def find_lost(self, node: Node) -> list[dict]:
        return self.fleet.database.query(
            f"""SELECT job_id FROM attempt JOIN worker ON worker.id = worker_id JOIN machine ON
            machine.id = machine_id WHERE cause = 'lost' AND machine.name = '{node.name}'"""
        )

    def check_status(self) -> list[str]:
        status = self.fleet.read_status()
        if " lost " not in status or "was not heard of for a whole lease" not in status:
            return [f"the status does not name lost workers:\n{status}"]
        return []
