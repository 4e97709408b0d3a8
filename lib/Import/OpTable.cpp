//===- OpTable.cpp - Which importer takes which operator --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The minimal opset is that of the operator's first version. An importer knows
// the versions' differences; most are told by which inputs and attributes there
// are. Opsets 22 to 24 add datatypes and three attributes (Cast's round_mode,
// DequantizeLinear's output_dtype, QuantizeLinear's precision), which are
// refused like any that a row does not list.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"

#include "ModelReader.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tarpon {

static constexpr Quantized refuses = Quantized::Refuses;
static constexpr Quantized takes = Quantized::Takes;

// Sorted by name.
// clang-format off
static constexpr OpRow opTable[] = {
    {"Abs", 6, maxOpset, 1, 1, importAbs, refuses, ""},
    {"Add", 7, maxOpset, 2, 2, importAdd, refuses, ""},
    {"ArgMax", 1, maxOpset, 1, 1, importArgMax, refuses,
     "axis keepdims select_last_index"},
    {"ArgMin", 1, maxOpset, 1, 1, importArgMin, refuses,
     "axis keepdims select_last_index"},
    {"AveragePool", 7, maxOpset, 1, 1, importAveragePool, refuses,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
     "strides"},
    {"BatchNormalization", 7, maxOpset, 5, 5, importBatchNormalization, refuses,
     "epsilon momentum spatial training_mode"},
    {"Cast", 6, maxOpset, 1, 1, importCast, refuses, "saturate to"},
    {"Ceil", 6, maxOpset, 1, 1, importCeil, refuses, ""},
    {"Celu", 12, maxOpset, 1, 1, importCelu, refuses, "alpha"},
    {"Clip", 6, maxOpset, 1, 3, importClip, refuses, "max min"},
    {"Concat", 4, maxOpset, 1, anyNumber, importConcat, takes, "axis"},
    {"Constant", 1, maxOpset, 0, 0, importConstant, refuses,
     "sparse_value value value_float value_floats value_int value_ints "
     "value_string value_strings"},
    {"ConstantOfShape", 9, maxOpset, 1, 1, importConstantOfShape, refuses,
     "value"},
    {"Conv", 1, maxOpset, 2, 3, importConv, refuses,
     "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", 1, maxOpset, 2, 3, importConvTranspose, refuses,
     "auto_pad dilations group kernel_shape output_padding output_shape pads "
     "strides"},
    {"Cos", 7, maxOpset, 1, 1, importCos, refuses, ""},
    {"DepthToSpace", 1, maxOpset, 1, 1, importDepthToSpace, takes,
     "blocksize mode"},
    {"DequantizeLinear", 10, maxOpset, 2, 3, importDequantizeLinear, takes,
     "axis block_size"},
    {"Div", 7, maxOpset, 2, 2, importDiv, refuses, ""},
    {"Dropout", 7, maxOpset, 1, 3, importDropout, refuses, "ratio seed"},
    {"Elu", 6, maxOpset, 1, 1, importElu, refuses, "alpha"},
    {"Erf", 9, maxOpset, 1, 1, importErf, refuses, ""},
    {"Exp", 6, maxOpset, 1, 1, importExp, refuses, ""},
    {"Flatten", 1, maxOpset, 1, 1, importFlatten, takes, "axis"},
    {"Floor", 6, maxOpset, 1, 1, importFloor, refuses, ""},
    {"GRU", 7, maxOpset, 3, 6, importGru, refuses,
     "activation_alpha activation_beta activations clip direction hidden_size "
     "layout linear_before_reset"},
    {"Gather", 1, maxOpset, 2, 2, importGather, takes, "axis"},
    {"Gelu", 20, maxOpset, 1, 1, importGelu, refuses, "approximate"},
    {"Gemm", 7, maxOpset, 2, 3, importGemm, refuses,
     "alpha beta transA transB"},
    {"GlobalAveragePool", 1, maxOpset, 1, 1, importGlobalAveragePool, refuses,
     ""},
    {"GlobalMaxPool", 1, maxOpset, 1, 1, importGlobalMaxPool, takes, ""},
    {"GroupNormalization", 18, maxOpset, 3, 3, importGroupNormalization, refuses,
     "epsilon num_groups stash_type"},
    {"HardSigmoid", 6, maxOpset, 1, 1, importHardSigmoid, refuses,
     "alpha beta"},
    {"HardSwish", 14, maxOpset, 1, 1, importHardSwish, refuses, ""},
    {"Identity", 1, maxOpset, 1, 1, importIdentity, takes, ""},
    {"InstanceNormalization", 6, maxOpset, 3, 3, importInstanceNormalization, refuses,
     "epsilon"},
    {"LRN", 1, maxOpset, 1, 1, importLrn, refuses, "alpha beta bias size"},
    {"LSTM", 7, maxOpset, 3, 8, importLstm, refuses,
     "activation_alpha activation_beta activations clip direction hidden_size "
     "input_forget layout"},
    {"LayerNormalization", 17, maxOpset, 2, 3, importLayerNormalization, refuses,
     "axis epsilon stash_type"},
    {"LeakyRelu", 6, maxOpset, 1, 1, importLeakyRelu, refuses, "alpha"},
    {"Log", 6, maxOpset, 1, 1, importLog, refuses, ""},
    {"LogSoftmax", 1, maxOpset, 1, 1, importLogSoftmax, refuses,
     "axis"},
    {"MatMul", 1, maxOpset, 2, 2, importMatMul, refuses, ""},
    {"MatMulInteger", 10, maxOpset, 2, 4, importMatMulInteger, refuses, ""},
    {"Max", 8, maxOpset, 1, anyNumber, importMax, refuses, ""},
    {"MaxPool", 1, maxOpset, 1, 1, importMaxPool, takes,
     "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxUnpool", 9, maxOpset, 2, 3, importMaxUnpool, refuses,
     "kernel_shape pads strides"},
    {"Mean", 8, maxOpset, 1, anyNumber, importMean, refuses, ""},
    {"MeanVarianceNormalization", 9, maxOpset, 1, 1, importMeanVarianceNormalization, refuses,
     "axes"},
    {"Min", 8, maxOpset, 1, anyNumber, importMin, refuses, ""},
    {"Mish", 18, maxOpset, 1, 1, importMish, refuses, ""},
    {"Mul", 7, maxOpset, 2, 2, importMul, refuses, ""},
    {"Neg", 6, maxOpset, 1, 1, importNeg, refuses, ""},
    {"PRelu", 7, maxOpset, 2, 2, importPRelu, refuses, ""},
    {"Pad", 2, maxOpset, 1, 4, importPad, refuses, "mode pads value"},
    {"Pow", 7, maxOpset, 2, 2, importPow, refuses, ""},
    {"QLinearMatMul", 10, maxOpset, 8, 8, importQLinearMatMul, takes, ""},
    {"QuantizeLinear", 10, maxOpset, 2, 3, importQuantizeLinear, refuses,
     "axis block_size output_dtype saturate"},
    {"RNN", 7, maxOpset, 3, 6, importRnn, refuses,
     "activation_alpha activation_beta activations clip direction hidden_size "
     "layout"},
    {"Range", 11, maxOpset, 3, 3, importRange, refuses, ""},
    {"Reciprocal", 6, maxOpset, 1, 1, importReciprocal, refuses, ""},
    {"ReduceL1", 1, maxOpset, 1, 2, importReduceL1, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceL2", 1, maxOpset, 1, 2, importReduceL2, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSum", 1, maxOpset, 1, 2, importReduceLogSum, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", 1, maxOpset, 1, 2, importReduceLogSumExp, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceMax", 1, maxOpset, 1, 2, importReduceMax, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceMean", 1, maxOpset, 1, 2, importReduceMean, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceMin", 1, maxOpset, 1, 2, importReduceMin, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", 1, maxOpset, 1, 2, importReduceProd, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", 1, maxOpset, 1, 2, importReduceSum, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", 1, maxOpset, 1, 2, importReduceSumSquare, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"Relu", 6, maxOpset, 1, 1, importRelu, refuses, ""},
    {"Reshape", 5, maxOpset, 2, 2, importReshape, takes, "allowzero"},
    {"Resize", 10, maxOpset, 1, 4, importResize, takes,
     "antialias axes coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
     "nearest_mode"},
    {"Round", 11, maxOpset, 1, 1, importRound, refuses, ""},
    {"Selu", 6, maxOpset, 1, 1, importSelu, refuses, "alpha gamma"},
    {"Shape", 1, maxOpset, 1, 1, importShape, takes, "end start"},
    {"Sigmoid", 6, maxOpset, 1, 1, importSigmoid, refuses, ""},
    {"Sign", 9, maxOpset, 1, 1, importSign, refuses, ""},
    {"Sin", 7, maxOpset, 1, 1, importSin, refuses, ""},
    {"Size", 1, maxOpset, 1, 1, importSize, takes, ""},
    {"Slice", 1, maxOpset, 1, 5, importSlice, takes, "axes ends starts"},
    {"Softmax", 1, maxOpset, 1, 1, importSoftmax, refuses, "axis"},
    {"Softplus", 1, maxOpset, 1, 1, importSoftplus, refuses, ""},
    {"Softsign", 1, maxOpset, 1, 1, importSoftsign, refuses, ""},
    {"SpaceToDepth", 1, maxOpset, 1, 1, importSpaceToDepth, takes,
     "blocksize"},
    {"Split", 2, maxOpset, 1, 2, importSplit, takes, "axis num_outputs split"},
    {"Sqrt", 6, maxOpset, 1, 1, importSqrt, refuses, ""},
    {"Squeeze", 1, maxOpset, 1, 2, importSqueeze, takes, "axes"},
    {"Sub", 7, maxOpset, 2, 2, importSub, refuses, ""},
    {"Sum", 6, maxOpset, 1, anyNumber, importSum, refuses, ""},
    {"Swish", 24, maxOpset, 1, 1, importSwish, refuses, "alpha"},
    {"Tanh", 6, maxOpset, 1, 1, importTanh, refuses, ""},
    {"ThresholdedRelu", 10, maxOpset, 1, 1, importThresholdedRelu, refuses, "alpha"},
    {"Transpose", 1, maxOpset, 1, 1, importTranspose, takes, "perm"},
    {"Unsqueeze", 1, maxOpset, 1, 2, importUnsqueeze, takes, "axes"},
    {"Upsample", 7, 9, 1, 2, importUpsample, takes, "mode scales"},
};
// clang-format on

static_assert(std::ranges::all_of(opTable,
                                  [](const OpRow &row) {
                                    return row.minOpset <= row.maxOpset &&
                                           row.maxOpset <= maxOpset;
                                  }),
              "no model can reach a row of the table");

const OpRow *findOp(llvm::StringRef name) {
  const OpRow *row = llvm::lower_bound(
      opTable, name,
      [](const OpRow &row, llvm::StringRef name) { return row.name < name; });
  return row != std::end(opTable) && row->name == name ? row : nullptr;
}

} // namespace tarpon
