# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/models keeps, and the tables that are made of it."""

import copy
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import tables  # noqa: E402
from contestants import Contestant, Field  # noqa: E402
from machine import BenchmarkError  # noqa: E402
from model_results import ModelResults, compute_ratios, find_fastest, read_all  # noqa: E402
from runners.job import Job  # noqa: E402

import numpy as np  # noqa: E402


def timed(*rounds: float) -> dict:
    return {"median_ms": sorted(rounds)[len(rounds) // 2], "rounds_ms": list(rounds)}


CONTESTANTS = {
    "onnxruntime fp32": timed(10, 20, 30),
    "openvino fp32": timed(8, 16, 40),
    "torch fp32": timed(50, 50, 50),
    "onnxruntime int8": timed(2, 2, 2),
    "tarpon fp32": timed(12, 4, 80),
    "tarpon untuned": timed(16, 16, 16),
    "tarpon int8": timed(1, 1, 3),
}


def make_entry(network: str, threads: int = 1, **changed: object) -> dict:
    contestants = copy.deepcopy(CONTESTANTS)
    return {
        "network": network,
        "machine": {"cpu": "a CPU", "cores": 2},
        "provisional": False,
        "program": "0123",
        "versions": {"openvino": "1"},
        "settings": {"threads": threads, "batch": 1, "rounds": 3},
        "gflop": 1.0,
        "contestants": contestants,
        "missing": {"openvino int8": "no such package"},
        "ratios": compute_ratios(contestants),
        **changed,
    }


class RatioTest(unittest.TestCase):
    def test_the_fastest_peer_has_the_least_median_of_its_dtype(self) -> None:
        self.assertEqual(find_fastest(CONTESTANTS, "fp32"), "openvino fp32")
        self.assertEqual(find_fastest(CONTESTANTS, "int8"), "onnxruntime int8")
        self.assertIsNone(find_fastest(CONTESTANTS, "bf16"))

    def test_a_ratio_is_the_median_of_the_rounds(self) -> None:
        ratios = compute_ratios(CONTESTANTS)
        # Of 1.5, 0.25 and 2 in fp32, where the ratio of the medians is 0.75.
        self.assertEqual(ratios, {"tarpon fp32": 1.5, "tarpon untuned": 1.0, "tarpon int8": 0.5})

    def test_without_a_peer_there_is_no_ratio(self) -> None:
        alone = {"tarpon int8": timed(1), "onnxruntime fp32": timed(1)}
        self.assertEqual(compute_ratios(alone), {})


class ResultsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def open(self) -> ModelResults:
        return ModelResults.open("toy", self.folder)

    def test_an_entry_replaces_that_of_its_key_alone(self) -> None:
        self.open().add(make_entry("a"), self.folder)
        self.open().add(make_entry("a", threads=2), self.folder)
        self.open().add(make_entry("b"), self.folder)
        self.open().add(make_entry("a", gflop=2.0), self.folder)
        found = {key: entry["gflop"] for key, entry in self.open().entries.items()}
        self.assertEqual(found, {("a", 1, 1): 2.0, ("a", 1, 2): 1.0, ("b", 1, 1): 1.0})
        self.assertEqual([r.cpu for r in read_all(self.folder)], ["toy"])
        self.assertEqual(self.open().machine["cpu"], "a CPU")

    def test_a_run_goes_on_where_it_was(self) -> None:
        wanted = ["tarpon fp32", "openvino int8"]
        results = self.open()
        results.add(make_entry("a"), self.folder)
        self.assertTrue(results.has(("a", 1, 1), wanted, make_entry("a")))
        self.assertFalse(results.has(("b", 1, 1), wanted, make_entry("b")))
        self.assertFalse(results.has(("a", 1, 1), [*wanted, "tarpon bf16"], make_entry("a")))
        for change in (
            {"program": "4567"},
            {"versions": {"openvino": "2"}},
            {"settings": {"threads": 1, "batch": 1, "rounds": 7}},
        ):
            self.assertFalse(results.has(("a", 1, 1), wanted, make_entry("a", **change)), change)

    def test_what_is_provisional_is_measured_again(self) -> None:
        results = self.open()
        results.add(make_entry("a", provisional=True), self.folder)
        self.assertFalse(results.has(("a", 1, 1), [], make_entry("a")))
        self.assertTrue(results.has(("a", 1, 1), [], make_entry("a", provisional=True)))


class TableTest(unittest.TestCase):
    def make_columns(self) -> list[ModelResults]:
        one, two = ModelResults("znver4"), ModelResults("znver5")
        for results, entry in (
            (one, make_entry("a")),
            (one, make_entry("a", threads=2, provisional=True)),
            (two, make_entry("b")),
        ):
            results.entries[(entry["network"], 1, entry["settings"]["threads"])] = entry
        return tables.order([one, two])

    def test_a_column_for_each_cpu_and_what_is_missing(self) -> None:
        table = tables.make_table(self.make_columns(), ["a", "b"], "tarpon fp32", has_times=False)
        self.assertEqual(
            table,
            [
                "|  | Zen 5 | Zen 4 |",
                "|---|---|---|",
                "| a | missing | 1.50 / 1.50\\* |",
                "| b | 1.50 / missing | missing |",
                "| geometric mean (networks) | 1.50 (1) / missing | 1.50 (1) / 1.50 (1) |",
            ],
        )

    def test_an_absent_peer_is_marked(self) -> None:
        entry = make_entry("a")
        self.assertEqual(tables.format_ratio(entry, "tarpon int8"), "0.50†")
        self.assertEqual(tables.format_ratio(entry, "tarpon untuned"), "1.00")
        del entry["contestants"]["torch fp32"]
        self.assertEqual(tables.format_ratio(entry, "tarpon untuned"), "1.00†")

    def test_reasons_and_unmeasured_cpus_are_told(self) -> None:
        text = "\n".join(tables.write_details(self.make_columns()))
        self.assertIn("- b, openvino int8: no such package", text)
        self.assertIn("missing: Ice Lake.", text)
        self.assertIn("| b | 12.0 ms, OpenVINO 16.0; 1.50 / missing | missing |", text)

    def test_the_documents_have_the_tables_of_the_results(self) -> None:
        columns = tables.order(list(read_all()))
        for name, write in tables.WRITERS.items():
            text = (ROOT / name).read_text()
            self.assertEqual(
                text, tables.replace_table(text, write(columns)), f"run benchmarks/tables.py: {name}"
            )


class ContestantTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "log"

    def make(self, runner: str) -> Contestant:
        return Contestant(f"{runner} fp32", Job(runner, "no model", (0,), (1, 3)))

    def test_who_cannot_start_is_missing_with_the_reason(self) -> None:
        field = Field()
        self.addCleanup(field.close)
        self.assertIsNone(field.add(self.make("absent"), np.zeros((1, 3)), self.log))
        self.assertIn("No module named 'runners.absent_runner'", field.missing["absent fp32"])
        self.assertEqual(field.runners, [])
        field.race(1, 0.01, "wall")

    def test_who_dies_is_told(self) -> None:
        contestant = self.make("absent")
        self.addCleanup(contestant.close)
        with self.assertRaises(BenchmarkError):
            contestant.start(self.log)
        with self.assertRaisesRegex(BenchmarkError, "it ended with 1"):
            contestant.measure(0.01, "wall")


if __name__ == "__main__":
    unittest.main()
