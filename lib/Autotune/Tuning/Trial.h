//===- Trial.h - A choice with the plans that were made of it ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_TRIAL_H
#define TARPON_LIB_AUTOTUNE_TUNING_TRIAL_H

#include "Tuning/ChoicePlan.h"
#include "tarpon/Problem/Problem.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// The failure of choices whose turn never came.
inline constexpr const char *kOutOfTime =
    "the time was over before it was measured";

/// A choice with the plans that were made of it, the untuned one first.
struct Trial {
  GlobalChoice choice;
  /// The distinct problems, with the names of their first layers.
  std::vector<std::pair<std::string, Problem>> problems;
  std::deque<ChoicePlan> plans;
  /// True if a problem was searched since the last plan was made.
  bool isChanged = false;

  ChoicePlan &addPlan() {
    ChoicePlan &plan = plans.emplace_back();
    plan.record.choice = choice;
    return plan;
  }
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_TRIAL_H
