# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs in which sizes depend on data, in the text form of ONNX.

In a graph, `x` is six scores, of which those above 0 are selected, and `boxes` holds
two corners for each. SELECT puts the places of the selected ones into `i`, their
number being n.
"""

from __future__ import annotations

import numpy as np

from size_body_cases import CASES_WITH_BODIES

CONSTANTS = """
  one = Constant<value_ints = [1]>()
  four = Constant<value_ints = [4]>()
  pair = Constant<value_ints = [2]>()
  pair_axes = Constant<value_ints = [0, 1]>()
  last_axis = Constant<value_ints = [-1]>()
  three = Constant<value_float = 3.0>()
  yes = Constant<value = bool {1}>()
"""

SELECT = """
  zero = Constant<value_float = 0.0>()
  mask = Greater(x, zero)
  place = NonZero(mask)
  only = Constant<value_ints = [0]>()
  i = Squeeze(place, only)
  s = Gather(x, i)
  b = Gather(boxes, i)
"""

# What follows SELECT: the outputs and the nodes.
AFTER_SELECT: dict[str, tuple[str, str]] = {
    **CASES_WITH_BODIES,
    "gather": ("float[n] s, float[n, 4] b", ""),
    "gather_of_gather": (
        "float[m] y",
        """
        half = Constant<value_float = 0.5>()
        large = Greater(s, half)
        places = NonZero(large)
        j = Squeeze(places, only)
        y = Gather(s, j)
        """,
    ),
    "gather_nd": (
        "float[n, 4] y",
        "rows = Transpose<perm = [1, 0]>(place) y = GatherND(boxes, rows)",
    ),
    "gather_last": (
        "float[4] y",
        """
        flat = Concat<axis = 0>(b, boxes)
        last = Constant<value_int = -7>()
        y = Gather(flat, last)
        """,
    ),
    "elements": (
        "float[n, 1] y",
        "j = Unsqueeze(i, one) c = Constant<value_int = 3>() k = Mod(j, c)"
        " y = GatherElements<axis = 1>(b, k)",
    ),
    "split": (
        "float[n, 1] p, float[n, 3] q",
        "parts = Constant<value_ints = [1, 3]>() p, q = Split<axis = 1>(b, parts)",
    ),
    "views": (
        "float[n, 2, 2] y, float[k] z, float[n, 4] w",
        """
        pairs = Constant<value_ints = [-1, 2, 2]>()
        y = Reshape(b, pairs)
        all = Constant<value_ints = [-1]>()
        z = Reshape(y, all)
        rows = Constant<value_ints = [-1, 4]>()
        w = Reshape(z, rows)
        """,
    ),
    "named_shape": (
        "float[n, 2, 2] y",
        """
        shape = Shape(b)
        first = Slice(shape, only, one)
        rest = Constant<value_ints = [2, -1]>()
        wanted = Concat<axis = 0>(first, rest)
        y = Reshape(b, wanted)
        """,
    ),
    "shape_of_two_sizes": (
        "float[n] y, float[n] z",
        """
        half = Constant<value_float = 0.5>()
        large = Greater(x, half)
        places = NonZero(large)
        j = Squeeze(places, only)
        u = Gather(x, j)
        column = Unsqueeze(s, one)
        line = Unsqueeze(u, only)
        products = Mul(column, line)
        n = Shape(s)
        m = Shape(u)
        wanted = Concat<axis = 0>(n, m)
        same = Reshape(products, wanted)
        y = ReduceSum<keepdims = 0>(same, one)
        copied = Constant<value_ints = [0, 0, 1]>()
        deep = Reshape(products, copied)
        others = Constant<value_ints = [1, 2]>()
        z = ReduceSum<keepdims = 0>(deep, others)
        """,
    ),
    "shape": ("int64[2] y, int64 z", "y = Shape(b) z = Size(b)"),
    "constant": (
        "float[n] y",
        "shape = Shape(s) y = ConstantOfShape<value = float[1] {2.5}>(shape)",
    ),
    "range": (
        "float[n] y",
        """
        shape = Shape(s)
        count = Squeeze(shape, only)
        begin = Constant<value_int = 0>()
        step = Constant<value_int = 1>()
        numbers = Range(begin, count, step)
        floats = Cast<to = 1>(numbers)
        y = Add(floats, s)
        """,
    ),
    "expand": (
        "float[n, 5] y",
        """
        column = Unsqueeze(s, one)
        count = Shape(s)
        five = Constant<value_ints = [5]>()
        wanted = Concat<axis = 0>(count, five)
        ones = Constant<value_ints = [1, 1]>()
        minus = Constant<value_ints = [-1, -1]>()
        same = Equal(wanted, minus)
        shape = Where(same, ones, wanted)
        y = Expand(column, shape)
        """,
    ),
    "slice": (
        "float[m] p, float[k] q, float[l] r, float[n, 2] c",
        """
        two = Constant<value_ints = [2]>()
        p = Slice(s, only, two)
        end = Constant<value_ints = [9223372036854775807]>()
        q = Slice(s, one, end)
        last = Constant<value_ints = [-1]>()
        r = Slice(s, only, last)
        c = Slice(b, only, two, one)
        """,
    ),
    "slice_to_size": (
        "float[m] y",
        """
        half = Constant<value_float = 0.5>()
        large = Greater(s, half)
        places = NonZero(large)
        shape = Shape(places)
        two = Constant<value_ints = [2]>()
        end = Slice(shape, one, two)
        y = Slice(s, only, end)
        """,
    ),
    "slice_of_others": (
        "float[m] y, float[6, k] z",
        """
        count = Shape(s)
        y = Slice(x, only, count)
        z = Slice(boxes, only, count, one)
        """,
    ),
    "range_below": (
        "int64[m] y",
        """
        count = Size(s)
        first = Constant<value_int = 0>()
        step = Constant<value_int = 1>()
        last = Sub(count, step)
        y = Range(first, last, step)
        """,
    ),
    "compress_others": (
        "float[n, 2] y",
        """
        columns = Constant<value = bool[4] {1, 0, 1, 0}>()
        y = Compress<axis = 1>(b, columns)
        """,
    ),
    "expand_others": (
        "float[6, 4] y",
        "first = Slice(b, only, one) shape = Shape(first) y = Expand(boxes, shape)",
    ),
    "concat": (
        "float[m, 4] y, float[m] z",
        """
        y = Concat<axis = 0>(b, boxes, b)
        z = Concat<axis = 0>(s, x, s)
        """,
    ),
    "concat_of_columns": ("float[n, 8] y", "y = Concat<axis = 1>(b, b)"),
    "sums": (
        "float y, float[1, 4] z, float[n] w, float[4] v",
        """
        y = ReduceSum<keepdims = 0>(s)
        z = ReduceSum(b, only)
        w = ReduceSum<keepdims = 0>(b, one)
        v = ReduceSum<keepdims = 0>(b, only)
        """,
    ),
    "extremes": (
        "float y, float[4] z, int64[4] a",
        """
        more = Concat<axis = 0>(b, boxes)
        y = ReduceMax<keepdims = 0>(more)
        z = ReduceMin<axes = [0], keepdims = 0>(more)
        a = ArgMax<axis = 0, keepdims = 0>(more)
        """,
    ),
    "softmax": (
        "float[n] y, float[n, 4] z",
        "y = Softmax<axis = 0>(s) z = Softmax<axis = 1>(b)",
    ),
    "top_k": (
        "float[m] v, int64[m] j, float[m, 4] y",
        """
        most = Constant<value_ints = [2]>()
        count = Shape(s)
        both = Concat<axis = 0>(most, count)
        fewer = ReduceMin<keepdims = 0>(both)
        k = Reshape(fewer, one)
        v, j = TopK(s, k)
        y = Gather(b, j)
        """,
    ),
    "scatter": (
        "float[6, 4] y, float[6] z, float[6, 4] e",
        """
        rows = Transpose<perm = [1, 0]>(place)
        y = ScatterND(boxes, rows, b)
        doubled = Add(s, s)
        z = ScatterElements<axis = 0>(x, i, doubled)
        flat = Unsqueeze(i, one)
        shape = Shape(b)
        wide = Expand(flat, shape)
        negated = Neg(b)
        e = ScatterElements<axis = 0>(boxes, wide, negated)
        """,
    ),
    "layers": (
        "float[n, 3] y, float[n, 3] z",
        """
        shape = Constant<value_ints = [4, 3]>()
        weight = ConstantOfShape<value = float[1] {0.5}>(shape)
        hidden = MatMul(b, weight)
        y = Relu(hidden)
        z = Gemm(b, weight)
        """,
    ),
    "convolution": (
        "float[n, 1, 2, 2] y",
        """
        images = Constant<value_ints = [-1, 1, 2, 2]>()
        image = Reshape(b, images)
        shape = Constant<value_ints = [1, 1, 1, 1]>()
        weight = ConstantOfShape<value = float[1] {2.0}>(shape)
        y = Conv(image, weight)
        """,
    ),
    "non_max_suppression": (
        "float[m, 4] y",
        """
        all = Unsqueeze(b, only)
        line = Unsqueeze(s, only)
        scores = Unsqueeze(line, only)
        most = Constant<value_ints = [9223372036854775807]>()
        overlap = Constant<value_floats = [0.5]>()
        chosen = NonMaxSuppression(all, scores, most, overlap)
        box = Constant<value_ints = [2]>()
        column = Gather<axis = 1>(chosen, box)
        kept = Squeeze(column, one)
        y = Gather(b, kept)
        """,
    ),
    "compress": (
        "float[m] y",
        """
        half = Constant<value_float = 0.5>()
        large = Greater(s, half)
        y = Compress<axis = 0>(s, large)
        """,
    ),
    "means": (
        "float y, float[4] z, float[n] w, int64 v",
        """
        y = ReduceMean<keepdims = 0>(s)
        z = ReduceMean<axes = [0], keepdims = 0>(b)
        w = ReduceMean<axes = [1], keepdims = 0>(b)
        v = ReduceMean<keepdims = 0>(i)
        """,
    ),
    "mean_of_items": (
        "float[1, 2, 1] y, float[n, 1, 1] z",
        """
        shape = Constant<value_ints = [-1, 2, 2]>()
        items = Reshape(b, shape)
        y = ReduceMean<axes = [0, 2]>(items)
        z = ReduceMean<axes = [1, 2]>(items)
        """,
    ),
    "mean_of_inputs": ("float[n] y", "t = Sum(s, s, s) y = Mean(t, s)"),
    "top_k_of_the_smallest": (
        "float[m] v, int64[m] j",
        """
        third = Constant<value_float = 0.3>()
        less = Sub(s, third)
        numbers = Log(less)
        k = Shape(s)
        v, j = TopK<largest = 0>(numbers, k)
        """,
    ),
    "slice_from_the_end": (
        "float[m] p, float[k] q, float[l, 4] r, float[h] t",
        """
        two = Constant<value_ints = [-2]>()
        end = Constant<value_ints = [9223372036854775807]>()
        p = Slice(s, two, end)
        minus_three = Constant<value_ints = [-3]>()
        last = Constant<value_ints = [-1]>()
        q = Slice(s, minus_three, last)
        r = Slice(b, two, end, only)
        step = Constant<value_ints = [2]>()
        t = Slice(s, one, end, only, step)
        """,
    ),
    "slice_to_the_least_end": (
        "float[m] y, int64 z",
        """
        start = Constant<value_ints = [3]>()
        least = Constant<value_ints = [-9223372036854775807]>()
        y = Slice(s, start, least)
        z = Size(y)
        """,
    ),
    "slice_from_a_size": (
        "float[m] y, float[6, k] z",
        """
        count = Shape(s)
        two = Constant<value_ints = [2]>()
        before = Sub(count, two)
        end = Constant<value_ints = [9223372036854775807]>()
        y = Slice(x, before, end)
        z = Slice(boxes, before, count, one)
        """,
    ),
    "number_that_is_rounded": (
        "float[m] y",
        """
        most = Constant<value_float = 2051.0>()
        large = Mul(x, most)
        larger = Mul(large, three)
        number = Clip(larger, zero, most)
        half = Cast<to = 10>(number)
        rounded = Cast<to = 7>(half)
        count = Gather(rounded, only)
        y = ConstantOfShape<value = float[1] {1.0}>(count)
        """,
    ),
    # What does not count would matter to each of these.
    "counts_as_divisors": (
        "int64[m] y, float[m] z",
        """
        rough = Round(x)
        z, first, inverse, counts = Unique(rough)
        twelve = Constant<value_int = 12>()
        y = Div(twelve, counts)
        """,
    ),
    "one_for_all": ("float[6] y, float[6] z", "y = Add(x, s) six = Shape(x) z = Expand(s, six)"),
    "one_matrix_for_all": (
        "float[6, 1, 1] y",
        """
        lines = Unsqueeze(b, one)
        columns = Unsqueeze(boxes, last_axis)
        y = MatMul(lines, columns)
        """,
    ),
    "pairs": (
        "float[n] y, float z",
        """
        rows = Unsqueeze(b, one)
        columns = Unsqueeze(b, only)
        apart = Sub(rows, columns)
        far = Abs(apart)
        sums = ReduceSum<keepdims = 0>(far, last_axis)
        negated = Neg(sums)
        y = ReduceMin<axes = [1], keepdims = 0>(negated)
        z = ReduceMean<keepdims = 0>(sums)
        """,
    ),
    "gram": (
        "float[n] y, int64[n] a",
        """
        columns = Transpose<perm = [1, 0]>(b)
        products = MatMul(b, columns)
        negated = Neg(products)
        y = ReduceMax<axes = [1], keepdims = 0>(negated)
        weights = Softmax<axis = 1>(negated)
        a = ArgMin<axis = 1, keepdims = 0>(weights)
        """,
    ),
    "norms": (
        "float y, float[4] z, float w",
        """
        y = ReduceL2<keepdims = 0>(s)
        z = ReduceLogSum<axes = [0], keepdims = 0>(b)
        w = ReduceLogSumExp<keepdims = 0>(s)
        """,
    ),
    "scatter_sums": (
        "float[6] y, float[2] z",
        """
        y = ScatterElements<axis = 0, reduction = "add">(x, i, s)
        two = Constant<value_int = 2>()
        odd = Mod(i, two)
        zeros = ConstantOfShape<value = float[1] {0.0}>(pair)
        z = ScatterElements<axis = 0, reduction = "add">(zeros, odd, s)
        """,
    ),
    "elements_from_the_end": (
        "float[1, 4] y, float[4] z",
        """
        back = Constant<value = int64[1, 4] {-1, -1, -1, -1}>()
        y = GatherElements<axis = 0>(b, back)
        last = Constant<value = int64[1] {-1}>()
        z = GatherND(b, last)
        """,
    ),
    "classes": (
        "int64[m, 3] y",
        """
        all = Unsqueeze(b, only)
        line = Unsqueeze(s, only)
        other = Neg(line)
        both_classes = Concat<axis = 0>(line, other)
        scores = Unsqueeze(both_classes, only)
        most = Constant<value_ints = [2]>()
        overlap = Constant<value_floats = [0.5]>()
        y = NonMaxSuppression(all, scores, most, overlap)
        """,
    ),
    "joined_and_sorted": (
        "float[3] v, int64[3] j",
        """
        negated = Neg(s)
        both_lists = Concat<axis = 0>(negated, x)
        three_ints = Constant<value_ints = [3]>()
        v, j = TopK<largest = 0>(both_lists, three_ints)
        """,
    ),
    "compressed_columns": (
        "float[4, m] y",
        """
        columns = Transpose<perm = [1, 0]>(b)
        half = Constant<value_float = 0.5>()
        large = Less(s, half)
        y = Compress<axis = 1>(columns, large)
        """,
    ),
    "compress_by_a_longer_condition": (
        "float[m] y, float[k, 4] z, float[h] w",
        """
        y = Compress<axis = 0>(s, mask)
        some = Constant<value = bool[6] {1, 0, 1, 1, 0, 1}>()
        z = Compress<axis = 0>(b, some)
        more = Constant<value = bool[12] {0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1}>()
        w = Compress(b, more)
        """,
    ),
    "images": (
        "float[n, 1, 4, 4] y, float[n, 1, 4, 2] z, float[n, 2, 2, 2] w",
        """
        shape = Constant<value_ints = [-1, 1, 2, 2]>()
        image = Reshape(b, shape)
        margins = Constant<value_ints = [0, 0, 1, 1, 0, 0, 1, 1]>()
        y = Pad(image, margins)
        scales = Constant<value_floats = [1.0, 1.0, 2.0, 1.0]>()
        z = Resize<mode = "nearest">(image, , scales)
        repeats = Constant<value_ints = [1, 2, 1, 1]>()
        w = Tile(image, repeats)
        """,
    ),
}

SCORES = {
    "some": [0.7, -0.3, 0.2, 0.9, -0.1, 0.4],
    "all": [0.1, 0.3, 0.8, 0.6, 0.5, 0.2],
    "one": [-0.7, -0.3, -0.2, 0.9, -0.1, -0.4],
    "none": [-0.1, -0.3, -0.8, -0.6, -0.5, -0.2],
}

# Cases that need a selected score.
NEVER_NONE = {
    "elements_from_the_end", "expand_others", "gather_last", "mean_of_items", "means",
    "named_shape", "pairs",
}  # fmt: skip

# Cases that are valid for some scores only.
ONLY = {
    "one_for_all": {"all", "one"},
    "one_matrix_for_all": {"all", "one"},
    "pasted": {"some", "all", "one"},
}


def list_inputs(name: str) -> list[list[np.ndarray]]:
    """The inputs of a case, one list for each set of scores."""
    corners = np.array(
        [[0, 0, 2, 2], [1, 0, 3, 2], [0, 0.2, 2, 2.2], [5, 5, 6, 7], [0, 0, 1, 1], [5, 5, 6, 6.8]],
        np.float32,
    )
    kinds = [kind for kind in SCORES if kind != "none" or name not in NEVER_NONE]
    kinds = [kind for kind in kinds if kind in ONLY.get(name, SCORES)]
    return [[np.array(SCORES[kind], np.float32), corners] for kind in kinds]


def write_graph(name: str) -> str:
    """A model of a case in ONNX's text form."""
    outputs, nodes = AFTER_SELECT[name]
    return (
        '<ir_version: 8, opset_import: ["" : 17]>\n'
        f"{name} (float[6] x, float[6, 4] boxes) => ({outputs}) {{\n"
        f"{CONSTANTS}{SELECT}{nodes}\n}}"
    )
