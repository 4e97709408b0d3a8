//===- TensorReader.h - TensorProto to bytes --------------------*- C++ -*-===//
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

/// A tensor in row-major order. A bool takes one byte, which is 0 or 1.
struct OnnxTensor {
  std::string name;
  runtime::DType dtype = runtime::DType::F32;
  std::vector<int64_t> shape;
  /// A string, as protobuf keeps them, so that large ones need not be copied.
  std::string bytes;
};

/// Tensors above this many elements are refused, which keeps every size and
/// offset that follows from one far from the end of int64_t.
constexpr int64_t maxElements = int64_t(1) << 38;

/// The product of the dimensions; none if one is negative or the product is
/// above maxElements.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The dtype of a TensorProto::DataType; none for strings, complex numbers,
/// and what later versions added.
std::optional<runtime::DType> getDType(int32_t onnxType);

/// For messages: "1 (FLOAT)".
std::string describeOnnxType(int32_t onnxType);

/// Takes the data out of `tensor`, or reads it through `external`; without
/// `external`, external data is an error.
runtime::Result<OnnxTensor> takeTensor(onnx::TensorProto &tensor,
                                       ExternalData *external);

/// The worst of what the elements of that dtype hold; Finite if they are no
/// floats.
enum class Finiteness { Finite, HasInf, HasNaN };
Finiteness checkFinite(runtime::DType dtype, llvm::ArrayRef<char> bytes);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_TENSORREADER_H
