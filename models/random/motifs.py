# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of operators as exporters write them, which passes look for."""

from __future__ import annotations

import math

import numpy as np

from graph import Graph
from networks import batch_normalization, conv, pick_image, scaled_weights
from recipes import recipe
from values import UnfitError, Value


def constant(g: Graph, x: Value, number: float) -> Value:
    return g.constant(np.array(number, x.dtype))


def activate(g: Graph, x: Value) -> Value:
    """An activation, decomposed as exporters do."""
    kind = g.integer(0, 6)
    if kind == 0:
        return g.node("Relu", [x], exact=True)[0]
    if kind == 1:
        (gate,) = g.node("Sigmoid", [x])
        return g.node("Mul", [x, gate] if g.chance(0.5) else [gate, x])[0]
    if kind == 2:
        (scaled,) = g.node("Div", [x, constant(g, x, math.sqrt(2))])
        (error,) = g.node("Erf", [scaled])
        (sum_,) = g.node("Add", [error, constant(g, x, 1)])
        (product,) = g.node("Mul", [x, sum_])
        return g.node("Mul", [product, constant(g, x, 0.5)])[0]
    if kind == 3:
        (shifted,) = g.node("Add", [x, constant(g, x, 3)])
        bounds = [constant(g, x, 0), constant(g, x, 6)]
        (clipped,) = g.node("Clip", [shifted, *bounds], exact=True)
        (product,) = g.node("Mul", [x, clipped])
        return g.node("Div", [product, constant(g, x, 6)])[0]
    if kind == 4:
        (plus,) = g.node("Softplus", [x])
        (bent,) = g.node("Tanh", [plus])
        return g.node("Mul", [x, bent])[0]
    if kind == 5:
        (bound,) = g.node("Min", [x, constant(g, x, 6)], exact=True)
        return g.node("Max", [bound, constant(g, x, 0)], exact=True)[0]
    return g.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)[0]


@recipe(3)
def activated(g: Graph) -> None:
    activate(g, g.pick_float())


@recipe(4)
def conv_block(g: Graph) -> None:
    """Any of batch norm, a scale, a residual and an activation behind a convolution."""
    y = x = conv(g)
    if g.chance(0.5):
        y = batch_normalization(g, y)
    if g.chance(0.3):
        channels = (x.shape[1], *[1] * (x.rank - 2))
        operator = g.choose(("Mul", "Add", "Sub", "Div"))
        (y,) = g.node(operator, [y, g.weights(y.dtype, channels, "positive")])
    if g.chance(0.5):
        same = y.shape
        residual = g.pick(
            lambda v: v.shape == same and v.dtype == x.dtype, lambda: g.fresh(x.dtype, same)
        )
        (y,) = g.node("Add", [y, residual] if g.chance(0.5) else [residual, y])
    if g.chance(0.8):
        activate(g, y)


@recipe(1)
def norm_before_conv(g: Graph) -> None:
    y = batch_normalization(g)
    if g.chance(0.5):
        (y,) = g.node("Relu", [y], exact=True)
    if g.chance(0.3):
        pads = [0, 0] + [1] * (y.rank - 2)
        (y,) = g.node("Pad", [y, g.ints(pads * 2)], exact=True)
    conv(g, y)


@recipe(1.5)
def gate_channels(g: Graph) -> None:
    """Squeeze and excite."""
    x = pick_image(g)
    (mean,) = g.node("GlobalAveragePool", [x])
    channels = x.shape[1]
    for filters in (g.integer(1, 4), channels):
        shape = [filters, mean.shape[1], *[1] * (x.rank - 2)]
        (mean,) = g.node("Conv", [mean, scaled_weights(g, x.dtype, shape, mean.shape[1])])
    (gate,) = g.node(g.choose(("Sigmoid", "HardSigmoid")), [mean])
    g.node("Mul", [x, gate])


