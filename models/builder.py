# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small builder of ONNX image classifiers with seeded weights.

Weights are He-initialised and batch normalisation gets plausible statistics,
so that activations keep their order of magnitude through a deep network. The
same name and seed always give the same model.
"""

from __future__ import annotations

import math
import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CLASSES = 1000
IMAGE = 224
SYMBOLIC_BATCH = "N"

# The producer's IR versions that go with the opsets used here.
IR_VERSION = 8


@dataclass(frozen=True)
class Value:
    """A tensor of the graph and the size of its channel dimension."""

    name: str
    channels: int


class ModelBuilder:
    """Collects nodes and initialisers, and returns them as a model.

    `after_relu` arguments say what feeds a weight: He's gain of 2 makes up for
    the half that a rectifier removes, and is wrong after a linear layer.
    """

    def __init__(
        self, name: str, batch: int | None = None, opset: int = 13, seed: int = 0
    ) -> None:
        self.name = name
        self.opset = opset
        self.batch: int | str = SYMBOLIC_BATCH if batch is None else batch
        self.random = np.random.default_rng([zlib.crc32(name.encode()), seed])
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.counts: dict[str, int] = {}

    # Graph

    def unique(self, stem: str) -> str:
        """A name that starts with `stem` and is not taken."""
        count = self.counts.get(stem, 0)
        self.counts[stem] = count + 1
        return stem if count == 0 else f"{stem}_{count}"

    def input(self, name: str, shape: Sequence[int]) -> Value:
        """Adds a float input; the batch dimension comes before `shape`."""
        self.inputs.append(
            helper.make_tensor_value_info(
                name, TensorProto.FLOAT, [self.batch, *shape]
            )
        )
        return Value(name, shape[0])

    # Pixels of a side of the image; build.py sets it for all builders.
    image_size = IMAGE

    def image(self, name: str = "data") -> Value:
        """Adds the input of an ImageNet classifier."""
        return self.input(name, [3, self.image_size, self.image_size])

    def output(self, value: Value, shape: Sequence[int]) -> None:
        """Makes `value` an output; the batch dimension comes before `shape`."""
        self.outputs.append(
            helper.make_tensor_value_info(
                value.name, TensorProto.FLOAT, [self.batch, *shape]
            )
        )

    def constant(self, name: str, array: np.ndarray) -> str:
        """Adds an initialiser and returns its name."""
        name = self.unique(name)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, name: str, values: Sequence[int]) -> str:
        """Adds a list of int64, such as a shape."""
        return self.constant(name, np.asarray(values, np.int64))

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        channels: int,
        name: str = "",
        **attributes: Any,
    ) -> Value:
        """Adds a node with one output; a `name` that is given is unique already."""
        name = name or self.unique(operator.lower())
        output = f"{name}_out"
        self.nodes.append(
            helper.make_node(operator, list(inputs), [output], name, **attributes)
        )
        return Value(output, channels)

    def model(self) -> onnx.ModelProto:
        """Returns what was built."""
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, self.initializers
        )
        return helper.make_model(
            graph,
            producer_name="tarpon-models",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", self.opset)],
        )

    # Weights

    def normal(self, shape: Sequence[int], deviation: float) -> np.ndarray:
        """Seeded normal numbers around 0."""
        numbers = self.random.standard_normal(tuple(shape), dtype=np.float32)
        return numbers * np.float32(deviation)

    def uniform(self, size: int, low: float, high: float) -> np.ndarray:
        """Seeded uniform numbers."""
        return self.random.uniform(low, high, size).astype(np.float32)

    # Layers

    def product(self, x: Value, weight: np.ndarray, name: str) -> Value:
        """A product of the last dimension with weights."""
        return self.node("MatMul", [x.name, self.constant(name, weight)], weight.shape[1])

    def product_by_rows(self, x: Value, rows: np.ndarray, name: str) -> Value:
        """A product with the rows of a table, which is the constant of that name."""
        turned = self.node("Transpose", [name], 0, perm=[1, 0])
        return self.node("MatMul", [x.name, turned.name], rows.shape[0])

    def conv(
        self,
        x: Value,
        channels: int,
        kernel: int,
        stride: int = 1,
        pad: int = 0,
        groups: int = 1,
        bias: bool = False,
        after_relu: bool = True,
        name: str = "conv",
        dilation: int = 1,
    ) -> Value:
        """A square convolution with symmetric padding."""
        name = self.unique(name)
        shape = (channels, x.channels // groups, kernel, kernel)
        gain = 2.0 if after_relu else 1.0
        deviation = math.sqrt(gain / math.prod(shape[1:]))
        inputs = [
            x.name,
            self.constant(f"{name}_weight", self.normal(shape, deviation)),
        ]
        if bias:
            numbers = self.normal([channels], 0.02)
            inputs.append(self.constant(f"{name}_bias", numbers))
        return self.node(
            "Conv",
            inputs,
            channels,
            name,
            dilations=[dilation, dilation],
            group=groups,
            kernel_shape=[kernel, kernel],
            pads=[pad] * 4,
            strides=[stride, stride],
        )

    def batch_norm(self, x: Value, scale: float = 1.0) -> Value:
        """Batch normalisation; `scale` multiplies gamma and beta."""
        size = x.channels
        name = self.unique("bn")
        gamma = self.uniform(size, 0.8, 1.2) * np.float32(scale)
        beta = self.normal([size], 0.1 * scale)
        mean = self.normal([size], 0.1)
        variance = self.uniform(size, 0.8, 1.25)
        inputs = [
            x.name,
            self.constant(f"{name}_gamma", gamma),
            self.constant(f"{name}_beta", beta),
            self.constant(f"{name}_mean", mean),
            self.constant(f"{name}_var", variance),
        ]
        return self.node(
            "BatchNormalization", inputs, size, name, epsilon=1e-5, momentum=0.9
        )

    def unary(self, operator: str, x: Value, **attributes: Any) -> Value:
        """A node that keeps the shape of its one input."""
        return self.node(operator, [x.name], x.channels, **attributes)

    def relu(self, x: Value) -> Value:
        return self.unary("Relu", x)

    def relu6(self, x: Value) -> Value:
        low = self.constant("clip_min", np.float32(0).reshape(()))
        high = self.constant("clip_max", np.float32(6).reshape(()))
        return self.node("Clip", [x.name, low, high], x.channels)

    def softmax(self, x: Value) -> Value:
        return self.unary("Softmax", x, axis=1)

    def add(self, x: Value, y: Value) -> Value:
        return self.node("Add", [x.name, y.name], x.channels)

    def mul(self, x: Value, y: Value) -> Value:
        """`y` may have one number for each channel."""
        return self.node("Mul", [x.name, y.name], x.channels)

    def concat(self, values: Sequence[Value]) -> Value:
        """Joins `values` along the channels."""
        channels = sum(value.channels for value in values)
        names = [value.name for value in values]
        return self.node("Concat", names, channels, axis=1)

    def pool(
        self,
        operator: str,
        x: Value,
        kernel: int,
        stride: int,
        pads: Sequence[int] = (0, 0, 0, 0),
        **attributes: Any,
    ) -> Value:
        """MaxPool or AveragePool; `pads` is top, left, bottom, right."""
        return self.node(
            operator,
            [x.name],
            x.channels,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=list(pads),
            **attributes,
        )

    def max_pool(self, x: Value, kernel: int, stride: int, pad: int = 0) -> Value:
        return self.pool("MaxPool", x, kernel, stride, [pad] * 4)

    def global_average_pool(self, x: Value) -> Value:
        return self.unary("GlobalAveragePool", x)

    def flatten(self, x: Value, spatial: int = 1) -> Value:
        """Flattens to (batch, channels * spatial)."""
        return self.node("Flatten", [x.name], x.channels * spatial, axis=1)

    def dropout(self, x: Value, ratio: float) -> Value:
        """Dropout, which does nothing in inference."""
        rate = self.constant("dropout_ratio", np.float32(ratio).reshape(()))
        return self.node("Dropout", [x.name, rate], x.channels)

    def reshape(self, x: Value, shape: Sequence[int], channels: int) -> Value:
        """Reshape; 0 keeps a dimension and -1 takes what is left."""
        return self.node(
            "Reshape", [x.name, self.integers("shape", shape)], channels
        )

    def linear(self, x: Value, features: int, after_relu: bool = True) -> Value:
        """A fully connected layer, with transposed weights as exporters do."""
        name = self.unique("fc")
        gain = 2.0 if after_relu else 1.0
        weight = self.normal([features, x.channels], math.sqrt(gain / x.channels))
        inputs = [
            x.name,
            self.constant(f"{name}_weight", weight),
            self.constant(f"{name}_bias", self.normal([features], 0.02)),
        ]
        return self.node("Gemm", inputs, features, name, transB=1)


def save(model: onnx.ModelProto, path: Path) -> None:
    """Writes `model` to a temporary file and renames that to `path`."""
    write_bytes(model.SerializeToString(), path)


def write_bytes(data: bytes, path: Path) -> None:
    """Writes `data` to a temporary file and renames that to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(scratch, 0o644)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
