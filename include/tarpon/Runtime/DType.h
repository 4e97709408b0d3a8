//===- DType.h - Storage types of tensor elements ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_DTYPE_H
#define TARPON_RUNTIME_DTYPE_H

#include "tarpon/Runtime/FloatFormat.h"
#include "tarpon/Runtime/NarrowInteger.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarpon::runtime {

/// How one element lies in memory, little endian; DTypes.def is the table. A
/// quantised tensor is stored as I8 or U8; its scale and zero point are kept
/// beside the type.
enum class DType : uint8_t {
#define TARPON_DTYPE(enumerator) enumerator,
#include "tarpon/Runtime/DTypes.def"
};

/// All dtypes, in their order.
inline constexpr DType kDTypes[] = {
#define TARPON_DTYPE(enumerator) DType::enumerator,
#include "tarpon/Runtime/DTypes.def"
};

/// Size of one element in memory in bytes.
int64_t dtypeBytes(DType dtype);

/// The bits of one element, less than 8 for the narrowest types; 8 for bool.
int64_t dtypeBits(DType dtype);

/// Returns true if elements are floating-point numbers, of any width. False for
/// quantised tensors, which are stored as integers.
bool isFloat(DType dtype);

/// Returns true if elements are floats that f32 holds exactly, and that kernels
/// therefore compute with as f32: f32 itself, f16, bf16. Those of 8 bits and
/// less are storage, which few kernels but the reference's read and write.
bool fitsF32(DType dtype);

/// Returns true if elements are only stored in the type, of 8 bits or less, and
/// converted to be computed with: fp8, fp4, integers of 2 and 4 bits.
bool isStorageOnly(DType dtype);

/// Returns true if elements are integers that may be negative.
bool isSignedInteger(DType dtype);

/// The bits of a float's elements; none for integers.
std::optional<FloatFormat> getFloatFormat(DType dtype);

/// The distance from 1 to the next number, or 0 for integers.
double dtypeEpsilon(DType dtype);

/// The spelling used in files and messages: "f32", "bf16", "u8", "bool", ...
std::string_view dtypeName(DType dtype);

/// The type of that spelling, or none.
std::optional<DType> parseDType(std::string_view name);

/// Lists the spellings of the types that `wanted` picks, for messages: with "
/// or " as the last separator, "f32, f16 or bf16".
std::string listDTypes(bool (*wanted)(DType), std::string_view last);

/// Convert one element to and from f32. f32 to a smaller float rounds to
/// nearest even (encodeFloat); f32 to an integer rounds to nearest even and
/// saturates, and NaN becomes 0. The element may lie at any address.
float loadAsFloat(DType dtype, const void *element);
void storeFromFloat(DType dtype, float value, void *element);

/// Stores the lower bits of an integer. For integer types only.
void storeWrapped(DType dtype, uint64_t bits, void *element);

/// Converts the element to f64: exact except for 64-bit integers beyond 2^53.
double loadAsDouble(DType dtype, const void *element);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_DTYPE_H
