# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/gpu/run-there does where stages fail, hang or print tables."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
GPU = ROOT / "benchmarks/gpu"
sys.path.insert(0, str(GPU))

import peers  # noqa: E402
import table  # noqa: E402


def load_script() -> object:
    loader = importlib.machinery.SourceFileLoader("run_there", str(GPU / "run-there"))
    with mock.patch.object(sys, "dont_write_bytecode", True):
        module = importlib.util.module_from_spec(
            importlib.util.spec_from_loader(loader.name, loader)
        )
        loader.exec_module(module)
    return module


run_there = load_script()

# Compiles the first network alone, and hangs in perf.
GRAPH_OPT = """#!/bin/sh
case "$1 $*" in
compile*squeezenet*) echo "graph-opt: error: no kernel fits"; exit 1 ;;
compile*) for last; do :; done; echo package >"$last" ;;
perf*) sleep 60 ;;
find*) cat <<END
Problem: conv(...)
     time ms      workspace  source     solution
     0.04985       51380224  $SOURCE gpu-igemm-v1 {block_k=32}
     1.47301              0  $SOURCE gpu-naive-v1 {}
END
esac
"""


class RunThereTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        kit = self.work / "tarpon-kit"
        (kit / "bin").mkdir(parents=True)
        (kit / "bin/graph-opt").write_text(GRAPH_OPT)
        (kit / "bin/graph-opt").chmod(0o755)
        with tarfile.open(self.work / "kit.tar.xz", "w:xz") as archive:
            archive.add(kit, kit.name)

    def run_stages(self, stages: str, *more: str) -> dict:
        """The results of a run, which has to fail."""
        out = self.work / "out"
        command = ["run-there", str(self.work / "kit.tar.xz"), "--stages", stages, "--out", str(out)]
        command += ["--work", str(self.work / "work"), "--dtypes", "fp16", "--batches", "1", *more]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(io.StringIO()):
            self.status = run_there.main()
        return json.loads((out / "results.json").read_text())

    def test_failures_cost_their_stage_alone(self) -> None:
        began = time.monotonic()
        stages = "compile,perf=0.5,verify,layers"
        with mock.patch.dict(os.environ, {"SOURCE": "measured"}):
            results = self.run_stages(stages, "--networks", "squeezenet,resnet18", "--layers", "1")
        self.assertEqual(self.status, 1)
        # The program that hangs is ended, and so is what it has started.
        self.assertLess(time.monotonic() - began, 20)
        outcomes = {name: stage["outcome"] for name, stage in results["stages"].items()}
        self.assertIn("1 of 2 failed: squeezenet-fp16-b1", outcomes["compile"])
        self.assertIn("error: no kernel fits", outcomes["compile"])
        self.assertIn("resnet18-fp16-b1 took longer than", outcomes["perf"])
        self.assertIn("0.npy", outcomes["verify"])
        self.assertEqual(outcomes["layers"], "done")
        self.assertEqual(results["layers"]["resnet50/conv"], {
            "source": "measured", "workspace": "51380224", "time_ms": 0.04985,
            "solution": "gpu-igemm-v1 {block_k=32}",
        })
        with tarfile.open(self.work / "out/logs.tar.xz") as logs:
            self.assertIn("logs/perf-resnet18-fp16-b1.txt", logs.getnames())

    def test_only_measured_times_are_figures(self) -> None:
        with mock.patch.dict(os.environ, {"SOURCE": "model"}):
            results = self.run_stages("layers,perf", "--networks", "resnet18", "--layers", "1")
        self.assertNotIn("time_ms", results["layers"]["resnet50/conv"])

    def test_large_folders_stay(self) -> None:
        with mock.patch.object(run_there, "LARGEST_FOLDER", 10):
            self.run_stages("perf", "--networks", "resnet18")
        self.assertFalse((self.work / "out/logs.tar.xz").exists())

    def test_stages_have_names_and_seconds(self) -> None:
        self.assertEqual(run_there.parse_stages("perf=7")[0], ("perf", 7))
        with self.assertRaises(run_there.argparse.ArgumentTypeError):
            run_there.parse_stages("prf")


class LayersTest(unittest.TestCase):
    def test_layers_are_problems(self) -> None:
        layers = peers.read_layers("resnet50")
        self.assertEqual(len(layers), len({layer.get_key(1) for layer in layers}))
        work = [layer.count_flops(1) for layer in layers]
        self.assertEqual(work, sorted(work, reverse=True))
        keys = [layer.get_key(64) for layer in layers]
        self.assertIn(
            "conv(64x256x28x28xf16:nhwc, 256x256x3x3xf16:const; 1x256x1x1xf32:const)"
            "->64x256x14x14xf16:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=2,2}"
            " | add(2) | relu", keys,
        )

    def test_work_of_a_layer(self) -> None:
        layer = peers.Layer("1 256 14 14 256 3 3 1 1 1 1 1 1 1 1 1 relu resnet50/conv_29")
        self.assertEqual(layer.count_flops(2), 2 * 2 * 256 * 14 * 14 * 256 * 9)


class TableTest(unittest.TestCase):
    def test_ratio_is_to_the_fastest_peer(self) -> None:
        ours = {
            "vgg16 fp16 b1": {
                "perf": {"median_ms": 3}, "perf-tuned": {"median_ms": 2},
                "tuning_s": 12.4, "tuning_budget_s": 10, "error": 0.25, "error-tuned": 0.002,
            }
        }
        theirs = {
            "vgg16 fp16 b1 cudnn": {"median_ms": 5},
            "vgg16 fp16 b1 torch.compile": {"median_ms": 4},
            "resnet50 fp16 b1 cudnn": {"error": "none"},
        }
        with contextlib.redirect_stdout(io.StringIO()) as text:
            table.print_networks(ours, theirs)
        rows = text.getvalue().splitlines()[2:]
        self.assertEqual(
            rows[0],
            "| vgg16 fp16 b1 | 3.000 | 2.000 | 0.67 | 12 (10) | 2.0e-03 | 5.000 | - | 4.000 | 0.50 |",
        )
        self.assertEqual(rows[1], "| resnet50 fp16 b1 | - | - | - | - | - | - | - | - | - |")


if __name__ == "__main__":
    unittest.main()
