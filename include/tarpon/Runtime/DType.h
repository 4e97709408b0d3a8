//===- DType.h - Storage types of tensor elements ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_DTYPE_H
#define TARPON_RUNTIME_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tarpon::runtime {

/// How one element lies in memory, little endian. A quantised tensor is stored
/// as I8 or U8; its scale and zero point stand beside the type.
enum class DType : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  Bool
};

/// Size of one element in bytes.
int64_t dtypeBytes(DType dtype);

/// Whether elements are floating-point numbers, of any width. A quantised
/// tensor's are not: they are stored as integers.
bool isFloat(DType dtype);

/// The spelling used in files and messages: "f32", "bf16", "u8", "bool", ...
std::string_view dtypeName(DType dtype);

/// The type of that spelling, or none.
std::optional<DType> parseDType(std::string_view name);

/// One element converted to and from f32. f32 to f16 and bf16 rounds to nearest
/// even; f32 to an integer rounds to nearest even and saturates, and NaN gives
/// 0. The element may lie at any address.
float loadAsFloat(DType dtype, const void *element);
void storeFromFloat(DType dtype, float value, void *element);

/// The element as f64: exact but for 64-bit integers beyond 2^53.
double loadAsDouble(DType dtype, const void *element);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_DTYPE_H
