# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements and compute none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from graph import Graph
from recipes import recipe
from values import UnfitError, Value


def with_axes(
    g: Graph, operator: str, x: Value, axes: Sequence[int], since: int = 13, **attributes: int
) -> list[Value]:
    """A node whose axes became an operand in opset `since`."""
    exact = operator in ("Squeeze", "Unsqueeze", "ReduceMax", "ReduceMin")
    if g.opset < 11:
        # Axes are not counted from the end yet.
        rank = x.rank + len(axes) * (operator == "Unsqueeze")
        axes = [axis % rank for axis in axes]
    if g.opset >= since:
        return g.node(operator, [x, g.ints(list(axes))], exact=exact, **attributes)
    return g.node(operator, [x], exact=exact, axes=list(axes), **attributes)


@recipe(4, special=True)
def transpose(g: Graph) -> None:
    x = g.pick_any()
    perm = [int(i) for i in g.random.permutation(x.rank)]
    g.node("Transpose", [x], exact=True, **({} if g.chance(0.2) else {"perm": perm}))


def split_in_factors(g: Graph, size: int) -> list[int]:
    """A shape of so many elements."""
    shape = []
    while size > 1 and len(shape) < 4:
        divisors = [d for d in range(2, min(size, 40) + 1) if size % d == 0] or [size]
        shape.append(g.choose(divisors))
        size //= shape[-1]
    if size > 1:
        shape.append(size)
    if g.chance(0.3):
        shape.insert(g.integer(0, len(shape)), 1)
    return shape


@recipe(4, special=True)
def reshape(g: Graph) -> None:
    x = g.pick_any()
    if not x.data.size:
        raise UnfitError("Reshape of nothing")
    shape = split_in_factors(g, x.data.size)
    if shape and g.chance(0.4):
        shape[g.integer(0, len(shape) - 1)] = -1
    elif shape and x.rank and shape[0] == x.shape[0] and g.chance(0.5):
        shape[0] = 0
    g.node("Reshape", [x, g.ints(shape)], exact=True)


@recipe(1, special=True)
def flatten(g: Graph) -> None:
    x = g.pick_any(least=1)
    g.node("Flatten", [x], exact=True, axis=g.integer(-x.rank, x.rank))


@recipe(1.5, special=True)
def squeeze(g: Graph) -> None:
    x = g.pick(
        lambda v: 1 in v.shape,
        lambda: g.fresh(g.float_type, (g.integer(2, 7), 1, g.integer(1, 9))),
    )
    axes = [i - x.rank * g.chance(0.3) for i, size in enumerate(x.shape) if size == 1]
    if g.chance(0.2):
        g.node("Squeeze", [x], exact=True)
        return
    with_axes(g, "Squeeze", x, axes[: g.integer(1, len(axes))])


@recipe(1.5, special=True)
def unsqueeze(g: Graph) -> None:
    x = g.pick_any(most=4)
    rank = x.rank + g.integer(1, 2)
    axes = [int(a) for a in g.random.permutation(rank)[: rank - x.rank]]
    with_axes(g, "Unsqueeze", x, [a - rank * g.chance(0.3) for a in axes])


@recipe(1.5, special=True)
def expand(g: Graph) -> None:
    x = g.pick_any()
    shape = [g.integer(1, 6) if size == 1 else size for size in x.shape]
    shape = [1 if g.chance(0.2) else size for size in shape]
    if g.chance(0.4):
        shape.insert(0, g.integer(1, 4))
    g.node("Expand", [x, g.ints(shape)], exact=True)


@recipe(1, special=True)
def tile(g: Graph) -> None:
    x = g.pick_any(least=1)
    repeats = [g.choose((1, 1, 2, 3)) for _ in range(x.rank)]
    g.node("Tile", [x, g.ints(repeats)], exact=True)


@recipe(3, special=True)
def concat(g: Graph) -> None:
    x = g.pick_any(least=1)
    axis = g.axis(x.rank)
    place = axis % x.rank

    def fits(value: Value) -> bool:
        same = value.dtype == x.dtype and value.rank == x.rank
        return same and all(
            a == b
            for i, (a, b) in enumerate(zip(x.shape, value.shape, strict=True))
            if i != place
        )

    def fresh() -> Value:
        shape = list(x.shape)
        shape[place] = g.integer(1, 7)
        return g.fresh(x.dtype, shape)

    parts = [x] + [g.pick(fits, fresh) for _ in range(g.integer(0, 3))]
    g.random.shuffle(parts)
    g.node("Concat", parts, exact=True, axis=axis)


