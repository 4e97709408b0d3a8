# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of scripts/plant-bugs."""

import importlib.util
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/plant-bugs"
loader = SourceFileLoader("plant_bugs", str(SCRIPT))
spec = importlib.util.spec_from_loader("plant_bugs", loader)
plant_bugs = importlib.util.module_from_spec(spec)
loader.exec_module(plant_bugs)


class FakeWorkshop:
    """Stands in for the build: a file is what is compiled and tested."""

    def __init__(self, file: Path, compiles: bool = True, noticed: str = ""):
        self.file, self.compiles, self.noticed = file, compiles, noticed
        self.built = ""

    def make(self, tests: list[str]) -> bool:
        self.built = self.file.read_text()
        return self.compiles

    def passes(self, test: str) -> bool:
        return not self.noticed or self.noticed not in self.built


class PlantBugsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=plant_bugs.ROOT / "build")
        self.file = Path(self.folder.name) / "a.cpp"
        self.file.write_text("if (a <= b)\n")

    def tearDown(self) -> None:
        self.folder.cleanup()

    def bug(self, old: str = "a <= b") -> "plant_bugs.Bug":
        return plant_bugs.Bug("table", "name", self.file, old, "a < b", ["lit x"])

    def verdict(self, workshop: FakeWorkshop) -> str:
        return plant_bugs.try_batch(workshop, [self.bug()])[0][1]

    def test_bugs_of_a_batch_have_nothing_in_common(self) -> None:
        first = self.bug()
        same_file = first._replace(name="b", tests=["lit y"])
        same_test = first._replace(name="c", file=Path("c.cpp"))
        other = first._replace(name="d", file=Path("d.cpp"), tests=["lit z"])
        bugs = [first, same_file, same_test, other]
        self.assertEqual(
            plant_bugs.make_batches(bugs, together=True), [[first, other], [same_file, same_test]]
        )
        self.assertEqual(len(plant_bugs.make_batches(bugs, together=False)), 4)

    def test_every_bug_can_be_planted(self) -> None:
        self.assertTrue(plant_bugs.check(plant_bugs.read_bugs()))

    def test_a_bug_is_found_or_lives(self) -> None:
        workshop = FakeWorkshop(self.file, noticed="a < b")
        self.assertEqual(self.verdict(workshop), "found by lit x")
        self.assertEqual(self.verdict(FakeWorkshop(self.file)), "LIVES")

    def test_a_bug_that_does_not_compile_is_not_found(self) -> None:
        workshop = FakeWorkshop(self.file, compiles=False)
        self.assertEqual(self.verdict(workshop), "DOES NOT COMPILE")

    def test_the_file_is_restored(self) -> None:
        self.verdict(FakeWorkshop(self.file))
        self.assertEqual(self.file.read_text(), "if (a <= b)\n")

    def test_text_that_is_gone_is_a_fault(self) -> None:
        self.assertIsNone(plant_bugs.find_fault(self.bug()))
        self.assertIn("occurs 0 times", plant_bugs.find_fault(self.bug(old="a == b")))


if __name__ == "__main__":
    unittest.main()
