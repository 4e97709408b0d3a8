# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that compute each element by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from graph import Graph
from recipes import recipe
from values import UnfitError, Value, cancels

# Operators of floats, with the opset that has them.
UNARY = {
    "Abs": 6, "Neg": 6, "Relu": 6, "Sigmoid": 6, "Tanh": 6, "Exp": 6, "Sqrt": 6, "Log": 6,
    "Reciprocal": 6, "Erf": 9, "Softplus": 1, "Softsign": 1, "HardSwish": 14, "Sin": 7, "Cos": 7,
    "Tan": 7, "Asin": 7, "Acos": 7, "Atan": 7, "Sinh": 9, "Cosh": 9, "Asinh": 9, "Acosh": 9,
    "Atanh": 9, "Ceil": 6, "Floor": 6, "Round": 11, "Sign": 9, "Identity": 1, "Mish": 18,
}  # fmt: skip
EXACT = {"Abs", "Neg", "Relu", "Ceil", "Floor", "Round", "Sign", "Identity"}
# Of these, ONNX says what they are of NaN and infinity.
SPECIAL = (
    "Abs", "Neg", "Sqrt", "Exp", "Tanh", "Sigmoid", "Ceil", "Floor", "Identity", "Reciprocal",
)  # fmt: skip
WITH_ATTRIBUTES = {
    "LeakyRelu": {"alpha": (0.01, 0.3, -0.5)}, "Elu": {"alpha": (1.0, 0.5)},
    "Selu": {"alpha": (1.67,), "gamma": (1.05,)}, "Celu": {"alpha": (1.0, 2.0)},
    "ThresholdedRelu": {"alpha": (0.0, 0.6)}, "Shrink": {"lambd": (0.5,), "bias": (0.0, 0.1)},
    "HardSigmoid": {"alpha": (0.2, 0.17), "beta": (0.5, 0.4)},
}  # fmt: skip
CAST = (
    "float32", "float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32",
    "int64", "uint32", "uint64", "bool",
)  # fmt: skip
COMPARISONS = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")


@recipe(7)
def unary(g: Graph) -> None:
    operator = g.choose([name for name, opset in UNARY.items() if opset <= g.opset])
    g.node(operator, [g.pick_float()], exact=operator in EXACT)


@recipe(2, special=True)
def unary_special(g: Graph) -> None:
    operator = g.choose(SPECIAL)
    g.node(operator, [g.pick_float()], exact=operator in EXACT)


@recipe(2)
def activation(g: Graph) -> None:
    operator = g.choose(list(WITH_ATTRIBUTES))
    attributes = {name: g.choose(of) for name, of in WITH_ATTRIBUTES[operator].items()}
    g.node(operator, [g.pick_float()], **attributes)


@recipe(0.7, min_opset=20)
def gelu(g: Graph) -> None:
    x = g.pick_float()
    (y,) = g.node("Gelu", [x], approximate=g.choose(("none", "tanh")))
    if cancels(x, y):
        raise UnfitError("cancellation")


@recipe(1, special=True)
def unary_integer(g: Graph) -> None:
    x = g.pick(lambda v: v.is_integer, lambda: g.fresh(g.choose(("int8", "int32", "int64"))))
    g.node(g.choose(("Abs", "Neg", "Sign", "Relu", "Identity")), [x])


