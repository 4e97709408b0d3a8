//===- TensorReader.cpp - TensorProto to bytes ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX keeps the elements of a tensor in one of several fields: raw bytes, an
// external file, or a repeated field that is wider than the element.
//
//===----------------------------------------------------------------------===//

#include "TensorReader.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstring>
#include <limits>

using namespace llvm;
using tarpon::runtime::DType;
using tarpon::runtime::Result;

namespace tarpon {

static runtime::Error error(const Twine &message) {
  return runtime::Error{message.str()};
}

std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0 || (dim > 0 && count > maxElements / dim))
      return std::nullopt;
    count *= dim;
  }
  return count;
}

namespace {
struct DTypeRow {
  onnx::TensorProto::DataType onnxType;
  DType dtype;
};
} // namespace

static constexpr DTypeRow dtypeTable[] = {
    {onnx::TensorProto::FLOAT, DType::F32},
    {onnx::TensorProto::FLOAT16, DType::F16},
    {onnx::TensorProto::BFLOAT16, DType::BF16},
    {onnx::TensorProto::DOUBLE, DType::F64},
    {onnx::TensorProto::INT8, DType::I8},
    {onnx::TensorProto::UINT8, DType::U8},
    {onnx::TensorProto::INT16, DType::I16},
    {onnx::TensorProto::UINT16, DType::U16},
    {onnx::TensorProto::INT32, DType::I32},
    {onnx::TensorProto::UINT32, DType::U32},
    {onnx::TensorProto::INT64, DType::I64},
    {onnx::TensorProto::UINT64, DType::U64},
    {onnx::TensorProto::BOOL, DType::Bool},
};

std::optional<DType> getDType(int32_t onnxType) {
  for (const DTypeRow &row : dtypeTable)
    if (row.onnxType == onnxType)
      return row.dtype;
  return std::nullopt;
}

mlir::Type getElementType(mlir::MLIRContext *context, DType dtype) {
  mlir::Builder builder(context);
  switch (dtype) {
  case DType::F32:
    return builder.getF32Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::I8:
    return builder.getI8Type();
  case DType::U8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case DType::I16:
    return builder.getI16Type();
  case DType::U16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case DType::I32:
    return builder.getI32Type();
  case DType::U32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case DType::I64:
    return builder.getI64Type();
  case DType::U64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  case DType::Bool:
    return builder.getI1Type();
  }
  llvm_unreachable("unknown dtype");
}

static std::optional<DType> getIntegerDType(mlir::IntegerType type) {
  switch (type.getWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return type.isUnsigned() ? DType::U8 : DType::I8;
  case 16:
    return type.isUnsigned() ? DType::U16 : DType::I16;
  case 32:
    return type.isUnsigned() ? DType::U32 : DType::I32;
  case 64:
    return type.isUnsigned() ? DType::U64 : DType::I64;
  default:
    return std::nullopt;
  }
}

std::optional<DType> getDType(mlir::Type elementType) {
  if (auto type = dyn_cast<mlir::quant::QuantizedType>(elementType))
    return type.isSigned() ? DType::I8 : DType::U8;
  if (auto type = dyn_cast<mlir::IntegerType>(elementType))
    return getIntegerDType(type);
  if (elementType.isF32())
    return DType::F32;
  if (elementType.isF16())
    return DType::F16;
  if (elementType.isBF16())
    return DType::BF16;
  if (elementType.isF64())
    return DType::F64;
  return std::nullopt;
}

std::string describeOnnxType(int32_t onnxType) {
  std::string text = std::to_string(onnxType);
  if (onnx::TensorProto::DataType_IsValid(onnxType))
    text += " (" +
            onnx::TensorProto::DataType_Name(
                static_cast<onnx::TensorProto::DataType>(onnxType)) +
            ")";
  return text;
}

