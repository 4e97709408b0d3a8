# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An export that leaves records out, or changes them, is noticed."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_benchmark():
    loader = importlib.machinery.SourceFileLoader("fleet_find_db", str(ROOT / "benchmarks" / "fleet-find-db"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class CompareTest(unittest.TestCase):
    def setUp(self) -> None:
        self.compare = load_benchmark().compare
        self.original = {str(i): [["Solver", 1.0]] for i in range(100)}

    def test_equal_records(self) -> None:
        self.assertEqual(self.compare(self.original, dict(self.original)), [])

    def test_a_changed_record(self) -> None:
        exported = {**self.original, "7": [["Solver", 2.0]]}
        self.assertEqual(self.compare(self.original, exported), ["1 records have changed, such as 7"])

    def test_records_that_are_left_out(self) -> None:
        self.assertEqual(self.compare(self.original, {}), ["0 of 100 records are left"])
        self.assertEqual(self.compare({}, {}), ["0 of 0 records are left"])
        half = dict(list(self.original.items())[:50])
        self.assertEqual(self.compare(self.original, half), ["50 of 100 records are left"])


if __name__ == "__main__":
    unittest.main()