def broadcast_shape(g: Graph, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with the given one."""
    kind = g.integer(0, 3)
    if kind == 0:
        return shape
    if kind == 1:
        return ()
    thinned = [1 if g.chance(0.4) else size for size in shape]
    return tuple(thinned[g.integer(0, len(shape)) :] if g.chance(0.4) else thinned)


def goes_with(a: Value, b: Value) -> bool:
    if a.dtype != b.dtype:
        return False
    pairs = zip(reversed(a.shape), reversed(b.shape), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


def partner(g: Graph, x: Value, kind: str = "") -> Value:
    """A value that broadcasts with x, perhaps x itself."""
    return g.pick(
        lambda v: goes_with(x, v), lambda: g.fresh(x.dtype, broadcast_shape(g, x.shape), kind)
    )


def in_any_order(g: Graph, *values: Value) -> list[Value]:
    return list(values) if g.chance(0.5) else list(reversed(values))


@recipe(9, special=True)
def binary(g: Graph) -> None:
    x = g.pick_float()
    g.node(g.choose(("Add", "Sub", "Mul", "Mul", "Add")), in_any_order(g, x, partner(g, x)))


@recipe(1.5)
def divide(g: Graph) -> None:
    x = g.pick_float()
    divisor = g.pick(
        lambda v: goes_with(x, v) and bool((np.abs(v.data) > 0.05).all()),
        lambda: g.fresh(x.dtype, broadcast_shape(g, x.shape), "positive"),
    )
    g.node("Div", [x, divisor])


@recipe(1)
def power(g: Graph) -> None:
    x = g.pick_float()
    if g.chance(0.5):
        exponent = g.constant(np.array(g.choose((2.0, 3.0, 0.5, -1.0, 1.0, 0.0)), x.dtype))
        if g.chance(0.2):
            # Types of both operands may differ.
            exponent = g.ints(g.integer(0, 3), g.choose(("int32", "int64")))
    else:
        exponent = partner(g, x)
    g.node("Pow", [x, exponent])


@recipe(1, special=True)
def several(g: Graph) -> None:
    x = g.pick_float()
    operator = g.choose(("Sum", "Mean", "Max", "Min", "Max", "Min"))
    operands = [x] + [partner(g, x) for _ in range(g.integer(0, 3))]
    g.node(operator, operands, exact=operator in ("Max", "Min"))


@recipe(3, special=True)
def binary_integer(g: Graph) -> None:
    """Sums and products wrap."""
    types = ("int32", "int32", "int64", "int64", "int8", "uint8", "uint32", "int16")
    x = g.pick(lambda v: v.is_integer, lambda: g.fresh(g.choose(types)))
    operator = g.choose(("Add", "Sub", "Mul", "Max", "Min"))
    g.node(operator, in_any_order(g, x, partner(g, x)))


def is_safe_divisor(value: Value) -> bool:
    """Neither 0 nor -1, of which the smallest integer is no multiple."""
    return not bool(np.isin(value.data, (0, -1)).any())


@recipe(1.5, special=True)
def divide_integer(g: Graph) -> None:
    x = g.pick(lambda v: v.is_integer, lambda: g.fresh(g.choose(("int32", "int64", "int8"))))

    def fresh() -> Value:
        divisors = g.random.integers(2, 9, broadcast_shape(g, x.shape))
        if x.dtype.startswith("i") and g.chance(0.4):
            divisors = -divisors
        return g.constant(np.asarray(divisors).astype(x.dtype))

    divisor = g.pick(lambda v: goes_with(x, v) and is_safe_divisor(v), fresh)
    operator = g.choose(("Div", "Mod", "Mod"))
    fmod = {"fmod": g.integer(0, 1)} if operator == "Mod" else {}
    g.node(operator, [x, divisor], **fmod)


@recipe(0.5)
def float_mod(g: Graph) -> None:
    x = g.pick_float()
    divisor = g.pick(
        lambda v: goes_with(x, v) and bool((np.abs(v.data) > 0.05).all()),
        lambda: g.fresh(x.dtype, broadcast_shape(g, x.shape), "positive"),
    )
    g.node("Mod", [x, divisor], fmod=1)


@recipe(1, special=True)
def bitwise(g: Graph) -> None:
    types = ("uint8", "int32", "int64", "uint32", "int8")
    x = g.pick(lambda v: v.is_integer, lambda: g.fresh(g.choose(types)))
    operators = ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift"]
    operator = g.choose(operators if g.opset >= 18 else operators[-1:])
    if operator == "BitwiseNot":
        g.node(operator, [x])
    elif operator != "BitShift":
        g.node(operator, in_any_order(g, x, partner(g, x)))
    elif x.dtype.startswith("uint"):
        counts = g.random.integers(0, 7, broadcast_shape(g, x.shape), endpoint=True)
        shift = g.constant(np.asarray(counts).astype(x.dtype))
        g.node(operator, [x, shift], direction=g.choose(("LEFT", "RIGHT")))
    else:
        raise UnfitError("BitShift of what has a sign")


@recipe(3, special=True)
def compare(g: Graph) -> None:
    x = g.pick_any()
    other = partner(g, x)
    if g.chance(0.4) and x.data.size:
        # One of its own elements, so that some are equal.
        other = g.constant(np.asarray(g.choose(x.data.ravel())))
    g.node(g.choose(COMPARISONS), in_any_order(g, x, other), exact=True)


@recipe(1.5, special=True)
def logic(g: Graph) -> None:
    x = g.pick(lambda v: v.dtype == "bool", lambda: g.fresh("bool"))
    operator = g.choose(("And", "Or", "Xor", "Not"))
    g.node(operator, [x] if operator == "Not" else [x, partner(g, x)])


@recipe(3, special=True)
def where(g: Graph) -> None:
    x = g.pick_any()

    def is_mask(value: Value) -> bool:
        pairs = zip(reversed(x.shape), reversed(value.shape), strict=False)
        return value.dtype == "bool" and all(a == b or 1 in (a, b) for a, b in pairs)

    condition = g.pick(is_mask, lambda: g.fresh("bool", broadcast_shape(g, x.shape)))
    g.node("Where", [condition, *in_any_order(g, x, partner(g, x))], exact=True)


@recipe(0.7, special=True)
def tell_special(g: Graph) -> None:
    operator = g.choose(("IsNaN", "IsInf"))
    signs = {"detect_negative": g.integer(0, 1), "detect_positive": g.integer(0, 1)}
    signs = signs if operator == "IsInf" else {}
    g.node(operator, [g.pick_float()], exact=True, **signs)


@recipe(2)
def clip(g: Graph) -> None:
    if g.chance(0.7):
        x, scale = g.pick_float(), 1.0
    else:
        x = g.pick(
            lambda v: v.is_integer, lambda: g.fresh(g.choose(("int32", "int8", "int64")))
        )
        scale = 8.0
    low = g.constant(np.array(g.choose((-0.5, 0.0, -1.0)) * scale).astype(x.dtype))
    # The upper bound wins where it is below the lower one.
    high = g.constant(np.array(g.choose((0.5, 1.0, 6.0, -0.2)) * scale).astype(x.dtype))
    bounds: tuple[Value | None, Value | None] = g.choose(
        ((low, high), (low, None), (None, high))
    )
    if g.opset < 11:
        names = {"min": bounds[0], "max": bounds[1]}
        numbers = {name: float(of.data) for name, of in names.items() if of is not None}
        g.node("Clip", [x], exact=True, **numbers)
        return
    operands = [x, *bounds]
    g.node("Clip", operands if bounds[1] else operands[:2], exact=True)


@recipe(1)
def prelu(g: Graph) -> None:
    x = g.pick_float(least=1)
    shape = [1 if g.chance(0.5) else size for size in x.shape]
    g.node("PRelu", [x, g.weights(x.dtype, shape[g.integer(0, x.rank) :], "normal")])


def range_of(dtype: str) -> tuple[float, float]:
    if dtype == "bool" or dtype.startswith("float"):
        return -np.inf, np.inf
    info = np.iinfo(dtype)
    # Floats next to the limits of 32 and 64 bits are beyond them.
    return info.min + (info.min < -(2**30)), info.max * (1 - 1e-6)


@recipe(5)
def cast(g: Graph) -> None:
    from onnx import helper

    x, dtype = g.pick_any(), g.choose(CAST)
    # Nobody says what becomes of floats that an integer does not hold.
    if x.is_float and not x.lies_within(*range_of(dtype)):
        raise UnfitError("Cast out of range")
    if not x.is_finite():
        raise UnfitError("Cast of infinity")
    to: Any = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    g.node("Cast", [x], to=int(to), exact=dtype != "float16")


@recipe(0.6, special=True)
def power_integer(g: Graph) -> None:
    x = g.pick(
        lambda v: v.is_integer and v.lies_within(-9, 9), lambda: g.fresh("int32", kind="small")
    )
    g.node("Pow", [x, g.constant(np.array(g.integer(0, 4), x.dtype))])


@recipe(0.2, special=True)
def multiply_integers(g: Graph) -> None:
    x = g.pick(
        lambda v: v.dtype in ("int32", "int64") and v.rank >= 2,
        lambda: g.fresh(g.choose(("int32", "int64")), g.shape(2, 4)),
    )
    g.node("MatMul", [x, g.weights(x.dtype, [x.shape[-1], g.integer(1, 9)])])
