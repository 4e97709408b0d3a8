//===- RangeMethod.h - How int8's ranges are chosen -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_RANGEMETHOD_H
#define TARPON_AUTOTUNE_CHOICE_RANGEMETHOD_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tarpon {

/// How the range of a tensor follows from its values on the calibration inputs.
enum class RangeMethod : uint8_t {
  /// From the least value to the greatest (Jacob et al., Quantization and
  /// Training of Neural Networks for Efficient Integer-Arithmetic-Only
  /// Inference, 2018).
  MinMax,
  /// Without the outermost 0.01 % of the values (Wu et al., Integer
  /// Quantization for Deep Learning Inference, 2020).
  Percentile,
  /// With the least squared error of rounding and clipping together (Banner et
  /// al., Post Training 4-bit Quantization of Convolutional Networks for
  /// Rapid-deployment, 2019, which derives it for two distributions).
  Mse,
  /// With the least relative entropy of the values before and after (Migacz,
  /// 8-bit Inference with TensorRT, 2017).
  Entropy,
};

inline constexpr std::array<RangeMethod, 4> kRangeMethods = {
    RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Mse,
    RangeMethod::Entropy};

/// "min-max", "percentile", "mse" or "entropy".
std::string_view getRangeMethodName(RangeMethod method);

/// Returns the method of that name, or none.
std::optional<RangeMethod> parseRangeMethod(std::string_view name);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_RANGEMETHOD_H
