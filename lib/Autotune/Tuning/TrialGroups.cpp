//===- TrialGroups.cpp - Choices that are surveyed together ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TrialGroups.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace tarpon;

/// A run that is over at once answers with what it has measured first. In eight
/// networks on an Emerald Rapids, nchw took 1.11 to 1.81 of nhwc's time.
static const Layout kPromisingLayout{Layout::NHWC};

std::vector<std::vector<Trial *>>
tarpon::groupTrials(std::deque<Trial> &trials) {
  std::vector<std::vector<Trial *>> groups;
  for (Fusion fusion : kFusions)
    for (Trial &trial : trials) {
      if (trial.choice.fusion != fusion)
        continue;
      if (groups.empty() ||
          groups.back().front()->choice.dtype != trial.choice.dtype ||
          groups.back().front()->choice.fusion != fusion)
        groups.emplace_back();
      groups.back().push_back(&trial);
    }
  for (std::vector<Trial *> &group : groups)
    llvm::stable_sort(group, [](const Trial *a, const Trial *b) {
      return a->choice.layout == kPromisingLayout &&
             b->choice.layout != kPromisingLayout;
    });
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
