# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a growing graph, with the numbers that they have."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FLOATS = ("float32", "float16", "float64")
# Rounding errors of another order of summation, relative to an element and,
# where terms cancel, to the others beside it.
NOISE = {"float32": 1e-6, "float16": 1e-3, "float64": 1e-6}
CANCELLATION = 0.3
# Relative L2 distance between a value and itself with noise, up to which a graph
# still says something about who computes it.
MAX_SENSITIVITY = {False: 2.5e-5, True: 1e-2}


class UnfitError(Exception):
    """An operator that cannot be added here: another one is tried."""


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the graph. `copies` are what it holds: as it is, and twice with
    noise on all that is rounded on the way to it."""

    name: str
    copies: tuple[np.ndarray, ...]
    # Known when the graph is compiled.
    is_constant: bool = False
    # Descends from fp16, whose roundings may be left out between two operators.
    is_coarse: bool = False
    # One of its sizes depends on data, perhaps.
    is_sized: bool = False

    @property
    def data(self) -> np.ndarray:
        return self.copies[0]

    @property
    def dtype(self) -> str:
        return self.data.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def rank(self) -> int:
        return self.data.ndim

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_integer(self) -> bool:
        return self.data.dtype.kind in "iu"

    def lies_within(self, low: float, high: float) -> bool:
        """Returns true if all elements, of all copies, are in [low, high]."""
        return all(
            not x.size or (float(x.min()) >= low and float(x.max()) <= high)
            for x in self.copies
        )

    def is_finite(self) -> bool:
        return not self.is_float or bool(np.isfinite(self.data).all())


def add_noise(value: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The array as another order of its computation might have rounded it."""
    noise = NOISE.get(value.dtype.name)
    if noise is None or not value.size:
        return value
    wide = value.astype("float64")
    finite = wide[np.isfinite(wide)]
    level = math.sqrt(float(np.mean(finite**2))) if finite.size else 0.0
    with np.errstate(all="ignore"):
        noisy = wide + signs * noise * (np.abs(wide) + CANCELLATION * level)
        # Zeros are often exact: of ReLU, of padding, of a difference of equals.
        noisy = np.where(np.isfinite(wide) & (wide != 0), noisy, wide)
        return noisy.astype(value.dtype)


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The relative L2 distance; of what is no float, the share that differs."""
    if np.array_equal(ours, theirs):
        return 0.0
    if theirs.dtype.kind != "f":
        return float(np.mean(ours != theirs))
    ours, theirs = ours.astype("float64"), theirs.astype("float64")
    scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0)) or 1.0
    ours, theirs = ours / scale, theirs / scale
    # What both agree to be infinite, or not a number, is no distance.
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    kept = ~same | np.isfinite(theirs)
    with np.errstate(all="ignore"):
        error = float(np.linalg.norm(np.where(same, 0, ours - theirs)))
    norm = float(np.linalg.norm(np.where(kept, theirs, 0)))
    return error / norm if norm else math.inf


def blur_zeros(value: np.ndarray) -> np.ndarray:
    """The array with the smallest normal number in place of zeros."""
    return np.where(value == 0, np.finfo(value.dtype).tiny, value)


def cancels(x: Value, y: Value) -> bool:
    """Returns true if an operator's results are so much smaller than its operand that
    its formula has cancelled most digits, as GELU's does of negative numbers."""
    return not float(np.linalg.norm(y.data)) > 0.02 * float(np.linalg.norm(x.data))


def find_sensitivity(copies: tuple[np.ndarray, ...]) -> float:
    return max(distance(noisy, copies[0]) for noisy in copies[1:])
