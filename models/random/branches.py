# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow, and operators of several inputs that fit no other group."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, helper

from elementwise import partner
from graph import Graph
from networks import pick_image
from recipes import recipe
from values import UnfitError, Value


def make_branch(g: Graph, operator: str, operands: list[Value]) -> GraphProto:
    """A graph of one node, which reads values of the graph around it."""
    name = g.make_name("b")
    node = helper.make_node(operator, [value.name for value in operands], [name])
    return helper.make_graph([node], operator, [], [helper.make_empty_tensor_value_info(name)])


@recipe(0.7)
def branch(g: Graph) -> None:
    x = g.pick_float(least=1)
    same = x.shape
    y = g.pick(lambda v: v.shape == same and v.dtype == x.dtype, lambda: g.fresh(x.dtype, same))
    condition = g.pick(lambda v: v.dtype == "bool" and v.data.size == 1 and v.rank < 2,
                       lambda: g.fresh("bool", ()))  # fmt: skip
    branches = {
        "then_branch": make_branch(g, g.choose(("Add", "Mul", "Max")), [x, y]),
        "else_branch": make_branch(g, g.choose(("Sub", "Min")), [y, x]),
    }
    g.node("If", [condition], captured=[x, y], **branches)


@recipe(0.7)
def repeat(g: Graph) -> None:
    """A loop that runs a known number of times, and collects what it computes."""
    x = g.pick_float(least=1, most=3)
    y = partner(g, x)
    if np.broadcast_shapes(x.shape, y.shape) != x.shape:
        raise UnfitError("the carried value would grow")
    names = [g.make_name("b") for _ in range(6)]
    number, going, carried, result, going_on, scanned = names
    nodes = [
        helper.make_node(g.choose(("Add", "Mul", "Sub")), [carried, y.name], [result]),
        helper.make_node("Identity", [going], [going_on]),
        helper.make_node(g.choose(("Tanh", "Abs", "Relu")), [result], [scanned]),
    ]
    dtype = helper.np_dtype_to_tensor_dtype(x.data.dtype)
    body = helper.make_graph(
        nodes, "body",
        [helper.make_tensor_value_info(number, 7, []), helper.make_tensor_value_info(going, 9, []),
         helper.make_tensor_value_info(carried, dtype, x.shape)],
        [helper.make_tensor_value_info(going_on, 9, []),
         helper.make_tensor_value_info(result, dtype, x.shape),
         helper.make_tensor_value_info(scanned, dtype, x.shape)],
    )  # fmt: skip
    operands = [g.ints(g.integer(1, 4)), g.constant(np.array(True)), x]
    g.node("Loop", operands, 2, captured=[y], body=body)


@recipe(0.7, special=True)
def leave_as_is(g: Graph) -> None:
    """Dropout and casts that change nothing, which disappear."""
    x = g.pick_float()
    if g.chance(0.5):
        g.node("Dropout", [x], exact=True)
    elif g.opset >= 15:
        g.node("CastLike", [x, g.fresh(x.dtype, (1,))], exact=True)


@recipe(0.7)
def sample_grid(g: Graph) -> None:
    if g.opset < 20:
        raise UnfitError("other names of modes")
    x = g.pick(lambda v: v.rank == 4 and v.dtype == "float32" and v.data.size > 0,
               lambda: g.fresh("float32", (1, 3, 5, 7)))  # fmt: skip
    shape = (x.shape[0], g.integer(1, 4), g.integer(1, 5), 2)
    grid = g.constant(g.random.uniform(-1.2, 1.2, shape).astype("float32"))
    attributes = {
        "mode": g.choose(("linear", "nearest", "cubic")), "align_corners": g.integer(0, 1),
        "padding_mode": g.choose(("zeros", "border", "reflection")),
    }  # fmt: skip
    # ONNX Runtime clamps the place, and ONNX's definition each of the pixels around it.
    if attributes["mode"] == "cubic" and attributes["padding_mode"] == "border":
        raise UnfitError("two definitions")
    g.node("GridSample", [x, grid], **attributes)


