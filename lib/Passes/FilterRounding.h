//===- FilterRounding.h - Rounds constant filters to 8 bits -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rounding errors of a filter's weights, and of its inputs, shift the mean
// of every result channel. Two remedies need no other data than the means of
// the inputs:
// - Weights that lie almost in the middle between two steps are rounded to the
//   other side where that moves the mean back (the idea of SQuant, Guo et al.,
//   2022, with calibrated means where SQuant assumes equal ones).
// - What is left goes into the bias (bias correction: Nagel et al., Data-Free
//   Quantization through Weight Equalization and Bias Correction, 2019).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_FILTERROUNDING_H
#define TARPON_LIB_PASSES_FILTERROUNDING_H

#include "tarpon/Passes/FilterInputs.h"

#include "mlir/IR/Builders.h"

namespace tarpon::detail {

/// The means of the channels that a filter reads, before and after they are
/// stored in 8 bits.
struct InputMeans {
  llvm::ArrayRef<float> exact, stored;
};

struct RoundedFilter {
  /// A constant of i8, symmetric, with one scale per result channel.
  mlir::Value filter;
  /// The numbers to add to each result channel; empty without means.
  std::vector<float> correction = {};
};

/// Rounds a constant filter whose dimension `axis` counts the result channels.
RoundedFilter roundFilter(mlir::OpBuilder &builder, mlir::Value filter,
                          int64_t axis);

/// Rounds a filter so that the means of the results stay as they are.
RoundedFilter roundFilter(mlir::OpBuilder &builder, mlir::Value filter,
                          int64_t axis, const FilterInputs &inputs,
                          const InputMeans &means);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_FILTERROUNDING_H
