# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's own operators, which its tools write into models."""

from __future__ import annotations

from typing import Any

import numpy as np

from graph import MICROSOFT, Graph
from networks import scaled_weights
from quantised import bytes_, dequantise, quantise, scale, zero_point
from recipes import recipe
from values import UnfitError, Value, cancels


def extra(
    g: Graph, operator: str, inputs: list[Value | None], outputs: int = 1, **more: Any
) -> list[Value]:
    return g.node(operator, inputs, outputs, domain=MICROSOFT, **more)


def pick_rows(g: Graph) -> Value:
    return g.pick(
        lambda v: v.dtype == "float32" and 2 <= v.rank <= 4 and v.data.size > 0,
        lambda: g.fresh("float32", g.shape(2, 4), "normal"),
    )


@recipe(0.5)
def fused_product(g: Graph) -> None:
    x = pick_rows(g)
    trans_a, trans_b = g.integer(0, 1), g.integer(0, 1)
    terms = x.shape[-2] if trans_a else x.shape[-1]
    shape = [terms, g.choose((1, 5, 8, 17))]
    weights = scaled_weights(g, "float32", shape[::-1] if trans_b else shape, terms)
    scales = {"alpha": g.choose((1.0, 0.5))}
    extra(g, "FusedMatMul", [x, weights], transA=trans_a, transB=trans_b, **scales)


@recipe(0.5)
def fused_activation(g: Graph) -> None:
    x = pick_rows(g)
    kind = g.integer(0, 3)
    if kind == 0:
        (y,) = extra(g, "BiasGelu", [x, g.weights("float32", x.shape[-1:])])
    elif kind == 1:
        bias = g.weights("float32", x.shape[-1:])
        (y,) = extra(g, "FastGelu", [x, bias][: g.integer(1, 2)])
    elif kind == 2:
        (y,) = extra(g, "QuickGelu", [x], alpha=g.choose((1.702, 1.0)))
    else:
        (y,) = extra(g, "Gelu", [x])
    if cancels(x, y):
        raise UnfitError("cancellation")


@recipe(0.5)
def skip_norm(g: Graph) -> None:
    x = g.pick(
        lambda v: v.dtype == "float32" and v.rank == 3 and v.data.size > 0,
        lambda: g.fresh("float32", g.shape(3, 3), "normal"),
    )
    same = x.shape
    skip = g.pick(
        lambda v: v.shape == same and v.dtype == x.dtype, lambda: g.fresh(x.dtype, same)
    )
    row = [x.shape[-1]]
    if g.chance(0.5):
        operands: list[Value | None] = [g.weights("float32", row, "normal")]
        extra(g, "SkipSimplifiedLayerNormalization", [x, skip, *operands])
        return
    operands = [g.weights("float32", row, "normal") for _ in range(g.integer(1, 3))]
    outputs, skipped = g.choose(((1, ()), (4, (1, 2))))
    extra(g, "SkipLayerNormalization", [x, skip, *operands], outputs, skipped=skipped)


@recipe(0.7)
def quantised_microsoft(g: Graph) -> None:
    x = pick_rows(g)
    a, first = quantise(g, x, "uint8")
    kind = g.integer(0, 4)
    second = [scale(g), zero_point(g, "uint8")]
    if kind == 0:
        b, other = quantise(g, g.fresh("float32", x.shape), "uint8")
        operator = g.choose(("QLinearAdd", "QLinearMul"))
        (y,) = extra(g, operator, [a, *first, b, *other, *second], hidden=True)
    elif kind == 1:
        operator = g.choose(("QLinearSigmoid", "QLinearLeakyRelu"))
        (y,) = extra(g, operator, [a, *first, *second], hidden=True)
    elif kind == 2:
        b, other = quantise(g, g.fresh("float32", x.shape), "uint8")
        operands = [*second, a, *first, b, *other]
        (y,) = extra(g, "QLinearConcat", operands, hidden=True, axis=g.axis(x.rank))
    elif x.rank != 4:
        raise UnfitError("no image")
    elif kind == 3:
        (y,) = extra(g, "QLinearGlobalAveragePool", [a, *first, *second], hidden=True,
                     channels_last=0)  # fmt: skip
    else:
        window = {"kernel_shape": [min(2, x.shape[2]), 1]}
        (y,) = extra(g, "QLinearAveragePool", [a, *first, *second], hidden=True, **window)
    dequantise(g, y, second)


@recipe(0.5)
def weights_of_4_bits(g: Graph) -> None:
    terms, columns, block = g.choose((16, 32, 48, 40)), g.choose((1, 8, 17)), g.choose((16, 32))
    x = g.fresh("float32", (g.choose((1, 3, 9)), terms), "normal")
    count = -(-terms // block)
    packed = bytes_(g, "uint8", [columns, count, block // 2], is_weight=True)
    scales = g.constant(g.random.uniform(0.01, 0.1, columns * count).astype("float32"))
    operands = [x, packed, scales]
    if g.chance(0.5):
        zeros = g.random.integers(0, 256, columns * -(-count // 2)).astype("uint8")
        operands.append(g.constant(np.asarray(zeros)))
    sizes = {"K": terms, "N": columns, "bits": 4, "block_size": block}
    extra(g, "MatMulNBits", operands, **sizes)
