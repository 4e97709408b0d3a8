#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the tiny models that are checked in for tests, good and bad ones.

usage: tiny.py [--check]

Writes models/tiny/*.onnx and models/bad/*.onnx. --check writes nothing and
fails when a file there is not what this program would write.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from builder import ModelBuilder, Value, write_bytes
from decomposed import Arithmetic, Attention
from quantizer import Quantizer

HERE = Path(__file__).resolve().parent

# Every file of a folder, by its name.
Files = dict[str, bytes]


def serialise(model: onnx.ModelProto) -> bytes:
    """The bytes of `model`."""
    return model.SerializeToString()


# Good models. Sizes are small and odd on purpose: tails are where kernels err.


def conv_bn_relu(b: ModelBuilder, x: Value, channels: int, **more: Any) -> Value:
    """A 3x3 convolution with batch normalisation and activation."""
    more = {"pad": 1, **more}
    return b.relu(b.batch_norm(b.conv(x, channels, 3, **more)))


def residual_block(b: ModelBuilder, x: Value, channels: int, stride: int) -> Value:
    """Two 3x3 convolutions and a shortcut."""
    y = conv_bn_relu(b, x, channels, stride=stride)
    y = b.batch_norm(b.conv(y, channels, 3, pad=1), 0.3)
    if stride != 1 or x.channels != channels:
        x = b.batch_norm(b.conv(x, channels, 1, stride, after_relu=False))
    return b.relu(b.add(y, x))


def tiny_resnet() -> Files:
    """Convolution, batch norm, residual, pooling, fully connected."""
    b = ModelBuilder("tiny_resnet", batch=1)
    x = conv_bn_relu(b, b.input("data", [3, 29, 29]), 12, stride=2, after_relu=False)
    x = b.max_pool(x, 3, 2, 1)
    x = residual_block(b, x, 12, 1)
    x = residual_block(b, x, 20, 2)
    x = b.flatten(b.global_average_pool(x))
    b.output(b.linear(x, 10), [10])
    return {"tiny_resnet.onnx": serialise(b.model())}


def squeeze_excite(b: ModelBuilder, x: Value) -> Value:
    """Scales each channel by a gate that is computed from all of them."""
    gate = b.conv(b.global_average_pool(x), 6, 1, bias=True)
    gate = b.conv(b.unary("LeakyRelu", gate, alpha=0.1), x.channels, 1, bias=True)
    gate = b.unary("Sigmoid", gate)
    return b.node("Mul", [x.name, gate.name], x.channels)


def tiny_mobilenet() -> Files:
    """Depthwise convolutions, HardSwish, a gate and a clipped projection."""
    b = ModelBuilder("tiny_mobilenet", batch=1, opset=14)
    x = b.conv(b.input("data", [3, 33, 31]), 10, 3, 2, 1, after_relu=False)
    x = b.unary("HardSwish", b.batch_norm(x))
    y = b.unary("HardSwish", b.batch_norm(b.conv(x, 30, 1)))
    y = b.batch_norm(b.conv(y, 30, 5, 1, 2, groups=30))
    y = b.conv(squeeze_excite(b, b.unary("HardSwish", y)), 10, 1)
    x = b.add(x, b.batch_norm(y, 0.5))
    x = b.relu6(b.batch_norm(b.conv(x, 18, 3, 2, 1, groups=2, after_relu=False)))
    x = b.flatten(b.global_average_pool(x))
    b.output(b.linear(x, 10), [10])
    return {"tiny_mobilenet.onnx": serialise(b.model())}


def tiny_inception() -> Files:
    """Concatenated branches, LRN, average pooling, dropout and softmax."""
    b = ModelBuilder("tiny_inception", batch=1)
    x = b.input("data", [3, 30, 30])
    x = b.relu(b.conv(x, 12, 5, 2, 2, bias=True, after_relu=False))
    x = b.unary("LRN", b.max_pool(x, 3, 2), size=5, alpha=0.1, beta=0.75, bias=1.0)
    branches = [
        b.relu(b.conv(x, 8, 1, bias=True)),
        b.relu(b.conv(b.relu(b.conv(x, 6, 1, bias=True)), 10, 3, 1, 1, bias=True)),
        b.relu(b.conv(b.max_pool(x, 3, 1, 1), 5, 1, bias=True)),
    ]
    x = b.pool("AveragePool", b.concat(branches), 3, 2, [0, 0, 1, 1])
    x = b.pool("AveragePool", x, 3, 1, [1] * 4, count_include_pad=1)
    x = b.reshape(b.dropout(x, 0.4), [0, -1], 23 * 3 * 3)
    b.output(b.softmax(b.linear(x, 10, after_relu=False)), [10])
    return {"tiny_inception.onnx": serialise(b.model())}


def tiny_qdq() -> Files:
    """A model that was quantised to int8 before, with a residual block."""
    b = ModelBuilder("tiny_qdq", batch=1)
    q = Quantizer(b)
    x, scale = q.pair(b.input("data", [3, 19, 19]), 0.04, 128)
    x, scale = q.pair(b.relu(q.conv(x, scale, 14, 2)), 0.03, 0)
    y, inner = q.pair(b.relu(q.conv(x, scale, 14, 1)), 0.03, 0)
    y, _ = q.pair(q.conv(y, inner, 14, 1), 0.05, 121)
    x, scale = q.pair(b.relu(b.add(x, y)), 0.04, 0)
    x, scale = q.pair(b.max_pool(x, 2, 2), scale, 0)
    x, scale = q.pair(b.global_average_pool(x), 0.02, 0)
    x, _ = q.pair(q.linear(b.flatten(x), scale, 10), 0.05, 128)
    b.output(x, [10])
    return {"tiny_qdq.onnx": serialise(b.model())}


def make_external(tensor: TensorProto, location: str, offset: int) -> bytes:
    """Moves the data of `tensor` out to a file; returns the data."""
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (
        ("location", location),
        ("offset", str(offset)),
        ("length", str(len(data))),
    ):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return data


def tiny_external() -> Files:
    """A model whose weights lie in another file."""
    b = ModelBuilder("tiny_external", batch=1)
    x = b.input("data", [4, 13, 13])
    x = b.relu(b.conv(x, 17, 3, 1, 1, bias=True, after_relu=False))
    x = b.flatten(b.global_average_pool(x))
    b.output(b.linear(x, 7), [7])
    model = b.model()
    data = bytearray()
    for tensor in model.graph.initializer:
        data += b"\0" * (-len(data) % 64)
        data += make_external(tensor, "tiny_external.bin", len(data))
    return {
        "tiny_external.onnx": serialise(model),
        "tiny_external.bin": bytes(data),
    }


def tiny_symbolic() -> Files:
    """A symbolic batch, shape arithmetic and a channel shuffle."""
    b = ModelBuilder("tiny_symbolic")
    x = conv_bn_relu(b, b.input("data", [3, 14, 14]), 12, stride=2, after_relu=False)
    x = b.reshape(b.conv(x, 12, 1, groups=3), [0, 3, 4, 7, 7], 12)
    x = b.unary("Transpose", x, perm=[0, 2, 1, 3, 4])
    x = b.relu(b.reshape(x, [0, -1, 7, 7], 12))
    shape = b.node("Shape", [x.name], 4)
    starts, ends, axes = (b.integers("bound", [value]) for value in (0, 1, 0))
    batch = b.node("Slice", [shape.name, starts, ends, axes], 1)
    rest = b.integers("rest", [-1])
    target = b.node("Concat", [batch.name, rest], 2, axis=0)
    x = b.node("Reshape", [x.name, target.name], 12 * 7 * 7)
    b.output(b.linear(x, 9), [9])
    return {"tiny_symbolic.onnx": serialise(b.model())}


def tiny_opset7() -> Files:
    """What old exporters wrote: attributes, and initialisers among the inputs."""
    b = ModelBuilder("tiny_opset7", batch=1, opset=7)
    x = b.input("data", [3, 17, 17])
    x = b.unary("Pad", x, pads=[0, 0, 1, 1, 0, 0, 1, 1], mode="constant", value=0.0)
    x = b.unary("Clip", b.batch_norm(b.conv(x, 10, 3, 2, bias=True)), min=0.0, max=6.0)
    x = b.unary("Dropout", b.pool("AveragePool", x, 3, 2), ratio=0.5)
    x = b.node("Sum", [x.name, x.name, x.name], x.channels)
    x = b.unary("Squeeze", b.global_average_pool(x), axes=[2, 3])
    x = b.unary("Unsqueeze", x, axes=[2])
    factor = helper.make_tensor("factor", TensorProto.FLOAT, [1], [0.5])
    factor = b.node("Constant", [], 1, value=factor)
    x = b.node("Mul", [x.name, factor.name], 10)
    x = b.reshape(x, [1, -1], 10)
    b.output(b.unary("Softmax", b.linear(x, 8), axis=1), [8])
    model = b.model()
    model.ir_version = 3
    for tensor in model.graph.initializer:
        model.graph.input.append(
            helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        )
    return {"tiny_opset7.onnx": serialise(model)}


def tiny_operators() -> Files:
    """The operators that no other model here uses."""
    b = ModelBuilder("tiny_operators", batch=1)
    x = b.input("data", [5, 12, 12])
    pads = b.integers("pads", [0, 0, 0, 1, 0, 0, 0, 1])
    x = b.node("Pad", [x.name, pads], 5, mode="constant")
    weight = b.constant("weight", b.normal([9, 5, 3, 3], 0.2))
    x = b.node("Conv", [x.name, weight], 9, auto_pad="SAME_UPPER", strides=[2, 2])
    half = b.constant("half", np.float32(0.5).reshape([1, 1, 1, 1]))
    offset = b.constant("offset", b.normal([9, 1, 1], 0.5))
    x = b.node("Sub", [b.unary("Identity", x).name, offset], 9)
    x = b.node("Div", [x.name, half], 9)
    size = b.integers("size", [1, 1, 1, 7])
    one = helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])
    ones = b.node("ConstantOfShape", [size], 1, value=one)
    x = b.node("Add", [x.name, ones.name], 9)
    x = b.unary("Cast", x, to=TensorProto.FLOAT)
    x = b.unary("Transpose", x, perm=[0, 2, 3, 1])
    mixer = b.constant("mixer", b.normal([9, 6], 0.3))
    x = b.node("MatMul", [x.name, mixer], 6)
    x = b.unary("Transpose", x, perm=[0, 3, 1, 2])
    x = b.pool("MaxPool", b.unary("LeakyRelu", x, alpha=0.2), 2, 2, ceil_mode=1)
    b.output(b.unary("Softmax", x, axis=1), [6, 3, 4])
    return {"tiny_operators.onnx": serialise(b.model())}


def upsample(
    b: ModelBuilder, x: Value, channels: int, kernel: int, **more: Any
) -> Value:
    """A transposed convolution with a bias."""
    group = more.get("group", 1)
    shape = [x.channels, channels // group, kernel, kernel]
    deviation = math.sqrt(2.0 * group / (x.channels * kernel))
    inputs = [
        x.name,
        b.constant("weight", b.normal(shape, deviation)),
        b.constant("bias", b.normal([channels], 0.05)),
    ]
    return b.node("ConvTranspose", inputs, channels, **more)


def tiny_unet() -> Files:
    """Transposed convolutions of several strides behind a skip connection."""
    b = ModelBuilder("tiny_unet", batch=1)
    skip = conv_bn_relu(b, b.input("data", [3, 22, 26]), 9, after_relu=False)
    x = conv_bn_relu(b, skip, 14, stride=2)
    x = b.relu(b.batch_norm(upsample(b, x, 9, 2, strides=[2, 2])))
    x = conv_bn_relu(b, b.concat([x, skip]), 12)
    x = b.relu(upsample(b, x, 12, 4, strides=[2, 2], pads=[1] * 4, group=12))
    x = upsample(b, x, 2, 3, strides=[1, 3], pads=[2, 0, 0, 1], output_padding=[0, 1])
    b.output(b.unary("Sigmoid", x), [2, 44, 156])
    return {"tiny_unet.onnx": serialise(b.model())}


def channels(b: ModelBuilder, x: Value, begin: int, end: int) -> Value:
    """Some channels of a tensor."""
    bounds = (("starts", begin), ("ends", end), ("axes", 1))
    inputs = [x.name, *(b.integers(name, [value]) for name, value in bounds)]
    return b.node("Slice", inputs, end - begin)


def tiny_split() -> Files:
    """Channels that are split, computed with on their own, and joined again."""
    b = ModelBuilder("tiny_split", batch=1)
    x = b.conv(b.input("data", [3, 19, 17]), 22, 3, 2, 1, bias=True)
    left, right = channels(b, x, 0, 9), channels(b, x, 9, 22)
    inner = b.conv(right, 13, 3, 1, 1, bias=True)
    x = b.concat([b.conv(left, 9, 1, bias=True), inner, right])
    x = b.conv(x, 24, 1, bias=True)
    halves = [channels(b, x, 0, 12), channels(b, x, 12, 24)]
    x = b.node("Add", [half.name for half in halves], 12)
    b.output(b.conv(x, 5, 3, 2, 1, bias=True, after_relu=False), [5, 5, 5])
    return {"tiny_split.onnx": serialise(b.model())}


def tiny_atrous() -> Files:
    """DeepLab's pyramid of dilations, some of which are larger than the image."""
    b = ModelBuilder("tiny_atrous", batch=1)
    x = conv_bn_relu(b, b.input("data", [3, 25, 23]), 16, stride=2, after_relu=False)
    x = conv_bn_relu(b, x, 18, dilation=2, pad=2, groups=2)
    branches = [b.relu(b.batch_norm(b.conv(x, 7, 1)))]
    branches += [
        conv_bn_relu(b, x, 7, dilation=rate, pad=rate) for rate in (4, 8, 12, 36)
    ]
    weight = b.constant("weight", b.normal([7, 18, 3, 2], 0.1))
    branches.append(
        b.node("Conv", [x.name, weight], 7, dilations=[14, 6], pads=[14, 6, 14, 0])
    )
    x = conv_bn_relu(b, b.concat(branches), 9)
    x = b.conv(x, 5, 3, 2, 9, dilation=9)
    b.output(x, [5, 7, 6])
    return {"tiny_atrous.onnx": serialise(b.model())}


def tiny_activations() -> Files:
    """Each activation that exporters write as arithmetic, behind a convolution."""
    b = ModelBuilder("tiny_activations", batch=1)
    a = Arithmetic(b)
    x = a.silu(b.batch_norm(b.conv(b.input("data", [3, 21, 19]), 14, 3, 2, 1)))
    y = a.hard_swish(b.batch_norm(b.conv(x, 14, 3, 1, 1, groups=14)))
    y = a.hard_swish_decomposed(b.conv(y, 14, 1, bias=True))
    x = b.add(x, a.mish(b.batch_norm(b.conv(y, 14, 1))))
    x = a.hard_swish_of_relu6(b.batch_norm(b.conv(x, 18, 3, 1, 1)))
    x = b.flatten(b.global_average_pool(x))
    x = a.gelu(b.linear(x, 24))
    x = a.gelu_tanh(b.linear(x, 17))
    b.output(b.linear(x, 10), [10])
    return {"tiny_activations.onnx": serialise(b.model())}


def tiny_attention() -> Files:
    """Attention with and without a causal mask, and with one of each pair, over patches."""
    b = ModelBuilder("tiny_attention", batch=1)
    patches = b.conv(b.input("data", [3, 15, 27]), 24, 3, 3, bias=True, after_relu=False)
    positions = 5 * 9
    x = b.reshape(patches, [1, 24, positions], 24)
    x = b.node("Transpose", [x.name], 24, perm=[0, 2, 1])
    attention = Attention(b, positions, heads=3)
    masks = (None, attention.hidden(), b.normal([positions, positions], 1.0))
    for index, mask in enumerate(masks):
        y = attention.project(attention.apply(x, mask, divides=index == 0), 24)
        x = b.node("Add", [x.name, y.name], 24)
    b.output(attention.project(x, 7), [positions, 7])
    return {"tiny_attention.onnx": serialise(b.model())}


def enlarge(b: ModelBuilder, x: Value, size: int) -> Value:
    """A square image, interpolated to another size."""
    sizes = b.integers("sizes", [1, x.channels, size, size])
    return b.node("Resize", [x.name, "", "", sizes], x.channels, mode="linear")


def tiny_decoder() -> Files:
    """Features of three sizes, projected to as many channels, put together and mixed."""
    b = ModelBuilder("tiny_decoder", batch=1)
    x = b.conv(b.input("data", [3, 24, 24]), 10, 3, 2, 1, bias=True)
    features = [x]
    for width in (14, 18):
        features.append(b.conv(features[-1], width, 3, 2, 1, bias=True))
    parts = [b.conv(y, 32, 1, bias=True, after_relu=False) for y in features]
    parts[1:] = [enlarge(b, part, 12) for part in parts[1:]]
    x = b.conv(b.concat(parts[::-1]), 24, 1, bias=True)
    b.output(b.conv(x, 5, 1, bias=True, after_relu=False), [5, 12, 12])
    return {"tiny_decoder.onnx": serialise(b.model())}


def multiply_dynamically(b: ModelBuilder, x: Value, columns: int, dtype: type) -> Value:
    """A product as ONNX Runtime's dynamic quantiser writes it."""
    quantised, scale, zero = (b.unique(name) for name in ("x8", "scale", "zero"))
    b.nodes.append(helper.make_node("DynamicQuantizeLinear", [x.name], [quantised, scale, zero]))
    low = 0 if dtype is np.uint8 else -127
    weight = b.uniform(x.channels * columns, low, low + 255).reshape(x.channels, columns)
    inputs = [
        quantised,
        b.constant("weight", weight.astype(dtype)),
        zero,
        b.constant("weight_zero", np.array(low + 128 if low == 0 else 0, dtype)),
    ]
    total = b.node("Cast", [b.node("MatMulInteger", inputs, columns).name], columns, to=TensorProto.FLOAT)
    both = b.node("Mul", [scale, b.constant("weight_scale", np.float32(0.0007))], columns)
    return b.node("Mul", [total.name, both.name], columns)


def tiny_dynamic() -> Files:
    """Products of bytes whose scales are known at run time only."""
    b = ModelBuilder("tiny_dynamic", batch=1)
    x = b.input("data", [5, 600])
    x = Value(x.name, 600)
    x = b.relu(multiply_dynamically(b, x, 37, np.int8))
    x = multiply_dynamically(b, x, 9, np.uint8)
    b.output(x, [5, 9])
    return {"tiny_dynamic.onnx": serialise(b.model())}


GOOD: tuple[Callable[[], Files], ...] = (
    tiny_resnet,
    tiny_mobilenet,
    tiny_inception,
    tiny_qdq,
    tiny_external,
    tiny_symbolic,
    tiny_opset7,
    tiny_operators,
    tiny_unet,
    tiny_split,
    tiny_activations,
    tiny_atrous,
    tiny_attention,
    tiny_decoder,
    tiny_dynamic,
)


# Bad models: one good base, and one thing broken in each.


def base() -> onnx.ModelProto:
    """A convolution and an activation: what every bad model was once."""
    b = ModelBuilder("base", batch=1)
    x = b.relu(b.conv(b.input("data", [3, 8, 8]), 4, 3, 1, 1, bias=True))
    b.output(x, [4, 8, 8])
    return b.model()


def weight_of(model: onnx.ModelProto) -> TensorProto:
    """The weight of the base's convolution."""
    return next(t for t in model.graph.initializer if t.name == "conv_weight")


def truncated(_: onnx.ModelProto) -> bytes:
    data = serialise(base())
    return data[: len(data) * 3 // 5]


def empty(_: onnx.ModelProto) -> bytes:
    return b""


def not_onnx(_: onnx.ModelProto) -> bytes:
    return b"This is a text, and no model at all.\n"


def cyclic(model: onnx.ModelProto) -> None:
    conv, relu = model.graph.node
    loop = helper.make_node("Add", ["data", relu.output[0]], ["loop"], "adder")
    model.graph.node.insert(1, loop)
    conv.input[0] = "loop"


def unknown_operator(model: onnx.ModelProto) -> None:
    model.graph.node[1].op_type = "Frobnicate"


def dangling_input(model: onnx.ModelProto) -> None:
    model.graph.node[1].input[0] = "nowhere"


def dangling_output(model: onnx.ModelProto) -> None:
    model.graph.output[0].name = "nowhere"


def duplicate_name(model: onnx.ModelProto) -> None:
    model.graph.node.append(
        helper.make_node("Relu", ["data"], [model.graph.node[0].output[0]], "again")
    )


def shape_mismatch(model: onnx.ModelProto) -> None:
    weight = numpy_helper.to_array(weight_of(model))
    wider = np.concatenate([weight, weight], axis=1)
    weight_of(model).CopyFrom(numpy_helper.from_array(wider, "conv_weight"))


def nan_weight(model: onnx.ModelProto) -> None:
    weight = numpy_helper.to_array(weight_of(model)).copy()
    weight[1, 2, 0, 1] = np.nan
    weight_of(model).CopyFrom(numpy_helper.from_array(weight, "conv_weight"))


def missing_external(model: onnx.ModelProto) -> None:
    make_external(weight_of(model), "nowhere.bin", 0)


def escaping_external(model: onnx.ModelProto) -> None:
    make_external(weight_of(model), "../tiny/tiny_external.bin", 0)


def short_external(model: onnx.ModelProto) -> None:
    make_external(weight_of(model), "short_external.onnx", 1 << 40)


def wrong_size_initialiser(model: onnx.ModelProto) -> None:
    weight_of(model).raw_data = weight_of(model).raw_data[:-8]


def huge_initialiser(model: onnx.ModelProto) -> None:
    del weight_of(model).dims[:]
    weight_of(model).dims.extend([1 << 62, 3, 3, 3])


def zero_stride(model: onnx.ModelProto) -> None:
    for attribute in model.graph.node[0].attribute:
        if attribute.name == "strides":
            attribute.ints[:] = [0, 0]


def future_opset(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 99


# What breaks the model, and a word that the error message must hold.
BAD: tuple[tuple[Callable[[onnx.ModelProto], bytes | None], str], ...] = (
    (truncated, ""),
    (empty, ""),
    (not_onnx, ""),
    (cyclic, "cycl"),
    (unknown_operator, "Frobnicate"),
    (dangling_input, "nowhere"),
    (dangling_output, "nowhere"),
    (duplicate_name, "conv_out"),
    (shape_mismatch, "conv"),
    (nan_weight, "conv_weight"),
    (missing_external, "nowhere.bin"),
    (escaping_external, "tiny_external.bin"),
    (short_external, "conv_weight"),
    (wrong_size_initialiser, "conv_weight"),
    (huge_initialiser, "conv_weight"),
    (zero_stride, "conv"),
    (future_opset, "99"),
)


def bad_models() -> Files:
    """Every bad model."""
    files = {}
    for breaks, _ in BAD:
        model = base()
        data = breaks(model)
        files[f"{breaks.__name__}.onnx"] = serialise(model) if data is None else data
    return files


def all_files() -> dict[Path, bytes]:
    """Everything that belongs in models/tiny and models/bad."""
    files = {}
    for make in GOOD:
        for name, data in make().items():
            files[HERE / "tiny" / name] = data
    for name, data in bad_models().items():
        files[HERE / "bad" / name] = data
    return files


def stale_files() -> list[str]:
    """One line for each file that this program would write differently."""
    files = all_files()
    lines = []
    for path, data in files.items():
        if not path.exists():
            lines.append(f"{path} is missing")
        elif path.read_bytes() != data:
            lines.append(f"{path} differs from what tiny.py writes")
    for folder in ("tiny", "bad"):
        for path in sorted((HERE / folder).glob("*")):
            if path.is_file() and path not in files:
                lines.append(f"{path} is not written by tiny.py")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Builds the tiny models that are checked in for tests."
    )
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        lines = stale_files()
        print("\n".join(lines) or "the tiny models are up to date")
        return 1 if lines else 0
    for path, data in all_files().items():
        write_bytes(data, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
