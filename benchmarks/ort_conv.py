# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's side of benchmarks/convs: models of one convolution.

fp32: Conv and its activation on nchw tensors, as an importer finds them. What
ONNX Runtime reorders at the border of such a model counts, because a user
cannot take it out. int8: QLinearConv of the com.microsoft domain on nhwc
tensors, which is what ONNX Runtime rewrites models to; nothing is reordered.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# The same rule as in Sampling.h.
ROTATE_BYTES = 8 << 20
MAX_REPLICAS = 128
MIN_SAMPLE_MS = 0.05
MIN_SAMPLES = 2

OPSET = 13
IR_VERSION = 8
# u8 x s8 products of random bytes, brought back into a byte.
SCALE = 1 / 64


def activation_nodes(name: str, x: str) -> tuple[list[Any], list[Any]]:
    """Nodes and initialisers from `x` to "y"."""
    if name == "relu":
        return [helper.make_node("Relu", [x], ["y"])], []
    if name == "relu6":
        bounds = [
            numpy_helper.from_array(np.float32(0).reshape(()), "low"),
            numpy_helper.from_array(np.float32(6).reshape(()), "high"),
        ]
        return [helper.make_node("Clip", [x, "low", "high"], ["y"])], bounds
    return [helper.make_node("LeakyRelu", [x], ["y"], alpha=0.1)], []


def window(shape: Any) -> dict[str, Any]:
    """The attributes of the convolution."""
    return {
        "strides": list(shape.strides),
        "pads": list(shape.pads),
        "dilations": list(shape.dilations),
        "group": shape.groups,
        "kernel_shape": [shape.r, shape.s],
    }


def fp32_model(shape: Any, random: np.random.Generator) -> tuple[bytes, Any, Any]:
    """The model, its input and a place for its output."""
    weights = random.standard_normal(
        (shape.k, shape.c // shape.groups, shape.r, shape.s), dtype=np.float32
    ) * np.float32(0.05)
    bias = random.standard_normal(shape.k, dtype=np.float32)
    initializers = [
        numpy_helper.from_array(weights, "w"),
        numpy_helper.from_array(bias, "b"),
    ]
    result = "y" if shape.activation == "none" else "sum"
    nodes = [helper.make_node("Conv", ["x", "w", "b"], [result], **window(shape))]
    if result != "y":
        more, bounds = activation_nodes(shape.activation, result)
        nodes += more
        initializers += bounds
    x = random.standard_normal((shape.n, shape.c, shape.h, shape.w), dtype=np.float32)
    y = np.zeros((shape.n, shape.k, *shape.output), np.float32)
    return serialise(nodes, initializers, x, y, TensorProto.FLOAT), x, y


def int8_model(shape: Any, random: np.random.Generator) -> tuple[bytes, Any, Any]:
    """The model, its input and a place for its output."""
    weights = random.integers(
        -127, 128, (shape.k, shape.c // shape.groups, shape.r, shape.s)
    ).astype(np.int8)
    fan_in = math.prod(weights.shape[1:])
    scales = np.full(shape.k, 1 / (74 * math.sqrt(fan_in)), np.float32)
    zero = 0 if shape.activation in ("relu", "relu6") else 128
    initializers = [
        numpy_helper.from_array(np.float32(SCALE).reshape(()), "x_scale"),
        numpy_helper.from_array(np.uint8(128).reshape(()), "x_zero"),
        numpy_helper.from_array(weights, "w"),
        numpy_helper.from_array(scales, "w_scale"),
        numpy_helper.from_array(np.zeros(shape.k, np.int8), "w_zero"),
        numpy_helper.from_array(np.float32(SCALE).reshape(()), "y_scale"),
        numpy_helper.from_array(np.uint8(zero).reshape(()), "y_zero"),
        numpy_helper.from_array(
            random.integers(-1000, 1000, shape.k).astype(np.int32), "b"
        ),
    ]
    names = ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "b"]
    node = helper.make_node(
        "QLinearConv", names, ["y"], domain="com.microsoft", channels_last=1,
        **window(shape),
    )
    x = random.integers(0, 256, (shape.n, shape.h, shape.w, shape.c)).astype(np.uint8)
    y = np.zeros((shape.n, *shape.output, shape.k), np.uint8)
    return serialise([node], initializers, x, y, TensorProto.UINT8), x, y


def serialise(nodes: Any, initializers: Any, x: Any, y: Any, dtype: int) -> bytes:
    """The model as bytes."""
    graph = helper.make_graph(
        nodes, "conv",
        [helper.make_tensor_value_info("x", dtype, x.shape)],
        [helper.make_tensor_value_info("y", dtype, y.shape)],
        initializers,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
    return model.SerializeToString()


class OrtConv:
    """As many sessions as are used in turn, each with buffers of its own."""

    def __init__(self, shape: Any, dtype: str, threads: int) -> None:
        make = fp32_model if dtype == "fp32" else int8_model
        data, x, y = make(shape, np.random.default_rng(1))
        size = len(data) + x.nbytes + y.nbytes
        replicas = min(max(ROTATE_BYTES // size + 1, 1), MAX_REPLICAS)
        # The memory of the bindings has to live as long as they do.
        self.keep: list[Any] = []
        self.runs = [self.bind(data, x, y, threads) for _ in range(replicas)]
        self.next = 0
        self.run()

    def bind(self, data: bytes, x: Any, y: Any, threads: int) -> tuple[Any, Any]:
        """A session with tensors of its own."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if threads == 1:
            options.intra_op_num_threads = 1
        else:
            # Many sessions would have many threads, which wait spinning.
            options.use_per_session_threads = False
        session = onnxruntime.InferenceSession(
            data, options, providers=["CPUExecutionProvider"]
        )
        binding = session.io_binding()
        source, result = (
            onnxruntime.OrtValue.ortvalue_from_numpy(array.copy()) for array in (x, y)
        )
        binding.bind_ortvalue_input("x", source)
        binding.bind_ortvalue_output("y", result)
        self.keep.append((session, binding, source, result))
        return session._sess.run_with_iobinding, binding._iobinding

    def run(self) -> None:
        run, binding = self.runs[self.next]
        run(binding, None)
        self.next = (self.next + 1) % len(self.runs)

    def sample(self, milliseconds: float) -> list[float]:
        """One round; see sampleRound in Sampling.h."""
        batch = max(1, math.ceil(MIN_SAMPLE_MS / max(self.time(1), 1e-4)))
        samples: list[float] = []
        spent = 0.0
        while len(samples) < MIN_SAMPLES or spent < milliseconds:
            spent += (elapsed := self.time(batch))
            samples.append(elapsed / batch)
        return samples

    def time(self, count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            self.run()
        return 1e3 * (time.perf_counter() - start)