@recipe(2.5, special=True)
def split(g: Graph) -> None:
    x = g.pick(
        lambda v: any(s > 1 for s in v.shape),
        lambda: g.fresh(g.float_type, (g.integer(2, 9), 4)),
    )
    axis = g.choose([i for i, size in enumerate(x.shape) if size > 1])
    size = x.shape[axis]
    parts = g.integer(2, min(size, 4))
    cuts = sorted(int(c) + 1 for c in g.random.permutation(size - 1)[: parts - 1])
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
    axis -= x.rank * g.chance(0.3)
    if g.opset >= 18 and g.chance(0.4):
        g.node("Split", [x], parts, exact=True, axis=axis, num_outputs=parts)
    elif g.opset >= 13:
        g.node("Split", [x, g.ints(sizes)], parts, exact=True, axis=axis)
    else:
        g.node("Split", [x], parts, exact=True, axis=axis, split=sizes)


@recipe(4, special=True)
def slice_(g: Graph) -> None:
    x = g.pick_any(least=1)
    axes = g.axes(x.rank)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = g.choose((1, 1, 1, 2, 3, -1, -2))
        a, b = sorted((g.integer(0, max(size - 1, 0)), g.integer(0, max(size - 1, 0))))
        start, end = (a, b + 1) if step > 0 else (b, a - 1)
        if step > 0:
            end = g.choose((end, end, end - size or end, 2**31 - 1, 2**63 - 1))
            start = g.choose((start, start - size, start))
        else:
            end = end if end >= 0 else g.choose((-size - 1, -(2**31), -(2**63) + 1))
            start = g.choose((start, size + 5))
        starts.append(start)
        ends.append(end)
        steps.append(step)
    dtype = "int64" if max(map(abs, ends)) >= 2**31 else g.choose(("int64", "int32"))
    if g.opset < 10:
        if any(step != 1 for step in steps):
            raise UnfitError("steps are of opset 10")
        g.node("Slice", [x], exact=True, starts=starts, ends=ends, axes=axes)
        return
    operands = [g.ints(of, dtype) for of in (starts, ends, axes, steps)]
    if all(step == 1 for step in steps) and g.chance(0.5):
        operands.pop()
        if axes == list(range(len(axes))):
            operands.pop()
    g.node("Slice", [x, *operands], exact=True)


@recipe(2)
def pad(g: Graph) -> None:
    x = g.pick_any(least=1)
    modes = ["constant", "constant", "reflect", "edge"] + ["wrap"] * (g.opset >= 19)
    mode = g.choose(modes)
    if mode == "edge" and 0 in x.shape:
        raise UnfitError("Pad of nothing")
    most = {"reflect": -1, "wrap": 0}
    limits = [min(3, size + most[mode]) if mode in most else 3 for size in x.shape]
    pads = [g.integer(0, max(limit, 0)) * g.chance(0.6) for limit in limits * 2]
    if mode == "constant" and g.chance(0.2):
        # Negative ones crop.
        pads = [-1 if size > 4 and g.chance(0.4) else p
                for p, size in zip(pads, x.shape * 2, strict=True)]  # fmt: skip
    if g.opset < 11:
        value = {"value": float(g.integer(0, 1))} if mode == "constant" else {}
        g.node("Pad", [x], exact=True, mode=mode, pads=pads, **value)
        return
    operands = [x, g.ints(pads)]
    if mode == "constant" and g.chance(0.5):
        operands.append(g.constant(np.array(g.integer(0, 1), x.dtype)))
    if g.chance(0.2) and g.opset >= 18:
        # Only of some axes, in any order.
        axes = [int(a) for a in g.random.permutation(x.rank)[: g.integer(1, x.rank)]]
        chosen = [pads[a] for a in axes] + [pads[a + x.rank] for a in axes]
        fill = operands[2] if len(operands) > 2 else None
        operands = [x, g.ints(chosen), fill, g.ints(axes)]
    g.node("Pad", operands, exact=True, mode=mode)


