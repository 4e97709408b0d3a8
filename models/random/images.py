# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of operators on images: what passes join, part, and lay out otherwise."""

from __future__ import annotations

import math

import numpy as np

from graph import Graph
from motifs import activate, constant
from networks import conv, pick_image, scaled_weights
from recipes import recipe
from values import UnfitError, Value


def pointwise(g: Graph, x: Value, filters: int) -> Value:
    shape = [filters, x.shape[1], *[1] * (x.rank - 2)]
    bias = [g.weights(x.dtype, [filters])] if g.chance(0.5) else []
    weights = scaled_weights(g, x.dtype, shape, x.shape[1])
    return g.node("Conv", [x, weights, *bias])[0]


@recipe(1.5)
def join_channels(g: Graph) -> None:
    """Concatenates what has several producers, and several readers perhaps."""
    x = pick_image(g)
    parts = []
    for _ in range(g.integer(1, 3)):
        kind = g.integer(0, 3)
        if kind == 0:
            parts.append(x)
        elif kind == 1:
            parts.append(pointwise(g, x, g.choose((1, 4, 8, 16))))
        elif kind == 2:
            parts.append(activate(g, x))
        else:
            ones = [1] * (x.rank - 2)
            pads = [one for one in ones for _ in range(2)]
            window = {"kernel_shape": [3 for _ in ones], "pads": pads}
            parts += g.node("MaxPool", [x], exact=True, **window)
    (y,) = g.node("Concat", parts, exact=True, axis=1)
    if g.chance(0.4):
        activate(g, y)
    if g.chance(0.4):
        pointwise(g, y, g.choose((4, 8)))
    if g.chance(0.3):
        g.node("Concat", [y, g.choose(parts)], exact=True, axis=g.choose((1, -1, 0)))


@recipe(1.5)
def part_channels(g: Graph) -> None:
    """Slices of the channels, which are convolved apart."""
    x = pick_image(g)
    channels = x.shape[1]
    if channels < 2:
        raise UnfitError("one channel")
    cut = g.integer(1, channels - 1)
    if g.opset >= 13 and g.chance(0.5):
        parts = g.node("Split", [x, g.ints([cut, channels - cut])], 2, exact=True, axis=1)
    else:
        bounds = ((0, cut), (cut, channels + g.choose((0, 9))))
        parts = [
            g.node("Slice", [x, g.ints([a]), g.ints([b]), g.ints([1])], exact=True)[0]
            for a, b in bounds
        ]
    made = []
    for part in parts:
        kind = g.integer(0, 3)
        if kind == 0:
            made.append(pointwise(g, part, g.choose((4, 8))))
        elif kind == 1:
            made.append(activate(g, part))
        else:
            made.append(part)
    if g.chance(0.6):
        g.node("Concat", made if g.chance(0.7) else made[::-1], exact=True, axis=1)


@recipe(1)
def in_nhwc(g: Graph) -> None:
    """Transposes around operators, as exporters from TensorFlow write them."""
    x = pick_image(g)
    last = [0, *range(2, x.rank), 1]
    first = [0, x.rank - 1, *range(1, x.rank - 1)]
    (y,) = g.node("Transpose", [x], exact=True, perm=last)
    kind = g.integer(0, 3)
    if kind == 0:
        y = activate(g, y)
    elif kind == 1:
        (y,) = g.node("Add", [y, g.weights(x.dtype, [x.shape[1]])])
    elif kind == 2:
        shape = [x.shape[1], g.choose((4, 8, 17))]
        (y,) = g.node("MatMul", [y, scaled_weights(g, x.dtype, shape, x.shape[1])])
    if g.chance(0.5):
        (y,) = g.node("Transpose", [y], exact=True, perm=first)
        conv(g, y)
    elif g.chance(0.5):
        g.node("Reshape", [y, g.ints([x.shape[0], -1])], exact=True)
    else:
        axis = [g.ints([-1])] if g.opset >= 18 else []
        g.node("ReduceMean", [y, *axis], **({} if axis else {"axes": [-1]}))


