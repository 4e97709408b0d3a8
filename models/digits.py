#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The images that the networks of models/trained are tuned and tested on.

usage: digits.py NETWORK tune|held_out FOLDER

Writes FOLDER/K.npy, each an input of the network, and FOLDER/labels.txt with the classes
of all images in their order, for graph-opt compile --calibration FOLDER --labels
FOLDER/labels.txt. The images are in trained/digits.npz, which train_digits.py has made.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy

FOLDER = Path(__file__).resolve().parent / "trained"

# The number of images of each part; the others, of 1797 in all, were trained on.
TUNE = 400
HELD_OUT = 600

# The images in one input. Both parts are multiples of it.
BATCH = {"cnn": 1, "separable": 1, "mlp": 100}


def enlarge(images: numpy.ndarray, factor: int = 4) -> numpy.ndarray:
    """Enlarges images by interpolating linearly between the centres of pixels."""
    size = images.shape[-1]
    centres = (numpy.arange(size * factor) + 0.5) / factor - 0.5
    low = numpy.clip(numpy.floor(centres).astype(int), 0, size - 1)
    high = numpy.minimum(low + 1, size - 1)
    share = numpy.clip(centres - low, 0, 1)
    weights = numpy.zeros((len(centres), size))
    for row, (a, b, part) in enumerate(zip(low, high, share, strict=True)):
        weights[row, a] += 1 - part
        weights[row, b] += part
    return weights @ images @ weights.T


def prepare(network: str, images: numpy.ndarray) -> numpy.ndarray:
    """Makes inputs of a network, one image each, of pixels from 0 to 16."""
    # 4.88 and 6.02 are the mean and the deviation of all pixels.
    scaled = (images.astype(numpy.float64) - 4.88) / 6.02
    if network != "mlp":
        scaled = enlarge(scaled)
    return scaled[:, None].astype(numpy.float32)


def read(part: str) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The images and classes of "tune" or "held_out"."""
    data = numpy.load(FOLDER / "digits.npz")
    return data[f"{part}_images"], data[f"{part}_classes"]


def write(network: str, part: str, folder: Path) -> None:
    """Writes inputs and labels for graph-opt."""
    folder.mkdir(parents=True, exist_ok=True)
    images, classes = read(part)
    batch = BATCH[network]
    inputs = prepare(network, images)
    for index in range(len(inputs) // batch):
        numpy.save(folder / f"{index}.npy", inputs[index * batch : (index + 1) * batch])
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in classes))


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes inputs and labels for graph-opt.")
    parser.add_argument("network", choices=sorted(BATCH))
    parser.add_argument("part", choices=("tune", "held_out"))
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    write(arguments.network, arguments.part, arguments.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
