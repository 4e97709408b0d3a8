//===- PlanFinal.cpp - Picks the fastest plan -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/PlanFinal.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

#include <algorithm>

using namespace tarpon;
using runtime::Status;

/// Plans that took part in rounds of the final precede others.
static bool isFaster(const ChoicePlan *a, const ChoicePlan *b) {
  if ((a->rounds > 0) != (b->rounds > 0))
    return a->rounds > 0;
  return a->getMilliseconds() < b->getMilliseconds();
}

ChoicePlan *tarpon::findFastest(llvm::ArrayRef<ChoicePlan *> plans) {
  ChoicePlan *fastest = nullptr;
  for (ChoicePlan *plan : plans)
    if (plan->mayWin() &&
        (!fastest || plan->getMilliseconds() < fastest->getMilliseconds()))
      fastest = plan;
  return fastest;
}

/// Plans that differ from fp32 by rounding alone err alike.
static double getError(const ChoicePlan &plan) {
  return std::max(plan.record.accuracy->value, policy::kExactMaxError);
}

/// Returns the usable plans that err no more than this one, which is usable.
static std::vector<ChoicePlan *>
findRivals(const ChoicePlan &plan, llvm::ArrayRef<ChoicePlan *> plans) {
  std::vector<ChoicePlan *> rivals;
  for (ChoicePlan *other : plans)
    if (other->isUsable() && getError(*other) <= getError(plan))
      rivals.push_back(other);
  return rivals;
}

static bool isNearly(const ChoicePlan &plan, const ChoicePlan &fastest) {
  return plan.getMilliseconds() <=
         policy::kPipelineFinalistRatio * fastest.getMilliseconds();
}

bool tarpon::mayReachFinal(const ChoicePlan &plan,
                           llvm::ArrayRef<ChoicePlan *> plans, bool withFront) {
  if (!plan.isUsable())
    return false;
  const ChoicePlan *fastest = findFastest(plans);
  if (!fastest || isNearly(plan, *fastest))
    return true;
  return withFront &&
         llvm::all_of(findRivals(plan, plans), [&](const ChoicePlan *rival) {
           return isNearly(plan, *rival);
         });
}

static std::vector<ChoicePlan *> leaveOut(llvm::ArrayRef<ChoicePlan *> plans,
                                          const ChoicePlan *one) {
  std::vector<ChoicePlan *> others = plans;
  llvm::erase(others, one);
  return others;
}

std::vector<ChoicePlan *>
tarpon::pickFinalists(llvm::ArrayRef<ChoicePlan *> plans, ChoicePlan *start,
                      bool withFront) {
  std::vector<ChoicePlan *> ranked;
  for (ChoicePlan *plan : plans)
    if (plan->mayWin())
      ranked.push_back(plan);
  llvm::stable_sort(ranked, [](const ChoicePlan *a, const ChoicePlan *b) {
    return a->getMilliseconds() < b->getMilliseconds();
  });
  std::vector<ChoicePlan *> finalists;
  auto add = [&](ChoicePlan *plan, size_t most) {
    if (finalists.size() < most && !llvm::is_contained(finalists, plan))
      finalists.push_back(plan);
  };
  for (ChoicePlan *plan : ranked)
    if (mayReachFinal(*plan, plans, /*withFront=*/false))
      add(plan, policy::kMaxPipelineFinalists);
  for (ChoicePlan *wanted : {start, findFastest(leaveOut(plans, start))})
    if (wanted && wanted->mayWin())
      add(wanted, policy::kMaxFrontFinalists);
  for (ChoicePlan *plan : ranked)
    if (withFront && mayReachFinal(*plan, plans, withFront))
      add(plan, policy::kMaxFrontFinalists);
  return finalists;
}

static bool isClearlyFaster(const PipelineRecord &a, const PipelineRecord &b) {
  return a.median < b.median * (1 - policy::kClearlyFaster) &&
         a.median + a.mad + b.mad < b.median;
}

/// Returns true if one plan is clearly faster than all others that may win.
static bool isDecided(llvm::ArrayRef<ChoicePlan *> plans) {
  const ChoicePlan *fastest = findFastest(plans);
  return llvm::all_of(plans, [&](const ChoicePlan *plan) {
    return plan == fastest || !plan->mayWin() ||
           isClearlyFaster(*fastest->record.pipeline, *plan->record.pipeline);
  });
}

/// Returns true if that holds whatever error is allowed.
static bool isFrontDecided(llvm::ArrayRef<ChoicePlan *> finalists) {
  return llvm::all_of(finalists, [&](const ChoicePlan *plan) {
    return !plan->mayWin() || isDecided(findRivals(*plan, finalists));
  });
}

Status tarpon::runFinal(llvm::ArrayRef<ChoicePlan *> finalists,
                        const Deadline &deadline,
                        llvm::function_ref<Status(ChoicePlan &)> timeAgain) {
  if (finalists.size() < 2)
    return runtime::success();
  for (int round = 0; round < policy::kMaxPipelineRounds; ++round) {
    bool isEnough =
        round >= policy::kPipelineRounds && isFrontDecided(finalists);
    if (isEnough || (round > 0 && deadline.isOver()))
      break;
    for (ChoicePlan *plan : finalists)
      if (plan->isUsable() && plan->rounds <= round)
        if (Status status = timeAgain(*plan); !status)
          return status;
  }
  return runtime::success();
}

ChoicePlan *tarpon::pickWinner(llvm::ArrayRef<ChoicePlan *> plans,
                               ChoicePlan *start) {
  ChoicePlan *winner = nullptr, *tuned = nullptr;
  for (ChoicePlan *plan : plans) {
    if (!plan->mayWin())
      continue;
    if (!winner || isFaster(plan, winner))
      winner = plan;
    if (plan->isTuned && (!tuned || isFaster(plan, tuned)))
      tuned = plan;
  }
  bool isClose =
      winner && winner == start && tuned && tuned->rounds > 0 &&
      !isClearlyFaster(*start->record.pipeline, *tuned->record.pipeline);
  return isClose ? tuned : winner;
}