@recipe(1.5)
def scale_and_shift(g: Graph) -> None:
    """Arithmetic with scalars and channels, which may be moved into weights."""
    x = pick_image(g) if g.chance(0.7) else g.pick_float(least=1)
    for _ in range(g.integer(1, 3)):
        operator = g.choose(("Mul", "Add", "Sub", "Div"))
        if g.chance(0.5) or x.rank < 3:
            other = constant(g, x, g.choose((0.5, 2.0, -1.0, 0.125, 3.0, 1.0)))
        else:
            other = g.weights(x.dtype, [x.shape[1], *[1] * (x.rank - 2)], "positive")
        (x,) = g.node(operator, [x, other] if g.chance(0.7) else [other, x])
    if x.rank > 2 and g.chance(0.5):
        conv(g, x)


@recipe(1)
def conv_of_two(g: Graph) -> None:
    """Two convolutions in a row, the first with other readers."""
    x = conv(g)
    if g.chance(0.4):
        x = activate(g, x)
    y = conv(g, x)
    if x.shape == y.shape:
        g.node("Add", [x, y] if g.chance(0.5) else [y, x])


def mask_scores(g: Graph, scores: Value, rows: int) -> Value:
    """Hides keys, by large numbers or infinite ones, from each query but one at least."""
    hidden = {"hidden": True, "may_be_infinite": True}
    numbers = (-30.0, -np.inf, -1e4 if scores.dtype == "float16" else -1e9)
    far = constant(g, scores, g.choose(numbers))
    if g.chance(0.5) and g.opset >= 14:
        # Of later keys, as exporters write it.
        ones = g.constant(np.full((rows, rows), far.data))
        (mask,) = g.node("Trilu", [ones, g.ints(1)], exact=True, upper=1, **hidden)
        return g.node("Add", [scores, mask], **hidden)[0]
    seen = np.asarray(g.random.random((rows, rows)) < 0.6) | np.eye(rows, dtype=bool)
    mask = g.input(seen) if len(g.inputs) < 4 else g.constant(seen)
    return g.node("Where", [mask, scores, far], exact=True, **hidden)[0]


@recipe(1)
def several_heads(g: Graph) -> None:
    """Attention whose heads are split from one product and joined again."""
    batch, rows, heads, width = g.integer(1, 2), g.choose((1, 5, 9, 16)), g.integer(1, 4), 8
    size = heads * width
    x = g.pick(
        lambda v: v.is_float and v.rank == 3 and v.shape[-1] == size,
        lambda: g.fresh(g.float_type, (batch, rows, size), "normal"),
    )
    batch, rows = x.shape[:2]
    if not x.data.size:
        raise UnfitError("Reshape of nothing")
    (y,) = g.node("MatMul", [x, scaled_weights(g, x.dtype, [size, 3 * size], size)])
    if g.chance(0.6):
        (y,) = g.node("Add", [y, g.weights(x.dtype, [3 * size])])
    if g.chance(0.5):
        (y,) = g.node("Reshape", [y, g.ints([batch, rows, 3, heads, width])], exact=True)
        (y,) = g.node("Transpose", [y], exact=True, perm=[2, 0, 3, 1, 4])
        parts = [g.node("Gather", [y, g.ints(i)], exact=True, axis=0)[0] for i in range(3)]
    else:
        ends = [(size * i, size * (i + 1)) for i in range(3)]
        cuts = [
            g.node("Slice", [y, g.ints([a]), g.ints([b]), g.ints([2])], exact=True)[0]
            for a, b in ends
        ]
        parts = []
        for cut in cuts:
            (part,) = g.node("Reshape", [cut, g.ints([batch, rows, heads, width])], exact=True)
            parts += g.node("Transpose", [part], exact=True, perm=[0, 2, 1, 3])
    query, key, value = parts
    (key,) = g.node("Transpose", [key], exact=True, perm=[0, 1, 3, 2])
    (scores,) = g.node("MatMul", [query, key])
    (scores,) = g.node("Mul", [scores, constant(g, x, 1 / math.sqrt(width))])
    if g.chance(0.4):
        scores = mask_scores(g, scores, rows)
    (shares,) = g.node("Softmax", [scores], axis=-1)
    (y,) = g.node("MatMul", [shares, value])
    (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 1, 3])
    (y,) = g.node("Reshape", [y, g.ints([batch, rows, size])], exact=True)
    (y,) = g.node("MatMul", [y, scaled_weights(g, x.dtype, [size, size], size)])
    if g.chance(0.6):
        g.node("Add", [x, y])
