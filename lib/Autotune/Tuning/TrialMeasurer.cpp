//===- TrialMeasurer.cpp - Measures choices as trials ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TrialMeasurer.h"

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

RegionMeasurer::~RegionMeasurer() = default;

Status TrialMeasurer::compile(ChoicePlan &plan, PreparedModel prepared) {
  const GlobalChoice &choice = plan.record.choice;
  if (choice.dtype == Precision::I8)
    plan.record.ranges = model.getRanges(choice.fusion);
  return maker.compile(
      plan, std::move(prepared),
      [this](const Problem &problem, const auto &) { return solver(problem); });
}

Result<std::optional<double>>
TrialMeasurer::measureError(const GlobalChoice &choice) {
  ChoicePlan plan;
  plan.record.choice = choice;
  Result<PreparedModel> prepared = model.prepare(choice);
  if (!prepared || !compile(plan, std::move(*prepared)))
    return std::optional<double>();
  Result<std::optional<double>> error = maker.measureError(plan);
  PlanMaker::discard(plan);
  return error;
}

Result<std::optional<RegionPlan>>
TrialMeasurer::measure(const GlobalChoice &choice,
                       const PredictionRecord &prediction) {
  Result<PreparedModel> prepared = model.prepare(choice);
  if (!prepared)
    return std::optional<RegionPlan>();
  Trial &trial = trials.emplace_back();
  trial.choice = choice;
  trial.problems = prepared->problems;
  ChoicePlan &plan = trial.addPlan();
  plan.isTuned = true;
  plan.record.prediction = prediction;
  if (Status compiled = compile(plan, std::move(*prepared)); !compiled) {
    plan.record.failure = compiled.message();
    return std::optional<RegionPlan>();
  }
  for (auto step : {&PlanMaker::time, &PlanMaker::compare})
    if (Status status = (maker.*step)(plan); !status)
      return status.error();
  std::optional<RegionPlan> measured;
  if (plan.isMeasured()) {
    Result<RegionPlan> described = describe(plan);
    if (!described)
      return described.error();
    measured = std::move(*described);
  }
  onMeasured();
  return measured;
}

Result<RegionPlan> TrialMeasurer::describe(const ChoicePlan &plan) {
  Result<SolutionTimes> times = maker.profile(plan);
  if (!times)
    return times.error();
  const AccuracyRecord &accuracy = *plan.record.accuracy;
  return RegionPlan{plan.record.choice, plan.getMilliseconds(), accuracy.value,
                    accuracy.withinBudget, std::move(*times)};
}

Result<std::vector<RegionPlan>>
TrialMeasurer::describeUsable(llvm::ArrayRef<ChoicePlan *> plans) {
  std::vector<RegionPlan> usable;
  for (const ChoicePlan *plan : plans) {
    if (!plan->isUsable())
      continue;
    Result<RegionPlan> described = describe(*plan);
    if (!described)
      return described.error();
    usable.push_back(std::move(*described));
  }
  return usable;
}
