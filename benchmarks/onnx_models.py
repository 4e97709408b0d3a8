# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks ask of ONNX models, and the inputs that they give them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import shape_inference


def seeded_input(shape: list[int], seed: int) -> np.ndarray:
    """Normal numbers, as normalised images have them."""
    random = np.random.default_rng(seed)
    return random.standard_normal(shape, dtype=np.float32)


def input_of(model: onnx.ModelProto, batch: int) -> tuple[str, list[int]]:
    """The name and the shape of the one input; a symbolic batch is bound."""
    image = model.graph.input[0]
    dims = [dim.dim_value for dim in image.type.tensor_type.shape.dim]
    return image.name, [batch if dim == 0 else dim for dim in dims]


def arithmetic(path: Path, batch: int) -> float:
    """The floating-point operations of all convolutions and matrix products."""
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
        # The elements that each element of the result is a sum of.
        if node.op_type == "Conv":
            inner = np.prod(shapes[node.input[1]][1:])
        elif node.op_type == "MatMul":
            inner = shapes[node.input[0]][-1]
        elif node.op_type == "Gemm":
            # The shape of the first operand is unknown behind a reshape that is computed.
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            inner = shapes[node.input[1]][-1 if transposed else 0]
        else:
            continue
        total += 2.0 * float(inner) * float(np.prod(shapes[node.output[0]]))
    return total
