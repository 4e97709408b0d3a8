# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Node tests of operators that the installed onnx package does not know yet.

They are made as ONNX's own are: random inputs, and the definition of the operator
in numpy. A newer package's cases of the same name take precedence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


@dataclass
class Case:
    """What generate.py reads of onnx's own cases."""

    name: str
    model: Any
    data_sets: list[tuple[list[np.ndarray], list[np.ndarray]]]


def make_case(
    name: str,
    operator: str,
    opset: int,
    inputs: dict[str, np.ndarray],
    output: np.ndarray,
    **attributes: Any,
) -> Case:
    """A model of one node, with one data set."""

    def describe(name: str, value: np.ndarray):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)

    node = helper.make_node(operator, list(inputs), ["y"], **attributes)
    infos = [describe(*item) for item in inputs.items()]
    graph = helper.make_graph([node], name, infos, [describe("y", output)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    values = [value.astype(np.float32) for value in inputs.values()]
    return Case(name, model, [(values, [output.astype(np.float32)])])


def make_graph_case(
    name: str,
    opset: int,
    nodes: list[Any],
    inputs: dict[str, np.ndarray],
    output: np.ndarray,
) -> Case:
    """A model of several nodes whose output is y, with one data set."""

    def describe(name: str, value: np.ndarray):
        dtype = numpy_helper.from_array(value).data_type
        return helper.make_tensor_value_info(name, dtype, value.shape)

    infos = [describe(*item) for item in inputs.items()]
    graph = helper.make_graph(nodes, name, infos, [describe("y", output)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return Case(name, model, [(list(inputs.values()), [output])])


def wrap_cases() -> list[Case]:
    """Integers wrap between two operations as they do in memory."""
    x = np.array([-3, 61, 100, 7], np.int8)
    low, high = np.array(-1, np.int8), np.array(1, np.int8)
    square = helper.make_node("Mul", ["x", "x"], ["s"])
    clip = helper.make_node("Clip", ["s", "low", "high"], ["y"])
    given = {"x": x, "low": low, "high": high}
    return [
        make_graph_case(
            "test_mul_clip_int8_wraps",
            13,
            [square, clip],
            given,
            np.clip(x * x, low, high),
        )
    ]


def nan_cases() -> list[Case]:
    """A NaN is the extreme of whatever it is among, wherever it stands."""
    x = np.linspace(-2, 2, 6 * 37).reshape(6, 37)
    for row, column in enumerate((0, 1, 18, 35, 36)):
        x[row, column] = np.nan
    cases = []
    for operator in ("ReduceMax", "ReduceMin"):
        for dtype in (np.float16, np.float32):
            nodes = [
                helper.make_node(operator, ["x"], ["extreme"], axes=[1], keepdims=0),
                helper.make_node("IsNaN", ["extreme"], ["y"]),
            ]
            name = f"test_{operator.lower()}_nan_{np.dtype(dtype).name}"
            expected = np.isnan(x).any(axis=1)
            cases.append(
                make_graph_case(name, 13, nodes, {"x": x.astype(dtype)}, expected)
            )
    return cases


def erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def activation_cases(random: np.random.Generator) -> list[Case]:
    x = random.standard_normal((3, 4, 5)).astype(np.float32).astype(np.float64)
    cubic = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    exact = 0.5 * x * (1 + erf(x / math.sqrt(2)))
    fast = 0.5 * x * (1 + np.tanh(cubic))
    mish = x * np.tanh(np.log1p(np.exp(x)))
    given = {"x": x}
    return [
        make_case("test_gelu_default", "Gelu", 20, given, exact),
        make_case("test_gelu_tanh", "Gelu", 20, given, fast, approximate="tanh"),
        make_case("test_mish", "Mish", 18, given, mish),
        make_case("test_mish_opset22", "Mish", 22, given, mish),
        make_case("test_swish_default", "Swish", 24, given, x * sigmoid(x)),
        make_case("test_swish_alpha", "Swish", 24, given, x * sigmoid(1.7 * x), alpha=1.7),
    ]


def group_normalization(
    opset: int, name: str, epsilon: float, random: np.random.Generator
) -> Case:
    """Scale and bias are one for each channel since opset 21, before that one for
    each group."""
    batch, channels, groups = 3, 6, 2
    x = random.standard_normal((batch, channels, 4, 5)).astype(np.float32)
    count = channels if opset >= 21 else groups
    scale, bias = random.standard_normal((2, count)).astype(np.float32)
    grouped = x.astype(np.float64).reshape(batch, groups, -1)
    mean = grouped.mean(axis=-1, keepdims=True)
    variance = grouped.var(axis=-1, keepdims=True)
    normal = ((grouped - mean) / np.sqrt(variance + epsilon)).reshape(x.shape)

    def per_channel(values: np.ndarray) -> np.ndarray:
        return np.repeat(values, channels // count).reshape(1, channels, 1, 1)

    return make_case(
        name,
        "GroupNormalization",
        opset,
        {"x": x, "scale": scale, "bias": bias},
        normal * per_channel(scale) + per_channel(bias),
        num_groups=groups,
        epsilon=epsilon,
    )


def global_lp_pool_cases() -> list[Case]:
    """Norms of whole images, which no package has cases of."""
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 5)).astype(np.float32)

    def norm(order: int) -> np.ndarray:
        powers = np.abs(x.astype(np.float64)) ** order
        return powers.sum(axis=(2, 3), keepdims=True) ** (1 / order)

    return [
        make_case("test_globallppool_default", "GlobalLpPool", 2, {"x": x}, norm(2)),
        make_case("test_globallppool_p1", "GlobalLpPool", 13, {"x": x}, norm(1), p=1),
        make_case("test_globallppool_p3", "GlobalLpPool", 22, {"x": x}, norm(3), p=3),
    ]


def simplified_norm_cases() -> list[Case]:
    """What ONNX Runtime called RMSNormalization, which no package has."""
    random = np.random.default_rng(2)
    x = random.standard_normal((2, 3, 4)).astype(np.float32).astype(np.float64)

    def normalize(axis: int, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
        axes = tuple(range(axis, 3))
        scale = random.standard_normal(x.shape[axis:]).astype(np.float32)
        root = np.sqrt((x * x).mean(axis=axes, keepdims=True) + epsilon)
        return scale, x / root * scale

    cases = []
    for name, opset, axis, epsilon in (("last", 17, -1, 1e-5), ("axis", 11, 1, 0.1)):
        scale, y = normalize(axis % 3, epsilon)
        given = {"x": x, "scale": scale}
        cases.append(
            make_case(
                f"test_simplified_layer_normalization_{name}",
                "SimplifiedLayerNormalization",
                opset,
                given,
                y,
                axis=axis,
                epsilon=epsilon,
            )
        )
    return cases


def own_cases() -> list[Case]:
    """All of them, the same in every run."""
    random = np.random.default_rng(0)
    return [
        *activation_cases(random),
        *wrap_cases(),
        *nan_cases(),
        group_normalization(18, "test_group_normalization_per_group", 1e-5, random),
        group_normalization(21, "test_group_normalization_example", 1e-5, random),
        group_normalization(21, "test_group_normalization_epsilon", 1e-2, random),
        *global_lp_pool_cases(),
        *simplified_norm_cases(),
    ]
