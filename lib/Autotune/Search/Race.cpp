//===- Race.cpp - Finds the fastest candidate of a problem ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Race.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

Race::Race(RaceContext context, std::string problem)
    : context(context), problem(std::move(problem)) {}

bool Race::isOver() {
  isCut |= context.deadline.isOver();
  return isCut;
}

//===----------------------------------------------------------------------===//
// One measurement
//===----------------------------------------------------------------------===//

Status Race::build(llvm::ArrayRef<size_t> batch) {
  // If nothing can be compared, compiling is in vain.
  if (Status status = context.measurer.prepare(contenders); !status)
    return status;
  std::vector<const Contender *> list;
  for (size_t index : batch)
    list.push_back(&contenders[index]);
  context.measurer.buildBatch(list, context.deadline);
  return runtime::success();
}

/// The time at which a candidate is dropped, since it cannot reach the final.
/// Records of the system store were measured on another machine, and are no
/// rivals.
double Race::getCutoff() const {
  double best = 0;
  for (const Contender &contender : contenders)
    if (contender.isOk() && !contender.result->isSystem &&
        contender.result->median > 0 &&
        (best == 0 || contender.result->median < best))
      best = contender.result->median;
  return best * policy::kFinalistRatio;
}

Status Race::measure(size_t index) {
  hasRaced = true;
  return measure(contenders[index],
                 {MeasurementStage::Race, policy::kRaceSamples,
                  policy::kRaceMinMs, policy::kRaceMaxMs, getCutoff()});
}

Status Race::measure(Contender &contender, const Effort &effort) {
  if (Status status = context.measurer.prepare(contenders); !status)
    return status;
  Measurement measurement;
  measurement.key = contender.key;
  measurement.stage = effort.stage;
  measurement.workspaceBytes = contender.workspaceBytes;
  if (Status built = context.measurer.build(contender); !built) {
    measurement.detail = built.message();
    return conclude(contender, std::move(measurement));
  }
  std::optional<MeasurementStatus> interruptedStatus =
      context.measurer.getInterruptedStatus();
  if (!interruptedStatus)
    return measureBuilt(contender, effort, std::move(measurement));
  int64_t interrupted =
      context.journal.countInterrupted(contender.key, effort.stage);
  if (interrupted >= policy::kMaxInterrupted) {
    // Finalists were verified in the race: runs that ended in the final may
    // have been ended by the user, and give no verdict.
    measurement.status = effort.stage == MeasurementStage::Final
                             ? MeasurementStatus::Failed
                             : *interruptedStatus;
    measurement.detail =
        std::to_string(interrupted) + " runs ended while it was measured";
    return conclude(contender, std::move(measurement));
  }
  if (Status status =
          context.journal.recordStarted(contender.key, effort.stage);
      !status)
    return status;
  return measureBuilt(contender, effort, std::move(measurement));
}

/// Adds the samples of a round to those of the earlier ones.
static void takeTimes(const MeasureOutcome &outcome, const Contender &contender,
                      Measurement &measurement) {
  const runtime::Timing &timing = outcome.timing;
  measurement.isDropped = timing.isDropped;
  if (timing.samplesMs.empty()) {
    measurement.median = timing.medianMs;
    return;
  }
  if (measurement.stage == MeasurementStage::Final) {
    measurement.rounds = contender.result->rounds + 1;
    if (contender.result->stage == MeasurementStage::Final)
      measurement.samples = contender.result->samples;
  }
  llvm::append_range(measurement.samples, timing.samplesMs);
  runtime::Timing all = runtime::summarize(measurement.samples);
  measurement.median = all.medianMs;
  measurement.mad = all.madMs;
}

Status Race::measureBuilt(Contender &contender, const Effort &effort,
                          Measurement measurement) {
  Result<MeasureOutcome> outcome = context.measurer.measure(contender, effort);
  if (!outcome)
    return outcome.error();
  measurement.status = outcome->status;
  measurement.detail = std::move(outcome->detail);
  measurement.maxError = outcome->maxError;
  measurement.relativeL2 = outcome->relativeL2;
  takeTimes(*outcome, contender, measurement);
  Status recorded = conclude(contender, std::move(measurement));
  return recorded ? outcome->afterwards : recorded;
}

static bool isVerdict(const Measurement &measurement) {
  return measurement.status == MeasurementStatus::Ok ||
         measurement.status == MeasurementStatus::Wrong;
}

