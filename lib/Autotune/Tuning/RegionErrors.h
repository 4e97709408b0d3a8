//===- RegionErrors.h - The errors of regions in a precision ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_REGIONERRORS_H
#define TARPON_LIB_AUTOTUNE_TUNING_REGIONERRORS_H

#include "Tuning/RegionMeasurer.h"
#include "tarpon/Autotune/Search/Deadline.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <optional>
#include <vector>

namespace tarpon {

/// The squares of the model's error with one region alone in a precision.
class RegionErrors {
public:
  /// Measures the regions in a precision, all others being in fp32, in groups
  /// of neighbours. A group is halved unless its error is negligible beside
  /// `maxError`, or the deadline is over: then its regions share its square.
  runtime::Status measure(RegionMeasurer &measurer, runtime::Precision dtype,
                          Layout layout, Fusion fusion,
                          llvm::ArrayRef<size_t> regions, size_t count,
                          double maxError, const Deadline &deadline);

  /// None if the region cannot be used in that precision, or was not measured.
  std::optional<double> getSquare(runtime::Precision dtype,
                                  size_t region) const;

private:
  std::map<std::pair<runtime::Precision, size_t>, double> squares;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_REGIONERRORS_H
