# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images as sequences and back, as vision transformers have them."""

from __future__ import annotations

from graph import Graph
from images import pointwise
from motifs import activate
from networks import conv, pick_image, scaled_weights
from recipes import recipe
from values import UnfitError, Value


def mix(g: Graph, x: Value) -> Value:
    """Anything along the last dimension that keeps the shape, or nothing."""
    width = x.shape[-1]
    kind = g.integer(0, 4)
    if kind == 0:
        return activate(g, x)
    if kind == 1:
        return g.node("MatMul", [x, scaled_weights(g, x.dtype, [width, width], width)])[0]
    if kind == 2 and g.opset >= 17 and width > 1:
        operands = [g.weights(x.dtype, [width], "normal") for _ in range(2)]
        return g.node("LayerNormalization", [x, *operands])[0]
    if kind == 3:
        return g.node("Add", [x, g.weights(x.dtype, [width])])[0]
    return x


@recipe(1)
def image_as_tokens(g: Graph) -> None:
    x = pick_image(g, 2)
    n, c, h, w = x.shape
    (y,) = g.node("Reshape", [x, g.ints([n, c, g.choose((-1, h * w))])], exact=True)
    (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 1])
    for _ in range(g.integer(1, 3)):
        y = mix(g, y)
    if g.chance(0.3):
        (y,) = g.node("Reshape", [y, g.ints([n, h, w, c])], exact=True)
        (y,) = g.node("Transpose", [y], exact=True, perm=[0, 3, 1, 2])
    else:
        (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 1])
        (y,) = g.node("Reshape", [y, g.ints([n, c, h, w])], exact=True)
    if g.chance(0.5):
        (y,) = g.node("Add", [x, y])
    if g.chance(0.5):
        conv(g, y)


@recipe(1)
def windows(g: Graph) -> None:
    """Cuts an image in windows, and joins them again."""
    size = g.choose((2, 2, 4))
    x = g.pick(
        lambda v: v.is_float and v.rank == 4 and v.data.size > 0
        and v.shape[2] % size == v.shape[3] % size == 0,
        lambda: g.fresh(g.float_type, (1, g.choose((3, 8, 16)), 2 * size, size), "normal"),
    )  # fmt: skip
    n, c, h, w = x.shape
    rows, columns = h // size, w // size
    if g.chance(0.5):
        (y,) = g.node("Transpose", [x], exact=True, perm=[0, 2, 3, 1])
        (y,) = g.node("Reshape", [y, g.ints([n, rows, size, columns, size, c])], exact=True)
        (y,) = g.node("Transpose", [y], exact=True, perm=[0, 1, 3, 2, 4, 5])
    else:
        (y,) = g.node("Reshape", [x, g.ints([n, c, rows, size, columns, size])], exact=True)
        (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 4, 3, 5, 1])
    (y,) = g.node("Reshape", [y, g.ints([-1, size * size, c])], exact=True)
    y = mix(g, y)
    if g.chance(0.3):
        return
    (y,) = g.node("Reshape", [y, g.ints([n, rows, columns, size, size, c])], exact=True)
    (y,) = g.node("Transpose", [y], exact=True, perm=[0, 1, 3, 2, 4, 5])
    (y,) = g.node("Reshape", [y, g.ints([n, h, w, c])], exact=True)
    (y,) = g.node("Transpose", [y], exact=True, perm=[0, 3, 1, 2])
    if g.chance(0.5):
        g.node("Add", [x, y])


@recipe(0.7)
def patches(g: Graph) -> None:
    """A convolution whose strides are its kernel, and what reads it as a sequence."""
    x = pick_image(g, 2)
    size = g.choose((2, 3, 4))
    if min(x.shape[2:]) < size:
        raise UnfitError("no patch")
    shape = [g.choose((4, 8, 17)), x.shape[1], size, size]
    weights = scaled_weights(g, x.dtype, shape, x.shape[1] * size * size)
    (y,) = g.node("Conv", [x, weights], strides=[size, size], kernel_shape=[size, size])
    (y,) = g.node("Reshape", [y, g.ints([x.shape[0], shape[0], -1])], exact=True)
    (y,) = g.node("Transpose", [y], exact=True, perm=[0, 2, 1])
    token = g.weights(x.dtype, (x.shape[0], 1, shape[0]), "normal")
    if g.chance(0.5):
        (y,) = g.node("Concat", [token, y], exact=True, axis=1)
    mix(g, y)


@recipe(0.7)
def upsample_and_join(g: Graph) -> None:
    """A step of a U-Net's decoder."""
    x = pick_image(g, 2)
    n, c, h, w = x.shape
    kind = g.integer(0, 2)
    if kind == 0:
        (y,) = g.node("Resize", [x, None, None, g.ints([n, c, 2 * h, 2 * w])], mode="nearest",
                      coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    elif kind == 1:
        shape = [c, g.choose((3, 8)), 2, 2]
        weights = scaled_weights(g, x.dtype, shape, c)
        (y,) = g.node("ConvTranspose", [x, weights], strides=[2, 2], kernel_shape=[2, 2])
    else:
        (y,) = g.node("DepthToSpace", [pointwise(g, x, 4 * g.choose((2, 4)))], exact=True,
                      blocksize=2)  # fmt: skip
    front = (n, g.choose((1, 4, 8)), 2 * h, 2 * w)
    other = g.pick(
        lambda v: v.dtype == x.dtype and v.rank == 4 and v.shape[0] == n
        and v.shape[2:] == front[2:],
        lambda: g.fresh(x.dtype, front, "normal"),
    )  # fmt: skip
    (y,) = g.node("Concat", [y, other] if g.chance(0.6) else [other, y], exact=True, axis=1)
    if g.chance(0.6):
        conv(g, y)