/// Copies a repeated field, element by element, into `Stored`s.
template <typename Stored, typename Field>
static std::string narrow(const Field &field) {
  std::string bytes(field.size() * sizeof(Stored), 0);
  char *out = bytes.data();
  for (auto value : field) {
    Stored stored = static_cast<Stored>(value);
    std::memcpy(out, &stored, sizeof(Stored));
    out += sizeof(Stored);
  }
  return bytes;
}

/// The elements from the typed field that ONNX assigns to the dtype.
static std::string readTypedField(const onnx::TensorProto &tensor,
                                  DType dtype) {
  switch (dtype) {
  case DType::F32:
    return narrow<float>(tensor.float_data());
  case DType::F64:
    return narrow<double>(tensor.double_data());
  case DType::I64:
    return narrow<int64_t>(tensor.int64_data());
  case DType::U64:
    return narrow<uint64_t>(tensor.uint64_data());
  case DType::U32:
    return narrow<uint32_t>(tensor.uint64_data());
  case DType::I32:
    return narrow<int32_t>(tensor.int32_data());
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return narrow<uint16_t>(tensor.int32_data());
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return narrow<uint8_t>(tensor.int32_data());
  }
  llvm_unreachable("unknown dtype");
}

static Result<std::string> takeBytes(onnx::TensorProto &tensor, DType dtype,
                                     ExternalData *external) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (!external)
      return error("external data is not allowed here");
    Result<StringRef> bytes = external->find(tensor);
    if (!bytes)
      return bytes.error();
    return bytes->str();
  }
  if (!tensor.has_raw_data())
    return readTypedField(tensor, dtype);
  return std::move(*tensor.mutable_raw_data());
}

Result<OnnxTensor> takeTensor(onnx::TensorProto &tensor,
                              ExternalData *external) {
  std::optional<DType> dtype = getDType(tensor.data_type());
  if (!dtype)
    return error("unsupported data type " +
                 describeOnnxType(tensor.data_type()));
  if (tensor.has_segment())
    return error("segmented tensors are not supported");
  OnnxTensor result;
  result.name = tensor.name();
  result.dtype = *dtype;
  result.shape.assign(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> count = countElements(result.shape);
  if (!count)
    return error("the shape has a negative dimension or is too large");
  Result<std::string> bytes = takeBytes(tensor, *dtype, external);
  if (!bytes)
    return bytes.error();
  result.bytes = std::move(*bytes);
  int64_t wanted = *count * runtime::dtypeBytes(*dtype);
  if (static_cast<int64_t>(result.bytes.size()) != wanted)
    return error("the shape needs " + Twine(wanted) +
                 " bytes of data, but there are " + Twine(result.bytes.size()));
  if (*dtype == DType::Bool)
    for (char &byte : result.bytes)
      byte = byte != 0;
  return result;
}

/// Looks for an exponent of all ones: such an element is Inf, or NaN if its
/// mantissa is not zero.
template <typename Bits>
static Finiteness checkFinite(ArrayRef<char> bytes, Bits exponent) {
  constexpr Bits magnitude = std::numeric_limits<Bits>::max() >> 1;
  bool found = false;
  bool isNan = false;
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i, sizeof(Bits));
    found |= (bits & exponent) == exponent;
    isNan |= (bits & magnitude) > exponent;
  }
  if (isNan)
    return Finiteness::HasNaN;
  return found ? Finiteness::HasInf : Finiteness::Finite;
}

Finiteness checkFinite(DType dtype, ArrayRef<char> bytes) {
  switch (dtype) {
  case DType::F32:
    return checkFinite<uint32_t>(bytes, 0x7f800000u);
  case DType::F16:
    return checkFinite<uint16_t>(bytes, uint16_t(0x7c00));
  case DType::BF16:
    return checkFinite<uint16_t>(bytes, uint16_t(0x7f80));
  case DType::F64:
    return checkFinite<uint64_t>(bytes, 0x7ff0000000000000ull);
  case DType::I8:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
  case DType::U64:
  case DType::Bool:
    return Finiteness::Finite;
  }
  llvm_unreachable("unknown dtype");
}

} // namespace tarpon
