//===- PlanMaker.cpp - Compiles and measures plans ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/PlanMaker.h"

#include "Tuning/PipelineKey.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/ThreadPool.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

Status PlanMaker::open() {
  Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
  if (!created)
    return created.error();
  directory = std::move(*created);
  return runtime::success();
}

/// Kernels are compiled on all cores.
double PlanMaker::getKernelSeconds() const {
  return model.getKernelCompiler().getStatistics().compileSeconds /
         std::max(1, runtime::availableCores());
}

Status PlanMaker::compile(ChoicePlan &plan, PreparedModel prepared,
                          const SolutionSource &solve) {
  auto start = std::chrono::steady_clock::now();
  double kernelSeconds = getKernelSeconds();
  Result<CompiledModel> compiled = model.lower(std::move(prepared), solve);
  if (!compiled)
    return compiled.error();
  const GlobalChoice &choice = plan.record.choice;
  plan.record.layers = std::move(compiled->layers);
  plan.key = makePipelineKey(
      model.describeModel(), choice, inputs.digest, plan.record.layers,
      choice.dtype == Precision::I8 ? model.getRanges(choice.fusion)
                                    : std::vector<TensorRange>());
  // Keeping all of them in memory would take too much.
  std::string path = directory->file(std::to_string(packages++) + ".tpn");
  Status status = runtime::writePackage(compiled->package, path);
  if (status)
    plan.package = path;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  kernelSeconds = getKernelSeconds() - kernelSeconds;
  plan.packingSeconds = std::max(0.0, seconds.count() - kernelSeconds);
  return status;
}

static PipelineMeasurement startMeasurement(const ChoicePlan &plan) {
  PipelineMeasurement measurement;
  measurement.key = plan.key;
  measurement.samples = plan.samples;
  measurement.rounds = plan.rounds;
  measurement.problemsMs = plan.problemsMs;
  if (plan.record.accuracy)
    measurement.accuracy = plan.record.accuracy->value;
  if (plan.record.pipeline) {
    measurement.status = MeasurementStatus::Ok;
    measurement.median = plan.record.pipeline->median;
    measurement.mad = plan.record.pipeline->mad;
  }
  return measurement;
}

static void fail(ChoicePlan &plan, const std::string &reason) {
  plan.record.failure = reason;
  plan.record.pipeline.reset();
}

static void setTime(ChoicePlan &plan, const PipelineMeasurement &measurement) {
  plan.samples = measurement.samples;
  plan.rounds = measurement.rounds;
  plan.problemsMs = measurement.problemsMs;
  if (measurement.status != MeasurementStatus::Ok)
    return fail(plan, measurement.detail);
  plan.record.pipeline = {measurement.median, measurement.mad,
                          static_cast<int64_t>(measurement.samples.size())};
}

/// The metric does not judge fp32, whose results differ by rounding alone.
void PlanMaker::setAccuracy(ChoicePlan &plan, double error,
                            std::optional<MetricValues> values) const {
  bool isExact = plan.record.choice.dtype == kReferenceChoice.dtype;
  double budget = isExact ? policy::kExactMaxError : maxError;
  AccuracyRecord record = {error, budget, error <= budget};
  bool isJudged = values && std::isfinite(values->value);
  if (isJudged)
    record.metric = {goal->metric->getName(), values->reference, values->value,
                     goal->maxDrop};
  if (values && !isExact) {
    record.budget.reset();
    record.withinBudget =
        isJudged && goal->isReached(values->reference, values->value);
  }
  plan.record.accuracy = std::move(record);
}

/// Only measurements with an accuracy are recorded, and failures.
Status PlanMaker::time(ChoicePlan &plan) {
  if (auto known = journal.getPipeline(plan.key); known && known->isTimed) {
    setTime(plan, *known);
    plan.isRecorded = true;
    if (plan.isTimed() && !goal)
      setAccuracy(plan, known->accuracy);
    return runtime::success();
  }
  PipelineMeasurement measurement = startMeasurement(plan);
  if (Status status = measurer.time({plan.record, plan.package}, measurement);
      !status)
    return status;
  setTime(plan, measurement);
  return plan.isTimed() ? runtime::success()
                        : journal.recordPipeline(measurement);
}

/// A candidate that crashes at the second time has failed; one that was not
/// answered in time may have waited for the machine.
Status PlanMaker::timeOnceMore(ChoicePlan &plan) {
  if (auto known = journal.getPipeline(plan.key); known && known->isTimed)
    return runtime::success();
  PipelineMeasurement again;
  again.key = plan.key;
  if (Status status = measurer.time({plan.record, plan.package}, again);
      !status)
    return status;
  bool isFaster = again.status == MeasurementStatus::Ok &&
                  again.median < plan.getMilliseconds();
  if (isFaster || again.status == MeasurementStatus::Crashed)
    setTime(plan, again);
  return plan.isTimed() ? runtime::success() : journal.recordPipeline(again);
}

/// Adds the metric's values, unless that fails, which is the measurement's.
Status PlanMaker::judge(ChoicePlan &plan, PipelineMeasurement &measurement) {
  std::optional<MetricValues> values;
  if (goal && measurement.status == MeasurementStatus::Ok) {
    auto judged = measurer.judge({plan.record, plan.package}, measurement);
    if (!judged)
      return judged.error();
    values = *judged;
  }
  setTime(plan, measurement);
  if (plan.isTimed())
    setAccuracy(plan, measurement.accuracy, values);
  return runtime::success();
}

Status PlanMaker::compare(ChoicePlan &plan) {
  if (!plan.isTimed() || plan.isMeasured())
    return runtime::success();
  PipelineMeasurement measurement = startMeasurement(plan);
  auto known = journal.getPipeline(plan.key);
  bool isKnown = known && known->status == MeasurementStatus::Ok;
  if (isKnown)
    measurement.accuracy = known->accuracy;
  else if (Status status =
               measurer.compare({plan.record, plan.package}, measurement);
           !status)
    return status;
  if (Status status = judge(plan, measurement); !status)
    return status;
  return isKnown && known->isTimed ? runtime::success()
                                   : journal.recordPipeline(measurement);
}

Result<std::optional<double>> PlanMaker::measureError(const ChoicePlan &plan) {
  std::optional<PipelineMeasurement> known = journal.getPipeline(plan.key);
  if (!known) {
    known = startMeasurement(plan);
    known->status = MeasurementStatus::Ok;
    known->isTimed = false;
    if (Status status = measurer.compare({plan.record, plan.package}, *known);
        !status)
      return status.error();
    if (Status status = journal.recordPipeline(*known); !status)
      return status.error();
  }
  if (known->status != MeasurementStatus::Ok)
    return std::optional<double>();
  return std::optional<double>(known->accuracy);
}

Status PlanMaker::timeAgain(ChoicePlan &plan) {
  PipelineMeasurement measurement = startMeasurement(plan);
  if (Status status =
          measurer.timeAgain({plan.record, plan.package}, measurement);
      !status)
    return status;
  setTime(plan, measurement);
  // It may have waited for the machine: it loses in this run alone.
  if (measurement.status == MeasurementStatus::TimedOut)
    return runtime::success();
  return journal.recordPipeline(measurement);
}

void PlanMaker::discard(ChoicePlan &plan) {
  if (plan.package.empty())
    return;
  (void)llvm::sys::fs::remove(plan.package);
  plan.package.clear();
}
