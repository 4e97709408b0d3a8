# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cluster itself: what its nodes share and what not, and what each fault does.

usage: test_cluster.py [TEST...]
"""

from __future__ import annotations

import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import isolation  # noqa: E402
from cluster import SHARED, Cluster  # noqa: E402
from node import USER, NodeSpec  # noqa: E402

# By which CTest knows that a test was left out.
SKIPPED = 77
GPU = {"gfx942": 1}
SPECS = [
    NodeSpec("n1", ("cpu", "gfx942"), GPU, has_movable_clock=True, memory=512 << 20),
    NodeSpec("n2", ("cpu", "gfx942"), GPU),
    NodeSpec("n3", ("cpu",)),
]
COLUMNS = "job text, node text, at timestamptz DEFAULT now()"
INSERT = """psql service=fleet -qc "INSERT INTO seen (job, node) VALUES ('{}', '$(hostname)')" """
EAT = """exec python3 -c 'len(b"x" * ({} << 20))'"""

cluster: Cluster


def setUpModule() -> None:
    global cluster
    if not isolation.is_inside():
        raise unittest.SkipTest("runs only as a program of its own")
    cluster = Cluster(SPECS)
    unittest.addModuleCleanup(cluster.stop)
    cluster.start()
    database = cluster.database
    password = database.create_role("writer")
    database.execute("CREATE DATABASE fleet", "postgres")
    database.execute(f"CREATE TABLE seen ({COLUMNS}); GRANT ALL ON seen TO writer")
    for node in cluster.nodes:
        database.give_credentials(node, "writer", password)


class ClusterTest(unittest.TestCase):
    def tearDown(self) -> None:
        """A test that fails does not take the next ones with it."""
        cluster.repair()
        cluster.slurm("scancel", f"--user={USER}")
        cluster.wait_for_nodes()

    def find_rows(self, job: str) -> list[dict]:
        return cluster.database.query(f"SELECT node, at FROM seen WHERE job = '{job}' ORDER BY at")

    def wait_until_running(self, number: str) -> None:
        cluster.wait(lambda: "RUNNING" in cluster.read_jobs(number).values(), f"job {number} does not run")

    def submit_sleeper(self, node: str, seconds: float, *options: str) -> str:
        """A job on one node that says in a file that it began, and in the database that it ended."""
        number = cluster.submit(
            f"echo $SLURM_JOB_ID >>began-$SLURM_JOB_ID\nsleep {seconds}\n{INSERT.format('$SLURM_JOB_ID')}",
            f"--nodelist={node}", *options,
        )
        cluster.wait((SHARED / f"began-{number}").exists, f"job {number} did not begin")
        return number


class NodesTest(ClusterTest):
    def test_nodes_share_no_more_than_a_cluster_does(self) -> None:
        n1, n2 = cluster["n1"], cluster["n2"]
        for node in cluster.nodes:
            self.assertEqual(node.run("hostname").stdout.strip(), node.name)
            self.assertIn(f" {node.address}/24 ", node.run("ip", "-4", "addr", "show", "eth0").stdout)
            self.assertEqual(node.run("sh", "-c", "echo ~", user=USER).stdout.strip(), f"/home/{USER}")
        n1.run("touch", "/tmp/own", "/run/own", f"/home/{USER}/own", user=USER, check=False)
        self.assertEqual(n1.run("ls", "/tmp", f"/home/{USER}", user=USER).stdout.count("own"), 2)
        self.assertEqual(n2.run("ls", "/tmp", "/run", f"/home/{USER}").stdout.count("own"), 0)
        n1.run("touch", "common", user=USER)
        self.assertIn("common", n2.run("ls", user=USER).stdout)
        sleeper = n2.find("slurmd")
        self.assertTrue(sleeper)
        self.assertEqual(n1.run("pgrep", "-c", "slurmd").stdout, "1\n")

    def test_nodes_change_nothing_outside(self) -> None:
        n1 = cluster["n1"]
        for file in (isolation.CHECKOUT / "a", isolation.ROOT / "a", Path("/etc/a"), Path("/usr/a")):
            # A checkout in /tmp is not even there: each node has a /tmp of its own.
            self.assertRegex(n1.run("touch", str(file), check=False).stderr, "Read-only|No such file")
            self.assertFalse(file.exists())
        self.assertTrue((isolation.CHECKOUT / "scripts/cluster-test").exists())
        self.assertEqual(n1.run("ls", "/srv/database").stdout, "")
        self.assertTrue(cluster.controller.run("ls", "/srv/database").stdout)

    def test_jobs_of_an_array_write_to_the_database(self) -> None:
        number = cluster.submit(INSERT.format("array-$SLURM_ARRAY_TASK_ID"), "--array=1-12")
        self.assertEqual(set(cluster.wait_for_job(number).values()), {"COMPLETED"})
        rows = cluster.database.query("SELECT job, node FROM seen WHERE job LIKE 'array-%'")
        self.assertEqual(sorted(row["job"] for row in rows), sorted(f"array-{i}" for i in range(1, 13)))
        self.assertEqual({row["node"] for row in rows}, {"n1", "n2", "n3"})

    def test_the_database_wants_tls_and_a_password(self) -> None:
        n1 = cluster["n1"]

        def ask(text: str) -> str:
            command = ("psql", f"service=fleet {text}", "-Xwtc", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            result = n1.run(*command, user=USER, check=False)
            return result.stdout.strip() or result.stderr

        self.assertEqual(ask(""), "t")
        self.assertIn("no encryption", ask("sslmode=disable"))
        self.assertIn("password authentication failed", ask("password=wrong"))
        self.assertIn("does not match host", ask("host=10.77.0.1"))

    def test_jobs_go_where_the_gpu_is(self) -> None:
        script = f"{INSERT.format('gpu')}\necho $ROCR_VISIBLE_DEVICES >gpu-$SLURM_ARRAY_TASK_ID\nsleep 0.5"
        number = cluster.submit(script, "--array=1-6", "--constraint=gfx942", "--gres=gpu:gfx942:1")
        running: list[int] = []

        def has_ended() -> bool:
            states = [*cluster.read_jobs(number).values()]
            running.append(states.count("RUNNING"))
            return set(states) <= {"COMPLETED"}

        cluster.wait(has_ended, "jobs for GPUs do not end", 60)
        self.assertEqual({row["node"] for row in self.find_rows("gpu")}, {"n1", "n2"})
        # Each node has room for two jobs, but one GPU.
        self.assertLessEqual(max(running), 2)
        self.assertEqual((SHARED / "gpu-1").read_text(), "0\n")
        with self.assertRaisesRegex(RuntimeError, "not available"):
            cluster.submit("true", "--gres=gpu:gfx90a:1")


class FaultsTest(ClusterTest):
    def test_a_killed_process_is_one_job(self) -> None:
        numbers = [self.submit_sleeper("n1", 4) for _ in range(2)]
        killed = cluster["n1"].signal(f"job{int(numbers[0]):05}/slurm_script")
        self.assertEqual(len(killed), 1)
        self.assertEqual([*cluster.wait_for_job(numbers[0]).values()], ["FAILED"])
        self.assertEqual([*cluster.wait_for_job(numbers[1]).values()], ["COMPLETED"])
        self.assertEqual([len(self.find_rows(number)) for number in numbers], [0, 1])

    def test_a_job_outlives_slurmd(self) -> None:
        number = self.submit_sleeper("n1", 1)
        cluster["n1"].kill_slurmd()
        cluster.wait(lambda: self.find_rows(number), "the job ended with slurmd")
        self.assertFalse(cluster["n1"].has_slurmd())
        cluster["n1"].start_slurmd()
        self.assertEqual([*cluster.wait_for_job(number).values()], ["COMPLETED"])

    def test_lost_nodes_come_back(self) -> None:
        """One without power, and one without network, at the same time."""
        off, cut = cluster["n1"], cluster["n2"]
        lost = self.submit_sleeper("n1", 3)
        unseen = self.submit_sleeper("n2", 3, "--no-requeue")
        off.run("touch", "/tmp/own")
        off.power_off()
        self.assertEqual(off.processes(), [])
        cut.cut_network()
        began = time.monotonic()
        result = cut.run("psql", "service=fleet connect_timeout=2", "-c", "SELECT 1", user=USER, check=False)
        self.assertIn("timeout expired", result.stderr)
        self.assertTrue(cut.find(f"job{int(unseen):05}/slurm_script"), "the job goes on")
        cluster.wait(
            lambda: all(cluster.read_states()[name].startswith("down") for name in ("n1", "n2")),
            "Slurm does not notice", 40,
        )
        self.assertLess(time.monotonic() - began, 40)
        self.assertEqual(self.find_rows(unseen), [])
        off.boot()
        self.assertFalse(off.path("/tmp/own").exists())
        cut.heal_network()
        cluster.wait_for_nodes(60)
        self.assertIn(cluster.read_jobs(unseen)[unseen], ("NODE_FAIL", "FAILED"))
        cut.run("psql", "service=fleet", "-c", "SELECT 1", user=USER)
        # It has been put back into the queue.
        self.assertEqual([*cluster.wait_for_job(lost, 120).values()], ["COMPLETED"])
        self.assertEqual(len(self.find_rows(lost)), 1)
        self.assertEqual((SHARED / f"began-{lost}").read_text(), f"{lost}\n" * 2)

    def test_a_cut_heals_before_slurm_notices(self) -> None:
        number = self.submit_sleeper("n2", 2)
        cluster["n2"].cut_network()
        time.sleep(1)
        cluster["n2"].heal_network()
        self.assertEqual([*cluster.wait_for_job(number).values()], ["COMPLETED"])
        self.assertEqual(len(self.find_rows(number)), 1)

    def test_the_database_keeps_what_was_committed(self) -> None:
        database, n2 = cluster.database, cluster["n2"]
        for i, end in enumerate((database.stop, database.kill), start=1):
            n2.run("sh", "-c", INSERT.format("kept"), user=USER)
            end()
            result = n2.run("sh", "-c", INSERT.format("kept"), user=USER, check=False)
            self.assertIn("refused", result.stderr)
            database.start()
            self.assertEqual(len(self.find_rows("kept")), i)

    def test_a_full_disk(self) -> None:
        n2 = cluster["n2"]
        write = ("dd", "if=/dev/zero", "of=/tmp/file", "bs=1M", "count=1")
        n2.fill()
        self.assertIn("No space left", n2.run(*write, user=USER, check=False).stderr)
        cluster["n3"].run(*write, user=USER)
        n2.empty()
        n2.run(*write, user=USER)
        cluster.fill_shared()
        write = ("dd", "if=/dev/zero", "of=full", "bs=1M", "count=1")
        self.assertIn("No space left", n2.run(*write, user=USER, check=False).stderr)
        cluster.empty_shared()
        n2.run(*write, user=USER)

    def test_a_clock_moves_while_a_job_runs(self) -> None:
        number = cluster.submit(
            "exec python3 -c 'import time\nwhile True: print(time.time(), time.monotonic(), flush=True); time.sleep(0.2)'",
            "--nodelist=n1", "--output=clock",
        )

        def read_clock() -> list[float]:
            lines = (SHARED / "clock").read_text().splitlines() if (SHARED / "clock").exists() else []
            return [float(word) for word in lines[-2].split()] if len(lines) > 1 else [0, 0]

        cluster.wait(lambda: abs(read_clock()[0] - time.time()) < 30, "the job's clock is wrong")
        cluster["n1"].set_clock(3600)
        cluster.wait(lambda: abs(read_clock()[0] - time.time() - 3600) < 30, "the clock does not move")
        self.assertLess(abs(read_clock()[1] - time.monotonic()), 30)
        cluster["n1"].set_clock(-3600)
        cluster.wait(lambda: abs(read_clock()[0] - time.time() + 3600) < 30, "the clock does not move back")
        cluster["n1"].set_clock(0)
        cluster.wait(lambda: abs(read_clock()[0] - time.time()) < 30, "the clock is not right again")
        cluster.slurm("scancel", number)
        cluster.wait_for_job(number)

    def test_a_job_that_eats_memory_dies_alone(self) -> None:
        self.assertLess(SPECS[0].memory, 600 << 20)
        number = cluster.submit(EAT.format(600), "--nodelist=n1", "--mem=100M")
        self.assertEqual([*cluster.wait_for_job(number).values()], ["FAILED"])
        number = cluster.submit(EAT.format(300), "--nodelist=n1", "--mem=100M")
        self.assertEqual([*cluster.wait_for_job(number).values()], ["COMPLETED"])


def main() -> None:
    if not isolation.is_inside() and (obstacle := isolation.find_obstacle()):
        print(f"left out: {obstacle}")
        sys.exit(SKIPPED)
    isolation.enter()
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
