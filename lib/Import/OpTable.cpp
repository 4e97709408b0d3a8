//===- OpTable.cpp - Which importer takes which operator --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The minimal opset is that of the operator's first version. An importer knows
// the versions' differences; most are told by which inputs and attributes there
// are.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"

#include "ModelReader.h"

#include "llvm/ADT/STLExtras.h"

namespace tarpon {

static constexpr Quantized refuses = Quantized::Refuses;
static constexpr Quantized takes = Quantized::Takes;

// Sorted by name.
// clang-format off
static constexpr OpRow opTable[] = {
    {"Add", 7, maxOpset, 2, 2, importAdd, refuses, ""},
    {"AveragePool", 7, maxOpset, 1, 1, importAveragePool, refuses,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
     "strides"},
    {"BatchNormalization", 7, maxOpset, 5, 5, importBatchNormalization, refuses,
     "epsilon momentum spatial training_mode"},
    {"Cast", 6, maxOpset, 1, 1, importCast, refuses, "saturate to"},
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
    {"DequantizeLinear", 10, maxOpset, 2, 3, importDequantizeLinear, takes,
     "axis block_size"},
    {"Div", 7, maxOpset, 2, 2, importDiv, refuses, ""},
    {"Dropout", 7, maxOpset, 1, 3, importDropout, refuses, "ratio seed"},
    {"Flatten", 1, maxOpset, 1, 1, importFlatten, takes, "axis"},
    {"Gather", 1, maxOpset, 2, 2, importGather, takes, "axis"},
    {"Gemm", 7, maxOpset, 2, 3, importGemm, refuses,
     "alpha beta transA transB"},
    {"GlobalAveragePool", 1, maxOpset, 1, 1, importGlobalAveragePool, refuses,
     ""},
    {"GlobalMaxPool", 1, maxOpset, 1, 1, importGlobalMaxPool, takes, ""},
    {"HardSigmoid", 6, maxOpset, 1, 1, importHardSigmoid, refuses,
     "alpha beta"},
    {"HardSwish", 14, maxOpset, 1, 1, importHardSwish, refuses, ""},
    {"Identity", 1, maxOpset, 1, 1, importIdentity, takes, ""},
    {"LRN", 1, maxOpset, 1, 1, importLrn, refuses, "alpha beta bias size"},
    {"LeakyRelu", 6, maxOpset, 1, 1, importLeakyRelu, refuses, "alpha"},
    {"MatMul", 1, maxOpset, 2, 2, importMatMul, refuses, ""},
    {"MaxPool", 1, maxOpset, 1, 1, importMaxPool, takes,
     "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"Mul", 7, maxOpset, 2, 2, importMul, refuses, ""},
    {"Pad", 2, maxOpset, 1, 4, importPad, refuses, "mode pads value"},
    {"QuantizeLinear", 10, maxOpset, 2, 3, importQuantizeLinear, refuses,
     "axis block_size output_dtype saturate"},
    {"Range", 11, maxOpset, 3, 3, importRange, refuses, ""},
    {"ReduceMean", 1, maxOpset, 1, 2, importReduceMean, refuses,
     "axes keepdims noop_with_empty_axes"},
    {"Relu", 6, maxOpset, 1, 1, importRelu, refuses, ""},
    {"Reshape", 5, maxOpset, 2, 2, importReshape, takes, "allowzero"},
    {"Shape", 1, maxOpset, 1, 1, importShape, takes, "end start"},
    {"Sigmoid", 6, maxOpset, 1, 1, importSigmoid, refuses, ""},
    {"Size", 1, maxOpset, 1, 1, importSize, takes, ""},
    {"Slice", 1, maxOpset, 1, 5, importSlice, takes, "axes ends starts"},
    {"Softmax", 1, maxOpset, 1, 1, importSoftmax, refuses, "axis"},
    {"Split", 2, maxOpset, 1, 2, importSplit, takes, "axis num_outputs split"},
    {"Squeeze", 1, maxOpset, 1, 2, importSqueeze, takes, "axes"},
    {"Sub", 7, maxOpset, 2, 2, importSub, refuses, ""},
    {"Sum", 6, maxOpset, 1, anyNumber, importSum, refuses, ""},
    {"Transpose", 1, maxOpset, 1, 1, importTranspose, takes, "perm"},
    {"Unsqueeze", 1, maxOpset, 1, 2, importUnsqueeze, takes, "axes"},
};
// clang-format on

const OpRow *findOp(llvm::StringRef name) {
  const OpRow *row = llvm::lower_bound(
      opTable, name,
      [](const OpRow &row, llvm::StringRef name) { return row.name < name; });
  return row != std::end(opTable) && row->name == name ? row : nullptr;
}

} // namespace tarpon
