# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/models keeps, and the tables that are made of it."""

import argparse
import copy
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import models  # noqa: E402
import packages  # noqa: E402
import tables  # noqa: E402
from contestants import Contestant, Field  # noqa: E402
from machine import BenchmarkError  # noqa: E402
from model_results import ModelResults, compute_ratios, find_fastest, read_all  # noqa: E402
from onnx_models import ModelInput  # noqa: E402
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
        "settings": {"threads": threads, "batch": 1, "rounds": 3, "seconds_per_round": 1},
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
        shown = [
            tables.Shown(column, "tarpon fp32", tables.get_title(column.cpu))
            for column in self.make_columns()
        ]
        table = tables.make_table(shown, ["a", "b"], has_times=False)
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

    def test_figures_of_the_former_method_are_marked_and_explained(self) -> None:
        former = make_entry(
            "a", commit="0abc", versions={"onnxruntime": "1.31.1"},
            settings={"threads": 1, "batch": 1, "rounds": 3, "iterations": 20},
        )
        results = ModelResults("znver4", entries={("a", 1, 1): former})
        text = tables.write_overview([results])
        self.assertIn("| a | 1.00‡ /  | 1.50‡ /  |", text)
        self.assertIn("| geometric mean (networks) | 1.00‡ (1) /  | 1.50‡ (1) /  |", text)
        told = "‡ measured with the former method, against ONNX Runtime 1.31 alone."
        self.assertIn(told, text)
        self.assertNotIn("‡", "\n".join(tables.write_details(self.make_columns())))

    def test_the_overview_has_no_empty_rows_and_columns(self) -> None:
        results = ModelResults("znver4")
        for network, ratios in (("a", {"tarpon fp32": 1.5}), ("b", {})):
            results.entries[(network, 1, 1)] = make_entry(network, ratios=ratios)
        text = tables.write_overview([results])
        self.assertEqual(text[0], "|  | Zen 4, tuned |")
        self.assertIn("| a | 1.50 /  |", text)
        self.assertFalse([line for line in text if line.startswith("| b ")])

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


# Writes its arguments, its environment and what its stores hold into the package.
GRAPH_OPT = """#!{python}
import json, os, sys
stores = [os.environ.get(f"TARPON_{{name}}_DB_PATH") for name in ("USER", "SYSTEM")]
found = {{
    "arguments": sys.argv[1:],
    "environment": sorted(name for name in os.environ if name.startswith("TARPON_")),
    "stores": [os.listdir(store) if store else None for store in stores],
}}
with open(sys.argv[sys.argv.index("-o") + 1], "w") as package:
    json.dump(found, package)
with open({log!r}, "a") as log:
    log.write("run\\n")
"""


class PackageTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program, self.log = self.folder / "graph-opt", self.folder / "log"
        self.program.write_text(GRAPH_OPT.format(python=sys.executable, log=str(self.log)))
        self.program.chmod(0o755)
        self.model, self.library = self.folder / "a.onnx", self.folder / "library"
        self.model.write_text("model")
        self.library.write_text("library")
        store = self.folder / "store"
        store.mkdir()
        (store / "a.journal").touch()
        for name, value in (
            ("GRAPH_OPT", self.program),
            ("LIBRARY", self.library),
            ("WORK", self.folder),
            ("STORE", store),
        ):
            patch = mock.patch.object(packages, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def compile(self, name: str = "tarpon fp32", threads: int = 1, batch: int = 1, time: int = 5) -> Path:
        return packages.compile_package("a", self.model, name, threads, batch, time)

    def count_runs(self) -> int:
        return len(self.log.read_text().splitlines())

    def test_a_package_is_made_again_if_anything_of_its_key_differs(self) -> None:
        self.compile()
        self.compile()
        self.assertEqual(self.count_runs(), 1)
        self.compile(time=6)
        self.assertEqual(self.count_runs(), 2)
        self.compile(time=6, threads=2)
        self.assertEqual(self.count_runs(), 3)
        with mock.patch.dict(packages.CHOICES, {"tarpon fp32": packages.Choice("bf16")}):
            self.compile(time=6)
        self.assertEqual(self.count_runs(), 4)
        with mock.patch.object(packages, "MAX_ERROR", "0.1"):
            self.compile(time=6)
        self.assertEqual(self.count_runs(), 5)

    def test_programs_and_models_are_told_apart_by_contents(self) -> None:
        package = self.compile()
        for count, changed in enumerate((self.model, self.library, self.program), 2):
            changed.write_text(changed.read_text() + "\n#")
            # Older than the package: a copy may keep its time.
            os.utime(changed, (1, 1))
            self.compile()
            self.assertEqual(self.count_runs(), count, changed)
        # Newer than the package, but the same.
        os.utime(package, (1, 1))
        self.compile()
        self.assertEqual(self.count_runs(), 4)

    def test_untuned_does_not_depend_on_the_time_of_tuning(self) -> None:
        self.compile("tarpon untuned")
        self.compile("tarpon untuned", time=6)
        self.assertEqual(self.count_runs(), 1)

    def test_a_package_without_a_key_is_made_again(self) -> None:
        key_file = packages.key_file(self.compile())
        for text in ("", "{}"):
            key_file.write_text(text)
            self.compile()
        key_file.unlink()
        self.compile()
        self.assertEqual(self.count_runs(), 4)

    def test_an_attempt_that_fails_leaves_no_key(self) -> None:
        package = self.compile()
        self.program.write_text(f"#!{sys.executable}\nraise SystemExit('error: no')\n")
        with self.assertRaisesRegex(BenchmarkError, "^no$"):
            self.compile()
        self.assertFalse(packages.key_file(package).exists())

    def test_untuned_knows_no_measurements_and_no_settings_of_the_user(self) -> None:
        user = {
            "TARPON_CPU": "x86-64-v3",
            "TARPON_FIND_MODE": "normal",
            "TARPON_FIND_ENFORCE": "search",
            "TARPON_SEARCH_METHOD": "random",
            "TARPON_TUNING_PATIENCE": "3",
            "TARPON_SYSTEM_DB_PATH": str(self.folder),
        }
        with mock.patch.dict(os.environ, user):
            untuned = json.loads(self.compile("tarpon untuned").read_text())
            tuned = json.loads(self.compile().read_text())
        self.assertEqual(untuned["stores"], [[], []])
        self.assertEqual(tuned["stores"][0], ["a.journal"])
        for package in (untuned, tuned):
            self.assertEqual(
                package["environment"], ["TARPON_SYSTEM_DB_PATH", "TARPON_USER_DB_PATH"]
            )


class FakeField(Field):
    """Its contestants answer what `outputs` has for them, and cannot run otherwise."""

    def __init__(self, outputs: dict[str, list[float]]) -> None:
        super().__init__()
        self.outputs = outputs

    def add(self, contestant: Contestant, x: np.ndarray, log: Path) -> np.ndarray | None:
        if contestant.name not in self.outputs:
            self.remove(contestant, "it ended with 1")
            return None
        self.runners.append(contestant)
        name = f"{contestant.name} {contestant.job.extra}".strip()
        return np.array(self.outputs[name])


class ReferenceTest(unittest.TestCase):
    def enter(
        self, wanted: list[str], outputs: dict[str, list[float]], network: str = "toy"
    ) -> Field:
        comparison = models.Comparison(network, argparse.Namespace(batch=1), 1)
        comparison.field = FakeField(outputs)
        comparison.make_job = lambda name, *_: Job(name, "", (0,), (1, 3))
        x = ModelInput("x", [1, 3], np.dtype("float32"))
        with mock.patch.object(models, "input_of", return_value=x), mock.patch.object(
            models.onnx, "load"
        ):
            comparison.enter(wanted, Path("toy.onnx"))
        return comparison.field

    def test_outputs_are_compared_with_the_reference_wherever_it_stands(self) -> None:
        outputs = {
            "openvino fp32": [1, 3], "onnxruntime fp32": [1, 2], "tarpon fp32": [1, 2],
        }
        field = self.enter(list(outputs), outputs)
        self.assertEqual({r.name for r in field.runners}, {"onnxruntime fp32", "tarpon fp32"})
        self.assertRegex(field.missing["openvino fp32"], "^wrong: .* from onnxruntime fp32$")

    def test_no_other_contestant_takes_the_place_of_the_reference(self) -> None:
        names = ["onnxruntime fp32", "openvino fp32", "tarpon fp32"]
        with self.assertRaisesRegex(BenchmarkError, "^no reference: onnxruntime fp32: it ended with 1$"):
            self.enter(names, {name: [1, 2] for name in names[1:]})
        for useless in ([float("nan"), 1], [0, 0]):
            with self.assertRaisesRegex(BenchmarkError, "^no reference: onnxruntime fp32: "):
                self.enter(names, {name: useless for name in names})

    def test_the_reference_need_not_take_part(self) -> None:
        outputs = {"onnxruntime fp32": [1, 2], "openvino fp32": [1, 2], "tarpon fp32": [3, 2]}
        field = self.enter(["openvino fp32", "tarpon fp32"], outputs)
        self.assertEqual([r.name for r in field.runners], ["openvino fp32"])
        self.assertEqual(list(field.missing), ["tarpon fp32"])

    def test_a_quantised_network_is_compared_with_a_reference_without_optimisations(self) -> None:
        outputs = {
            "onnxruntime fp32": [1, 1.5], "onnxruntime fp32 unoptimised": [1, 2],
            "tarpon untuned": [1, 2.04], "tarpon direct": [1, 1.9],
        }
        wanted = ["onnxruntime fp32", "tarpon untuned", "tarpon direct"]
        field = self.enter(wanted, outputs, models.QUANTISED[0])
        self.assertEqual([r.name for r in field.runners], wanted[:2])
        self.assertEqual([r.job.extra for r in field.runners], ["", ""])
        self.assertEqual(list(field.missing), ["tarpon direct"])

    def test_a_network_without_a_reference_is_named_and_has_no_entry(self) -> None:
        run = models.Run.__new__(models.Run)
        run.arguments, run.todo, run.keep = argparse.Namespace(), [("toy", 1)], mock.Mock()
        failing = mock.Mock()
        failing.return_value.run.side_effect = BenchmarkError("no reference: onnxruntime fp32: no")
        with mock.patch.object(models, "Comparison", failing), mock.patch("builtins.print") as told:
            self.assertEqual(run.measure(), 1)
        self.assertEqual(told.call_args.args, ("toy, 1 thread(s): no reference: onnxruntime fp32: no",))
        run.keep.assert_not_called()


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
