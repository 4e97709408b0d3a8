# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A builder that measures is noticed, and so is a watch that sees nobody."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "cluster"))

import fault_test  # noqa: E402
import invariants  # noqa: E402
import watch  # noqa: E402

# The parents and the command lines of some processes.
PARENTS = {9: 8, 8: 7, 7: 1, 6: 5, 5: 1, 4: 1, 3: 2}
COMMANDS = {
    7: "/bin/graph-opt fleet worker postgresql:///x --label L --role evaluator --target host ",
    5: "/bin/graph-opt fleet worker postgresql:///x --label L --role builder ",
}


class WatchTest(unittest.TestCase):
    def find_role(self, process: int) -> str | None:
        return watch.find_role(process, lambda one: PARENTS.get(one, 0), lambda one: COMMANDS.get(one, ""))

    def test_a_process_has_the_role_of_its_worker(self) -> None:
        self.assertEqual(self.find_role(9), "evaluator")
        self.assertEqual(self.find_role(6), "builder")
        self.assertIsNone(self.find_role(4))
        self.assertIsNone(self.find_role(3))

    def test_builders_measure_nothing(self) -> None:
        seen = watch.Watch()
        self.assertEqual(seen.check(), ["no evaluator was seen to run a process that measures"])
        seen.roles[9] = "evaluator"
        self.assertEqual(seen.check(), [])
        seen.roles[6] = "builder"
        self.assertEqual(seen.check(), ["a builder ran 1 processes that measure"])

    def test_evaluators_compile_nothing(self) -> None:
        counts = {"builder": {"n1": 3, "n2": 0}, "evaluator": {"n1": 0, "n2": 0}}
        self.assertEqual(invariants.judge_caches(counts), [])
        counts["evaluator"]["n2"] = 2
        self.assertEqual(invariants.judge_caches(counts), ["an evaluator on n2 compiled 2 kernels"])
        counts = {"builder": {"n1": 0}, "evaluator": {"n1": 0}}
        self.assertEqual(invariants.judge_caches(counts), ["no builder left a kernel in its cache"])

    def test_the_status_names_candidates(self) -> None:
        status = (
            "test for host: 9 of 9 jobs have ended\nattempts without a result\n        3 memory   of 2 jobs; last: x\n"
            "candidates that failed\n       20 crashed   of 18 problems; last: relu-v1 {}: SIGSEGV\n"
            "        1 timed-out of 1 problems; last: relu-v1 {}: after 10 s\n"
        )
        self.assertEqual(fault_test.read_candidates(status), {"crashed": (20, 18), "timed-out": (1, 1)})
        self.assertEqual(fault_test.read_candidates(status.partition("candidates")[0]), {})


if __name__ == "__main__":
    unittest.main()