Status Race::conclude(Contender &contender, Measurement measurement) {
  ++context.statistics.measured;
  if (measurement.status != MeasurementStatus::Ok)
    rejected.push_back(measurement);
  else if (measurement.isDropped)
    ++context.statistics.dropped;
  context.progress.advance(0);
  contender.result = std::move(measurement);
  if (isVerdict(*contender.result) && context.measurer.describeDispute())
    return runtime::success();
  return context.journal.record(*contender.result);
}

//===----------------------------------------------------------------------===//
// The final
//===----------------------------------------------------------------------===//

static std::vector<size_t> pickFinalists(llvm::ArrayRef<Contender> contenders) {
  std::vector<size_t> ranked;
  for (auto [index, contender] : llvm::enumerate(contenders))
    if (contender.isOk() && !contender.result->isDropped)
      ranked.push_back(index);
  auto getTime = [&](size_t index) { return contenders[index].result->median; };
  llvm::stable_sort(
      ranked, [&](size_t a, size_t b) { return getTime(a) < getTime(b); });
  size_t count = 0;
  while (count < std::min(ranked.size(), policy::kMaxFinalists) &&
         getTime(ranked[count]) <= policy::kFinalistRatio * getTime(ranked[0]))
    ++count;
  ranked.resize(count);
  return ranked;
}

std::vector<size_t>
tarpon::chooseFinalists(llvm::ArrayRef<Contender> contenders, bool hasRaced) {
  std::vector<size_t> earlier;
  for (auto [index, contender] : llvm::enumerate(contenders))
    if (contender.isOk() && contender.result->stage == MeasurementStage::Final)
      earlier.push_back(index);
  bool isDecided =
      !earlier.empty() && !hasRaced && llvm::all_of(earlier, [&](size_t index) {
        return contenders[index].result->rounds >= policy::kFinalRounds;
      });
  if (isDecided)
    return {};
  std::vector<size_t> finalists = pickFinalists(contenders);
  // A single finalist has won and need not be timed again, unless the result of
  // an earlier final would be served in place of its own.
  bool isAlone =
      finalists.size() == 1 && (earlier.empty() || finalists == earlier);
  return isAlone ? std::vector<size_t>() : finalists;
}

Status Race::timeInTurn(llvm::ArrayRef<size_t> finalists) {
  constexpr Effort kEffort = {MeasurementStage::Final, policy::kRoundSamples,
                              policy::kRoundMinMs, policy::kRoundMaxMs};
  for (int round = 0; round < policy::kFinalRounds; ++round)
    for (size_t index : finalists) {
      Contender &contender = contenders[index];
      if (!contender.isOk() || contender.result->rounds > round)
        continue;
      if (isOver())
        return runtime::success();
      if (Status status = measure(contender, kEffort); !status)
        return status;
    }
  return runtime::success();
}

Status Race::runFinal() {
  if (!context.measurer.isNoisy())
    return runtime::success();
  return timeInTurn(chooseFinalists(contenders, hasRaced));
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// If candidates turn out late to disagree, earlier verdicts are recorded
/// already. A candidate that has crashed is not run again, whichever is right.
Status Race::forgetDisputed() {
  std::optional<std::string> dispute = context.measurer.describeDispute();
  if (!dispute)
    return runtime::success();
  context.progress.remark("candidates for " + problem + " disagree, and " +
                          *dispute);
  std::vector<std::string> solvers;
  for (const Contender &contender : contenders)
    solvers.push_back(contender.key.solver);
  if (Status status = context.journal.forgetSolvers(
          problem, solvers, context.journal.getLastRow());
      !status)
    return status;
  for (const Contender &contender : contenders)
    if (contender.result &&
        contender.result->status == MeasurementStatus::Crashed)
      if (Status status = context.journal.record(*contender.result); !status)
        return status;
  return runtime::success();
}

/// A broken solver is broken in many configs: one remark covers all of them.
void Race::reportRejected() {
  context.statistics.rejected += static_cast<int64_t>(rejected.size());
  std::set<std::pair<std::string, MeasurementStatus>> reported;
  for (const Measurement &first : rejected) {
    auto isAlike = [&](const Measurement &other) {
      return other.key.solver == first.key.solver &&
             other.status == first.status;
    };
    if (!reported.insert({first.key.solver, first.status}).second)
      continue;
    auto more = llvm::count_if(rejected, isAlike) - 1;
    context.progress.remark(
        first.key.solver + " {" + first.key.config + "}" +
        (more ? " and " + std::to_string(more) + " more of its configs are"
              : " is") +
        " not used for " + problem + ": " + getStatusName(first.status).str() +
        ": " + first.detail);
  }
  rejected.clear();
}

Status Race::finish() {
  Status status = forgetDisputed();
  reportRejected();
  return status;
}
