//===- AccuracyBudget.h - Error budgets of dtypes ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_ACCURACYBUDGET_H
#define TARPON_AUTOTUNE_SEARCH_ACCURACYBUDGET_H

namespace tarpon::policy {

/// Relative L2 distances of a model in a narrower dtype from itself in fp32.
struct AccuracyBudget {
  /// The largest distance that right kernels have shown on any model of
  /// models/, tiny ones included, in either layout, on generated inputs.
  double worstSeen;
  /// The largest distance that `graph-opt verify` accepts. A wrong kernel, or a
  /// tensor whose range was missed, shows 0.3 and more.
  double allowed;

  /// Returns true if the budget leaves room for other inputs and summation
  /// orders, but none for errors.
  constexpr bool isTight() const {
    return worstSeen < allowed && allowed < 1.5 * worstSeen;
  }
};

inline constexpr AccuracyBudget kFp16Budget = {0.004, 0.005};
inline constexpr AccuracyBudget kBf16Budget = {0.026, 0.03};
/// 0.093 is GoogLeNet's; tiny_split has 0.081, ShuffleNet 0.059.
inline constexpr AccuracyBudget kInt8Budget = {0.093, 0.1};

static_assert(kFp16Budget.isTight() && kBf16Budget.isTight() &&
              kInt8Budget.isTight());

} // namespace tarpon::policy

#endif // TARPON_AUTOTUNE_SEARCH_ACCURACYBUDGET_H
