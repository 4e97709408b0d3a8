//===- TrialMeasurer.cpp - Measures choices as trials ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TrialMeasurer.h"

#include "tarpon/Autotune/Search/Policy.h"

#include <cmath>

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

/// A plan that takes far more than predicted may have had a bad moment, after
/// which all others would be predicted to be slow.
Status TrialMeasurer::time(ChoicePlan &plan) {
  Status status = maker.time(plan);
  bool isSuspect =
      status && plan.isTimed() &&
      plan.getMilliseconds() >
          policy::kSuspectRatio * plan.record.prediction->milliseconds;
  return isSuspect ? maker.timeOnceMore(plan) : status;
}

Result<std::optional<RegionPlan>>
TrialMeasurer::measure(const GlobalChoice &choice,
                       const PredictionRecord &prediction, double maxError) {
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
  // Errors take less time than times do.
  if (std::isfinite(maxError)) {
    Result<std::optional<double>> error = maker.measureError(plan);
    if (!error)
      return error.error();
    if (*error && **error > maxError) {
      PlanMaker::discard(plan);
      trials.pop_back();
      return std::optional<RegionPlan>({choice, 0, **error, false});
    }
  }
  if (Status status = time(plan); !status)
    return status.error();
  if (Status status = maker.compare(plan); !status)
    return status.error();
  std::optional<RegionPlan> measured;
  if (plan.isMeasured())
    measured = describe(plan);
  onMeasured();
  return measured;
}

void TrialMeasurer::notePrediction(const GlobalChoice &choice,
                                   const PredictionRecord &corrected) {
  for (Trial &trial : trials)
    if (trial.choice == choice)
      trial.plans.front().record.correctedPrediction = corrected;
}

static SolutionTimes getSolutionTimes(const ChoicePlan &plan) {
  SolutionTimes times;
  for (const LayerRecord &layer : plan.record.layers)
    if (auto time = plan.problemsMs.find(layer.problem);
        time != plan.problemsMs.end())
      times[{layer.problem, layer.solver, layer.config.str()}] = time->second;
  return times;
}

RegionPlan TrialMeasurer::describe(const ChoicePlan &plan) {
  const AccuracyRecord &accuracy = *plan.record.accuracy;
  return {plan.record.choice, plan.getMilliseconds(), accuracy.value,
          accuracy.withinBudget, getSolutionTimes(plan)};
}

std::vector<RegionPlan>
TrialMeasurer::describeMeasured(llvm::ArrayRef<ChoicePlan *> plans) {
  std::vector<RegionPlan> measured;
  for (const ChoicePlan *plan : plans)
    if (plan->isMeasured())
      measured.push_back(describe(*plan));
  return measured;
}
