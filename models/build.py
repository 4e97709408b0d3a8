#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the networks that Tarpon is measured on.

usage: build.py NAME...|all [--output DIR] [--batch N]

Writes DIR/NAME.onnx, with the batch dimension symbolic, or DIR/NAME_bN.onnx
with --batch N. A file that is newer than the builders is left alone.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from builder import save

HERE = Path(__file__).resolve().parent

NETWORKS = (
    "resnet18",
    "resnet50",
    "vgg16",
    "mobilenetv2",
    "squeezenet",
    "densenet121",
    "googlenet",
    "shufflenet",
)


def up_to_date(path: Path) -> bool:
    """Whether `path` is newer than every builder."""
    if not path.exists():
        return False
    written = path.stat().st_mtime
    return all(source.stat().st_mtime < written for source in HERE.glob("*.py"))


def build(name: str, folder: Path, batch: int | None) -> Path:
    """Builds one network unless it is there already; returns its path."""
    suffix = "" if batch is None else f"_b{batch}"
    path = folder / f"{name}{suffix}.onnx"
    if up_to_date(path):
        print(f"{path} is up to date")
    else:
        save(importlib.import_module(name).build(batch), path)
        print(f"{path} written, {path.stat().st_size / 1e6:.1f} MB")
    return path


def positive(text: str) -> int:
    """A whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a batch has at least one image")
    return value


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Builds the networks that Tarpon is measured on."
    )
    parser.add_argument(
        "names", nargs="+", choices=(*NETWORKS, "all"), metavar="NAME|all",
        help=", ".join(NETWORKS),
    )
    parser.add_argument("--output", type=Path, default=HERE / "built", metavar="DIR")
    parser.add_argument("--batch", type=positive, metavar="N")
    arguments = parser.parse_args()
    names = NETWORKS if "all" in arguments.names else arguments.names
    for name in names:
        build(name, arguments.output, arguments.batch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
