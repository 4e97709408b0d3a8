# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that may go wrong in a cluster, many times at random moments, while a long list of
problems is tuned for two targets. Nothing may be lost or counted twice."""

from __future__ import annotations

import json
import random
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import invariants
from cluster import Cluster
from faults import FAULTS, Fault, Rig
from fleet import LABEL, Fleet
from invariants import Outage
from node import NodeSpec
from problems import TARGETS, make_problems, take
from watch import Watch

# Too little for one of the candidates, enough for all else.
MEMORY = 900 << 20
GPU = {"gfx942": 1}
SPECS = [
    NodeSpec("n1", ("cpu", "gfx942"), GPU, memory=MEMORY, has_movable_clock=True),
    NodeSpec("n2", ("cpu", "gfx942"), GPU, memory=MEMORY, has_movable_clock=True),
    NodeSpec("n3", ("cpu",), memory=MEMORY, has_movable_clock=True),
]
LEASE = 5
# The list grows by so many problems of a target when less than that is left of it.
PORTION = 60
# Candidates that eat memory are tried again long after they were planted.
LATE = {"memory"}
# A claim that was under way when the network was cut arrives once it is back: TCP doubles the
# time between its attempts, and so is silent for as long again as the longest cut was.
RECOVERY = 2.5 * LEASE
# A worker whose disk is full pauses, and does not fail the whole list.
MAX_DISK_FAILURES = 40
BUILDERS = 2
EVALUATORS = 2


def read_candidates(status: str) -> dict[str, tuple[int, int]]:
    """How many candidates the text of `fleet status` says have failed, and of how many problems, by how."""
    _, _, group = status.partition("\ncandidates that failed\n")
    rows = re.findall(r"^ +(\d+) (\S+) +of (\d+) problems; last: .", group, re.MULTILINE)
    return {name: (int(count), int(problems)) for count, name, problems in rows}


@dataclass
class Injection:
    """A fault that happened."""

    fault: str
    detail: str
    at: float
    seconds: float = 0.0
    # How many jobs were somebody's, and for how long after the fault's begin the last of those was.
    jobs: int = 0
    resolved_after: float = 0.0
    # The longest time that a job which was lost was nobody's.
    stranded: float = 0.0
    # How many attempts failed meanwhile, by cause.
    causes: dict[str, int] = field(default_factory=dict)


# Why workers give back jobs that they have claimed and not begun: nobody is charged. The first needs no
# fault, the second is what a fault of the machine does to the other jobs of a claim.
TOO_LONG, OF_MACHINE = "jobs before it took too long", "the machine had a fault"
MACHINE_CAUSE = "disk"


class FaultTest:
    def __init__(self, cluster: Cluster, repetitions: int, seed: int, names: list[str]) -> None:
        self.cluster = cluster
        self.fleet = Fleet(cluster, LEASE, "graph-opt-hostile")
        self.draw = random.Random(seed)
        self.seed = seed
        self.problems = make_problems(seed)
        self.rig = Rig(cluster, self.fleet, self.draw, self.keep_busy)
        self.plan = [fault for fault in FAULTS if not names or fault.name in names] * repetitions
        self.draw.shuffle(self.plan)
        self.injections: list[Injection] = []
        # What the faults may cause, each with the time at which it ended.
        self.ends: list[tuple[float, frozenset[str]]] = []
        self.faults: list[str] = []
        self.portions = 0
        self.began = self.judged = time.time()

    def say(self, text: str) -> None:
        print(f"{time.time() - self.began:6.0f} s  {text}", flush=True)

    def run(self) -> list[str]:
        """What went wrong, one sentence each."""
        self.say(f"{len(self.plan)} faults with seed {self.seed}, leases of {LEASE} s")
        self.fleet.create()
        with Watch() as watch:
            for fault in self.plan:
                self.keep_busy()
                time.sleep(self.draw.uniform(0.5, 3))
                self.inject(fault)
            self.finish()
        self.faults += watch.check()
        return self.faults

    def keep_busy(self) -> None:
        self.feed()
        self.fleet.keep_workers(BUILDERS, EVALUATORS)

    def feed(self) -> None:
        """Keeps the list long."""
        if self.fleet.count("state = 'waiting'") >= PORTION:
            return
        for target in TARGETS:
            self.portions += 1
            self.fleet.add_problems(f"{target}-{self.portions}", take(self.problems, PORTION), target)
            self.rig.jobs += PORTION

    def count_causes(self) -> dict[str, int]:
        rows = self.fleet.database.query("SELECT cause, count(*) AS n FROM attempt GROUP BY 1")
        return {row["cause"]: row["n"] for row in rows if row["cause"] != "ok"}

    def read_owned(self) -> list[dict]:
        return self.fleet.database.query("SELECT id, lease FROM job WHERE state = 'leased'")

    def inject(self, fault: Fault) -> None:
        before = self.count_causes()
        owned = self.read_owned()
        injection = Injection(fault.name, "", time.time() - self.began, jobs=len(owned))
        self.rig.began = began = time.time()
        injection.detail = fault.inject(self.rig)
        injection.seconds = time.time() - began
        self.ends.append((time.time(), fault.causes))
        # Those that were taken meanwhile count as well: the answer to a claim may have been cut off.
        owned += self.read_owned()
        injection.resolved_after = self.wait_until_resolved(owned, began)
        injection.stranded = self.measure_stranded(owned)
        after = self.count_causes()
        injection.causes = {
            cause: count - before.get(cause, 0) for cause, count in after.items() if count > before.get(cause, 0)
        }
        self.injections.append(injection)
        self.judge(injection)
        self.say(
            f"{len(self.injections):3} {fault.name}: {injection.detail}; {injection.seconds:.1f} s, "
            f"{injection.jobs} jobs, resolved after {injection.resolved_after:.1f} s, stranded {injection.stranded} s, {injection.causes}"
        )

    def wait_until_resolved(self, owned: list[dict], began: float) -> float:
        """Until each lease that somebody had has ended one way or another."""
        keys = {(row["id"], row["lease"]) for row in owned}
        pairs = ", ".join(map(str, sorted(keys)))
        if not pairs:
            return 0.0
        query = f"""SELECT count(*) AS n, max(ended) AS ended FROM attempt
                    WHERE (job_id, lease) IN ({pairs})"""
        deadline = time.monotonic() + 120
        while (found := self.fleet.database.query(query)[0])["n"] < len(keys):
            if time.monotonic() > deadline:
                self.faults.append(f"{len(keys) - found['n']} leases have not ended two minutes after a fault")
                return 120.0
            time.sleep(0.2)
        return max(0.0, found["ended"] - began)

    def measure_stranded(self, owned: list[dict]) -> float:
        """From the fault's begin, or a later claim, to the end of a lost lease, in seconds, without
        the time in which the database was away."""
        keys = ", ".join(f"({row['id']}, {row['lease']})" for row in owned)
        if not keys:
            return 0.0
        rows = self.fleet.database.query(
            f"SELECT started, ended FROM attempt WHERE cause = 'lost' AND (job_id, lease) IN ({keys})"
        )
        longest = 0.0
        for row in rows:
            began = max(self.rig.began, row["started"])
            away = sum(outage.overlap(began, row["ended"]) for outage in self.rig.outages)
            longest = max(longest, row["ended"] - began - away)
        return round(longest, 2)

    def find_unexpected(self) -> list[dict]:
        """Attempts that have failed since the last call by what no fault explains that was there when they
        began, or had ended shortly before."""
        since, self.judged = self.judged, time.time()
        rows = self.fleet.database.query(
            f"""SELECT job_id, phase, cause, reason, worker_id, started, ended FROM attempt
            WHERE cause <> 'ok' AND ended BETWEEN {since} AND {self.judged}
            AND NOT (cause = 'returned' AND reason = '{TOO_LONG}')"""
        )
        return [row for row in rows if row["cause"] not in LATE and not self.is_explained(row)]

    def is_explained(self, row: dict) -> bool:
        is_given_back = row["cause"] == "returned" and row["reason"] == OF_MACHINE
        cause = MACHINE_CAUSE if is_given_back else row["cause"]
        return any(cause in causes and row["started"] < end + RECOVERY for end, causes in self.ends)

    def judge(self, injection: Injection) -> None:
        where = f"fault {len(self.injections)}, {injection.fault} ({injection.detail})"
        for row in self.find_unexpected():
            self.faults.append(
                f"{where}: the {row['phase']} of job {row['job_id']} by worker {row['worker_id']}, which took "
                f"{row['ended'] - row['started']:.1f} s, ended by {row['cause']}: {row['reason']}"
            )
        if injection.stranded > invariants.MAX_LEASES_STRANDED * LEASE:
            self.faults.append(f"{where}: a job was stranded for {injection.stranded} s")
        if injection.causes.get("disk", 0) > MAX_DISK_FAILURES:
            self.faults.append(f"{where}: failed {injection.causes['disk']} attempts, as no worker paused")
        status = self.fleet.read_status()
        for cause in injection.causes:
            if f" {cause} " not in status:
                self.faults.append(f"{where}: the status does not name '{cause}'")

    def finish(self) -> None:
        self.say("no more faults")
        deadline = time.monotonic() + 900
        while not self.fleet.has_ended():
            if time.monotonic() > deadline:
                self.faults.append("jobs have not ended 15 minutes after the last fault")
                break
            self.fleet.keep_workers(BUILDERS, EVALUATORS)
            time.sleep(2)
        self.cluster.slurm("scancel", "--state=PENDING", f"--name=tarpon-{LABEL}-build,tarpon-{LABEL}-measure")
        self.cluster.wait(lambda: not self.cluster.slurm("squeue", "--noheader"), "workers do not end", 120)
        self.faults += invariants.check(self.fleet, self.rig.jobs, self.rig.outages)
        for row in self.fleet.database.query("SELECT id, reason FROM job WHERE state = 'failed'"):
            self.faults.append(f"job {row['id']} has failed: {row['reason']}")
        self.check_planted()
        self.check_candidates()
        self.check_causes()

    def check_planted(self) -> None:
        """Each harmful candidate was found out, and its problem has a right one all the same."""
        for name, status in self.rig.planted:
            rows = self.fleet.database.query(
                f"""SELECT solver, status FROM measurement AS m JOIN problem ON problem.id = problem_id
                WHERE key = '{name}'"""
            )
            found = {row["solver"]: row["status"] for row in rows}
            if status not in found.values() or "ok" not in found.values():
                self.faults.append(f"{name}: {found}, where one should be {status} and another right")

    def check_candidates(self) -> None:
        """The status counts the harmful candidates as the table does, and names no others."""
        rows = self.fleet.database.query(
            """SELECT status, count(*) AS n, count(DISTINCT (session_id, problem_id)) AS problems
            FROM measurement WHERE status <> 'ok' GROUP BY 1"""
        )
        named = read_candidates(self.fleet.read_status())
        if named != (found := {row["status"]: (row["n"], row["problems"]) for row in rows}):
            self.faults.append(f"the status names the candidates {named}, and there are {found}")
        if missing := self.rig.list_planted() - named.keys():
            self.faults.append(f"the status names no candidate that is {', '.join(sorted(missing))}")

    def check_causes(self) -> None:
        """A kind of fault that fails attempts did so at least once: the test would not notice otherwise."""
        late = LATE & self.count_causes().keys()
        for fault in {fault.name: fault for fault in self.plan}.values():
            causes = {cause for one in self.injections if one.fault == fault.name for cause in one.causes} | late
            if missing := fault.must_cause - causes:
                self.faults.append(f"{fault.name} never failed an attempt by {', '.join(missing)}")

    def write_report(self, file: Path) -> None:
        stranded: dict[str, float] = {}
        for one in self.injections:
            stranded[one.fault] = max(stranded.get(one.fault, 0.0), one.stranded)
        counts = {fault.name: 0 for fault in self.plan}
        for injection in self.injections:
            counts[injection.fault] += 1
        report = {
            "seed": self.seed,
            "lease_seconds": LEASE,
            "seconds": round(time.time() - self.began),
            "jobs": self.rig.jobs,
            "jobs_done": self.fleet.count("state = 'done'"),
            "jobs_failed": self.fleet.count("state = 'failed'"),
            "attempts": self.fleet.database.query("SELECT cause, count(*) FROM attempt GROUP BY 1 ORDER BY 1"),
            "faults": counts,
            "longest_stranded_seconds": stranded,
            "wrong": self.faults,
            "status": self.fleet.read_status().splitlines(),
            "injections": [vars(injection) for injection in self.injections],
        }
        file.write_text(json.dumps(report, indent=1) + "\n")
