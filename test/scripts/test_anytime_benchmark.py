# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table that benchmarks/anytime prints."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import anytime  # noqa: E402


class AnytimeTest(unittest.TestCase):
    def test_rounds_are_in_their_order(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for index in range(1, 12):
                (folder / f"5.{index}.json").write_text(json.dumps({"median_ms": index}))
            (folder / "5.seconds").write_text("10.5 13.0\n")
            self.assertEqual(anytime.read_rounds(folder, "5"), list(range(1, 12)))
            self.assertEqual(anytime.read_seconds(folder, "5"), 2.5)

    def test_ratios_are_those_of_rounds(self) -> None:
        # The machine's speed halves in the last round.
        times = {"nchw": [4.0, 4.0, 8.0], "nhwc": [2.0, 2.0, 4.0], "none": [1.0, 1.0, 2.0]}
        lines = anytime.write_table(times, dict.fromkeys(times, 1.0))
        self.assertEqual(lines[1].split(), ["nchw", "4.00", "2.000", "4.000", "2.000", "1.0"])
        self.assertEqual(lines[2].split(), ["nhwc", "2.00", "1.000", "2.000", "1.000", "1.0"])
        self.assertEqual(lines[3].split(), ["none", "1.00", "0.500", "1.000", "0.500", "1.0"])


if __name__ == "__main__":
    unittest.main()
