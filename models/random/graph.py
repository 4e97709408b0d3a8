# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph that grows by one operator after the other.

Each operator is run by ONNX Runtime when it is added, so that its numbers are known
and the next one can be chosen by them: no division by zero, no index outside, no
conversion of what the type cannot hold. An operator whose results overflow, or
depend on how its operands were rounded, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from draws import draw_array, draw_shape
from values import (
    FLOATS,
    MAX_SENSITIVITY,
    UnfitError,
    Value,
    add_noise,
    blur_zeros,
    find_sensitivity,
)

MAX_ELEMENTS = 60000
MAX_RANK = 6
MAX_INPUTS = 5
# Share of a result's noise that operands get.
INNER_NOISE = 0.2
EMPTY_SHARE = 0.05
LARGE_SHARE = 0.15
# Larger floats make the small ones beside them invisible.
MAX_FLOAT = {"float32": 3e4, "float16": 1e3, "float64": 3e4}
# Operators whose results have sizes that depend on data.
SIZING = ("NonZero", "Unique", "Compress", "NonMaxSuppression")
# Operators whose results become 0 where others leave a tiny number.
SATURATING = (
    "Exp", "Sigmoid", "Softmax", "LogSoftmax", "Softplus", "Mish", "Swish", "Pow", "Elu", "Selu",
    "Celu", "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "Attention", "LSTM", "GRU", "RNN",
)  # fmt: skip
# ONNX Runtime's own operators.
MICROSOFT = "com.microsoft"
# The newest IR version that all opsets here go with.
IR_VERSION = 11


