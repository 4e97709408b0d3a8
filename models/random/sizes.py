# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators whose results have sizes that depend on data."""

from __future__ import annotations

import numpy as np

from graph import Graph
from movement import with_axes
from recipes import recipe
from values import UnfitError, Value


def pick_mask(g: Graph) -> Value:
    return g.pick(
        lambda v: v.dtype in ("bool", "float32", "int64") and 1 <= v.rank <= 3
        and 0 < np.count_nonzero(v.data) < v.data.size,
        lambda: g.fresh("bool", g.shape(1, 3)),
    )  # fmt: skip


@recipe(0.5)
def non_zero(g: Graph) -> None:
    """Places, and what lies there."""
    mask = pick_mask(g)
    (places,) = g.node("NonZero", [mask], hidden=g.chance(0.5))
    shape = mask.shape
    x = g.pick(lambda v: v.shape == shape, lambda: g.fresh(g.float_type, shape))
    kind = g.integer(0, 2)
    if kind == 0:
        (turned,) = g.node("Transpose", [places], exact=True, perm=[1, 0])
        g.node("GatherND", [x, turned], exact=True)
    elif kind == 1 and mask.rank == 1:
        (row,) = with_axes(g, "Squeeze", places, [0])
        wide = g.pick(
            lambda v: v.rank > 1 and v.shape[0] == shape[0],
            lambda: g.fresh(g.float_type, (shape[0], g.integer(1, 9))),
        )
        g.node("Gather", [wide, row], exact=True, axis=0)


@recipe(0.5)
def compress(g: Graph) -> None:
    x = g.pick_any(least=1)
    axis = g.axis(x.rank)
    size = x.shape[axis]
    condition = g.pick(
        lambda v: v.dtype == "bool" and v.rank == 1 and 0 < v.shape[0] <= size,
        lambda: g.fresh("bool", (g.integer(max(size - 1, 1), max(size, 1)),)),
    )
    if g.chance(0.2):
        (flat,) = g.node("Reshape", [x, g.ints([-1])], exact=True)
        g.node("Compress", [flat, condition], exact=True)
    else:
        g.node("Compress", [x, condition], exact=True, axis=axis)


@recipe(0.3)
def unique(g: Graph) -> None:
    x = g.pick(
        lambda v: v.rank == 1 and v.dtype in ("float32", "int64"),
        lambda: g.fresh(g.choose(("float32", "int64")), (g.integer(2, 20),), "grid"),
    )
    skipped = g.choose(((1, 2, 3), (), (2,), (1, 3)))
    g.node("Unique", [x], 4, exact=True, skipped=skipped, sorted=g.integer(0, 1))


@recipe(0.3)
def select_boxes(g: Graph) -> None:
    """Non-maximum suppression, and the boxes that it selects."""
    count = g.integer(2, 12)
    corners = g.random.uniform(0, 1, (1, count, 2))
    boxes = np.concatenate([corners, corners + g.random.uniform(0.1, 1, corners.shape)], -1)
    scores = g.random.uniform(0, 1, (1, g.integer(1, 3), count)).astype("float32")
    if len(g.inputs) > 3:
        raise UnfitError("too many inputs")
    given = [g.input(boxes.astype("float32")), g.input(scores)]
    limits = [g.constant(np.array([n], "float32")) for n in (0.4, 0.2)]
    (chosen,) = g.node("NonMaxSuppression", [*given, g.ints([g.integer(1, 5)]), *limits])
    if g.chance(0.6):
        (column,) = g.node("Gather", [chosen, g.ints(2)], exact=True, axis=1)
        (flat,) = with_axes(g, "Squeeze", given[0], [0])
        g.node("Gather", [flat, column], exact=True, axis=0)
