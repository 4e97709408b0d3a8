# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid models, made one operator after the other.

NNSmith, which makes such models too, was not taken: its release writes ONNX through
PyTorch's exporter alone (3 GB, and only such graphs as that exporter writes), and its
table of 70 operators has no fp16, no bytes, no quantisation, no recurrent layer, no
ConvTranspose, and nothing that scatters, gathers or sorts. What compilers get wrong is
often there, and in fusions of values that have several readers or are outputs, too.
Taken from it are typed operators with constraints, which are solved while the graph
grows, and the search for inputs on which the model shows something; here the numbers
are known from the start, so that constraints are on them as well (graph.py).
"""

from __future__ import annotations

from dataclasses import dataclass

# Modules add their recipes when they are imported.
import elementwise  # noqa: F401
import indexing  # noqa: F401
import motifs  # noqa: F401
import movement  # noqa: F401
import networks  # noqa: F401
import numpy as np
import onnx
import quantised  # noqa: F401
from graph import Graph, describe
from onnx import helper, numpy_helper
from recipes import RECIPES
from values import Value

OPSETS = (11, 13, 15, 17, 18, 19, 21, 22)
SPECIAL_SHARE = 0.06
MOST_OPERATORS = 14
# Recipes that do not fit are drawn again so many times.
MOST_TRIES = 80


@dataclass(frozen=True)
class RandomModel:
    model: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    outputs: list[Value]
    # What graph-opt is told besides.
    options: tuple[str, ...]


def generate(seed: int, number: int) -> RandomModel:
    """Model `number` of a seed: always the same with one release of ONNX Runtime."""
    random = np.random.default_rng([seed, number])
    opset = int(random.choice(OPSETS))
    graph = Graph(random, opset, bool(random.random() < SPECIAL_SHARE))
    fitting = [
        one for one in RECIPES
        if one.min_opset <= opset and (one.takes_special or not graph.is_special)
    ]  # fmt: skip
    # A model has a few favourites, so that what it combines is not always a mixture.
    favourites = np.where(random.random(len(fitting)) < 0.1, 12.0, 1.0)
    weights = np.array([one.weight for one in fitting]) * favourites
    wanted = int(random.integers(1, MOST_OPERATORS, endpoint=True))
    for _ in range(MOST_TRIES):
        if len(graph.nodes) >= wanted:
            break
        graph.extend(fitting[int(random.choice(len(fitting), p=weights / weights.sum()))].grow)
    return finish(graph)


def finish(graph: Graph) -> RandomModel:
    """All values that nothing reads are outputs, and some of the others."""
    read = {name for node in graph.nodes for name in node.input}
    made = {name for node in graph.nodes for name in node.output}
    values = {value.name: value for value in graph.made if value.name in made}
    outputs = [
        value for name, value in values.items() if name not in read or graph.chance(0.12)
    ]
    graph.random.shuffle(outputs)
    outputs = outputs[:1] + [v for v in outputs[1:] if v.name in read or not graph.chance(0.05)]
    inputs = [value for value in graph.inputs if value.name in read]
    proto = helper.make_graph(
        graph.nodes, "random", [describe(value) for value in inputs],
        [describe(value) for value in outputs],
        [numpy_helper.from_array(v.data, v.name) for v in graph.constants if v.name in read],
    )  # fmt: skip
    return RandomModel(
        graph.make_model(proto), {value.name: value.data for value in inputs}, outputs,
        draw_options(graph),
    )  # fmt: skip


def draw_options(graph: Graph) -> tuple[str, ...]:
    options = ["--layout", graph.choose(("nchw", "nhwc"))]
    options += ["--fusion", graph.choose(("on", "on", "off"))]
    options += ["--threads", graph.choose(("1", "1", "2"))]
    return tuple(options)
