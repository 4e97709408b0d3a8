//===- Precision.h - The precision of a model -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dtype that one choice gives a whole model, as --dtype, tuning files and
// packages spell it. The element types of its tensors follow from it (DType.h).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_PRECISION_H
#define TARPON_RUNTIME_PRECISION_H

#include "tarpon/Runtime/DType.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tarpon::runtime {

enum class Precision : uint8_t { F32, F16, BF16, I8 };

/// All precisions, in the order in which they are tried and listed.
inline constexpr std::array<Precision, 4> kPrecisions = {
    Precision::F32, Precision::F16, Precision::BF16, Precision::I8};

/// "fp32", "fp16", "bf16" or "int8".
std::string_view getPrecisionName(Precision precision);

/// The dtype of the factors of products in that precision.
DType getFactorDType(Precision precision);

/// Returns the precision of that name, or none.
std::optional<Precision> parsePrecision(std::string_view name);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_PRECISION_H
