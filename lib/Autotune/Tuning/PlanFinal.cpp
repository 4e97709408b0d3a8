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

static double getError(const ChoicePlan &plan) {
  return plan.record.accuracy->getNotableError();
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

static std::vector<ChoicePlan *> leaveOut(llvm::ArrayRef<ChoicePlan *> plans,
                                          const ChoicePlan *one) {
  std::vector<ChoicePlan *> others = plans;
  llvm::erase(others, one);
  return others;
}

/// Returns the plans that may win, the fastest first.
static std::vector<ChoicePlan *> rank(llvm::ArrayRef<ChoicePlan *> plans) {
  std::vector<ChoicePlan *> ranked;
  for (ChoicePlan *plan : plans)
    if (plan->mayWin())
      ranked.push_back(plan);
  llvm::stable_sort(ranked, [](const ChoicePlan *a, const ChoicePlan *b) {
    return a->getMilliseconds() < b->getMilliseconds();
  });
  return ranked;
}

/// Returns those of the ranked plans that err less than all that are faster,
/// the most exact first.
static std::vector<ChoicePlan *>
pickFront(llvm::ArrayRef<ChoicePlan *> ranked) {
  std::vector<ChoicePlan *> front;
  for (ChoicePlan *plan : ranked)
    if (front.empty() || getError(*plan) < getError(*front.back()))
      front.push_back(plan);
  std::reverse(front.begin(), front.end());
  return front;
}

std::vector<ChoicePlan *>
tarpon::pickFinalists(llvm::ArrayRef<ChoicePlan *> plans, ChoicePlan *start,
                      bool withFront) {
  std::vector<ChoicePlan *> ranked = rank(plans), finalists;
  if (ranked.empty())
    return finalists;
  auto add = [&](ChoicePlan *plan) {
    if (plan && plan->mayWin() && !llvm::is_contained(finalists, plan) &&
        finalists.size() < policy::kMaxFrontFinalists)
      finalists.push_back(plan);
  };
  for (ChoicePlan *plan :
       {ranked.front(), start, findFastest(leaveOut(plans, start))})
    add(plan);
  // The next run knows the tuned plan in place of `start`, and ends with the
  // same plans.
  std::vector<ChoicePlan *> others = leaveOut(ranked, start);
  for (ChoicePlan *plan :
       llvm::ArrayRef(others).take_front(policy::kMaxPipelineFinalists))
    if (isNearly(*plan, *ranked.front()))
      add(plan);
  if (!withFront)
    return finalists;
  std::vector<ChoicePlan *> front = pickFront(ranked);
  for (ChoicePlan *plan : front)
    add(plan);
  for (ChoicePlan *plan : front)
    for (ChoicePlan *rival : findRivals(*plan, ranked))
      if (isNearly(*rival, *plan))
        add(rival);
  return finalists;
}

const ChoicePlan &tarpon::pickOfChoice(const std::deque<ChoicePlan> &plans) {
  const ChoicePlan *best = &plans.back();
  for (const ChoicePlan &plan : plans)
    if (plan.isUsable() && (!best->isUsable() || isFaster(&plan, best)))
      best = &plan;
  return *best;
}

static bool isClearlyFaster(const PipelineRecord &a, const PipelineRecord &b) {
  return a.median < b.median * (1 - policy::kClearlyFaster) &&
         a.median + a.mad + b.mad < b.median;
}

static bool isTie(const PipelineRecord &faster, const PipelineRecord &slower) {
  return !isClearlyFaster(faster, slower) &&
         slower.median <= faster.median * (1 + policy::kLargestTie);
}

/// Returns true if one plan is clearly faster than all others that may win.
static bool isDecided(llvm::ArrayRef<ChoicePlan *> plans) {
  const ChoicePlan *fastest = findFastest(plans);
  return llvm::all_of(plans, [&](const ChoicePlan *plan) {
    return plan == fastest || !plan->mayWin() ||
           isClearlyFaster(*fastest->record.pipeline, *plan->record.pipeline);
  });
}

/// Returns true if that holds, with the front whatever error is allowed.
static bool isDecided(llvm::ArrayRef<ChoicePlan *> finalists, bool withFront) {
  if (!withFront)
    return isDecided(finalists);
  return llvm::all_of(finalists, [&](const ChoicePlan *plan) {
    return !plan->mayWin() || isDecided(findRivals(*plan, finalists));
  });
}

/// Returns true if earlier runs have raced all that are nearly the fastest, so
/// that another race would only replace noise by noise.
static bool wasRun(llvm::ArrayRef<ChoicePlan *> finalists, bool withFront) {
  return llvm::all_of(finalists, [&](const ChoicePlan *plan) {
    if (!plan->mayWin())
      return true;
    const ChoicePlan *fastest =
        findFastest(withFront ? findRivals(*plan, finalists) : finalists.vec());
    return plan->isRecorded && (plan->rounds >= policy::kPipelineRounds ||
                                !isNearly(*plan, *fastest));
  });
}

Status tarpon::runFinal(llvm::ArrayRef<ChoicePlan *> finalists, bool withFront,
                        const Deadline &deadline,
                        llvm::function_ref<Status(ChoicePlan &)> timeAgain) {
  if (finalists.size() < 2 || wasRun(finalists, withFront))
    return runtime::success();
  for (int round = 0; round < policy::kMaxPipelineRounds; ++round) {
    if (round >= policy::kPipelineRounds && isDecided(finalists, withFront))
      break;
    for (auto [index, plan] : llvm::enumerate(finalists)) {
      bool isNeeded = round == 0 && index < 2;
      if (!isNeeded && deadline.isOver())
        return runtime::success();
      if (plan->isUsable() && plan->rounds <= round)
        if (Status status = timeAgain(*plan); !status)
          return status;
    }
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
  bool mayPrefer = winner && winner == start && tuned && tuned->rounds > 0;
  return mayPrefer && isTie(*start->record.pipeline, *tuned->record.pipeline)
             ? tuned
             : winner;
}
