# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random shapes and numbers: those that programs get wrong more often than others."""

from __future__ import annotations

import math

import numpy as np

DIMENSIONS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 31, 33)
MAX_DRAWN = 3000
FLOAT_KINDS = ("normal", "normal", "positive", "grid")
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)


def draw_shape(
    random: np.random.Generator, least: int, most: int, may_be_empty: bool
) -> tuple[int, ...]:
    """A shape of `least` to `most` dimensions, perhaps with one of size 0."""
    weights = np.array([0.5, 1.5, 3, 3, 4, 1, 1])[least : most + 1]
    rank = least + int(random.choice(len(weights), p=weights / weights.sum()))
    shape: list[int] = []
    for _ in range(rank):
        room = MAX_DRAWN // max(math.prod(shape), 1)
        fitting = [d for d in DIMENSIONS if d <= max(room, 1)]
        shape.append(int(random.choice(fitting)))
    random.shuffle(shape)
    if rank and may_be_empty and random.random() < 0.15:
        shape[int(random.integers(rank))] = 0
    return tuple(shape)


def draw_array(
    random: np.random.Generator, dtype: str, shape: tuple[int, ...], kind: str, is_special: bool
) -> np.ndarray:
    """Kinds of floats are "normal", "positive" and "grid": quarters, of which many
    are equal and sums are exact. Kinds of integers are "small" and "large"."""
    type_ = np.dtype(dtype)
    if type_.kind == "f":
        return draw_floats(random, shape, kind, is_special).astype(type_)
    if type_.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    info = np.iinfo(type_)
    is_large = kind == "large" or (not kind and random.random() < 0.25)
    low, high = max(info.min, -9), 10
    if info.bits == 8 or is_large:
        low, high = info.min, info.max
    return np.asarray(random.integers(low, high, shape, type_, endpoint=True))


def draw_floats(
    random: np.random.Generator, shape: tuple[int, ...], kind: str, is_special: bool
) -> np.ndarray:
    kind = kind or str(random.choice(FLOAT_KINDS))
    if kind == "grid":
        drawn = random.integers(-12, 12, shape, endpoint=True) / 4
    elif kind == "positive":
        drawn = random.uniform(0.1, 2.0, shape)
    else:
        drawn = random.standard_normal(shape) * random.choice((0.5, 1.0, 3.0))
    drawn = np.asarray(drawn)
    if is_special and drawn.ndim:
        places = random.random(shape) < 0.1
        drawn[places] = random.choice(SPECIAL, int(places.sum()))
    return drawn
