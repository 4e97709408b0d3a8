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

static std::vector<ChoicePlan *> leaveOut(llvm::ArrayRef<ChoicePlan *> plans,
                                          const ChoicePlan *one) {
  std::vector<ChoicePlan *> others = plans;
  llvm::erase(others, one);
  return others;
}

std::vector<ChoicePlan *>
tarpon::pickFinalists(llvm::ArrayRef<ChoicePlan *> plans, ChoicePlan *start) {
  const ChoicePlan *fastest = findFastest(plans);
  std::vector<ChoicePlan *> ranked;
  for (ChoicePlan *plan : plans)
    if (plan->mayWin() &&
        plan->getMilliseconds() <=
            policy::kPipelineFinalistRatio * fastest->getMilliseconds())
      ranked.push_back(plan);
  llvm::stable_sort(ranked, [](const ChoicePlan *a, const ChoicePlan *b) {
    return a->getMilliseconds() < b->getMilliseconds();
  });
  if (ranked.size() > policy::kMaxPipelineFinalists)
    ranked.resize(policy::kMaxPipelineFinalists);
  for (ChoicePlan *wanted : {start, findFastest(leaveOut(plans, start))})
    if (wanted && wanted->mayWin() && !llvm::is_contained(ranked, wanted))
      ranked.push_back(wanted);
  return ranked;
}

static bool isClearlyFaster(const PipelineRecord &a, const PipelineRecord &b) {
  return a.median < b.median * (1 - policy::kClearlyFaster) &&
         a.median + a.mad + b.mad < b.median;
}

/// Returns true if one plan is clearly faster than all others.
static bool isDecided(llvm::ArrayRef<ChoicePlan *> finalists) {
  const ChoicePlan *fastest = findFastest(finalists);
  return llvm::all_of(finalists, [&](const ChoicePlan *plan) {
    return plan == fastest || !plan->mayWin() ||
           isClearlyFaster(*fastest->record.pipeline, *plan->record.pipeline);
  });
}

Status tarpon::runFinal(llvm::ArrayRef<ChoicePlan *> finalists,
                        const Deadline &deadline,
                        llvm::function_ref<Status(ChoicePlan &)> timeAgain) {
  if (finalists.size() < 2)
    return runtime::success();
  for (int round = 0; round < policy::kMaxPipelineRounds; ++round) {
    bool isEnough = round >= policy::kPipelineRounds && isDecided(finalists);
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
