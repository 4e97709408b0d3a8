//===- BudgetSearch.h - Finds the error that a metric bears -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_BUDGETSEARCH_H
#define TARPON_LIB_AUTOTUNE_TUNING_BUDGETSEARCH_H

#include <limits>
#include <optional>

namespace tarpon {

/// Where a metric of the user's decides, plans are made for budgets of errors,
/// which predict it: without any first, then downwards from the errors that
/// were too large, until one is fine, and then between the two.
class BudgetSearch {
public:
  /// The next budget, infinite for none at all; nothing if the search is over.
  std::optional<double> getNext();

  /// Tells the error of a plan for the last budget, and whether its metric is
  /// fine.
  void record(double error, bool isFine);
  /// Tells that the last budget led to no new plan. Unless smaller ones may, a
  /// search that has found none is over.
  void recordNone(bool mayImprove);

private:
  /// The least error that was too large, and the largest budget that led to a
  /// fine plan.
  double tooLarge = std::numeric_limits<double>::infinity();
  std::optional<double> fine;
  std::optional<double> last;
  int refinements = 0;
  bool isOver = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_BUDGETSEARCH_H
