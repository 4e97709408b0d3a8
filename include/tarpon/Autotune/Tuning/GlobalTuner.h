//===- GlobalTuner.h - Tunes a model over its choices -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the fastest plan of a model within the accuracy budget: a global choice
// with a solution for each layer. First, every choice is measured untuned, as a
// whole model. Then time goes to the problems whose search is expected to save
// most of it (TuningSchedule.h), until too little can be gained or the deadline
// is near. The plans that have changed are measured whole, and compared with
// the best untuned one. A choice that fails is recorded with the reason. Then,
// if it is asked for, regions are chosen for one by one (RegionTuner.h).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_TUNING_GLOBALTUNER_H
#define TARPON_AUTOTUNE_TUNING_GLOBALTUNER_H

#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/Tuner.h"

#include "llvm/ADT/ArrayRef.h"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

class ModelCompiler;
class PipelineMeasurer;
class PlanMaker;
class TuningSchedule;
struct AccuracyGoal;
struct ChoicePlan;
struct PreparedModel;
struct RegionOptions;
struct Trial;

/// All combinations of the lists, fp32 before all others, since they are
/// measured against it.
std::vector<GlobalChoice>
enumerateChoices(const std::vector<runtime::Precision> &dtypes,
                 const std::vector<Layout> &layouts,
                 const std::vector<Fusion> &fusions);

struct GlobalResult {
  std::vector<CandidateRecord> candidates;
  size_t winner = 0;
  std::vector<TuningFile::Improvement> progress;
  runtime::Package package;
  /// The keys of the winner's problems that have no measured solution because
  /// none would make the model faster.
  std::set<std::string> leftOut;
  /// True if the winner's guesses are faster than what searches have found.
  bool guessesHaveWon = false;
  /// Set if the only choice is over the accuracy budget.
  std::string warning;
};

class GlobalTuner {
public:
  /// All must outlive the tuner.
  GlobalTuner(ModelCompiler &model, Tuner &tuner, Journal &journal,
              Progress &progress, const CalibrationInputs &inputs,
              PipelineMeasurer &measurer);
  ~GlobalTuner();

  void setMaxError(double value);
  /// A metric of the user's decides in place of the error, which only predicts
  /// it. The goal must outlive the tuner, and be its measurer's.
  void setGoal(const AccuracyGoal *goal);
  void setDeadline(Deadline value) { deadline = value; }
  /// Chooses for each region after the choices for the whole model; the errors
  /// that plans may have are those of setMaxError.
  void setRegionOptions(RegionOptions value);

  /// Returns an error if no choice can be used, or nothing can be measured at
  /// all.
  runtime::Result<GlobalResult> run(const std::vector<GlobalChoice> &choices);

private:
  runtime::Status survey();
  runtime::Status timeUntuned(Trial &trial, const Deadline &end);
  runtime::Status compareUntuned(llvm::ArrayRef<Trial *> group,
                                 const Deadline &end);
  runtime::Status timeCloseAgain(llvm::ArrayRef<Trial *> group);
  runtime::Status tryUntuned(Trial &trial, Deadline share);
  runtime::Status makePlan(Trial &trial, ChoicePlan &plan,
                           PreparedModel prepared);
  void scheduleAll();
  void schedule(size_t index);
  double getSecondsLeft() const;
  runtime::Status tuneAll();
  runtime::Status searchProblems();
  runtime::Status searchProblem(Trial &trial, const std::string &key);
  runtime::Status replan(Trial &trial);
  runtime::Status tuneWhole();
  void prepareRegions();
  runtime::Status tuneRegions();
  void mergeEqual(Trial &trial);
  std::optional<size_t> findChanged();
  void expectWork(double units);
  void finishWork(double units);
  void noteImprovement();
  void dropLosers();
  bool hasFrontFinal() const;
  std::vector<ChoicePlan *> getPlans();
  void reportFailures();
  runtime::Result<GlobalResult> pickResult();
  void takeUp(llvm::ArrayRef<GlobalChoice> choices);
  void conclude(const GlobalResult &result);
  bool haveGuessesWon(const Trial &trial, const ChoicePlan &winner) const;
  std::set<std::string> listLeftOut(const Trial &trial,
                                    const ChoicePlan &winner) const;
  runtime::Result<Solution> solve(const Problem &problem);
  runtime::Result<Solution> solveUntuned(const Problem &problem);
  runtime::Result<Solution> tune(const Problem &problem);

  ModelCompiler &model;
  Tuner &tuner;
  Journal &journal;
  Progress &progress;
  const CalibrationInputs &inputs;
  PipelineMeasurer &measurer;
  std::unique_ptr<PlanMaker> maker;
  std::unique_ptr<TuningSchedule> outlook;
  std::unique_ptr<RegionOptions> regions;
  Deadline deadline = Deadline::never();
  std::chrono::steady_clock::time_point begin;
  /// The name of this tuning in the journal; empty if it was not begun there.
  std::string name;
  std::deque<Trial> trials;
  std::vector<TuningFile::Improvement> improvements;
  /// The fastest untuned plan; null if none can be used.
  ChoicePlan *start = nullptr;
  double startMilliseconds = 0;
  /// Solutions by problem key, and the keys whose search is over.
  std::map<std::string, Solution> solutions;
  std::set<std::string> settled;
  bool wasCut = false;
  /// The part of the progress that is expected and not done.
  double workLeft = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_TUNING_GLOBALTUNER_H
