# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of quantised networks."""

from __future__ import annotations

import numpy as np

from graph import Graph
from networks import draw_window, pick_image
from recipes import recipe
from values import UnfitError, Value


def scale(g: Graph, size: int | None = None) -> Value:
    """A scale, or one for each channel."""
    drawn = g.random.uniform(0.01, 0.1, () if size is None else size)
    return g.constant(np.asarray(drawn).astype("float32"))


def zero_point(g: Graph, dtype: str, size: int | None = None) -> Value:
    low = -10 if dtype == "int8" else 100
    drawn = g.random.integers(low, low + 20, () if size is None else size)
    return g.constant(np.asarray(drawn).astype(dtype))


def bytes_(g: Graph, dtype: str, shape: list[int], is_weight: bool = False) -> Value:
    """Weights of half the range: ONNX Runtime's sums of larger ones overflow on CPUs
    without VNNI."""
    info = np.iinfo(dtype)
    low, high = (-64, 64) if is_weight and dtype == "int8" else (info.min, info.max + 1)
    if is_weight and dtype == "uint8":
        high = 128
    data = g.random.integers(low, high, shape).astype(dtype)
    return g.constant(data) if is_weight else g.input(data)


def quantise(
    g: Graph, x: Value, dtype: str = "", hidden: bool = True
) -> tuple[Value, list[Value]]:
    dtype = dtype or g.choose(("uint8", "uint8", "int8"))
    parameters = [scale(g), zero_point(g, dtype)]
    return g.node("QuantizeLinear", [x, *parameters], hidden=hidden)[0], parameters


def dequantise(g: Graph, x: Value, parameters: list[Value], **attributes: int) -> Value:
    return g.node("DequantizeLinear", [x, *parameters], **attributes)[0]


@recipe(1.5)
def quantise_and_back(g: Graph) -> None:
    x = g.pick(lambda v: v.dtype == "float32", lambda: g.fresh("float32"))
    if x.rank and x.shape[-1] and g.chance(0.25) and g.opset >= 13:
        # With a scale for each place along the last axis.
        size = x.shape[-1]
        parameters = [scale(g, size), zero_point(g, "uint8", size)]
        (y,) = g.node("QuantizeLinear", [x, *parameters], hidden=True, axis=-1)
        dequantise(g, y, parameters, axis=-1)
        return
    is_last = g.chance(0.1)
    quantised, parameters = quantise(g, x, hidden=not is_last)
    if not is_last:
        dequantise(g, quantised, parameters)


@recipe(1)
def dequantise_bytes(g: Graph) -> None:
    x = g.pick(
        lambda v: v.dtype in ("int8", "uint8"), lambda: bytes_(g, "uint8", [2, g.integer(1, 9)])
    )
    if x.rank and x.shape[-1] and g.chance(0.4):
        size = x.shape[-1]
        dequantise(g, x, [scale(g, size), zero_point(g, x.dtype, size)], axis=-1)
    else:
        dequantise(g, x, [scale(g), zero_point(g, x.dtype)])


