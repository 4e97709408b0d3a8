#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the networks that Tarpon is measured on.

usage: build.py NAME...|all [--output DIR] [--batch N] [--image N]

Writes DIR/NAME.onnx, with the batch dimension symbolic, or DIR/NAME_bN.onnx
with --batch N. With --image N the image has N x N pixels instead of 224 x 224,
for networks that end in a global pool; the file is NAME_iN.onnx. A file that is newer than the builders is left alone.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from builder import IMAGE, ModelBuilder, save

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
    "resnet34",
    "resnext50",
    "efficientnet",
    "mobilenetv3",
)
# For GPUs: verifying them on a CPU in every dtype and layout takes too long.
LARGE = ("vit_b16",)
# With a symbolic length, which a size has to be given for.
LANGUAGE = ("bert", "gpt2", "gpt2_cached", "llama_cached")
# Of these, with weights of 4 bits.
NARROW = ("gpt2_int4", "llama_int4")


def up_to_date(path: Path) -> bool:
    """Whether `path` is newer than every builder."""
    if not path.exists():
        return False
    written = path.stat().st_mtime
    return all(source.stat().st_mtime < written for source in HERE.glob("*.py"))


def build(
    name: str, folder: Path, batch: int | None, image: int = IMAGE
) -> Path:
    """Builds one network unless it is there already; returns its path."""
    suffix = "" if batch is None else f"_b{batch}"
    suffix += "" if image == IMAGE else f"_i{image}"
    ModelBuilder.image_size = image
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
        raise argparse.ArgumentTypeError("expected a number above 0")
    return value


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Builds the networks that Tarpon is measured on."
    )
    parser.add_argument(
        "names", nargs="+", choices=(*NETWORKS, *LARGE, *LANGUAGE, *NARROW, "all"), metavar="NAME|all",
        help=", ".join((*NETWORKS, *LARGE, *LANGUAGE, *NARROW)),
    )
    parser.add_argument("--output", type=Path, default=HERE / "built", metavar="DIR")
    parser.add_argument("--batch", type=positive, metavar="N")
    parser.add_argument("--image", type=positive, default=IMAGE, metavar="N")
    arguments = parser.parse_args()
    names = NETWORKS if "all" in arguments.names else arguments.names
    for name in names:
        build(name, arguments.output, arguments.batch, arguments.image)
    return 0


if __name__ == "__main__":
    sys.exit(main())
