# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""graph-opt fleet in a cluster: its database, roles, workers and lists of problems."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from cluster import SHARED, Cluster
from isolation import CHECKOUT
from node import USER, Node
from problems import SEARCH, TARGETS

LABEL = "test"
PACKAGES = SHARED / "packages"
LOGS = SHARED / "logs"
# Who may do what, and on which nodes it has credentials. Workers of both kinds run everywhere.
ROLES = {
    "administrator": "tarpon_administrator",
    "reader": "tarpon_reader",
    "builder": "tarpon_builder",
    "evaluator": "tarpon_evaluator",
}
WORKERS = ("builder", "evaluator")
# Slurm may take so long to start what was submitted, after a node has failed or on a busy machine.
SECONDS_TO_START = 10


def get_cache(role: str) -> str:
    """The folder of compiled kernels on each node: roles have one each, to see which of them compile."""
    return f"/home/{USER}/cache-{role}"


def make_url(role: str) -> str:
    return f"postgresql:///?service={role}"


class Fleet:
    def __init__(
        self, cluster: Cluster, lease: int, program: str = "graph-opt", in_folder: bool = True
    ) -> None:
        """`lease` is in seconds; `in_folder` says where packages are: in the shared folder, or in the
        database."""
        self.cluster = cluster
        self.lease = lease
        self.database = cluster.database
        self.program = CHECKOUT / "build" / "bin" / program
        self.in_folder = in_folder
        # When workers were submitted last.
        self.submitted = float("-inf")

    def call(
        self, *arguments: str, role: str = "administrator", node: Node | None = None,
        check: bool = True, seconds: float = 300,
    ) -> subprocess.CompletedProcess:
        """graph-opt fleet VERB DATABASE ..., on the controller or another node."""
        verb, *rest = arguments
        return (node or self.cluster.controller).run(
            "env", f"TARPON_CACHE_DIR={get_cache(role)}", str(self.program), "fleet", verb, make_url(role), *rest,
            user=USER, check=check, seconds=seconds,
        )

    def create(self) -> None:
        """A database with a role for each kind of user, as an administrator of PostgreSQL makes it."""
        passwords = {name: self.database.create_role(name) for name in ROLES}
        self.database.execute("ALTER ROLE administrator CREATEROLE", "postgres")
        self.database.execute("CREATE DATABASE fleet OWNER administrator", "postgres")
        for node in self.cluster.all_nodes:
            wanted = ROLES if node.spec.is_controller else WORKERS
            for name in wanted:
                self.database.give_credentials(node, name, passwords[name], service=name)
        for folder in (PACKAGES, LOGS):
            self.cluster.controller.run("mkdir", str(folder), user=USER)
        self.call("init", *(["--packages", str(PACKAGES)] if self.in_folder else []))
        for name in ("reader", *WORKERS):
            self.database.execute(f"GRANT {ROLES[name]} TO {name}")

    def add_problems(self, tag: str, lines: list[str], target: str, *options: str) -> None:
        """Imports problems under a tag, and loads them for a target."""
        file = SHARED / f"{tag}.txt"
        file.write_text("".join(f"{line}\n" for line in lines))
        self.call("import", str(file), "--tag", tag)
        settings = (*TARGETS[target], *SEARCH, "--lease", str(self.lease))
        self.call("load", "--tag", tag, "--label", LABEL, *settings, *options)

    def start(self, builders: int, evaluators: int, *options: str) -> None:
        """Submits workers to Slurm, each kind with its own role of the database."""
        common = ("--on", "slurm", "--label", LABEL, "--logs", str(LOGS), *options)
        if builders:
            self.call("start", *common, "--builders", str(builders), "--evaluators", "0", role="builder")
        if evaluators:
            self.call("start", *common, "--builders", "0", "--evaluators", str(evaluators), role="evaluator")

    def count_workers(self) -> dict[str, int]:
        """The workers that run, by kind: builders, and evaluators of each target."""
        kinds = {f"--target {name} ": name for name in TARGETS}
        counts = dict.fromkeys(("builder", *TARGETS), 0)
        for node in self.cluster.nodes:
            for line in node.find("fleet worker").values():
                kind = next((name for option, name in kinds.items() if option in line), "builder")
                counts[kind] += 1
        return counts

    def keep_workers(self, builders: int, evaluators: int) -> None:
        """Submits what has died meanwhile. Those that have waited long in Slurm's queue give way, since
        they may be of the wrong kind."""
        if time.monotonic() < self.submitted + SECONDS_TO_START and self.cluster.slurm(
            "squeue", "--noheader", "--states=PENDING"
        ):
            return
        counts = self.count_workers()
        missing = max(evaluators - counts[name] for name in TARGETS)
        if missing <= 0 and counts["builder"] >= builders:
            return
        self.cluster.slurm("scancel", "--state=PENDING", f"--user={USER}")
        self.submitted = time.monotonic()
        self.start(max(0, builders - counts["builder"]), 0)
        # One by one, so that each node with a GPU gets one of each target.
        for _ in range(missing):
            self.start(0, 1)

    def count(self, condition: str = "true") -> int:
        return self.database.query(f"SELECT count(*) AS n FROM job WHERE {condition}")[0]["n"]

    def has_ended(self) -> bool:
        return self.count("state NOT IN ('done', 'failed', 'aborted')") == 0

    def wait_for_end(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.has_ended():
            if time.monotonic() > deadline:
                raise TimeoutError(f"jobs have not ended after {seconds:.0f} s:\n{self.read_status()}")
            time.sleep(0.5)

    def read_status(self) -> str:
        return self.call("status", role="reader", check=False).stdout

    def read_logs(self) -> dict[str, str]:
        """What each worker printed, by the name of its file."""
        return {file.name: file.read_text(errors="replace") for file in sorted(LOGS.glob("*.log"))}

    def keep_logs(self, folder: Path) -> None:
        self.cluster.keep_logs(folder)
        for name, text in self.read_logs().items():
            (folder / name).write_text(text)
