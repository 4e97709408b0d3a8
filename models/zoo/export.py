#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports networks of PyTorch's libraries to ONNX; scripts/zoo runs it.

Each network is written to build/zoo/NAME.onnx, for batch 1. With --check,
graph-opt then runs it, and its output is compared with ONNX Runtime's: one
line a network says how far they are apart, or why Tarpon refuses it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from networks import NETWORKS, Network, build, find

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "build/zoo"
SOURCES = (Path(__file__), Path(__file__).with_name("networks.py"))
GRAPH_OPT = Path(os.environ.get("GRAPH_OPT", ROOT / "build/bin/graph-opt"))

# PyTorch's exporters: "dynamo" traces the program, "torchscript" is the older one.
EXPORTERS = ("dynamo", "torchscript")
OPSET = {"dynamo": 20, "torchscript": 17}
# Relative L2 distance from ONNX Runtime up to which outputs agree.
TOLERANCE = 1e-4


def path_of(network: Network, exporter: str) -> Path:
    suffix = "" if exporter == EXPORTERS[0] else f".{exporter}"
    return ZOO / f"{network.name}{suffix}.onnx"


def is_up_to_date(path: Path) -> bool:
    if not path.exists():
        return False
    written = path.stat().st_mtime
    return all(source.stat().st_mtime < written for source in SOURCES)


def export(network: Network, exporter: str) -> Path:
    """Exports one network unless it is there already; returns its path."""
    import torch

    path = path_of(network, exporter)
    if is_up_to_date(path):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            build(network),
            (torch.zeros(network.shape),),
            str(scratch),
            dynamo=exporter == "dynamo",
            external_data=False,
            input_names=["input"],
            opset_version=OPSET[exporter],
            verbose=False,
        )
    os.replace(scratch, path)
    return path


def check(path: Path, network: Network) -> tuple[bool, str]:
    """Whether Tarpon computes what ONNX Runtime does, and a line that says so."""
    import numpy as np
    import onnxruntime

    x = np.random.default_rng(0).standard_normal(network.shape, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "input.npy"
        np.save(image, x)
        process = subprocess.run(
            [GRAPH_OPT, "run", path, "--layout", "nhwc", "--input", f"input={image}",
             "--output-dir", folder],
            stdin=subprocess.DEVNULL, capture_output=True, errors="replace", text=True,
        )
        if process.returncode == 1:
            errors = [line for line in process.stderr.splitlines() if "error: " in line]
            return False, f"refused: {errors[-1].split('error: ', 1)[1]}"
        if process.returncode != 0:
            return False, f"graph-opt ended with {process.returncode}"
        got = np.load(Path(folder) / "0.npy")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"input": x})[0]
    if got.shape != wanted.shape:
        return False, f"wrong: the output is {got.shape}, not {wanted.shape}"
    error = float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))
    # A NaN is no agreement.
    agrees = error <= TOLERANCE
    return agrees, f"{'agrees' if agrees else 'wrong'}: relative L2 {error:.1e}"


def network_name(text: str) -> str:
    if text != "all" and text not in (network.name for network in NETWORKS):
        raise argparse.ArgumentTypeError(f"unknown network '{text}'")
    return text


def parse_arguments() -> argparse.Namespace:
    names = ", ".join(network.name for network in NETWORKS)
    parser = argparse.ArgumentParser(
        prog="scripts/zoo",
        description="Exports networks of PyTorch's libraries to build/zoo.",
        epilog="example: scripts/zoo efficientnet_b0 --check",
    )
    parser.add_argument(
        "names", nargs="*", type=network_name, metavar="NETWORK",
        help=f"{names}, all; default: all",
    )
    parser.add_argument("--exporter", choices=EXPORTERS, default=EXPORTERS[0])
    parser.add_argument(
        "--check", action="store_true",
        help="compare Tarpon's output with ONNX Runtime's; what graph-opt refuses is told",
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    names = arguments.names or ["all"]
    networks = NETWORKS if "all" in names else [find(name) for name in names]
    agreed = 0
    for network in networks:
        path = export(network, arguments.exporter)
        agrees, line = True, f"{path.stat().st_size / 1e6:.1f} MB"
        if arguments.check:
            agrees, line = check(path, network)
        agreed += agrees
        print(f"{network.name:20} {line}", flush=True)
    if arguments.check:
        print(f"{agreed} of {len(networks)} agree with ONNX Runtime")
    return 0 if agreed == len(networks) else 1


if __name__ == "__main__":
    sys.exit(main())
