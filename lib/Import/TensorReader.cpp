//===- TensorReader.cpp - Reads the bytes of TensorProtos -------*- C++ -*-===//
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

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>

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

static constexpr std::pair<int32_t, DType> kOnnxTypes[] = {
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, specials, mlir, \
                     number, ...)                                              \
  {number, DType::enumerator},
#define TARPON_INTEGER(enumerator, spelling, stored, number, ...)              \
  {number, DType::enumerator},
#include "tarpon/Runtime/DTypes.def"
};

std::optional<DType> getDType(int32_t onnxType) {
  for (auto [number, dtype] : kOnnxTypes)
    if (number == onnxType)
      return dtype;
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

/// Reads the elements from the typed field that ONNX assigns to the dtype.
static std::string readTypedField(const onnx::TensorProto &tensor,
                                  DType dtype) {
  bool isReal = runtime::isFloat(dtype);
  bool isSigned = runtime::isSignedInteger(dtype);
  switch (runtime::dtypeBytes(dtype)) {
  case 8:
    return isReal     ? narrow<double>(tensor.double_data())
           : isSigned ? narrow<int64_t>(tensor.int64_data())
                      : narrow<uint64_t>(tensor.uint64_data());
  case 4:
    return isReal     ? narrow<float>(tensor.float_data())
           : isSigned ? narrow<int32_t>(tensor.int32_data())
                      : narrow<uint32_t>(tensor.uint64_data());
  case 2:
    return narrow<uint16_t>(tensor.int32_data());
  default:
    return narrow<uint8_t>(tensor.int32_data());
  }
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

/// Gives each element of less than 8 bits, of which ONNX packs several into a
/// byte, the lower ones first, a byte of its own.
static std::string unpack(const std::string &packed, DType dtype,
                          int64_t count) {
  int64_t bits = runtime::dtypeBits(dtype), perByte = 8 / bits;
  std::string bytes(count, 0);
  for (int64_t i = 0; i < count; ++i) {
    auto byte = static_cast<uint8_t>(packed[i / perByte]);
    int element = byte >> (i % perByte * bits) & ((1 << bits) - 1);
    if (runtime::isFloat(dtype))
      bytes[i] = static_cast<char>(element);
    else
      runtime::storeWrapped(dtype, element, &bytes[i]);
  }
  return bytes;
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
  int64_t wanted = divideCeil(*count * runtime::dtypeBits(*dtype), 8);
  if (static_cast<int64_t>(result.bytes.size()) != wanted)
    return error("the shape needs " + Twine(wanted) +
                 " bytes of data, but there are " + Twine(result.bytes.size()));
  if (runtime::dtypeBits(*dtype) < 8)
    result.bytes = unpack(result.bytes, *dtype, *count);
  if (*dtype == DType::Bool)
    for (char &byte : result.bytes)
      byte = byte != 0;
  return result;
}

template <typename Bits>
static Finiteness checkFinite(ArrayRef<char> bytes,
                              const runtime::FloatFormat &format) {
  Bits magnitude = static_cast<Bits>(format.magnitude());
  Bits finite = static_cast<Bits>(format.largestFinite());
  Bits number = static_cast<Bits>(format.largestNumber());
  bool found = false;
  bool isNan = false;
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i, sizeof(Bits));
    bits &= magnitude;
    found |= bits > finite;
    isNan |= bits > number;
  }
  if (isNan)
    return Finiteness::HasNaN;
  return found ? Finiteness::HasInf : Finiteness::Finite;
}

static Finiteness checkSmallFloats(ArrayRef<char> bytes,
                                   const runtime::FloatFormat &format) {
  Finiteness worst = Finiteness::Finite;
  for (char byte : bytes) {
    float value = runtime::decodeFloat(format, static_cast<uint8_t>(byte));
    if (std::isnan(value))
      return Finiteness::HasNaN;
    if (std::isinf(value))
      worst = Finiteness::HasInf;
  }
  return worst;
}

Finiteness checkFinite(DType dtype, ArrayRef<char> bytes) {
  std::optional<runtime::FloatFormat> format = runtime::getFloatFormat(dtype);
  if (!format)
    return Finiteness::Finite;
  switch (format->bits()) {
  case 64:
    return checkFinite<uint64_t>(bytes, *format);
  case 32:
    return checkFinite<uint32_t>(bytes, *format);
  case 16:
    return checkFinite<uint16_t>(bytes, *format);
  default:
    return checkSmallFloats(bytes, *format);
  }
}

} // namespace tarpon
