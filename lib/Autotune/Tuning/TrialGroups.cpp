//===- TrialGroups.cpp - Choices that are surveyed together ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TrialGroups.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace tarpon;
using runtime::Precision;

/// A run that is over at once answers with what it has measured first. In eight
/// networks on an Emerald Rapids, nchw took 1.11 to 1.81 of nhwc's time.
static const Layout kPromisingLayout{Layout::NHWC};

/// One core of a Cascade Lake does not come to the last of four dtypes in 42 s:
/// ResNet-50 was left in fp32 with 63 ms, where int8 takes 20.
static double getPromise(Precision dtype, const TargetInfo &target) {
  if (dtype == kReferenceChoice.dtype)
    return std::numeric_limits<double>::infinity();
  return target.traits->getSpeedup(dtype, target);
}

std::vector<std::vector<Trial *>>
tarpon::groupTrials(std::deque<Trial> &trials, const TargetInfo &target) {
  std::vector<Trial *> order;
  for (Trial &trial : trials)
    order.push_back(&trial);
  auto getRank = [&](const Trial *trial) {
    const GlobalChoice &choice = trial->choice;
    return std::tuple(choice.fusion, -getPromise(choice.dtype, target),
                      choice.dtype, choice.layout != kPromisingLayout);
  };
  llvm::stable_sort(order, [&](const Trial *a, const Trial *b) {
    return getRank(a) < getRank(b);
  });

  std::vector<std::vector<Trial *>> groups;
  for (Trial *trial : order) {
    auto belongs = [&](const std::vector<Trial *> &group) {
      const GlobalChoice &choice = group.front()->choice;
      return choice.dtype == trial->choice.dtype &&
             choice.fusion == trial->choice.fusion;
    };
    if (groups.empty() || !belongs(groups.back()))
      groups.emplace_back();
    groups.back().push_back(trial);
  }
  return groups;
}

std::vector<ChoicePlan *>
tarpon::findClose(llvm::ArrayRef<Trial *> group,
                  llvm::ArrayRef<ChoicePlan *> plans) {
  double least = std::numeric_limits<double>::infinity();
  for (const ChoicePlan *plan : plans)
    if (plan->isTimed())
      least = std::min(least, plan->getMilliseconds());
  auto isClose = [&](const ChoicePlan *plan) {
    return plan->isTimed() &&
           plan->getMilliseconds() <= policy::kCloseUntunedRatio * least;
  };
  std::vector<ChoicePlan *> close;
  if (llvm::count_if(plans, isClose) < 2)
    return close;
  for (Trial *trial : group)
    if (isClose(&trial->plans.front()))
      close.push_back(&trial->plans.front());
  return close;
}
