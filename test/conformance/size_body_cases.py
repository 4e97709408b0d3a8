# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs in which sizes depend on data, and operators have sub-graphs.

They are cases of size_cases.py, which tells what they begin with.
"""

from __future__ import annotations

CASES_WITH_BODIES: dict[str, tuple[str, str]] = {
    "if_empty": (
        "float[m] y",
        """
        count = Shape(s)
        product = ReduceProd<keepdims = 0>(count)
        nothing = Constant<value_int = 0>()
        empty = Equal(product, nothing)
        y = If(empty) <
          then_branch = none () => (float[1] t) { t = Constant<value_floats = [7.0]>() },
          else_branch = some () => (float[n] e) { e = Exp(s) }
        >
        """,
    ),
    "if_few": (
        "float y, float z, float[m] w",
        """
        count = Shape(s)
        number = Size(s)
        most = Constant<value_int = 3>()
        few = Less(number, most)
        two = Slice(x, only, pair)
        y = If(few) <
          then_branch = some () => (float t) {
            v, j = TopK(two, count)
            t = ReduceSum<keepdims = 0>(v)
          },
          else_branch = many () => (float e) { e = ReduceSum<keepdims = 0>(s) }
        >
        ones = ConstantOfShape<value = float[1] {1.0}>(count)
        z = ReduceSum<keepdims = 0>(ones)
        w = Add(ones, s)
        """,
    ),
    "loop": (
        "float y, float[n] z",
        """
        count = Size(s)
        start = Constant<value_float = 1.0>()
        y, z = Loop(count, yes, start) <
          body = step (int64 t, bool on, float a) => (bool still, float next, float each) {
            one_score = Gather(s, t)
            next = Mul(a, one_score)
            each = Exp(one_score)
            still = Identity(on)
          }
        >
        """,
    ),
    "loop_that_appends": (
        "float[n, 4] y, float[m, 4] z",
        """
        count = Size(s)
        shape = Constant<value_ints = [0, 4]>()
        nothing = ConstantOfShape(shape)
        row = Slice(boxes, only, one)
        y, z = Loop(count, yes, nothing, row) <
          body = step (int64 t, bool on, float[k, 4] a, float[l, 4] c)
            => (bool still, float[k, 4] more, float[l, 4] most) {
            box = Gather(b, t)
            line = Unsqueeze(box, only)
            more = Concat<axis = 0>(a, line)
            most = Concat<axis = 0>(c, line, line)
            still = Identity(on)
          }
        >
        """,
    ),
    "loop_that_stops": (
        "float[k] y, float[m] z, float v",
        """
        count = Size(s)
        shape = Constant<value_ints = [0]>()
        nothing = ConstantOfShape(shape)
        second = Constant<value_int = 1>()
        y, z = Loop(count, yes, nothing) <
          body = step (int64 t, bool on, float[k] a)
            => (bool still, float[k] more, float each) {
            one_score = Gather(x, t)
            item = Unsqueeze(one_score, only)
            more = Concat<axis = 0>(a, item)
            each = Exp(one_score)
            still = Less(t, second)
          }
        >
        start = Concat<axis = 0>(x, y)
        v = ReduceMean<keepdims = 0>(start)
        """,
    ),
    "loop_that_never_runs": (
        "float[k] y, float[12] z, float[8] w",
        """
        count = Size(s)
        no = Constant<value = bool {0}>()
        z = Concat<axis = 0>(x, x)
        wide = Concat<axis = 1>(b, b)
        y, v = Loop(count, no, z, wide) <
          body = step (int64 t, bool on, float[k] a, float[n, 8] c)
            => (bool still, float[k] more, float[n, 8] next) {
            one_score = Gather(x, t)
            item = Unsqueeze(one_score, only)
            more = Concat<axis = 0>(a, item)
            next = Neg(c)
            still = Identity(on)
          }
        >
        w = ReduceSum<keepdims = 0>(v, only)
        """,
    ),
    "loop_over_one_less": (
        "float[k] y, float[m] z",
        """
        count = Size(s)
        lower = Constant<value_int = 1>()
        less = Sub(count, lower)
        y, z = Loop(less, yes, s) <
          body = step (int64 t, bool on, float[k] a) => (bool still, float[k] more, float each) {
            more = Concat<axis = 0>(a, s)
            each = ReduceSum<keepdims = 0>(a)
            still = Identity(on)
          }
        >
        """,
    ),
    "pasted": (
        "float[n, 4, 5] y",
        """
        count = Size(s)
        shape = Constant<value_ints = [0, 4, 5]>()
        nothing = ConstantOfShape(shape)
        small = Clip(b, zero, three)
        places = Cast<to = 7>(small)
        y = Loop(count, yes, nothing) <
          body = step (int64 t, bool on, float[k, 4, 5] a) => (bool still, float[k, 4, 5] more) {
            corner = Gather(places, t)
            left = Slice(corner, only, one)
            two = Constant<value_ints = [2]>()
            next_place = Constant<value_ints = [3]>()
            right = Slice(corner, two, next_place)
            wide = Sub(right, left)
            wider = Add(wide, one)
            width = Max(wider, one)
            image_values = Gather(b, t)
            image_shape = Constant<value_ints = [1, 1, 2, 2]>()
            image = Reshape(image_values, image_shape)
            front = Constant<value_ints = [1, 1, 4]>()
            sizes = Concat<axis = 0>(front, width)
            large = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel">(image, , , sizes)
            plane = Squeeze(large, pair_axes)
            shape_before = Concat<axis = 0>(four, left)
            before = ConstantOfShape(shape_before)
            joined = Concat<axis = 1>(before, plane)
            last = Constant<value_ints = [5]>()
            filled_shape = Constant<value_ints = [4, 5]>()
            filled = ConstantOfShape(filled_shape)
            longer = Concat<axis = 1>(joined, filled)
            cut = Slice(longer, only, last, one)
            item = Unsqueeze(cut, only)
            more = Concat<axis = 0>(a, item)
            still = Identity(on)
          }
        >
        """,
    ),
}