@recipe(1, special=True)
def depth_space(g: Graph) -> None:
    block = g.choose((2, 2, 3))
    if g.chance(0.5):
        x = g.pick(
            lambda v: v.rank == 4 and v.shape[1] % block**2 == 0 and v.is_float,
            lambda: g.fresh(g.float_type, (1, block**2 * g.integer(1, 3), g.integer(1, 5), 4)),
        )
        mode = {"mode": g.choose(("DCR", "CRD"))} if g.opset >= 11 else {}
        g.node("DepthToSpace", [x], exact=True, blocksize=block, **mode)
        return
    x = g.pick(
        lambda v: v.rank == 4 and v.shape[2] % block == v.shape[3] % block == 0 and v.is_float,
        lambda: g.fresh(g.float_type, (1, g.integer(1, 5), block * g.integer(1, 4), block * 2)),
    )
    g.node("SpaceToDepth", [x], exact=True, blocksize=block)


@recipe(1, special=True)
def trilu(g: Graph) -> None:
    if g.opset < 14:
        raise UnfitError("Trilu is of opset 14")
    x = g.pick_any(least=2)
    offset = [g.ints(g.integer(-3, 3))] if g.chance(0.6) else []
    g.node("Trilu", [x, *offset], exact=True, upper=g.integer(0, 1))


@recipe(0.5, special=True)
def reverse_sequence(g: Graph) -> None:
    x = g.pick_any(least=2)
    time = g.integer(0, 1)
    lengths = g.random.integers(1, max(x.shape[time], 1), x.shape[1 - time], endpoint=True)
    operands = [x, g.constant(lengths.astype("int64"))]
    g.node("ReverseSequence", operands, exact=True, time_axis=time, batch_axis=1 - time)


@recipe(1, special=True)
def by_shape(g: Graph) -> None:
    """Reshape to what Shape says, as exporters write it."""
    x = g.pick_any(least=1)
    (shape,) = g.node("Shape", [x], hidden=True)
    count = g.integer(1, x.rank)
    bounds = [g.ints([0]), g.ints([count])]
    (front,) = g.node("Slice", [shape, *bounds], hidden=True)
    (joined,) = g.node("Concat", [front, g.ints([-1])], axis=0, hidden=True)
    if 0 in x.shape:
        raise UnfitError("Reshape of nothing")
    g.node("Reshape", [x, joined], exact=True)


@recipe(0.7, special=True)
def make_numbers(g: Graph) -> None:
    kind = g.integer(0, 2)
    if kind == 0:
        dtype = g.choose(("int64", "int32", "float32"))
        first, last, step = 1, g.integer(4, 20), g.integer(1, 3)
        if g.chance(0.4):
            first, last, step = last, first, -step
        bounds = [g.constant(np.array(n, dtype)) for n in (first, last, step)]
        g.node("Range", bounds, exact=True)
    elif kind == 1:
        x = g.pick(lambda v: v.rank == 2, lambda: g.fresh(g.float_type, (g.integer(1, 7), 5)))
        g.node("EyeLike", [x], exact=True, k=g.integer(-2, 2), dtype=g.choose((1, 6, 7)))
    else:
        some = {"start": g.integer(-2, 1), "end": g.integer(-1, 4)}
        operator = g.choose(("Shape", "Size"))
        more = some if operator == "Shape" and g.opset >= 15 and g.chance(0.5) else {}
        g.node(operator, [g.pick_any(least=1)], **more)


def is_near_step(size: int, wanted: int, coordinates: str, rounding: str) -> bool:
    """Returns true if a sample lies where the nearest pixel changes, so that the place
    depends on how the scale is rounded."""
    scale = wanted / size
    if scale in (0.25, 0.5, 1, 2, 4):
        return False
    i = np.arange(wanted)
    if coordinates == "align_corners":
        places = i * (size - 1) / max(wanted - 1, 1)
    else:
        places = i / scale if coordinates == "asymmetric" else (i + 0.5) / scale - 0.5
    places = places + (0.5 if rounding == "round_prefer_floor" else 0)
    return bool((np.abs(places - np.round(places)) < 1e-3).any())


