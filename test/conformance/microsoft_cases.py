# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of the elementwise, fused, normalising and quantised operators of
com.microsoft."""

from __future__ import annotations

import math

import numpy as np

from microsoft_case import Const, MicrosoftCase, Numbers, scale, zero

# Quantised results may differ by a step where a half rounds to another side.
QUANTISED = 0.004


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def elementwise_cases(n: Numbers) -> list[MicrosoftCase]:
    x, bias, skip = n.floats(2, 3, 8), n.floats(8), n.floats(2, 3, 8)
    total = (x + bias).astype(np.float64)
    split = (total[..., :4] * gelu(total[..., 4:])).astype(np.float32)
    return [
        MicrosoftCase("gelu", "Gelu", [x]),
        MicrosoftCase("fast_gelu", "FastGelu", [x]),
        MicrosoftCase("fast_gelu_bias", "FastGelu", [x, bias]),
        MicrosoftCase("bias_gelu", "BiasGelu", [x, bias]),
        MicrosoftCase("quick_gelu", "QuickGelu", [x]),
        MicrosoftCase("quick_gelu_alpha", "QuickGelu", [x], {"alpha": 0.7}),
        MicrosoftCase(
            "bias_add", "BiasAdd", [x, bias, skip], expected=[x + bias + skip]
        ),
        MicrosoftCase("bias_split_gelu", "BiasSplitGelu", [x, bias], expected=[split]),
        MicrosoftCase(
            "expand_dims", "ExpandDims", [x, Const(np.array(-2, np.int32))]
        ),
        MicrosoftCase("trilu", "Trilu", [x, Const(np.array(1, np.int64))]),
        MicrosoftCase("trilu_lower", "Trilu", [x], {"upper": 0}),
    ]


def norm_cases(n: Numbers) -> list[MicrosoftCase]:
    x, skip, row = n.floats(2, 3, 8), n.floats(2, 3, 8), n.floats(3, 8)
    gamma, beta, bias = n.floats(8), n.floats(8), n.floats(8)
    outputs = ["y", "", "", "sum"]
    epsilon = {"epsilon": 0.01}
    layer, simple = "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"
    return [
        MicrosoftCase("skip_layer_norm", layer, [x, skip, gamma, beta]),
        MicrosoftCase("skip_layer_norm_row", layer, [x, row, gamma], epsilon),
        MicrosoftCase(
            "skip_layer_norm_bias",
            layer,
            [x, skip, gamma, beta, bias],
            epsilon,
            outputs,
        ),
        MicrosoftCase("skip_rms_norm", simple, [x, skip, gamma], epsilon),
        MicrosoftCase(
            "skip_rms_norm_bias", simple, [x, skip, gamma, bias], epsilon, outputs
        ),
        MicrosoftCase(
            "skip_rms_norm_matrix", simple, [x[0], skip[0], gamma], epsilon, outputs
        ),
    ]


def group_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, groups: int, swish: bool
) -> np.ndarray:
    """Of batch x height x width x channels."""
    shape = x.shape
    split = x.astype(np.float64).reshape(shape[0], -1, groups, shape[3] // groups)
    mean = split.mean(axis=(1, 3), keepdims=True)
    deviation = np.sqrt(split.var(axis=(1, 3), keepdims=True) + 1e-5)
    y = ((split - mean) / deviation).reshape(shape) * gamma + beta
    return (y / (1 + np.exp(-y)) if swish else y).astype(np.float32)


def group_cases(n: Numbers) -> list[MicrosoftCase]:
    x, gamma, beta, bias = n.floats(2, 3, 4, 8), n.floats(8), n.floats(8), n.floats(8)
    skip = n.floats(2, 8)
    total = x + skip.reshape(2, 1, 1, 8) + bias
    first = x.transpose(0, 3, 1, 2).copy()
    plain = group_norm(x, gamma, beta, 4, False)
    return [
        MicrosoftCase(
            "group_norm",
            "GroupNorm",
            [x, gamma, beta],
            {"groups": 2, "activation": 1},
            expected=[group_norm(x, gamma, beta, 2, True)],
        ),
        MicrosoftCase(
            "group_norm_channels_first",
            "GroupNorm",
            [first, gamma, beta],
            {"groups": 4, "activation": 0, "channels_last": 0},
            expected=[plain.transpose(0, 3, 1, 2).copy()],
        ),
        MicrosoftCase(
            "skip_group_norm",
            "SkipGroupNorm",
            [x, gamma, beta, skip, bias],
            {"groups": 2, "activation": 0},
            ["y", "sum"],
            expected=[group_norm(total, gamma, beta, 2, False), total],
        ),
    ]


def softmax_cases(n: Numbers) -> list[MicrosoftCase]:
    scores, mask = n.floats(2, 3, 4, 5), n.floats(2, 1, 1, 5)
    flat = softmax((scores + mask).reshape(6, 20)).reshape(scores.shape)
    return [
        MicrosoftCase(
            "bias_softmax",
            "BiasSoftmax",
            [scores, mask],
            {"axis": 3, "is_inner_broadcast": 1},
            expected=[softmax(scores + mask)],
        ),
        MicrosoftCase(
            "bias_softmax_flat",
            "BiasSoftmax",
            [scores, mask],
            {"axis": 2, "is_inner_broadcast": 1},
            expected=[flat],
        ),
    ]


def embedding_cases(n: Numbers) -> list[MicrosoftCase]:
    words, segments = n.ints(10, 2, 3), n.ints(2, 2, 3)
    tables = [Const(n.floats(10, 8)), Const(n.floats(6, 8)), Const(n.floats(2, 8))]
    norm = [Const(n.floats(8)), Const(n.floats(8))]
    mask = np.array([[1, 1, 0], [1, 0, 0]], np.int32)
    outputs = ["y", "index", "sum"]
    name, epsilon = "EmbedLayerNormalization", {"epsilon": 0.01}
    bytes_ = [Const(n.bytes(*t.value.shape)) for t in tables + norm]
    scales = [scale(0.02), scale(0.03), scale(0.04), scale(0.01), scale(0.02)]
    zeros = [zero(120), zero(3), zero(130), zero(0), zero(100)]
    return [
        MicrosoftCase(
            "embed_norm",
            name,
            [words, segments, *tables, *norm, mask],
            epsilon,
            outputs,
        ),
        MicrosoftCase(
            "embed_norm_positions",
            name,
            [words, None, *tables[:2], None, *norm, None, n.ints(6, 2, 3)],
            epsilon,
            outputs[:2],
        ),
        MicrosoftCase(
            "embed_norm_quantised",
            "QEmbedLayerNormalization",
            [words, segments, *bytes_, mask, *scales, *zeros],
            epsilon,
            outputs[:2],
        ),
    ]


def fused_cases(n: Numbers) -> list[MicrosoftCase]:
    a, b = n.floats(2, 3, 4, 5), Const(n.floats(2, 3, 5, 6))
    image, filter_, bias = n.floats(1, 4, 6, 6), Const(n.floats(8, 2, 3, 3)), n.floats(8)
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "group": 2}
    left, right, c = n.floats(3, 4), Const(n.floats(4, 5)), n.floats(5)

    def conv(name: str, activation: str, *params: float, z: bool = False):
        inputs = [image, filter_, Const(bias)] + ([n.floats(1, 8, 6, 6)] if z else [])
        attributes = dict(window, activation=activation)
        if params:
            attributes["activation_params"] = list(params)
        return MicrosoftCase(f"fused_conv_{name}", "FusedConv", inputs, attributes)

    def gemm(name: str, activation: str, **parameters: float):
        attributes = {"activation": activation, "alpha": 0.5, "beta": 2.0}
        attributes |= {f"activation_{k}": v for k, v in parameters.items()}
        return MicrosoftCase(
            f"fused_gemm_{name}", "FusedGemm", [left, right, c], attributes
        )

    def product(name: str, x: np.ndarray, y: Const, **attributes: float):
        return MicrosoftCase(f"fused_matmul{name}", "FusedMatMul", [x, y], attributes)

    return [
        conv("relu", "Relu"),
        conv("leaky", "LeakyRelu", 0.3),
        conv("clip", "Clip", -0.5, 1.5),
        conv("hard", "HardSigmoid", 0.3, 0.4),
        conv("sum", "Tanh", z=True),
        gemm("relu", "Relu"),
        gemm("leaky", "LeakyRelu", alpha=0.2),
        gemm("elu", "Elu", alpha=0.7),
        gemm("selu", "Selu", alpha=1.2, gamma=1.1),
        gemm("hard", "HardSigmoid", alpha=0.3, beta=0.4),
        gemm("softplus", "Softplus"),
        gemm("softsign", "Softsign"),
        gemm("sigmoid", "Sigmoid"),
        gemm("thresholded", "ThresholdedRelu", alpha=0.5),
        product("", a, b, alpha=0.25),
        product("_right", a, Const(b.value.swapaxes(2, 3).copy()), transB=1),
        product("_left", a.swapaxes(2, 3).copy(), b, transA=1, alpha=2.0),
        product("_batch", n.floats(4, 2, 3, 5), b, transBatchA=1),
        product(
            "_batches",
            n.floats(5, 2, 3, 4),
            Const(n.floats(6, 2, 3, 5)),
            transA=1,
            transBatchA=1,
            transB=1,
            transBatchB=1,
        ),
        product("_vector", n.floats(5), b),
        MicrosoftCase(
            "transpose_matmul",
            "TransposeMatMul",
            [a, Const(n.floats(2, 3, 6, 5))],
            {"transB": 1, "alpha": 0.5},
        ),
    ]


def quantised_cases(n: Numbers) -> list[MicrosoftCase]:
    x, y = n.bytes(2, 4, 5, 5), n.bytes(2, 4, 5, 5)
    signed = n.bytes(2, 4, 5, 5, dtype=np.int8)
    xs, ys = [x, scale(0.02), zero(120)], [y, scale(0.03), zero(131)]
    signs = [signed, scale(0.02), zero(-3, np.int8)]
    result, signed_result = [scale(0.04), zero(100)], [scale(0.05), zero(4, np.int8)]

    def case(name: str, operator: str, inputs: list, **attributes: object):
        return MicrosoftCase(
            f"q_{name}", operator, inputs, attributes, max_error=QUANTISED
        )

    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    last = x.transpose(0, 2, 3, 1).copy()
    condition = n.ints(2, 2, 1, 5, 5).astype(bool)
    real = (x.astype(np.float64) - 120) * 0.02
    mean = np.rint(real.mean(axis=(2, 3)) / np.float32(0.004)) + 100
    return [
        case("add", "QLinearAdd", xs + ys + result),
        case("add_signed", "QLinearAdd", signs + signs + signed_result),
        case("add_row", "QLinearAdd", xs + [n.bytes(5), *ys[1:]] + result),
        case("mul", "QLinearMul", xs + ys + result),
        case("sigmoid", "QLinearSigmoid", xs + [scale(1 / 256), zero(0)]),
        case("leaky", "QLinearLeakyRelu", signs + signed_result, alpha=0.2),
        case("softmax", "QLinearSoftmax", xs + [scale(1 / 256), zero(0)], axis=-1, opset=13),
        case(
            "softmax_flat",
            "QLinearSoftmax",
            xs + [scale(1 / 1024), zero(0)],
            axis=2,
            opset=12,
        ),
        case("softmax_last", "QLinearSoftmax", xs + [scale(1 / 256), zero(0)], opset=12),
        case("concat", "QLinearConcat", result + xs + ys + xs, axis=1),
        case("where", "QLinearWhere", [condition, *xs, *ys, *result]),
        case("average", "QLinearAveragePool", xs + result, **pool),
        case(
            "average_last",
            "QLinearAveragePool",
            [last, *xs[1:]] + result,
            channels_last=1,
            count_include_pad=1,
            **pool,
        ),
        case("global", "QLinearGlobalAveragePool", xs + [scale(0.004), zero(100)]),
        case(
            "global_last",
            "QLinearGlobalAveragePool",
            [last, *xs[1:], scale(0.004), zero(100)],
            channels_last=1,
        ),
        MicrosoftCase(
            "q_mean",
            "QLinearReduceMean",
            xs + [scale(0.004), zero(100)],
            {"axes": [2, 3], "keepdims": 0},
            expected=[np.clip(mean, 0, 255).astype(np.uint8)],
            max_error=QUANTISED,
        ),
        case("max_last", "NhwcMaxPool", [last], **pool),
    ]


def quantised_product_cases(n: Numbers) -> list[MicrosoftCase]:
    a, b = n.bytes(6, 16), Const(n.weights(16, 5))
    row = Const(n.random.uniform(0.005, 0.02, 5).astype(np.float32))
    zeros = Const(np.zeros(5, np.int8))
    left = [a, scale(0.02), zero(120)]
    right = [b, scale(0.01), zero(2, np.int8)]
    c = Const(n.random.integers(-2000, 2000, 5).astype(np.int32))
    x, floats = n.floats(2, 6, 16), Const(n.floats(5))
    image = n.bytes(1, 6, 6, 4)
    filter_ = Const(n.weights(8, 4, 3, 3))
    bias = Const(n.random.integers(-3000, 3000, 8).astype(np.int32))

    def case(name: str, operator: str, inputs: list, exact: bool, **attributes: object):
        error = None if exact else QUANTISED
        return MicrosoftCase(f"q_{name}", operator, inputs, attributes, max_error=error)

    return [
        case("gemm", "QGemm", left + right + [c, scale(0.05), zero(90)], False),
        case(
            "gemm_turned",
            "QGemm",
            [Const(a.T.copy()), *left[1:], Const(b.value.T.copy()), row, zeros, c],
            True,
            transA=1,
            transB=1,
            alpha=0.5,
        ),
        case("gemm_float", "QGemm", left + right, True),
        case("dynamic", "DynamicQuantizeMatMul", [x, b, *right[1:], floats], False),
        case("dynamic_columns", "DynamicQuantizeMatMul", [x, b, row], False),
        case(
            "to_float",
            "MatMulIntegerToFloat",
            [a, b, left[1], row, left[2], zeros, floats],
            True,
        ),
        case("to_float_plain", "MatMulIntegerToFloat", [a, b, left[1], right[1]], True),
        case(
            "conv_last",
            "QLinearConv",
            [image, *left[1:], filter_, scale(0.01), zero(0, np.int8), scale(0.1), zero(128), bias],
            False,
            channels_last=1,
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
        ),
        case("quantise", "QuantizeLinear", [x, scale(0.03), zero(110)], False),
        case("dequantise", "DequantizeLinear", left, True),
        case(
            "dequantise_columns",
            "DequantizeLinear",
            [b.value, row, zeros],
            True,
            axis=1,
        ),
    ]


def block_product_cases(n: Numbers) -> list[MicrosoftCase]:
    """Weights of 4 or 8 bits with a scale for each block along k; k is no multiple of it."""
    k, columns, block = 80, 19, 32
    blocks = -(-k // block)

    def case(name: str, bits: int, rows: int, zeros: bool, bias: bool):
        size = block * bits // 8
        inputs = [
            n.floats(2, rows, k),
            Const(n.bytes(columns, blocks, size)),
            Const(n.random.uniform(0.01, 0.1, (columns, blocks)).astype(np.float32)),
            Const(n.bytes(columns, -(-blocks * bits // 8))) if zeros else None,
            None,
            Const(n.floats(columns)) if bias else None,
        ]
        attributes = {"K": k, "N": columns, "bits": bits, "block_size": block}
        return MicrosoftCase(f"n_bits_{name}", "MatMulNBits", inputs, attributes)

    return [
        case("4", 4, 1, zeros=False, bias=False),
        case("4_zeros", 4, 3, zeros=True, bias=False),
        case("4_bias", 4, 17, zeros=True, bias=True),
        case("8", 8, 1, zeros=False, bias=False),
        case("8_zeros", 8, 9, zeros=True, bias=True),
    ]


def recurrent_cases(n: Numbers) -> list[MicrosoftCase]:
    """ONNX Runtime rounds the hidden state of each step to bytes."""
    x, hidden, count = n.floats(5, 2, 12), 8, 2
    weights = [Const(n.weights(count, 12, 4 * hidden)), Const(n.weights(count, 8, 32))]
    bias = Const(n.floats(count, 8 * hidden))
    per_direction = [
        Const(np.full(count, 0.01, np.float32)),
        Const(np.zeros(count, np.int8)),
    ]
    scales = n.random.uniform(0.002, 0.01, (count, 32)).astype(np.float32)
    per_gate = [Const(scales), Const(np.zeros((count, 32), np.int8))]

    def case(name: str, *parameters: Const):
        return MicrosoftCase(
            f"q_lstm_{name}",
            "DynamicQuantizeLSTM",
            [x, *weights, bias, None, None, None, None, *parameters],
            {"hidden_size": hidden, "direction": "bidirectional"},
            ["y", "h", "c"],
            max_error=0.01,
        )

    return [
        case("directions", *per_direction, *per_direction),
        case("gates", *per_gate, *per_gate),
    ]


def own_cases() -> list[MicrosoftCase]:
    n = Numbers(2)
    groups = (
        elementwise_cases,
        norm_cases,
        group_cases,
        softmax_cases,
        embedding_cases,
        fused_cases,
        quantised_cases,
        quantised_product_cases,
        block_product_cases,
        recurrent_cases,
    )
    return [case for group in groups for case in group(n)]
