# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid models, made one operator after the other.

NNSmith, which makes such models too, was not taken: its release (0.1.0) writes ONNX
through PyTorch's exporter alone (3 GB, and only such graphs as that exporter writes), and
its table of about 70 operators has no fp16, no bytes, no quantisation, no recurrent layer, no
ConvTranspose, and nothing that scatters, gathers or sorts. What compilers get wrong is
often there, and in fusions of values that have several readers or are outputs, too.
Taken from it are typed operators with constraints, which are solved while the graph
grows, and the search for inputs on which the model shows something; here the numbers
are known from the start, so that constraints are on them as well (graph.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

import branches  # noqa: F401

# Modules add their recipes when they are imported.
import elementwise  # noqa: F401
import images  # noqa: F401
import indexing  # noqa: F401
import microsoft  # noqa: F401
import motifs  # noqa: F401
import movement  # noqa: F401
import networks  # noqa: F401
import newer  # noqa: F401
import quantised  # noqa: F401
import sizes  # noqa: F401
import tokens  # noqa: F401
from graph import Graph, describe
from recipes import RECIPES, Recipe
from values import Value

OPSETS = (9, 10, 11, 13, 15, 17, 18, 19, 21, 22, 23, 24)
FLOAT_TYPES = ("float32",) * 26 + ("float16",) * 3 + ("float64",)
SPECIAL_SHARE = 0.06
MOST_OPERATORS = (4, 8, 14, 14, 25)
# Recipes that do not fit are drawn again so many times.
MOST_TRIES = 120
# A model prefers operators that go together, and some that are chosen at random.
THEMES: tuple[tuple[str, ...], ...] = (
    (),
    (),
    ("conv", "conv_block", "join_channels", "part_channels", "pool", "activated", "resize",
     "in_nhwc", "gate_channels", "dense_block", "binary", "batch_normalization", "conv_transpose",
     "norm_before_conv", "shuffle_channels", "pad", "scale_and_shift", "conv_of_two",
     "image_as_tokens", "windows", "patches", "upsample_and_join"),
    ("matmul", "gemm", "linear_block", "attention", "decomposed_norm", "layer_normalization",
     "softmax", "transpose", "reshape", "by_shape", "binary", "activated", "split", "recurrent",
     "several_heads", "scale_and_shift", "image_as_tokens", "windows", "patches"),
    ("fused_product", "fused_activation", "skip_norm", "quantised_microsoft", "weights_of_4_bits",
     "conv_block", "linear_block", "matmul", "quantise_and_back", "activated"),
    ("quantise_and_back", "quantised_conv", "quantised_matmul", "quantised_chain",
     "quantised_operator", "blocks", "pool", "dynamic_quantise",
     "integer_product", "integer_conv", "binary", "concat", "activated"),
    ("binary_integer", "divide_integer", "bitwise", "cast", "compare", "where", "gather", "reduce",
     "logic", "clip", "cumulative_sum", "top_k", "arg_extreme", "unary_integer", "one_hot"),
    ("non_zero", "compress", "unique", "select_boxes", "binary", "reduce", "gather", "softmax",
     "matmul", "concat", "slice_", "where", "unary", "top_k", "layer_normalization", "compare",
     "arg_extreme", "transpose", "unsqueeze"),
    ("slice_", "concat", "split", "transpose", "reshape", "pad", "expand", "tile", "gather",
     "squeeze", "unsqueeze", "flatten", "where", "binary", "scatter_nd", "depth_space",
     "by_shape", "by_shapes"),
)  # fmt: skip
THEME_WEIGHT = 6.0
FAVOURITE_WEIGHT = 12.0


@dataclass(frozen=True)
class RandomModel:
    model: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    outputs: list[Value]
    # What graph-opt is told besides, the second on the host alone.
    options: tuple[str, ...]
    host_options: tuple[str, ...]


def generate(seed: int, number: int) -> RandomModel:
    """Model `number` of a seed: always the same with one release of ONNX Runtime, and
    with the same recipes."""
    random = np.random.default_rng([seed, number])
    opset = int(random.choice(OPSETS))
    float_type = str(random.choice(FLOAT_TYPES))
    graph = Graph(random, opset, float_type, bool(random.random() < SPECIAL_SHARE))
    recipes, weights = draw_recipes(graph)
    wanted = graph.integer(1, graph.choose(MOST_OPERATORS))
    for _ in range(MOST_TRIES):
        if len(graph.nodes) >= wanted:
            break
        graph.extend(recipes[int(random.choice(len(recipes), p=weights))].grow)
    return finish(graph)


def draw_recipes(graph: Graph) -> tuple[list[Recipe], np.ndarray]:
    """The recipes that a model may use, and how often it uses each."""
    fitting = [
        one for one in RECIPES
        if one.min_opset <= graph.opset and (one.takes_special or not graph.is_special)
    ]  # fmt: skip
    theme = graph.choose(THEMES)
    weights = np.array([one.weight for one in fitting])
    weights *= [THEME_WEIGHT if one.grow.__name__ in theme else 1.0 for one in fitting]
    weights *= [FAVOURITE_WEIGHT if graph.chance(0.05) else 1.0 for one in fitting]
    return fitting, weights / weights.sum()


def finish(graph: Graph) -> RandomModel:
    """All values that nothing reads are outputs, and some of the others."""
    read = set(graph.read)
    outputs = [value for value in graph.made if value.name not in read or graph.chance(0.12)]
    graph.random.shuffle(outputs)
    # Some of the values that nothing reads are dead.
    outputs = outputs[:1] + [v for v in outputs[1:] if v.name in read or not graph.chance(0.05)]
    inputs = [value for value in graph.inputs if value.name in read]
    constants = [
        numpy_helper.from_array(v.data, v.name) for v in graph.constants if v.name in read
    ]
    options = draw_options(graph)
    nodes, constants = place_constants(graph, constants)
    described = [describe(value) for value in inputs], [describe(value) for value in outputs]
    if graph.chance(0.1):
        options += name_batch(*described)
    if graph.chance(0.05):
        # Older exporters list all constants as inputs, which have a default then.
        described[0].extend(
            helper.make_tensor_value_info(one.name, one.data_type, one.dims)
            for one in constants
        )
    proto = helper.make_graph(nodes, "random", *described, constants)
    data = {value.name: value.data for value in inputs}
    model = graph.make_model(proto)
    return RandomModel(model, data, outputs, tuple(options), draw_host_options(graph))


def place_constants(
    graph: Graph, constants: list[onnx.TensorProto]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """All nodes and initialisers: in some models, constants are nodes."""
    if not graph.chance(0.25):
        return graph.nodes, constants
    nodes = [helper.make_node("Constant", [], [one.name], value=one) for one in constants]
    return nodes + graph.nodes, []


def name_batch(
    inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]
) -> list[str]:
    """Gives the inputs' first dimension a symbol; returns the options that say its size."""
    fronts = [one.type.tensor_type.shape.dim[:1] for one in inputs]
    found = {front[0].dim_value for front in fronts if front}
    if len(found) != 1 or 0 in found:
        return []
    for front in fronts:
        for dimension in front:
            dimension.dim_param = "batch"
    for one in outputs:
        for dimension in one.type.tensor_type.shape.dim:
            dimension.Clear()
    return ["--batch", str(found.pop())]


def draw_options(graph: Graph) -> list[str]:
    options = ["--layout", graph.choose(("nchw", "nhwc"))]
    return [*options, "--fusion", graph.choose(("on", "on", "off", "producers"))]


def draw_host_options(graph: Graph) -> tuple[str, ...]:
    options = ["--threads", graph.choose(("1", "1", "2"))]
    # Kernels without what the machine has.
    if graph.chance(0.25):
        options += [
            "--cpu",
            graph.choose(("haswell", "haswell", "skylake-avx512", "x86-64-v2")),
        ]
    return tuple(options)