@recipe(2)
def resize(g: Graph) -> None:
    x = g.pick(
        lambda v: v.rank in (3, 4, 5) and v.dtype in ("float32", "uint8"),
        lambda: g.fresh("float32", g.shape(4, 4)),
    )
    if 0 in x.shape:
        raise UnfitError("Resize of nothing")
    if g.opset < 11:
        # One rule for places, and powers of two for scales.
        scales = [1.0] * 2 + [g.choose((1.0, 2.0, 4.0)) for _ in range(x.rank - 2)]
        operator = "Resize" if g.opset == 10 else "Upsample"
        mode = g.choose(("nearest", "linear"))
        g.node(operator, [x, g.constant(np.array(scales, "float32"))], mode=mode)
        return
    mode = g.choose(("nearest", "nearest", "linear", "linear", "cubic"))
    space = min(2 if mode == "cubic" else g.integer(1, 2), x.rank - 2)
    axes = list(range(x.rank - space, x.rank))
    sizes = list(x.shape)
    for axis in axes:
        sizes[axis] = max(1, math.floor(x.shape[axis] * g.choose((0.5, 1, 1.5, 2, 2, 3, 2.3))))
    coordinates = g.choose(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        rounding = g.choose(("floor", "ceil", "round_prefer_floor"))
        attributes["nearest_mode"] = rounding
        for old, new in zip(x.shape, sizes, strict=True):
            if is_near_step(old, new, coordinates, rounding):
                raise UnfitError("places that are rounded")
    elif mode == "cubic" and g.chance(0.4):
        attributes["cubic_coeff_a"] = -0.5
        attributes["exclude_outside"] = g.integer(0, 1)
    if g.opset >= 18 and mode != "nearest" and x.is_float and g.chance(0.2):
        attributes["antialias"] = 1
    if g.opset >= 18 and g.chance(0.3):
        chosen = g.ints([sizes[axis] for axis in axes])
        g.node("Resize", [x, None, None, chosen], axes=axes, **attributes)
    elif g.chance(0.4):
        g.node("Resize", [x, None, None, g.ints(sizes)], **attributes)
    else:
        factors = [new / old for old, new in zip(x.shape, sizes, strict=True)]
        scales = g.constant(np.array(factors, "float32"))
        g.node("Resize", [x, None, scales], **attributes)


@recipe(0.5, special=True)
def center_crop_pad(g: Graph) -> None:
    if g.opset < 18:
        raise UnfitError("CenterCropPad is of opset 18")
    x = g.pick_any(least=1)
    axes = [axis % x.rank for axis in g.axes(x.rank)]
    sizes = [max(1, x.shape[axis] + g.integer(-3, 3)) for axis in axes]
    g.node("CenterCropPad", [x, g.ints(sizes)], exact=True, axes=axes)


@recipe(1, special=True)
def by_shapes(g: Graph) -> None:
    """Sizes that are computed from those of a value, as exporters write it."""
    x = g.pick_any(least=2, most=4)
    if 0 in x.shape:
        raise UnfitError("Reshape of nothing")
    (shape,) = g.node("Shape", [x], hidden=True)
    parts = [
        g.node("Gather", [shape, g.ints([i])], hidden=True, axis=0)[0] for i in range(x.rank)
    ]
    kind = g.integer(0, 3)
    if kind == 0:
        (product,) = g.node("Mul", parts[-2:], hidden=True)
        (wanted,) = g.node("Concat", [*parts[:-2], product], hidden=True, axis=0)
        g.node("Reshape", [x, wanted], exact=True)
    elif kind == 1:
        (half,) = g.node("Div", [parts[0], g.ints([2])], hidden=True)
        (start,) = g.node("Sub", [parts[0], g.node("Max", [half, g.ints([1])], hidden=True)[0]],
                          hidden=True)  # fmt: skip
        g.node("Slice", [x, start, parts[0], g.ints([0])], exact=True)
    elif kind == 2:
        (wanted,) = g.node("Concat", [g.ints([2]), *parts], hidden=True, axis=0)
        (filled,) = g.node("ConstantOfShape", [wanted], hidden=True)
        (cast,) = g.node("CastLike", [filled, x], exact=True, hidden=True)
        if x.dtype != "bool":
            g.node("Add", [x, cast])
        else:
            g.node("Expand", [x, wanted], exact=True)
    else:
        (count,) = g.node("Squeeze", [parts[-1]], hidden=True)
        (places,) = g.node("Range", [g.ints(0), count, g.ints(1)], hidden=True)
        (turned,) = g.node("Sub", [g.ints(x.shape[-1] - 1), places], hidden=True)
        g.node("Gather", [x, turned], exact=True, axis=-1)
