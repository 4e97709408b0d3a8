# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks ask of ONNX models, and the inputs that they give them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, shape_inference


# Every vocabulary has more tokens.
TOKENS = 1000
# Operators that stand beside those of ONNX Runtime's domain.
QUANTISED_PRODUCTS = ("QLinearConv", "QLinearMatMul", "MatMulInteger")


@dataclass(frozen=True)
class ModelInput:
    """The one input of a model."""

    name: str
    shape: list[int]
    dtype: np.dtype

    def draw(self, seed: int) -> np.ndarray:
        """Normal numbers, as normalised images have them, or numbers of tokens."""
        random = np.random.default_rng(seed)
        if self.dtype.kind == "i":
            return random.integers(0, TOKENS, self.shape, dtype=self.dtype)
        return random.standard_normal(self.shape, dtype=np.float32)


def input_of(model: onnx.ModelProto, batch: int) -> ModelInput:
    """The one input of a model; a symbolic batch is bound."""
    value = model.graph.input[0]
    tensor = value.type.tensor_type
    shape = [dim.dim_value or batch for dim in tensor.shape.dim]
    return ModelInput(value.name, shape, helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def arithmetic(path: Path, batch: int) -> float:
    """The operations of all convolutions and matrix products, of floats or integers.
    Left out are ONNX Runtime's own operators, and what has no known shape behind them."""
    model = onnx.load(path)
    # The shapes of the outputs are those that were written, and are not inferred.
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim[:1]:
            if dim.dim_param:
                dim.dim_value = batch
    inferred = shape_inference.infer_shapes(model, data_prop=True).graph
    values = [*inferred.value_info, *inferred.output, *inferred.input]
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in values
    }
    shapes.update({tensor.name: list(tensor.dims) for tensor in inferred.initializer})
    total = 0.0
    for node in inferred.node:
        if node.op_type in QUANTISED_PRODUCTS and node.output[0] not in shapes:
            continue
        # The elements that each element of the result is a sum of.
        if node.op_type == "Conv":
            inner = np.prod(shapes[node.input[1]][1:])
        elif node.op_type == "QLinearConv":
            inner = np.prod(shapes[node.input[3]][1:])
        elif node.op_type in ("MatMul", "MatMulInteger", "QLinearMatMul"):
            inner = shapes[node.input[0]][-1]
        elif node.op_type == "Gemm":
            # The shape of the first operand is unknown behind a reshape that is computed.
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            inner = shapes[node.input[1]][-1 if transposed else 0]
        else:
            continue
        total += 2.0 * float(inner) * float(np.prod(shapes[node.output[0]]))
    return total
