//===- BudgetSearch.cpp - Finds the error that a metric bears -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/BudgetSearch.h"

#include "tarpon/Autotune/Search/Policy.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

std::optional<double> BudgetSearch::getNext() {
  if (isOver)
    return std::nullopt;
  if (!last)
    return last = std::numeric_limits<double>::infinity();
  if (!fine) {
    last = policy::kBudgetStep * tooLarge;
    isOver = *last < policy::kLeastErrorBudget;
    return isOver ? std::nullopt : last;
  }
  // A first plan that is fine is the fastest of all.
  if (!std::isfinite(tooLarge) || refinements == policy::kBudgetRefinements)
    return std::nullopt;
  ++refinements;
  return last = std::sqrt(*fine * tooLarge);
}

void BudgetSearch::record(double error, bool isFine) {
  if (isFine)
    fine = std::max(fine.value_or(policy::kLeastErrorBudget),
                    std::min(error, *last));
  else
    tooLarge = std::min({tooLarge, error, *last});
}

void BudgetSearch::recordNone(bool mayImprove) {
  isOver = fine || !mayImprove || !std::isfinite(*last);
  tooLarge = *last;
}
