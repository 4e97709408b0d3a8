# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that read or write at places which are data, and that order elements."""

from __future__ import annotations

import numpy as np

from graph import Graph
from recipes import recipe
from values import UnfitError, Value


def not_empty(value: Value) -> Value:
    if 0 in value.shape:
        raise UnfitError("no elements to choose from")
    return value


def indices(g: Graph, shape: tuple[int, ...], size: int, dtype: str = "") -> Value:
    """Places in a dimension of this size, some counted from its end."""
    dtype = dtype or g.choose(("int64", "int64", "int32"))
    low = -size if g.chance(0.4) else 0
    data = np.asarray(g.random.integers(low, size, shape)).astype(dtype)
    return g.input(data) if g.chance(0.4) and len(g.inputs) < 5 else g.constant(data)


@recipe(3, special=True)
def gather(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    axis = g.axis(x.rank)
    size = x.shape[axis]

    def fits(value: Value) -> bool:
        is_small = value.dtype in ("int32", "int64") and value.rank <= 2
        return is_small and value.lies_within(-size, size - 1)

    shape = tuple(g.integer(1, 6) for _ in range(g.integer(0, 2)))
    places = g.pick(fits, lambda: indices(g, shape, size))
    g.node("Gather", [x, places], exact=True, axis=axis)


@recipe(1.5, special=True)
def gather_elements(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    axis = g.axis(x.rank)
    shape = [g.integer(1, size) for size in x.shape]
    shape[axis] = g.integer(1, 6)
    g.node(
        "GatherElements", [x, indices(g, tuple(shape), x.shape[axis])], exact=True, axis=axis
    )


def tuples(g: Graph, front: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    """Places in several dimensions."""
    columns = [g.random.integers(-size, size, front) for size in sizes]
    return np.stack(columns, axis=-1).astype("int64")


@recipe(1, special=True)
def gather_nd(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    batch = g.integer(0, min(1, x.rank - 1))
    depth = g.integer(1, x.rank - batch)
    front = x.shape[:batch] + (g.integer(1, 5),)
    places = tuples(g, front, x.shape[batch : batch + depth])
    g.node("GatherND", [x, g.constant(places)], exact=True, batch_dims=batch)


@recipe(1, special=True)
def scatter_nd(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    depth = g.integer(1, x.rank)
    # Each place once: of several, nobody says which is written last.
    count = int(np.prod(x.shape[:depth]))
    chosen = g.random.permutation(count)[: g.integer(1, min(count, 5))]
    places = np.stack(np.unravel_index(chosen, x.shape[:depth]), axis=-1).astype("int64")
    updates = g.fresh(x.dtype, (len(chosen), *x.shape[depth:]))
    reduction = {"reduction": g.choose(("none", "add", "mul"))} if g.opset >= 16 else {}
    g.node("ScatterND", [x, g.constant(places), updates], **reduction)


@recipe(1, special=True)
def scatter_elements(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    axis = g.axis(x.rank)
    shape = [g.integer(1, size) for size in x.shape]
    places = spread(g, tuple(shape), axis % x.rank, x.shape[axis])
    reductions = ["none"]
    if g.opset >= 16:
        reductions += ["add", "mul"]
    # ONNX Runtime's maxima take one operand of a NaN, numpy's propagate it.
    if g.opset >= 18 and not g.is_special:
        reductions += ["max", "min"]
    reduction = {"reduction": g.choose(reductions)} if g.opset >= 16 else {}
    updates = g.fresh(x.dtype, shape)
    g.node("ScatterElements", [x, g.constant(places), updates], axis=axis, **reduction)


def spread(g: Graph, shape: tuple[int, ...], axis: int, size: int) -> np.ndarray:
    """Places along an axis of which no two are the same."""
    places = np.zeros(shape, "int64")
    for rest in np.ndindex(*(n for i, n in enumerate(shape) if i != axis)):
        column = (*rest[:axis], slice(None), *rest[axis:])
        places[column] = g.random.permutation(size)[: shape[axis]]
    return places


@recipe(2)
def arg_extreme(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    attributes = {"axis": g.axis(x.rank), "keepdims": g.integer(0, 1)}
    if g.chance(0.4):
        attributes["select_last_index"] = 1
    g.node(g.choose(("ArgMax", "ArgMin")), [x], exact=True, **attributes)


@recipe(1.5)
def top_k(g: Graph) -> None:
    x = not_empty(g.pick_any(least=1))
    axis = g.axis(x.rank)
    if g.opset < 10:
        g.node("TopK", [x], 2, exact=True, axis=axis % x.rank, k=g.integer(1, x.shape[axis]))
        return
    k = g.ints([g.integer(1, x.shape[axis])])
    largest = {"largest": g.integer(0, 1)} if g.opset >= 11 else {}
    g.node("TopK", [x, k], 2, exact=True, axis=axis if largest else axis % x.rank, **largest)


@recipe(1)
def one_hot(g: Graph) -> None:
    depth = g.integer(2, 8)
    x = g.pick(
        lambda v: v.dtype in ("int64", "int32") and v.rank < 4 and v.lies_within(-depth, depth),
        lambda: indices(g, (g.integer(1, 7),), depth),
    )
    values = g.constant(np.array(g.choose(((0, 1), (-1, 3))), g.choose(("float32", "int64"))))
    g.node("OneHot", [x, g.ints(depth), values], exact=True, axis=g.integer(-1, x.rank))


@recipe(1.5)
def cumulative_sum(g: Graph) -> None:
    x = g.pick(
        lambda v: v.rank > 0 and v.dtype in ("float32", "int32", "int64", "float64"),
        lambda: g.fresh("float32", (g.integer(1, 9), 7)),
    )
    flags = {"exclusive": g.integer(0, 1), "reverse": g.integer(0, 1)}
    g.node("CumSum", [x, g.ints(g.axis(x.rank))], **flags)
