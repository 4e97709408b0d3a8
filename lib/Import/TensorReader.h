//===- TensorReader.h - Reads the bytes of TensorProtos ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_TENSORREADER_H
#define TARPON_LIB_IMPORT_TENSORREADER_H

#include "ExternalData.h"
#include "OnnxProto.h"
#include "tarpon/IR/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// A tensor in row-major order. A bool takes one byte, which is 0 or 1, and so
/// does an element of less than 8 bits (see DTypes.def).
struct OnnxTensor {
  std::string name;
  runtime::DType dtype = runtime::DType::F32;
  std::vector<int64_t> shape;
  /// A string, as in protobuf, so that large ones need not be copied.
  std::string bytes;
};

/// The largest number of elements of a tensor; it keeps all sizes and offsets
/// far from the limits of int64_t.
constexpr int64_t maxElements = int64_t(1) << 38;

/// The product of the dimensions; none if one is negative or the product is
/// above maxElements.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Returns the dtype of a TensorProto::DataType; none for strings and complex
/// numbers.
std::optional<runtime::DType> getDType(int32_t onnxType);

/// Describes a type in messages: "1 (FLOAT)".
std::string describeOnnxType(int32_t onnxType);

/// Moves the data out of `tensor`, or reads it through `external`; without
/// `external`, external data is an error.
runtime::Result<OnnxTensor> takeTensor(onnx::TensorProto &tensor,
                                       ExternalData *external);

/// The worst kind of value among the elements; Finite if they are no floats.
enum class Finiteness { Finite, HasInf, HasNaN };
Finiteness checkFinite(runtime::DType dtype, llvm::ArrayRef<char> bytes);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_TENSORREADER_H
