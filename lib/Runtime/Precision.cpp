//===- Precision.cpp - The precision of a model ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Precision.h"

namespace tarpon::runtime {

/// The names are in the order of the enumeration.
static constexpr std::array<std::string_view, 4> kNames = {"fp32", "fp16",
                                                           "bf16", "int8"};

static_assert(kNames.size() == kPrecisions.size(), "a precision has no name");

/// The dtypes are in the order of the enumeration, too.
static constexpr std::array<DType, kPrecisions.size()> kFactors = {
    DType::F32, DType::F16, DType::BF16, DType::I8};

std::string_view getPrecisionName(Precision precision) {
  return kNames[static_cast<size_t>(precision)];
}

DType getFactorDType(Precision precision) {
  return kFactors[static_cast<size_t>(precision)];
}

std::optional<Precision> parsePrecision(std::string_view name) {
  for (Precision precision : kPrecisions)
    if (kNames[static_cast<size_t>(precision)] == name)
      return precision;
  return std::nullopt;
}

} // namespace tarpon::runtime
