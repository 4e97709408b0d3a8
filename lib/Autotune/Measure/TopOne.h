//===- TopOne.h - The share of right classes --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_TOPONE_H
#define TARPON_LIB_AUTOTUNE_MEASURE_TOPONE_H

#include "Measure/OutputMetric.h"
#include "tarpon/Runtime/Package.h"

#include <cstdint>
#include <memory>

namespace tarpon {

/// The share of the rows of the first output whose largest element is that of
/// the row's class. A row with a NaN is wrong; of equal elements the first one
/// counts.
class TopOne final : public OutputMetric {
public:
  /// Reads the classes of all rows of all samples, counted from 0: numbers in
  /// text, between spaces or lines. `output` is the model's first one.
  static runtime::Result<std::unique_ptr<OutputMetric>>
  read(const std::string &path, size_t samples,
       const runtime::TensorInfo &output);

  /// The labels must be classes.
  TopOne(std::vector<int64_t> labels, int64_t classes)
      : labels(std::move(labels)), classes(classes) {}

  std::string getName() const override { return "top-1"; }
  runtime::Result<double> compute(const SampleResults &results) const override;

private:
  std::vector<int64_t> labels;
  int64_t classes;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_TOPONE_H
