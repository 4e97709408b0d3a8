# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that networks spend their time in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graph import Graph
from movement import with_axes
from recipes import recipe
from values import UnfitError, Value


def pick_image(g: Graph, space: int | None = None) -> Value:
    """A value with channels and one to three dimensions of space."""
    space = space or g.choose((1, 2, 2, 2, 2, 3))
    edges = (8, 14, 17, 28, 35) if g.is_large else (1, 3, 5, 7, 8, 12, 17)
    sizes = [g.choose(edges) for _ in range(space)]
    while math.prod(sizes) > (1300 if g.is_large else 400):
        sizes = [max(size // 2, 1) for size in sizes]
    channels = (3, 16, 32, 40, 64) if g.is_large else (1, 2, 3, 4, 6, 8, 12, 16, 17)
    shape = (g.choose((1, 1, 2)), g.choose(channels), *sizes)
    return g.pick(
        lambda v: v.is_float and v.rank == space + 2 and v.data.size > 0,
        lambda: g.fresh(g.float_type, shape, "normal"),
    )  # fmt: skip


def draw_window(g: Graph, x: Value, most: int = 5, is_pool: bool = False) -> dict[str, Any]:
    """A kernel, strides, dilations and pads that go with the value's space."""
    space = x.shape[2:]
    kernel = [g.choose([k for k in (1, 2, 3, 3, 5, 7) if k <= most]) for _ in space]
    dilations = [g.choose((1, 1, 1, 2, 3)) for _ in space]
    pads = [g.choose((0, 1, 1, 2)) for _ in space * 2]
    if is_pool:
        pads = [min(p, k - 1) for p, k in zip(pads, kernel * 2, strict=True)]
    attributes: dict[str, Any] = {"kernel_shape": kernel}
    if g.chance(0.4):
        attributes["dilations"] = dilations
    if g.chance(0.6):
        attributes["strides"] = [g.choose((1, 2, 2, 3)) for _ in space]
    # ONNX Runtime's pools pad by the size of a kernel without its dilations, and by
    # less than nothing where strides are larger than it.
    strides = attributes.get("strides", [1 for _ in space])
    is_odd = "dilations" in attributes or any(
        s > k for s, k in zip(strides, kernel, strict=True)
    )
    if g.chance(0.15) and not (is_pool and is_odd):
        attributes["auto_pad"] = g.choose(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif g.chance(0.7):
        attributes["pads"] = pads
    return attributes


def scaled_weights(g: Graph, dtype: str, shape: list[int], terms: int) -> Value:
    """Weights whose sums are as large as what they multiply."""
    weights = g.weights(dtype, shape, "normal")
    scaled = [(copy / math.sqrt(max(terms, 1))).astype(dtype) for copy in weights.copies]
    if weights.is_constant:
        return g.constant(scaled[0])
    return weights


@recipe(5)
def conv(g: Graph, x: Value | None = None) -> Value:
    x = x or pick_image(g)
    channels = x.shape[1]
    groups = [d for d in range(1, channels + 1) if channels % d == 0]
    group = g.choose((1, 1, channels, g.choose(groups)))
    plain = (3, 16, 32, 48, 64) if g.is_large else (1, 2, 5, 8, 16, 17, 24)
    filters = group * g.choose((1, 1, 2, 3, 8) if group > 1 else plain)
    attributes = draw_window(g, x)
    shape = [filters, channels // group, *attributes["kernel_shape"]]
    if math.prod(shape) > 80000:
        raise UnfitError("too large")
    weights = scaled_weights(g, x.dtype, shape, math.prod(shape[1:]))
    bias = [g.weights(x.dtype, [filters])] if g.chance(0.6) else []
    if g.chance(0.2):
        # The weights say it, too.
        attributes.pop("kernel_shape")
    return g.node("Conv", [x, weights, *bias], group=group, **attributes)[0]


def ask_for_shape(g: Graph, x: Value, attributes: dict[str, Any]) -> None:
    """Names the results' sizes in place of pads, which are computed from them."""
    attributes.pop("pads", None)
    attributes.pop("dilations", None)
    strides = attributes.get("strides", [1] * (x.rank - 2))
    whole = [
        s * (n - 1) + k
        for s, n, k in zip(strides, x.shape[2:], attributes["kernel_shape"], strict=True)
    ]
    attributes["output_shape"] = [max(n - g.integer(0, 1), 1) for n in whole]


@recipe(1.5)
def conv_transpose(g: Graph) -> None:
    x = pick_image(g)
    channels = x.shape[1]
    group = g.choose((1, 1, channels, 2 if channels % 2 == 0 else 1))
    attributes = draw_window(g, x, most=3)
    shape = [channels, g.choose((1, 2, 5, 8)), *attributes["kernel_shape"]]
    if "auto_pad" in attributes:
        # ONNX Runtime makes fewer results than the stride says of a smaller kernel.
        attributes.pop("strides", None)
    if g.chance(0.15) and "auto_pad" not in attributes:
        ask_for_shape(g, x, attributes)
    elif "strides" in attributes and g.chance(0.5):
        attributes["output_padding"] = [g.integer(0, s - 1) for s in attributes["strides"]]
    weights = scaled_weights(g, x.dtype, shape, channels // group)
    bias = [g.weights(x.dtype, [shape[1] * group])] if g.chance(0.5) else []
    g.node("ConvTranspose", [x, weights, *bias], group=group, **attributes)


@recipe(3)
def pool(g: Graph) -> None:
    x = pick_image(g)
    attributes = draw_window(g, x, is_pool=True)
    if g.chance(0.3) and "auto_pad" not in attributes:
        attributes["ceil_mode"] = 1
    operator = g.choose(("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"))
    if operator == "MaxPool":
        outputs = 2 if g.chance(0.25) else 1
        if outputs == 2 and g.chance(0.3):
            attributes["storage_order"] = 1
        g.node(operator, [x], outputs, exact=True, **attributes)
        return
    if operator == "AveragePool":
        attributes["count_include_pad"] = g.integer(0, 1)
    else:
        attributes["p"] = g.choose((1, 2, 2, 3))
    if g.opset < (19 if operator == "AveragePool" else 18):
        attributes.pop("dilations", None)
        if operator == "LpPool":
            attributes.pop("ceil_mode", None)
    g.node(operator, [x], **attributes)


@recipe(1)
def global_pool(g: Graph) -> None:
    operator = g.choose(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"))
    g.node(operator, [pick_image(g)], exact=operator == "GlobalMaxPool")


@recipe(2)
def batch_normalization(g: Graph, x: Value | None = None) -> Value:
    x = x or pick_image(g)
    kinds = ("normal", "normal", "normal", "positive")
    operands = [g.weights(x.dtype, [x.shape[1]], kind) for kind in kinds]
    epsilon = g.choose(({}, {}, {"epsilon": 1e-3}, {"epsilon": 0.1}))
    return g.node("BatchNormalization", [x, *operands], **epsilon)[0]


@recipe(2)
def channel_normalization(g: Graph) -> None:
    x = pick_image(g)
    operator = g.choose(("InstanceNormalization", "LRN", "GroupNormalization"))
    if operator == "LRN":
        if x.rank == 4:
            g.node(operator, [x], size=g.choose((1, 3, 5)), alpha=0.1, bias=1.0)
        return
    operands = [g.weights(x.dtype, [x.shape[1]], "normal") for _ in range(2)]
    attributes: dict[str, Any] = {}
    if operator == "GroupNormalization":
        if g.opset < 21:
            raise UnfitError("another definition")
        divisors = [d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0]
        attributes["num_groups"] = g.choose(divisors)
    g.node(operator, [x, *operands], **attributes)


@recipe(2)
def layer_normalization(g: Graph) -> None:
    if g.opset < 17:
        raise UnfitError("LayerNormalization is of opset 17")
    x = g.pick_float(least=1)
    axis = g.axis(x.rank)
    shape = x.shape[axis:]
    operands = [g.weights(x.dtype, shape, "normal") for _ in range(g.integer(1, 2))]
    more = {"epsilon": 1e-3} if g.chance(0.3) else {}
    outputs = 3 if g.chance(0.15) else 1
    g.node("LayerNormalization", [x, *operands], outputs, axis=axis, **more)


@recipe(2.5)
def softmax(g: Graph) -> None:
    x = g.pick_float(least=1)
    operator = g.choose(("Softmax", "Softmax", "LogSoftmax", "Hardmax"))
    g.node(operator, [x], exact=operator == "Hardmax", axis=g.axis(x.rank))


@recipe(0.7)
def normalize(g: Graph) -> None:
    x = g.pick_float(least=1)
    if g.chance(0.5):
        g.node("LpNormalization", [x], axis=g.axis(x.rank), p=g.integer(1, 2))
    else:
        g.node("MeanVarianceNormalization", [x], axes=g.axes(x.rank))


REDUCTIONS = (
    "ReduceSum", "ReduceSum", "ReduceMean", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare",
)  # fmt: skip


def has_small_sums(x: Value, is_product: bool) -> bool:
    """Returns true if sums of squares, or products, of all elements do not overflow.
    ONNX Runtime's saturate then, and numpy's wrap."""
    magnitudes = np.maximum(np.abs(x.data.astype("float64")), 1)
    if not magnitudes.size:
        return True
    bits = np.log2(magnitudes).sum() if is_product else np.log2((magnitudes**2).sum())
    return bool(bits < np.iinfo(x.dtype).bits - 2)


@recipe(4)
def reduce(g: Graph) -> None:
    if g.chance(0.75):
        x = g.pick_float(least=1)
    else:
        x = g.pick(
            lambda v: v.is_integer and v.rank > 0, lambda: g.fresh("int32", (3, 5), "small")
        )
    operator = g.choose(REDUCTIONS)
    if x.is_integer and not has_small_sums(x, operator == "ReduceProd"):
        raise UnfitError("overflow")
    keepdims = {"keepdims": g.integer(0, 1)}
    if g.chance(0.15):
        noop = {"noop_with_empty_axes": 1} if g.chance(0.3) and g.opset >= 18 else {}
        g.node(operator, [x], **keepdims, **noop)
        return
    with_axes(g, operator, x, g.axes(x.rank), 13 if operator == "ReduceSum" else 18, **keepdims)


def product_operand(g: Graph, x: Value, columns: int) -> Value:
    """A right factor for x, whose batch dimensions broadcast with x's."""
    terms = x.shape[-1]

    def fits(value: Value) -> bool:
        if value.dtype != x.dtype or value.rank < 2 or value.shape[-2] != terms:
            return False
        pairs = zip(reversed(x.shape[:-2]), reversed(value.shape[:-2]), strict=False)
        return all(a == b or 1 in (a, b) for a, b in pairs)

    batch = [1 if g.chance(0.3) else size for size in x.shape[:-2]]
    if g.chance(0.5):
        batch = []
    return g.pick(fits, lambda: scaled_weights(g, x.dtype, [*batch, terms, columns], terms))


@recipe(5)
def matmul(g: Graph) -> None:
    x = g.pick_float(least=1, most=5)
    if x.rank == 1:
        shape = [x.shape[0]] if g.chance(0.5) else [x.shape[0], g.integer(1, 9)]
        g.node("MatMul", [x, g.weights(x.dtype, shape, "normal")])
        return
    if g.chance(0.1):
        g.node("MatMul", [x, g.weights(x.dtype, [x.shape[-1]], "normal")])
        return
    g.node("MatMul", [x, product_operand(g, x, g.choose((1, 2, 5, 8, 16, 17, 33, 64)))])


@recipe(3)
def gemm(g: Graph) -> None:
    a = g.pick(
        lambda v: v.rank == 2 and v.is_float,
        lambda: g.fresh(g.float_type, (g.integer(1, 9), g.choose((3, 8, 17)))),
    )
    trans_a, trans_b = g.integer(0, 1), g.integer(0, 1)
    rows, terms = reversed(a.shape) if trans_a else a.shape
    columns = g.choose((1, 3, 8, 10, 17))
    shape = [columns, terms] if trans_b else [terms, columns]
    operands = [a, scaled_weights(g, a.dtype, shape, terms)]
    if g.chance(0.7):
        choices = ([columns], [rows, columns], [1, columns], [rows, 1], [1], [])
        operands.append(g.weights(a.dtype, g.choose(choices)))
    scales = {"alpha": g.choose((1.0, 0.5)), "beta": g.choose((1.0, 2.0, 0.0))}
    g.node("Gemm", operands, transA=trans_a, transB=trans_b, **scales)


EQUATIONS = (
    ("bij,bjk->bik", 3, (0, 2)), ("bij,bkj->bik", 3, (0, None)), ("ij,kj->ki", 2, None),
    ("bhid,bhjd->bhij", 4, None), ("bid,bjd->bij", 3, None), ("ij->ji", 2, None),
    ("bij->b", 3, None), ("ii->i", 2, None), ("i,j->ij", 1, None), ("bi,bi->b", 2, None),
    ("...ij,...jk->...ik", 3, None), ("bij,bj->bi", 3, None), ("ijk,k", 3, None),
)  # fmt: skip


@recipe(1.5)
def einsum(g: Graph) -> None:
    equation = g.choose(EQUATIONS)[0]
    left = equation.split("->")[0].split(",")
    sizes = {letter: g.choose((1, 2, 3, 5, 8)) for letter in equation if letter.isalpha()}

    def shape_of(term: str) -> list[int]:
        front = [2] if "..." in term else []
        return front + [sizes[letter] for letter in term if letter.isalpha()]

    operands = [g.fresh(g.float_type, shape_of(term), "normal") for term in left]
    g.node("Einsum", operands, equation=equation)


@recipe(1.2)
def recurrent(g: Graph) -> None:
    operator = g.choose(("LSTM", "GRU", "RNN"))
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    x = g.pick(
        lambda v: v.rank == 3 and v.dtype == "float32" and v.data.size > 0 and v.shape[0] < 10,
        lambda: g.fresh(
            "float32", (g.integer(1, 5), g.integer(1, 3), g.integer(1, 9)), "normal"
        ),
    )
    steps, batch, width = x.shape
    hidden = g.choose((1, 3, 8, 17))
    direction = g.choose(("forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    operands: list[Value | None] = [
        x, scaled_weights(g, "float32", [ways, gates * hidden, width], width),
        scaled_weights(g, "float32", [ways, gates * hidden, hidden], hidden),
    ]  # fmt: skip
    operands.append(g.weights("float32", [ways, 2 * gates * hidden]) if g.chance(0.7) else None)
    lengths = np.asarray(g.random.integers(1, steps, batch, endpoint=True)).astype("int32")
    operands.append(g.constant(lengths) if g.chance(0.3) else None)
    for _ in range(2 if operator == "LSTM" else 1):
        state = [ways, batch, hidden]
        operands.append(g.weights("float32", state, "normal") if g.chance(0.5) else None)
    if operator == "LSTM" and g.chance(0.3):
        operands.append(g.weights("float32", [ways, 3 * hidden], "normal"))
    while operands[-1] is None:
        operands.pop()
    reset: dict[str, Any] = {}
    if operator == "GRU":
        reset["linear_before_reset"] = g.integer(0, 1)
    if g.chance(0.2):
        reset["clip"] = g.choose((0.5, 2.0))
        # ONNX clips what all activations read, ONNX Runtime not the cell's state.
        if operator == "LSTM":
            reset.pop("clip")
    if g.chance(0.2):
        names = {"LSTM": ["Sigmoid", "Tanh", "Relu"], "GRU": ["HardSigmoid", "Tanh"],
                 "RNN": ["Relu"]}  # fmt: skip
        reset["activations"] = names[operator] * ways
    outputs = 3 if operator == "LSTM" else 2
    skipped = g.choose(((), (), (0,), range(1, outputs)))
    g.node(
        operator, operands, outputs, skipped=skipped, hidden_size=hidden, direction=direction,
        **reset,
    )  # fmt: skip
