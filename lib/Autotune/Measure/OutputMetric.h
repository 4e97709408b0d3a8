//===- OutputMetric.h - A user's measure of results -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_OUTPUTMETRIC_H
#define TARPON_LIB_AUTOTUNE_MEASURE_OUTPUTMETRIC_H

#include "tarpon/Runtime/Result.h"

#include <string>
#include <vector>

namespace tarpon {

/// The elements of each output of a model for each sample.
using SampleResults = std::vector<std::vector<std::vector<double>>>;

/// Says how good the results of a model are: the more, the better.
class OutputMetric {
public:
  virtual ~OutputMetric();

  /// The name in tuning files and messages: "top-1".
  virtual std::string getName() const = 0;

  /// The number is not finite if these results cannot be judged; an error means
  /// that none can.
  virtual runtime::Result<double>
  compute(const SampleResults &results) const = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_OUTPUTMETRIC_H
