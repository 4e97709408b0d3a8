# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds of a fleet's database and logs when its jobs have ended, whatever happened meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fleet import Fleet

# A lease that nobody renews ends after its seconds, and somebody looks for such leases every
# third of one. The database's answers take their time on a machine with little to spare.
MAX_LEASES_STRANDED = 2

# Each finds rows that must not be there. A message has the columns of the row.
RULES = (
    (
        "{n} jobs of problem {problem_id} in session {session_id}",
        "SELECT session_id, problem_id, count(*) AS n FROM job GROUP BY 1, 2 HAVING count(*) > 1",
    ),
    (
        "job {id} is {state}: {reason}",
        "SELECT id, state, reason FROM job WHERE state NOT IN ('done', 'failed')",
    ),
    (
        "job {id} is done and has no verified time",
        """SELECT id FROM job WHERE state = 'done' AND NOT EXISTS (SELECT 1 FROM measurement AS m
           WHERE m.session_id = job.session_id AND m.problem_id = job.problem_id AND m.status = 'ok'
           AND m.is_dropped = 0 AND m.median > 0 AND m.max_error IS NOT NULL)""",
    ),
    (
        "round {round} of job {job_id} was measured {n} times",
        """SELECT job_id, round, count(*) AS n FROM attempt WHERE cause = 'ok' AND phase = 'measure'
           GROUP BY 1, 2 HAVING count(*) > 1""",
    ),
    (
        "job {id} ended after {round} rounds, of which {n} were measured",
        """SELECT id, round, (SELECT count(DISTINCT attempt.round) FROM attempt WHERE job_id = job.id
             AND cause = 'ok' AND phase = 'measure') AS n
           FROM job WHERE state = 'done' AND round <> (SELECT count(DISTINCT attempt.round) FROM attempt
             WHERE job_id = job.id AND cause = 'ok' AND phase = 'measure')""",
    ),
    (
        "measurement {id} belongs to no successful attempt",
        """SELECT id FROM measurement AS m WHERE NOT EXISTS (SELECT 1 FROM attempt AS a
           WHERE a.job_id = m.job_id AND a.lease = m.lease AND a.cause = 'ok' AND a.phase = 'measure')""",
    ),
    (
        "{solver} {{{config}}} was raced {n} times for problem {problem_id}",
        """SELECT problem_id, solver, config, count(*) AS n FROM measurement
           WHERE stage = 'race' AND status = 'ok' GROUP BY session_id, 1, 2, 3 HAVING count(*) > 1""",
    ),
    (
        "lease {lease} of job {job_id} has no attempt",
        """SELECT id AS job_id, n AS lease FROM job, generate_series(1, job.lease) AS n WHERE NOT EXISTS
           (SELECT 1 FROM attempt WHERE job_id = job.id AND attempt.lease = n)""",
    ),
    (
        "a {role} did {phase} of job {job_id}",
        """SELECT role, phase, job_id FROM attempt JOIN worker ON worker.id = worker_id
           WHERE (role, phase) NOT IN (('builder', 'compile'), ('evaluator', 'measure'))""",
    ),
    (
        "package {digest} was recorded by {recorded_by}",
        "SELECT digest, recorded_by FROM package WHERE recorded_by <> 'builder'",
    ),
)


@dataclass
class Outage:
    """A time in which the database answered nobody, by its own clock."""

    began: float
    ended: float

    def overlap(self, began: float, ended: float) -> float:
        return max(0.0, min(self.ended, ended) - max(self.began, began))


def find_stranded(fleet: Fleet, outages: Iterable[Outage] = ()) -> list[dict]:
    """How long each lost job was nobody's, in seconds: from its worker's last sign of life to the
    end of its lease's attempt, without the time in which the database was away."""
    rows = fleet.database.query(
        """SELECT job_id, attempt.lease, greatest(worker.seen, attempt.started) AS began, attempt.ended,
           machine.name AS machine FROM attempt JOIN worker ON worker.id = worker_id
           JOIN machine ON machine.id = machine_id WHERE cause = 'lost'"""
    )
    for row in rows:
        away = sum(outage.overlap(row["began"], row["ended"]) for outage in outages)
        row["seconds"] = row["ended"] - row["began"] - away
    return rows


def check_logs(fleet: Fleet) -> list[str]:
    """Logs of builders tell of compiling alone, those of evaluators of measuring."""
    phases = {"build": "compile", "measure": "measure"}
    faults, seen = [], set()
    for name, text in fleet.read_logs().items():
        kind = re.search(r"-(build|measure)-[\d_]+\.log$", name)
        if not kind:
            faults.append(f"{name} is no worker's log")
            continue
        found = set(re.findall(r"^job \d+, round \d+: (\w+) ", text, re.MULTILINE))
        seen |= found
        if found - {phases[kind.group(1)]}:
            faults.append(f"{name} tells of {', '.join(sorted(found))}")
    if seen != set(phases.values()):
        faults.append(f"all logs tell of {sorted(seen)} alone")
    return faults


def check(fleet: Fleet, jobs: int, outages: Iterable[Outage] = ()) -> list[str]:
    """What does not hold, one sentence each. `jobs` is their true number."""
    faults = [
        message.format(**row) for message, query in RULES for row in fleet.database.query(query)
    ]
    if (found := fleet.count()) != jobs:
        faults.append(f"{found} jobs instead of {jobs}")
    for row in find_stranded(fleet, outages):
        if row["seconds"] > MAX_LEASES_STRANDED * fleet.lease:
            faults.append(
                f"job {row['job_id']} was stranded for {row['seconds']:.1f} s on {row['machine']}, "
                f"with leases of {fleet.lease} s"
            )
    for node in fleet.cluster.nodes:
        for program in ("graph-opt", "tarpon-evaluator"):
            faults += [f"{node.name} still runs {line}" for line in node.find(program).values()]
    return faults + check_logs(fleet)
