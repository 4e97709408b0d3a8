#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports networks of PyTorch's libraries to ONNX; scripts/zoo runs it.

Each network is written to build/zoo/NAME.onnx. With --check, graph-opt then runs
it, and its outputs are compared with ONNX Runtime's: one line a network says how
far they are apart, or why Tarpon refuses it.
"""

from __future__ import annotations

import argparse
import inspect
import logging
import os
import sys
import warnings
from pathlib import Path

from check import Check, Outcome
from network import TRACED_BATCH, Network
from networks import ALL, build, find
from quantisation import MODULE_QUANTISER, quantise, quantise_module
from results import RESULTS, Results, tabulate

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "build/zoo"
SOURCES = tuple(Path(__file__).parent.glob("*network*.py")) + (
    Path(__file__),
    Path(__file__).with_name("small_modules.py"),
    Path(__file__).with_name("quantisation.py"),
)
GRAPH_OPT = Path(os.environ.get("GRAPH_OPT", ROOT / "build/bin/graph-opt"))

# PyTorch's exporters: "dynamo" traces the program, "torchscript" is the older one.
EXPORTERS = ("dynamo", "torchscript")
OPSET = {"dynamo": 20, "torchscript": 17}


def path_of(network: Network, exporter: str) -> Path:
    suffix = "" if exporter == EXPORTERS[0] else f".{exporter}"
    return ZOO / f"{network.name}{suffix}.onnx"


def is_up_to_date(path: Path) -> bool:
    if not path.exists():
        return False
    written = path.stat().st_mtime
    return all(source.stat().st_mtime < written for source in SOURCES)


def name_batch(module: object, network: Network, exporter: str) -> dict[str, object]:
    """The exporter's arguments by which leading dimensions get a symbol."""
    import torch

    inputs = network.all_inputs()
    if network.batch is None:
        return {}
    if exporter == "torchscript":
        return {"dynamic_axes": {x.name: {0: "batch"} for x in inputs}}
    shapes: tuple[object, ...] = ({0: torch.export.Dim("batch", min=1, max=64)},) * len(inputs)
    parameters = inspect.signature(module.forward).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        shapes = (shapes,)
    return {"dynamic_shapes": shapes}


def export(network: Network, exporter: str) -> Path:
    """Exports one network unless it is there already; returns its path."""
    import numpy as np
    import torch

    path = path_of(network, exporter)
    if is_up_to_date(path):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    generator = np.random.default_rng(1)
    traced = 1 if network.batch is None else TRACED_BATCH
    logging.disable(logging.WARNING)
    # The older exporter does not know the fused operator.
    torch.backends.mha.set_fastpath_enabled(False)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        module = build(network)
        if network.quantised == MODULE_QUANTISER:
            module = quantise_module(module, network)
        torch.onnx.export(
            module,
            tuple(torch.from_numpy(x.draw(generator, traced)) for x in network.all_inputs()),
            str(scratch),
            dynamo=exporter == "dynamo",
            external_data=False,
            input_names=[x.name for x in network.all_inputs()],
            opset_version=OPSET[exporter],
            verbose=False,
            **name_batch(module, network, exporter),
        )
        if network.quantised and network.quantised != MODULE_QUANTISER:
            quantise(scratch, network)
    os.replace(scratch, path)
    return path


def run_one(network: Network, arguments: argparse.Namespace) -> Check:
    """Exports one network and, with --check, compares Tarpon with ONNX Runtime."""
    exporter = arguments.exporter or network.exporter
    is_old = is_up_to_date(path_of(network, exporter))
    try:
        path = export(network, exporter)
    except Exception as error:  # noqa: BLE001: the libraries raise all kinds
        if not arguments.check:
            raise
        return Check(Outcome.NOT_EXPORTED, describe_error(error))
    if not arguments.check:
        return Check(Outcome.AGREES, f"{path.stat().st_size / 1e6:.1f} MB")
    try:
        return Check.run(GRAPH_OPT, path, network)
    finally:
        if not arguments.keep and not is_old:
            path.unlink()


def describe_error(error: BaseException) -> str:
    """One line of what an exporter failed for: it wraps the cause several times."""
    while error.__cause__:
        error = error.__cause__
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


def network_name(text: str) -> str:
    if text != "all" and text not in (network.name for network in ALL):
        raise argparse.ArgumentTypeError(f"unknown network '{text}'")
    return text


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/zoo",
        description="Exports networks of PyTorch's libraries to build/zoo.",
        epilog="example: scripts/zoo efficientnet_b0 --check",
    )
    parser.add_argument(
        "names", nargs="*", type=network_name, metavar="NETWORK", help="default: all"
    )
    parser.add_argument("--list", action="store_true", help="list the networks")
    parser.add_argument("--family", help="only networks of this family")
    parser.add_argument(
        "--exporter", choices=EXPORTERS, help="default: what the list says of the network"
    )
    parser.add_argument(
        "--check", action="store_true",
        help="compare Tarpon's outputs with ONNX Runtime's; what graph-opt refuses is told",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="keep what was exported for --check")
    parser.add_argument(
        "--update", action="store_true", help=f"write what --check says to {RESULTS.name}"
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    names = arguments.names or ["all"]
    networks = list(ALL) if "all" in names else [find(name) for name in names]
    if arguments.family:
        networks = [network for network in networks if network.family == arguments.family]
    if arguments.list:
        for network in networks:
            print(f"{network.name:32} {network.exporter:12} {network.family}")
        return 0
    checks = {}
    for network in networks:
        checks[network] = run_one(network, arguments)
        print(f"{network.name:32} {checks[network]}", flush=True)
        if arguments.update:
            Results.update(network, arguments.exporter or network.exporter, checks[network])
    if arguments.check:
        outcomes = [(network.family, check.outcome) for network, check in checks.items()]
        print(tabulate("family", outcomes))
    return 0 if all(check.outcome is Outcome.AGREES for check in checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
