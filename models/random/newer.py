# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of opsets 23 and 24, and rare ones."""

from __future__ import annotations

from typing import Any

from graph import Graph
from recipes import recipe
from values import UnfitError


@recipe(1.5, min_opset=23)
def rms_normalization(g: Graph) -> None:
    x = g.pick_float(least=1)
    axis = g.axis(x.rank)
    g.node("RMSNormalization", [x, g.weights(x.dtype, x.shape[axis:], "normal")], axis=axis)


@recipe(1.5, min_opset=23)
def attention_operator(g: Graph) -> None:
    heads, width = g.choose((1, 2, 4)), g.choose((4, 8, 16))
    shared = g.choose([h for h in (1, 2, 4) if heads % h == 0])
    batch, rows, columns = g.integer(1, 2), g.choose((1, 5, 16)), g.choose((3, 8, 17))
    operands = [
        g.fresh(g.float_type, (batch, count, size, width), "normal")
        for count, size in ((heads, rows), (shared, columns), (shared, columns))
    ]
    attributes: dict[str, Any] = {}
    if g.chance(0.4):
        dtype = g.choose((g.float_type, "bool"))
        operands.append(g.fresh(dtype, (rows, columns), "normal"))
    if g.chance(0.3):
        attributes["is_causal"] = 1
    if g.chance(0.3):
        attributes["softcap"] = 2.0
    g.node("Attention", operands, **attributes)


@recipe(1, min_opset=24)
def swish(g: Graph) -> None:
    g.node("Swish", [g.pick_float()], **g.choose(({}, {"alpha": 1.5}, {"alpha": -0.5})))


@recipe(0.8, min_opset=23)
def rotary_embedding(g: Graph) -> None:
    width, rows, heads = g.choose((4, 8)), g.choose((1, 5)), g.integer(1, 3)
    x = g.fresh(g.float_type, (g.integer(1, 2), heads, rows, width), "normal")
    caches = [g.weights(x.dtype, (9, width // 2), "normal") for _ in range(2)]
    positions = g.random.integers(0, 9, (x.shape[0], rows))
    operands = [x, *caches, g.constant(positions.astype("int64"))]
    g.node("RotaryEmbedding", operands, interleaved=g.integer(0, 1))


@recipe(0.4, min_opset=17)
def fourier(g: Graph) -> None:
    if g.opset >= 20:
        raise UnfitError("the axis is an operand")
    x = g.fresh("float32", (g.integer(1, 2), g.choose((4, 7, 16)), 1), "normal")
    g.node("DFT", [x], axis=1, onesided=g.integer(0, 1))


@recipe(0.4)
def losses(g: Graph) -> None:
    if g.opset < 13:
        raise UnfitError("losses are of opset 12")
    classes, batch = g.integer(2, 6), g.integer(1, 5)
    scores = g.fresh("float32", (batch, classes), "normal")
    labels = g.constant(g.random.integers(0, classes, batch).astype("int64"))
    reduction = g.choose(("mean", "sum", "none"))
    g.node("SoftmaxCrossEntropyLoss", [scores, labels], 2, reduction=reduction)