@recipe(0.5)
def columns_to_image(g: Graph) -> None:
    if g.opset < 18:
        raise UnfitError("Col2Im is of opset 18")
    height, width, kernel = g.integer(3, 7), g.integer(3, 7), g.integer(1, 3)
    blocks = (height - kernel + 1) * (width - kernel + 1)
    x = g.fresh("float32", (g.integer(1, 2), g.integer(1, 3) * kernel**2, blocks), "normal")
    g.node("Col2Im", [x, g.ints([height, width]), g.ints([kernel, kernel])])


@recipe(0.5)
def unpool(g: Graph) -> None:
    x = pick_image(g, 2)
    if x.shape[2] < 2 or x.shape[3] < 2:
        raise UnfitError("nothing to pool")
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    y, places = g.node("MaxPool", [x], 2, exact=True, hidden=g.chance(0.5), **window)
    g.node("MaxUnpool", [y, places], exact=True, **window)


@recipe(0.4)
def determinant(g: Graph) -> None:
    x = g.pick(lambda v: v.rank >= 2 and v.dtype == "float32" and v.shape[-1] == v.shape[-2] < 6,
               lambda: g.fresh("float32", (g.integer(1, 3), *[g.integer(1, 4)] * 2)))  # fmt: skip
    g.node("Det", [x])


@recipe(0.7)
def scan(g: Graph) -> None:
    """A loop over the slices of a value, forwards or backwards."""
    x = g.pick(
        lambda v: v.is_float and 2 <= v.rank <= 3 and 0 < max(v.shape) < 12 and v.data.size > 0,
        lambda: g.fresh(g.float_type, (g.integer(1, 5), g.integer(1, 7))),
    )
    axis = g.integer(0, x.rank - 1)
    shape = tuple(n for i, n in enumerate(x.shape) if i != axis)
    state = g.pick(
        lambda v: v.shape == shape and v.dtype == x.dtype, lambda: g.fresh(x.dtype, shape)
    )
    carried, part, result, scanned = (g.make_name("b") for _ in range(4))
    dtype = helper.np_dtype_to_tensor_dtype(x.data.dtype)
    nodes = [
        helper.make_node(g.choose(("Add", "Max", "Sub")), [carried, part], [result]),
        helper.make_node(g.choose(("Tanh", "Neg", "Relu")), [result], [scanned]),
    ]
    types = {
        name: helper.make_tensor_value_info(name, dtype, shape)
        for name in (carried, part, result, scanned)
    }
    body = helper.make_graph(
        nodes, "body", [types[carried], types[part]], [types[result], types[scanned]]
    )
    attributes = {
        "scan_input_axes": [axis - x.rank * g.chance(0.3)],
        "scan_input_directions": [g.integer(0, 1)],
        "scan_output_axes": [g.integer(0, len(shape))],
        "scan_output_directions": [g.integer(0, 1)],
    }
    g.node("Scan", [state, x], 2, body=body, num_scan_inputs=1, **attributes)


@recipe(0.4)
def align_regions(g: Graph) -> None:
    x = pick_image(g, 2)
    if x.dtype != "float32":
        raise UnfitError("corners are of fp32")
    count = g.integer(1, 3)
    corners = g.random.uniform(0, 4, (count, 2))
    boxes = np.concatenate([corners, corners + g.random.uniform(1, 6, (count, 2))], 1)
    images = g.random.integers(0, x.shape[0], count)
    operands = [x, g.constant(boxes.astype("float32")), g.constant(images.astype("int64"))]
    # ONNX Runtime says of its maxima of several samples that they are wrong.
    samples = g.integer(0, 2)
    attributes = {
        "output_height": g.integer(1, 3), "output_width": g.integer(1, 4),
        "sampling_ratio": samples, "spatial_scale": g.choose((1.0, 0.5)),
        "mode": g.choose(("avg", "max")) if samples == 1 else "avg",
    }  # fmt: skip
    if g.opset >= 16:
        attributes["coordinate_transformation_mode"] = g.choose(
            ("half_pixel", "output_half_pixel")
        )
    g.node("RoiAlign", operands, **attributes)
