# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of models/ as modules of PyTorch, for torch.compile.

Knows the operators that models/builder.py writes. Tensors of shapes are lists
of numbers here, so that the traced program has none of their arithmetic.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional

Attributes = dict[str, Any]


def cut_pads(pads: Sequence[int] | None) -> tuple[int, ...]:
    """ONNX's pads of a window as PyTorch's, which are the same at both ends."""
    pads = tuple(pads or (0, 0, 0, 0))
    if pads[:2] != pads[2:]:
        raise NotImplementedError(f"pads {pads} differ between the ends")
    return pads[:2]


def convolve(a: Attributes, x: Any, weight: Any, bias: Any = None) -> Any:
    return functional.conv2d(
        x, weight, bias, a.get("strides", 1), cut_pads(a.get("pads")),
        a.get("dilations", 1), a.get("group", 1),
    )


def normalise(a: Attributes, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    epsilon = a.get("epsilon", 1e-5)
    return functional.batch_norm(x, mean, variance, scale, bias, eps=epsilon)


def pool_maximum(a: Attributes, x: Any) -> Any:
    return functional.max_pool2d(
        x, a["kernel_shape"], a.get("strides", 1), cut_pads(a.get("pads")),
        ceil_mode=bool(a.get("ceil_mode", 0)),
    )


def pool_average(a: Attributes, x: Any) -> Any:
    return functional.avg_pool2d(
        x, a["kernel_shape"], a.get("strides", 1), cut_pads(a.get("pads")),
        bool(a.get("ceil_mode", 0)), bool(a.get("count_include_pad", 0)),
    )


def multiply(a: Attributes, x: Any, weight: Any, bias: Any) -> Any:
    if not a.get("transB", 0) or a.get("transA", 0):
        raise NotImplementedError("a Gemm that is no Linear")
    return functional.linear(x, weight, bias)


def reshape(a: Attributes, x: Any, shape: list[int]) -> Any:
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def concatenate(a: Attributes, *parts: Any) -> Any:
    if isinstance(parts[0], list):
        return [number for part in parts for number in part]
    return torch.cat(parts, a["axis"])


def gather(a: Attributes, numbers: list[int], index: Any) -> Any:
    return [numbers[i] for i in index] if isinstance(index, list) else numbers[index]


OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": lambda a, x, y: x + y,
    "AveragePool": pool_average,
    "BatchNormalization": normalise,
    "Clip": lambda a, x, low, high: x.clamp(low, high),
    "Concat": concatenate,
    "Conv": convolve,
    "Dropout": lambda a, x, *rest: x,
    "Flatten": lambda a, x: x.flatten(a.get("axis", 1)),
    "Gather": gather,
    "Gemm": multiply,
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "LRN": lambda a, x: functional.local_response_norm(
        x, a["size"], a.get("alpha", 1e-4), a.get("beta", 0.75), a.get("bias", 1.0)
    ),
    "MaxPool": pool_maximum,
    "Relu": lambda a, x: x.relu(),
    "Reshape": reshape,
    "Shape": lambda a, x: list(x.shape),
    "Softmax": lambda a, x: x.softmax(a.get("axis", -1)),
    "Transpose": lambda a, x: x.permute(a["perm"]),
    "Unsqueeze": lambda a, number, axes: [number],
}


class OnnxModule(torch.nn.Module):
    """A graph of one input and one output, run node by node."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        graph = onnx.load(path).graph
        # Numbers, such as shapes and the bounds of Clip; tensors are buffers.
        self.numbers: dict[str, Any] = {}
        self.buffers_of: dict[str, str] = {}
        for constant in graph.initializer:
            self.add_constant(constant.name, numpy_helper.to_array(constant))
        self.input = graph.input[0].name
        self.result = graph.output[0].name
        self.steps = [
            (
                node.op_type,
                {a.name: helper.get_attribute_value(a) for a in node.attribute},
                list(node.input),
                node.output[0],
            )
            for node in graph.node
        ]
        unknown = {step[0] for step in self.steps} - OPERATORS.keys()
        if unknown:
            raise NotImplementedError(f"operators {', '.join(sorted(unknown))}")

    def add_constant(self, name: str, value: np.ndarray) -> None:
        if value.ndim == 0 or value.dtype == np.int64:
            self.numbers[name] = value.tolist()
            return
        self.buffers_of[name] = f"constant_{len(self.buffers_of)}"
        self.register_buffer(self.buffers_of[name], torch.from_numpy(value.copy()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = {self.input: x, **self.numbers}
        for name, buffer in self.buffers_of.items():
            values[name] = getattr(self, buffer)
        for kind, attributes, inputs, output in self.steps:
            operands = [values[name] for name in inputs if name]
            values[output] = OPERATORS[kind](attributes, *operands)
        return values[self.result]