def make_session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """A session that computes each node as the model has it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def describe(value: Value) -> onnx.ValueInfoProto:
    dtype = helper.np_dtype_to_tensor_dtype(value.data.dtype)
    shape = [None] * value.rank if value.is_sized else value.shape
    return helper.make_tensor_value_info(value.name, dtype, shape)


class Graph:
    def __init__(
        self, random: np.random.Generator, opset: int, float_type: str, is_special: bool
    ) -> None:
        self.random = random
        self.opset = opset
        # That of most floats that are drawn.
        self.float_type = float_type
        # Inputs hold NaN and infinity.
        self.is_special = is_special
        # Values of size 0 are no mistake.
        self.may_be_empty = self.chance(EMPTY_SHARE)
        # Images and matrices are as large as those of small networks.
        self.is_large = self.chance(LARGE_SHARE)
        # How much rather operators read what was made last.
        self.recency = self.choose((0, 1, 2, 4))
        # What operators may read, and all results of nodes.
        self.values: list[Value] = []
        self.made: list[Value] = []
        self.inputs: list[Value] = []
        self.constants: list[Value] = []
        self.nodes: list[onnx.NodeProto] = []
        # Names of what they read.
        self.read: list[str] = []
        self.named = 0

    # Draws.

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def choose(self, choices: Sequence[Any]) -> Any:
        if not len(choices):
            raise UnfitError("nothing to choose from")
        return choices[int(self.random.integers(len(choices)))]

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high]."""
        if low > high:
            raise UnfitError("nothing to choose from")
        return int(self.random.integers(low, high + 1))

    def axis(self, rank: int) -> int:
        if not rank:
            raise UnfitError("no axis")
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, least: int = 1) -> list[int]:
        """Distinct axes, some counted from the end."""
        if rank < least:
            raise UnfitError("too few axes")
        chosen = self.random.permutation(rank)[: self.integer(least, rank)]
        return [int(a) - rank * self.chance(0.3) for a in chosen]

    # Values.

    def make_name(self, prefix: str) -> str:
        self.named += 1
        return f"{prefix}{self.named}"

    def fresh(self, dtype: str, shape: Sequence[int] | None = None, kind: str = "") -> Value:
        """A new input or constant."""
        shape = self.shape() if shape is None else tuple(shape)
        if len(self.inputs) >= MAX_INPUTS or self.chance(0.4):
            value = self.constant(draw_array(self.random, dtype, shape, kind, False))
            self.values.append(value)
            return value
        return self.input(draw_array(self.random, dtype, shape, kind, self.is_special))

    def shape(self, least: int = 0, most: int = 5) -> tuple[int, ...]:
        return draw_shape(self.random, least, most, self.may_be_empty)

    def input(self, data: np.ndarray) -> Value:
        value = Value(self.make_name("x"), (data,) * 3, is_coarse=data.dtype == np.float16)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def constant(self, data: np.ndarray) -> Value:
        value = Value(self.make_name("c"), (data,) * 3, True, data.dtype == np.float16)
        self.constants.append(value)
        return value

    def weights(self, dtype: str, shape: Sequence[int], kind: str = "") -> Value:
        """Mostly a constant, as trained parameters are."""
        if self.chance(0.15):
            return self.fresh(dtype, shape, kind)
        return self.constant(draw_array(self.random, dtype, tuple(shape), kind, False))

    def ints(self, values: Sequence[int] | int, dtype: str = "int64") -> Value:
        """Integers that are a parameter rather than data."""
        return self.constant(np.array(values, dtype))

    def pick(self, fits: Callable[[Value], bool], fresh: Callable[[], Value]) -> Value:
        """A random value that fits, the later ones more often, or a fresh one."""
        found = [value for value in self.values if fits(value)]
        if not found or self.chance(0.08):
            return fresh()
        weights = np.arange(1.0, len(found) + 1) ** self.recency
        return found[int(self.random.choice(len(found), p=weights / weights.sum()))]

    def pick_float(self, least: int = 0, most: int = MAX_RANK) -> Value:
        def fits(value: Value) -> bool:
            return value.is_float and least <= value.rank <= most

        dtype = "float16" if self.chance(0.04) else self.float_type
        shape = self.shape(least, min(most, 5))
        return self.pick(fits, lambda: self.fresh(dtype, shape))

    def pick_any(self, least: int = 0, most: int = MAX_RANK) -> Value:
        dtype = self.choose(
            (self.float_type, self.float_type, "int64", "int32", "uint8", "int8", "bool")
        )
        shape = self.shape(least, min(most, 5))
        return self.pick(lambda v: least <= v.rank <= most, lambda: self.fresh(dtype, shape))

    # Nodes.

    def node(
        self, operator: str, inputs: Sequence[Value | None], outputs: int = 1,
        exact: bool = False, hidden: bool = False, captured: Sequence[Value] = (),
        skipped: Sequence[int] = (), may_be_infinite: bool = False, **attributes: Any,
    ) -> list[Value]:  # fmt: skip
        """Adds a node. Results of exact operators are the same however a program
        computes them, and only its recipe reads those that are hidden.
        Graphs in its attributes read those that are captured. Outputs at the places
        in `skipped` are left out. Masks may be infinite."""
        names = ["" if i in skipped else self.make_name("v") for i in range(outputs)]
        # An empty list has no type.
        attributes = {name: of for name, of in attributes.items() if of != []}
        proto = helper.make_node(
            operator, [value.name if value else "" for value in inputs], names, **attributes
        )
        given = [value for value in inputs if value is not None] + list(captured)
        results = self.evaluate(proto, given, exact)
        made = [
            self.make_value(name, operator, copies, given, exact)
            for name, copies in zip(filter(None, names), results, strict=True)
        ]
        for value in made:
            self.check(value, may_be_infinite)
        self.nodes.append(proto)
        self.made.extend(made)
        self.read.extend(value.name for value in given)
        if not hidden:
            self.values.extend(made)
        return made

    def feed(self, given: list[Value], exact: bool) -> list[dict[str, np.ndarray]]:
        """What a node reads in each of its runs. That an operator rounds numbers on its
        way to its results is as if its operands had been rounded."""
        fed: list[dict[str, np.ndarray]] = [{}, {}, {}]
        for value in given:
            signs = self.random.choice((-INNER_NOISE, INNER_NOISE), value.shape)
            for one, copy, sign in zip(fed, value.copies, (0, 1, -1), strict=True):
                is_noisy = sign and not exact and value.is_float
                one[value.name] = add_noise(copy, sign * signs) if is_noisy else copy
        return fed

    def evaluate(
        self, proto: onnx.NodeProto, given: list[Value], exact: bool
    ) -> list[tuple[np.ndarray, ...]]:
        """The results of each output, from each copy of the operands."""
        given = list({value.name: value for value in given}.values())
        fed = [value for value in given if not value.is_constant]
        graph = helper.make_graph(
            [proto], "node", [describe(value) for value in fed],
            [helper.make_empty_tensor_value_info(name) for name in proto.output if name],
            [numpy_helper.from_array(v.data, v.name) for v in given if v.is_constant],
        )  # fmt: skip
        try:
            session = make_session(self.make_model(graph))
            runs = [session.run(None, one) for one in self.feed(fed, exact)]
        except Exception as error:  # ONNX Runtime has a class for each code.
            raise UnfitError(f"{proto.op_type}: {str(error).splitlines()[0]}") from error
        if any(a.shape != b.shape for run in runs for a, b in zip(run, runs[0], strict=True)):
            raise UnfitError("a size that depends on rounding")
        return list(zip(*runs, strict=True))

    def make_value(
        self, name: str, operator: str, copies: tuple[np.ndarray, ...], given: list[Value],
        exact: bool,
    ) -> Value:  # fmt: skip
        data = copies[0]
        if not exact and data.dtype.name in FLOATS:
            signs = self.random.choice((-1.0, 1.0), data.shape)
            copies = (data, add_noise(copies[1], signs), add_noise(copies[2], -signs))
            if operator in SATURATING:
                copies = (data, *(blur_zeros(copy) for copy in copies[1:]))
        is_coarse = data.dtype == np.float16 or any(value.is_coarse for value in given)
        is_sized = operator in SIZING or any(value.is_sized for value in given)
        return Value(name, copies, False, is_coarse, is_sized)

    def check(self, value: Value, may_be_infinite: bool) -> None:
        """Raises an error if the value shows nothing, or too little."""
        data = value.data
        if data.size > MAX_ELEMENTS or data.ndim > MAX_RANK:
            raise UnfitError("too large")
        if value.is_float and data.size and not self.is_special and not may_be_infinite:
            if not all(np.isfinite(x).all() for x in value.copies):
                raise UnfitError("not finite")
            if np.abs(data).max() > MAX_FLOAT[value.dtype]:
                raise UnfitError("overflow")
        limit = MAX_SENSITIVITY[value.is_coarse] if value.is_float else 0
        if not data.size and not self.may_be_empty:
            raise UnfitError("empty")
        if find_sensitivity(value.copies) > limit:
            raise UnfitError("depends on rounding")
        is_flat = data.size > 1 and (data == data.flat[0]).all()
        if is_flat and not self.chance(0.1):
            raise UnfitError("all elements are equal")

    def extend(self, recipe: Callable[[Graph], object]) -> bool:
        """Grows by a recipe, or leaves everything as it was and returns false."""
        lists = (self.values, self.made, self.inputs, self.constants, self.nodes, self.read)
        lengths = [len(one) for one in lists]
        try:
            recipe(self)
        except UnfitError:
            for one, length in zip(lists, lengths, strict=True):
                del one[length:]
            return False
        return True

    def make_model(self, graph: onnx.GraphProto) -> onnx.ModelProto:
        opsets = [helper.make_opsetid("", self.opset)]
        if any(node.domain for node in graph.node):
            opsets.append(helper.make_opsetid(MICROSOFT, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
