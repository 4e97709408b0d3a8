# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds of a fleet's database and logs when its jobs have ended, whatever happened meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fleet import Fleet, get_cache
from isolation import ROOT

# A lease that nobody renews ends after its seconds, and somebody looks for such leases every
# third of one. The database's answers take their time on a machine with little to spare.
MAX_LEASES_STRANDED = 2


def read_most_attempts() -> str:
    """How often each cause may end attempts of a job, as rows: the last time, the job has failed."""
    table = (ROOT / "lib" / "Fleet" / "Job.cpp").read_text()
    return ", ".join(f"('{cause}', {most})" for cause, most in re.findall(r'\{"(\w+)", (\d+),', table))


class Rule(NamedTuple):
    """A query that finds rows that must not be there. The message has their columns."""

    message: str
    query: str
    # Makes such rows, to see that the query finds them.
    tampering: str


RULES = (
    Rule(
        "{n} jobs of problem {problem_id} in session {session_id}",
        "SELECT session_id, problem_id, count(*) AS n FROM job GROUP BY 1, 2 HAVING count(*) > 1",
        """ALTER TABLE job DROP CONSTRAINT job_session_id_problem_id_key;
           INSERT INTO job (session_id, problem_id, state) SELECT session_id, problem_id, state FROM job LIMIT 1""",
    ),
    Rule(
        "job {id} is {state}: {reason}",
        "SELECT id, state, reason FROM job WHERE state NOT IN ('done', 'failed')",
        "UPDATE job SET state = 'leased' WHERE id = (SELECT min(id) FROM job)",
    ),
    Rule(
        "job {id} is done and has no verified time",
        """SELECT id FROM job WHERE state = 'done' AND NOT EXISTS (SELECT 1 FROM measurement AS m
           WHERE m.job_id = job.id AND m.status = 'ok' AND m.is_dropped = 0 AND m.median > 0 AND m.max_error IS NOT NULL)""",
        """UPDATE measurement SET max_error = NULL WHERE problem_id = (SELECT min(problem_id) FROM measurement)""",
    ),
    Rule(
        "job {id} is {state}, and its last lease, {lease}, did not end it so",
        """SELECT id, state, lease FROM job WHERE state IN ('done', 'failed') AND NOT EXISTS
           (SELECT 1 FROM attempt AS a WHERE a.job_id = job.id AND a.lease = job.lease AND
             CASE job.state WHEN 'done' THEN a.cause = 'ok' AND a.phase = 'compile' AND a.round = job.round
             ELSE a.cause <> 'ok' AND starts_with(job.reason, a.cause || ':') END)""",
        "UPDATE job SET state = 'failed' WHERE id = (SELECT min(id) FROM job WHERE state = 'done')",
    ),
    Rule(
        "round {round} of job {job_id} was measured {n} times",
        """SELECT job_id, round, count(*) AS n FROM attempt WHERE cause = 'ok' AND phase = 'measure'
           GROUP BY 1, 2 HAVING count(*) > 1""",
        "UPDATE attempt SET round = 0 WHERE job_id IN (SELECT id FROM job WHERE round > 1)",
    ),
    Rule(
        "job {id} is done, and nobody compiled its round {n}",
        """SELECT id, n FROM job, generate_series(0, job.round) AS n WHERE state = 'done' AND NOT EXISTS
           (SELECT 1 FROM attempt AS a WHERE a.job_id = job.id AND a.round = n AND a.cause = 'ok'
            AND a.phase = 'compile')""",
        "DELETE FROM attempt WHERE round = 0 AND phase = 'compile' AND job_id = (SELECT min(job_id) FROM attempt)",
    ),
    Rule(
        "job {id} ended after {round} rounds, of which {n} were measured",
        """SELECT id, round, (SELECT count(DISTINCT attempt.round) FROM attempt WHERE job_id = job.id
             AND cause = 'ok' AND phase = 'measure') AS n
           FROM job WHERE state = 'done' AND round <> (SELECT count(DISTINCT attempt.round) FROM attempt
             WHERE job_id = job.id AND cause = 'ok' AND phase = 'measure')""",
        "UPDATE job SET round = round + 1 WHERE id = (SELECT min(id) FROM job)",
    ),
    Rule(
        "measurement {id} belongs to no successful attempt",
        """SELECT id FROM measurement AS m WHERE NOT EXISTS (SELECT 1 FROM attempt AS a
           WHERE a.job_id = m.job_id AND a.lease = m.lease AND a.cause = 'ok' AND a.phase = 'measure')""",
        "UPDATE measurement SET lease = lease + 1000 WHERE id = (SELECT min(id) FROM measurement)",
    ),
    Rule(
        "measurement {id} is of no job",
        """SELECT m.id FROM measurement AS m LEFT JOIN job ON job.id = m.job_id AND
             job.session_id = m.session_id AND job.problem_id = m.problem_id WHERE job.id IS NULL""",
        "UPDATE measurement SET job_id = NULL WHERE id = (SELECT min(id) FROM measurement)",
    ),
    # One transaction writes the results of a lease and its end, unless the lease is refused.
    Rule(
        "measurement {id} was not written with the end of lease {lease} of job {job_id}",
        """SELECT m.id, m.lease, m.job_id FROM measurement AS m JOIN attempt AS a
           ON a.job_id = m.job_id AND a.lease = m.lease WHERE a.xmin <> m.xmin""",
        "UPDATE measurement SET detail = 'late' WHERE id = (SELECT min(id) FROM measurement)",
    ),
    Rule(
        "lease {lease} of job {job_id} measured {n} candidates, and the last has number {last}",
        """SELECT a.job_id, a.lease, count(m.id) AS n, max(m.number) AS last FROM attempt AS a
           LEFT JOIN measurement AS m ON m.job_id = a.job_id AND m.lease = a.lease
           WHERE a.cause = 'ok' AND a.phase = 'measure' GROUP BY 1, 2
           HAVING count(m.id) = 0 OR max(m.number) + 1 <> count(m.id)""",
        "DELETE FROM measurement WHERE number = 0 AND job_id = (SELECT min(job_id) FROM measurement)",
    ),
    Rule(
        "{solver} {{{config}}} was raced {n} times for problem {problem_id}",
        """SELECT problem_id, solver, config, count(*) AS n FROM measurement
           WHERE stage = 'race' AND status = 'ok' GROUP BY session_id, 1, 2, 3 HAVING count(*) > 1""",
        """UPDATE measurement SET config = 'same', solver = 'same', status = 'ok'
           WHERE problem_id = (SELECT problem_id FROM measurement WHERE stage = 'race'
           GROUP BY 1 HAVING count(*) > 1 LIMIT 1)""",
    ),
    Rule(
        "lease {lease} of job {job_id} has no attempt",
        """SELECT id AS job_id, n AS lease FROM job, generate_series(1, job.lease) AS n WHERE NOT EXISTS
           (SELECT 1 FROM attempt WHERE job_id = job.id AND attempt.lease = n)""",
        "DELETE FROM attempt WHERE job_id = (SELECT min(job_id) FROM attempt) AND attempt.lease = 1",
    ),
    Rule(
        "attempt {lease} of job {job_id} is of no lease",
        """SELECT job_id, attempt.lease FROM attempt LEFT JOIN job ON job.id = job_id
           WHERE attempt.lease NOT BETWEEN 1 AND coalesce(job.lease, 0)""",
        "UPDATE job SET lease = lease - 1 WHERE id = (SELECT min(id) FROM job)",
    ),
    Rule(
        "lease {lease} of job {job_id} ended after the next one had begun",
        """SELECT a.job_id, a.lease FROM attempt AS a JOIN attempt AS b
           ON b.job_id = a.job_id AND b.lease = a.lease + 1 WHERE a.ended > b.started""",
        """UPDATE attempt SET ended = ended + 1000 WHERE attempt.lease = 1 AND
           job_id = (SELECT min(job_id) FROM attempt WHERE attempt.lease = 2)""",
    ),
    Rule(
        "{n} attempts of job {job_id}, which is {state}, ended by '{cause}'",
        f"""SELECT job_id, state, cause, count(*) AS n FROM attempt JOIN job ON job.id = job_id
            JOIN (VALUES {read_most_attempts()}) AS rule (name, most) ON name = cause
            WHERE attempt.lease > counted_from GROUP BY 1, 2, 3, most
            HAVING count(*) > most OR (count(*) = most AND state <> 'failed')""",
        """UPDATE attempt SET cause = 'wrong' WHERE attempt.lease = 1 AND
           job_id = (SELECT min(id) FROM job WHERE state = 'done')""",
    ),
    Rule(
        "a {role} did {phase} of job {job_id}",
        """SELECT role, phase, job_id FROM attempt JOIN worker ON worker.id = worker_id
           WHERE (role, phase) NOT IN (('builder', 'compile'), ('evaluator', 'measure'))""",
        "UPDATE worker SET role = 'builder'",
    ),
    Rule(
        "package {digest} is of job {job_id}, which there is not",
        """SELECT digest, job_id FROM package LEFT JOIN job ON job.id = job_id WHERE job.id IS NULL""",
        "UPDATE package SET job_id = -1 WHERE digest = (SELECT min(digest) FROM package)",
    ),
    Rule(
        "package {digest} was recorded by {recorded_by}",
        "SELECT digest, recorded_by FROM package WHERE recorded_by <> 'builder'",
        "UPDATE package SET recorded_by = 'evaluator' WHERE digest = (SELECT min(digest) FROM package)",
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


def check_rules(fleet: Fleet) -> list[str]:
    """Each rule notices what it is there for."""
    faults = []
    for rule in RULES:
        text = f"BEGIN; {rule.tampering}; SELECT count(*) FROM ({rule.query}) AS rows; ROLLBACK"
        if int(fleet.database.execute(text)) == 0:
            faults.append(f"'{rule.message}' would not be noticed")
    return faults


def check_logs(fleet: Fleet) -> list[str]:
    """Logs of builders tell of compiling alone, those of evaluators of measuring. They would not tell what
    else they do: check_caches() and watch.py look at that."""
    phases = {"build": "compile", "measure": "measure"}
    faults, seen = [], set()
    for name, text in fleet.read_logs().items():
        kind = re.search(r"-(build|measure)-[\d_]+\.log$", name)
        if not kind:
            faults.append(f"{name} is no worker's log")
            continue
        # A full disk tears lines, whose words are nobody's.
        found = set(re.findall(rf"^job \d+, round \d+: ({'|'.join(phases.values())}) ", text, re.MULTILINE))
        seen |= found
        if found - {phases[kind.group(1)]}:
            faults.append(f"{name} tells of {', '.join(sorted(found))}")
    if seen != set(phases.values()):
        faults.append(f"all logs tell of {sorted(seen)} alone")
    return faults


def judge_caches(counts: dict[str, dict[str, int]]) -> list[str]:
    """`counts` has the number of kernels in each role's cache, by node."""
    faults = [f"an evaluator on {node} compiled {count} kernels" for node, count in counts["evaluator"].items() if count]
    if not any(counts["builder"].values()):
        faults.append("no builder left a kernel in its cache")
    return faults


def check_caches(fleet: Fleet) -> list[str]:
    """Whoever compiles a kernel keeps it."""
    return judge_caches({
        role: {
            node.name: sum(file.is_file() for file in node.path(get_cache(role)).rglob("kernels/*/*"))
            for node in fleet.cluster.nodes
        }
        for role in ("builder", "evaluator")
    })


def check(fleet: Fleet, jobs: int, outages: Iterable[Outage] = ()) -> list[str]:
    """What does not hold, one sentence each. `jobs` is their true number."""
    faults = [
        rule.message.format(**row) for rule in RULES for row in fleet.database.query(rule.query)
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
        for program in ("graph-opt", "tarpon-evaluator", "tarpon-emulator"):
            faults += [f"{node.name} still runs {line}" for line in node.find(program).values()]
    return faults + check_logs(fleet) + check_caches(fleet)
