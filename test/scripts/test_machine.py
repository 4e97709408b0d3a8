# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which commit a benchmark says that it measured."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import machine  # noqa: E402


class CommitTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "benchmarks/results").mkdir(parents=True)
        self.write("source.cpp", "1")
        self.write("benchmarks/results/old.json", "1")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=first")

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", "-C", self.root, *identity, *arguments], check=True)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def test_results_do_not_make_a_commit_dirty(self) -> None:
        clean = machine.commit(self.root)
        self.assertRegex(clean, "^[0-9a-f]{7,}$")
        self.write("benchmarks/results/old.json", "2")
        self.write("benchmarks/results/new.json", "2")
        self.assertEqual(machine.commit(self.root), clean)

    def test_sources_make_a_commit_dirty(self) -> None:
        clean = machine.commit(self.root)
        self.write("source.cpp", "2")
        self.assertEqual(machine.commit(self.root), clean + "-dirty")

    def test_without_git_the_commit_is_unknown(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(machine.commit(Path(folder)), "unknown")


if __name__ == "__main__":
    unittest.main()
