# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of a worker on each of two nodes over that of one alone, for the same list of jobs, which
they only pretend to do: with two cores, two real ones would share them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cluster import Cluster
from isolation import CHECKOUT
from node import USER, Node, NodeSpec

SPECS = [NodeSpec("n1", ("cpu",)), NodeSpec("n2", ("cpu",))]
SIMULATION = CHECKOUT / "build" / "bin" / "fleet-simulation"
# Three hundred phases, as each job is built, measured and looked at once more.
JOBS, SECONDS_OF_PHASE = 100, 0.05
SERVICE = "worker"


def create(cluster: Cluster) -> None:
    """A role that may do anything in databases of its own, known to all nodes."""
    password = cluster.database.create_role(SERVICE, "SUPERUSER")
    for node in cluster.all_nodes:
        cluster.database.give_credentials(node, SERVICE, password, service=SERVICE)


def measure(cluster: Cluster, nodes: list[Node]) -> float:
    """Seconds from the first claim to the last result, by the database's clock."""
    cluster.database.execute("DROP DATABASE IF EXISTS fleet", "postgres")
    cluster.database.execute(f"CREATE DATABASE fleet OWNER {SERVICE}", "postgres")
    url = f"postgresql:///?service={SERVICE}"
    graph_opt = SIMULATION.with_name("graph-opt")
    cluster.controller.run(str(graph_opt), "fleet", "init", url, user=USER)
    simulate = (str(SIMULATION), url, f"--jobs={JOBS}", f"--work={SECONDS_OF_PHASE}", "--until-done")
    cluster.controller.run(*simulate, "--prepare-only", f"--workers={len(nodes)}", user=USER)

    def work(number: int, node: Node) -> None:
        node.run(*simulate, "--workers=1", f"--join-as={number}", user=USER, seconds=300)

    with ThreadPoolExecutor() as threads:
        list(threads.map(work, range(1, len(nodes) + 1), nodes))
    row = cluster.database.query(
        """SELECT max(ended) - min(started) AS seconds, count(DISTINCT attempt.worker_id) AS workers,
        count(DISTINCT job_id) FILTER (WHERE job.state = 'done') AS jobs
        FROM attempt JOIN job ON job.id = job_id"""
    )[0]
    if (row["jobs"], row["workers"]) != (JOBS, len(nodes)):
        raise RuntimeError(f"{row['workers']} workers have done {row['jobs']} jobs, not {len(nodes)} all {JOBS}")
    return row["seconds"]


def compare(cluster: Cluster) -> dict[str, Any]:
    create(cluster)
    one, two = measure(cluster, cluster.nodes[:1]), measure(cluster, cluster.nodes)
    return {"one_seconds": one, "two_seconds": two, "ratio": two / one}