@recipe(1.5)
def quantised_conv(g: Graph) -> None:
    """As quantisers write it: around a convolution, with an activation perhaps."""
    x = pick_image(g)
    x = dequantise(g, *quantise(g, x))
    channels = x.shape[1]
    group = g.choose((1, 1, channels))
    attributes = draw_window(g, x, most=3)
    filters = group * g.choose((1, 2)) if group > 1 else g.choose((1, 4, 8, 17))
    shape = [filters, channels // group, *attributes["kernel_shape"]]
    per_channel = filters if g.chance(0.5) else None
    weights = bytes_(g, "int8", shape, is_weight=True)
    zero = g.constant(np.zeros(() if per_channel is None else filters, "int8"))
    filters_ = dequantise(g, weights, [scale(g, per_channel), zero], axis=0)
    bias = [g.weights("float32", [filters])] if g.chance(0.5) else []
    (y,) = g.node("Conv", [x, filters_, *bias], group=group, **attributes)
    if g.chance(0.4):
        (y,) = g.node("Relu", [y], exact=True)
    if g.chance(0.8):
        dequantise(g, *quantise(g, y))


@recipe(1)
def integer_product(g: Graph) -> None:
    terms = g.choose((1, 5, 16, 17))
    x = bytes_(g, g.choose(("uint8", "int8")), [g.integer(1, 5), terms])
    y = bytes_(g, g.choose(("uint8", "int8")), [terms, g.choose((1, 7, 16))], is_weight=True)
    zeros = [zero_point(g, v.dtype) for v in (x, y)]
    if g.chance(0.5):
        g.node("MatMulInteger", [x, y, *zeros[: g.integer(0, 2)]])
        return
    parameters = [
        x,
        scale(g),
        zeros[0],
        y,
        scale(g),
        zeros[1],
        scale(g),
        zero_point(g, x.dtype),
    ]
    g.node("QLinearMatMul", parameters, hidden=g.chance(0.8))


@recipe(1)
def integer_conv(g: Graph) -> None:
    space = [g.choose((3, 5, 8)) for _ in range(2)]
    x = bytes_(g, "uint8", [1, g.choose((1, 3, 4)), *space])
    weights = bytes_(g, g.choose(("uint8", "int8")), [4, x.shape[1], 3, 3], is_weight=True)
    zeros = [zero_point(g, v.dtype) for v in (x, weights)]
    pads = {"pads": [g.integer(0, 2)] * 4}
    if g.chance(0.4):
        g.node("ConvInteger", [x, weights, *zeros[: g.integer(0, 2)]], **pads)
        return
    parameters = [x, scale(g), zeros[0], weights, scale(g), zeros[1], scale(g)]
    g.node("QLinearConv", [*parameters, zero_point(g, "uint8")], hidden=g.chance(0.8), **pads)


@recipe(0.7)
def dynamic_quantise(g: Graph) -> None:
    x = g.pick(
        lambda v: v.dtype == "float32" and v.data.size > 0, lambda: g.fresh("float32", (3, 7))
    )
    g.node("DynamicQuantizeLinear", [x], 3)


@recipe(1)
def quantised_matmul(g: Graph) -> None:
    terms, columns = g.choose((3, 8, 17)), g.choose((1, 5, 16))
    x = g.pick(
        lambda v: v.dtype == "float32" and v.rank >= 2 and v.shape[-1] == terms,
        lambda: g.fresh("float32", (g.integer(1, 7), terms), "normal"),
    )
    x = dequantise(g, *quantise(g, x))
    weights = bytes_(g, g.choose(("int8", "uint8")), [terms, columns], is_weight=True)
    per_column = columns if g.chance(0.5) else None
    zero = zero_point(g, weights.dtype, per_column)
    y = dequantise(g, weights, [scale(g, per_column), zero], axis=1)
    (y,) = g.node("MatMul", [x, y])
    if g.chance(0.5):
        (y,) = g.node("Add", [y, g.weights("float32", [columns])])
    if g.chance(0.7):
        dequantise(g, *quantise(g, y))


@recipe(1)
def quantised_chain(g: Graph) -> None:
    """Operators that move bytes, or compute with what is dequantised."""
    x = pick_image(g, 2)
    if x.dtype != "float32":
        raise UnfitError("scales are of fp32")
    y, parameters = quantise(g, x)
    kind = g.integer(0, 4)
    if kind == 0 and g.opset >= 12:
        (y,) = g.node(
            "MaxPool", [y], exact=True, hidden=True, kernel_shape=[3, 3], pads=[1] * 4
        )
    elif kind == 1:
        (y,) = g.node("Concat", [y, y], exact=True, hidden=True, axis=g.choose((1, 2)))
    elif kind == 2:
        (y,) = g.node("Transpose", [y], exact=True, hidden=True, perm=[0, 2, 3, 1])
    y = dequantise(g, y, parameters)
    if kind == 3:
        other = dequantise(g, *quantise(g, x))
        (y,) = g.node(g.choose(("Add", "Mul")), [y, other])
    elif kind == 4:
        (y,) = g.node(g.choose(("GlobalAveragePool", "Sigmoid", "Relu")), [y])
    if g.chance(0.8):
        dequantise(g, *quantise(g, y))


@recipe(1)
def quantised_operator(g: Graph) -> None:
    """Any operator between what is dequantised and what is quantised again."""
    x = g.pick(
        lambda v: v.dtype == "float32" and v.rank >= 2,
        lambda: g.fresh("float32", g.shape(2, 4)),
    )
    y = dequantise(g, *quantise(g, x))
    kind = g.integer(0, 7)
    if kind == 0:
        (y,) = g.node("Softmax", [y], axis=-1)
    elif kind == 1:
        (y,) = g.node("Concat", [y, dequantise(g, *quantise(g, x))], exact=True, axis=1)
    elif kind == 2:
        (y,) = g.node("Transpose", [y], exact=True)
    elif kind == 3:
        (y,) = g.node("Reshape", [y, g.ints([x.shape[0], -1])], exact=True)
    elif kind == 4:
        (y,) = g.node(
            g.choose(("Sub", "Div", "Max")), [y, g.weights("float32", [1], "positive")]
        )
    elif kind == 5:
        (y,) = g.node("LeakyRelu", [y], alpha=0.1)
    elif kind == 6:
        bounds = [g.constant(np.array(n, "float32")) for n in (0, 2)]
        (y,) = g.node("Clip", [y, *bounds], exact=True)
    elif x.rank == 4:
        (y,) = g.node("AveragePool", [y], kernel_shape=[1, 2], pads=[0, 1, 0, 0])
    if g.chance(0.3) and g.opset >= 21:
        dequantise(g, *quantise(g, y, g.choose(("int16", "uint16"))))
    elif g.chance(0.8):
        dequantise(g, *quantise(g, y))


@recipe(0.7, min_opset=21)
def blocks(g: Graph) -> None:
    """Weights with a scale for each block of a column."""
    block, count = g.choose((16, 32)), g.integer(1, 3)
    terms, columns = block * count, g.choose((1, 8, 17))
    x = g.fresh("float32", (g.choose((1, 3, 9)), terms), "normal")
    weights = bytes_(g, g.choose(("int8", "uint8")), [terms, columns], is_weight=True)
    scales = g.constant(g.random.uniform(0.01, 0.1, (count, columns)).astype("float32"))
    operands = [weights, scales]
    if weights.dtype == "uint8" or g.chance(0.3):
        zeros = g.random.integers(0, 9, (count, columns)).astype(weights.dtype)
        operands.append(g.constant(zeros))
    (y,) = g.node("DequantizeLinear", operands, axis=0, block_size=block)
    (y,) = g.node("MatMul", [x, y])
    if g.chance(0.5):
        g.node("Add", [y, g.weights("float32", [columns])])
