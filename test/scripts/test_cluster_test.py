# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cluster test that tests nothing fails, and says why in one sentence."""

import contextlib
import io
import os
import runpy
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "cluster"))

import isolation  # noqa: E402


class NoClusterTest(unittest.TestCase):
    def setUp(self) -> None:
        self.programs: list[str] = []
        self.patch(mock.patch.object(sys, "argv", ["cluster-test"]))
        self.patch(mock.patch.dict(os.environ))
        os.environ.pop(isolation.MARK, None)
        self.patch(mock.patch.object(subprocess, "run", self.record))
        self.patch(mock.patch.object(isolation, "enter", side_effect=AssertionError("a cluster is built")))

    def patch(self, patcher) -> None:
        patcher.start()
        self.addCleanup(patcher.stop)

    def record(self, command: list, **_) -> subprocess.CompletedProcess:
        self.programs.append(Path(command[0]).name)
        return subprocess.CompletedProcess(command, 1)

    def run_it(self, *arguments: str) -> str:
        sys.argv[1:] = arguments
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as end:
            runpy.run_path(str(ROOT / "scripts" / "cluster-test"), run_name="__main__")
        self.assertEqual(end.exception.code, 1)
        return errors.getvalue()

    def test_missing_packages_are_installed(self) -> None:
        self.patch(mock.patch.object(os, "geteuid", return_value=0))
        self.patch(mock.patch.dict(isolation.PROGRAMS, {"munge": ("no-such-munged",)}))
        for arguments in ([], ["--self"], ["--faults", "1"], ["--two-nodes"]):
            self.programs.clear()
            self.assertEqual(
                self.run_it(*arguments),
                "cluster-test: nothing was tested: the packages munge are not installed: run scripts/setup\n",
            )
            self.assertEqual(self.programs, ["setup"])

    def test_without_root(self) -> None:
        self.patch(mock.patch.object(os, "geteuid", return_value=1000))
        self.assertEqual(
            self.run_it(),
            "cluster-test: nothing was tested: namespaces, Slurm and a database server on one machine need root\n",
        )
        self.assertEqual(self.programs, [])


if __name__ == "__main__":
    unittest.main()
