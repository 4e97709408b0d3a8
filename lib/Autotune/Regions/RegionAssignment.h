//===- RegionAssignment.h - The best choice of each region ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives each region of a model a precision and a layout, such that the expected
// time is least and the expected error within a budget, by mixed integer
// programming (COIN-OR CBC, branch and cut).
//
// Binary variables say which state a region is in. A value is stored in the
// layout of the region that makes it and in one of the precisions; each other
// state in which a region reads it costs a conversion. The square of the error
// is the sum of the regions' squares, as for independent perturbations.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_REGIONS_REGIONASSIGNMENT_H
#define TARPON_LIB_AUTOTUNE_REGIONS_REGIONASSIGNMENT_H

#include "tarpon/Passes/RegionChoice.h"
#include "tarpon/Runtime/Result.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tarpon {

/// A region, in one state.
struct RegionCost {
  double milliseconds = 0;
  /// The part of this region in the square of the model's relative L2 error.
  double squaredError = 0;
};

/// A value that regions read.
struct RegionValue {
  struct Reader {
    size_t region = 0;
    /// True if the region reads it through a reshape, which takes nchw alone.
    bool isRowMajor = false;
  };

  /// The region that makes it; none if it is an argument of the model, which is
  /// in state 0.
  std::optional<size_t> producer;
  std::vector<Reader> readers;
  /// True if the model returns it, in state 0.
  bool isReturned = false;
  /// The time of a conversion to each state.
  std::vector<double> conversionMs;
};

struct RegionCosts {
  /// All states of regions and values, the first one fp32 in nchw. Every dtype
  /// occurs with every layout.
  std::vector<RegionChoice> states;
  /// By region and state; none if the region cannot be in it.
  std::vector<std::vector<std::optional<RegionCost>>> regions;
  std::vector<RegionValue> values;
};

struct RegionAssignment {
  /// The index of each region's state.
  std::vector<size_t> states;
  /// The expected time and error.
  double milliseconds = 0, squaredError = 0;
  /// No assignment within the budget takes less, as far as costs are right.
  double leastMilliseconds = 0;
};

/// Returns what is expected of regions in these states, which they can be in.
RegionAssignment evaluateAssignment(const RegionCosts &costs,
                                    std::vector<size_t> states);

/// Returns the fastest assignment whose squared error is at most `budget`; the
/// same for the same costs, on every machine. An error if there is none.
runtime::Result<RegionAssignment> assignRegions(const RegionCosts &costs,
                                                double budget);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_REGIONS_REGIONASSIGNMENT_H