@recipe(1.5)
def decomposed_norm(g: Graph) -> None:
    x = g.pick_float(least=2, most=4)
    if x.shape[-1] < 2:
        raise UnfitError("nothing to normalise")
    axes = {"axes": [-1]} if g.opset < 18 else {}
    operand = [] if axes else [g.ints([-1])]
    (mean,) = g.node("ReduceMean", [x, *operand], **axes)
    (centred,) = g.node("Sub", [x, mean])
    (square,) = g.node("Pow", [centred, constant(g, x, 2)])
    (variance,) = g.node("ReduceMean", [square, *operand], **axes)
    (shifted,) = g.node("Add", [variance, constant(g, x, 1e-3)])
    (deviation,) = g.node("Sqrt", [shifted])
    (y,) = g.node("Div", [centred, deviation])
    (y,) = g.node("Mul", [y, g.weights(x.dtype, x.shape[-1:], "normal")])
    g.node("Add", [y, g.weights(x.dtype, x.shape[-1:])])


@recipe(1.5)
def attention(g: Graph) -> None:
    """Products of queries, keys and values, from one input or from three."""
    heads, width = g.integer(1, 3), g.choose((4, 8, 16))
    rows, columns = g.choose((1, 5, 16)), g.choose((3, 8, 17))
    query = g.fresh(g.float_type, (1, heads, rows, width), "normal")
    key = g.fresh(g.float_type, (1, heads, columns, width), "normal")
    value = g.fresh(g.float_type, (1, heads, columns, g.choose((width, 5))), "normal")
    (turned,) = g.node("Transpose", [key], exact=True, perm=[0, 1, 3, 2])
    if g.chance(0.5):
        (query,) = g.node("Mul", [query, constant(g, query, width**-0.5)])
    (scores,) = g.node("MatMul", [query, turned])
    if g.chance(0.4):
        (scores,) = g.node("Div", [scores, constant(g, query, math.sqrt(width))])
    if g.chance(0.4):
        (scores,) = g.node("Add", [scores, g.fresh(g.float_type, (rows, columns), "normal")])
    (shares,) = g.node("Softmax", [scores], axis=-1)
    (y,) = g.node("MatMul", [shares, value])
    if g.chance(0.6):
        (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 1, 3])
        g.node("Reshape", [y, g.ints([1, rows, -1])], exact=True)


@recipe(1.5)
def linear_block(g: Graph) -> None:
    x = g.pick_float(least=2, most=4)
    columns = g.choose((1, 4, 8, 17))
    (y,) = g.node(
        "MatMul", [x, scaled_weights(g, x.dtype, [x.shape[-1], columns], x.shape[-1])]
    )
    (y,) = g.node("Add", [y, g.weights(x.dtype, [columns])])
    y = activate(g, y)
    same = y.shape
    if g.chance(0.4):
        other = g.pick(
            lambda v: v.shape == same and v.dtype == x.dtype, lambda: g.fresh(x.dtype, same)
        )
        g.node("Add", [other, y])


@recipe(1)
def shuffle_channels(g: Graph) -> None:
    x = g.pick(
        lambda v: v.rank == 4 and v.is_float and v.shape[1] % 2 == 0,
        lambda: g.fresh(g.float_type, (1, g.choose((4, 6, 16)), 3, g.integer(1, 7))),
    )
    n, c, *space = x.shape
    if 0 in x.shape:
        raise UnfitError("Reshape of nothing")
    (y,) = g.node("Reshape", [x, g.ints([n, 2, c // 2, *space])], exact=True)
    (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 1, 3, 4])
    (y,) = g.node("Reshape", [y, g.ints([n, c, *space])], exact=True)
    if g.chance(0.5):
        g.node("Split", [y, g.ints([c // 2, c - c // 2])], 2, exact=True, axis=1)


@recipe(1.5)
def dense_block(g: Graph) -> None:
    """Concatenations of convolutions with what they read."""
    x = pick_image(g)
    parts = [x]
    for _ in range(g.integer(1, 2)):
        shape = [g.choose((3, 4, 8)), parts[-1].shape[1], *[1] * (x.rank - 2)]
        weights = scaled_weights(g, x.dtype, shape, shape[1])
        (y,) = g.node("Conv", [parts[-1], weights])
        (y,) = g.node("Relu", [y], exact=True)
        (joined,) = g.node("Concat", [parts[-1], y], exact=True, axis=1)
        parts.append(joined)
