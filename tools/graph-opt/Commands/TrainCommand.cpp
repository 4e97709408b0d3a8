//===- TrainCommand.cpp - graph-opt train ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Learn/CrossValidation.h"
#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Learn/ModelTraining.h"
#include "tarpon/Autotune/Learn/RankerEvaluation.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <utility>

namespace tarpon {

namespace {

struct TrainArguments {
  /// The store of the measurements; "" for the user's.
  std::string store;
  /// The store to write the model to; "" for the user's.
  std::string into;
  /// The split that names the held-out networks; "" for none.
  std::string split;
  int64_t threads = 0;
  std::string cpu = "native";
  uint64_t seed = 1;
  bool report = false, dryRun = false;
};

} // namespace

using namespace runtime;
using llvm::formatv;
using ProblemList = std::vector<const MeasuredProblem *>;

static std::string printPercent(double fraction) {
  return formatv("{0:f1} %", 100 * fraction).str();
}

/// Prints one line per kind; `other` is compared with it.
static void printErrors(llvm::ArrayRef<RankingError> errors,
                        llvm::ArrayRef<RankingError> other) {
  llvm::outs() << formatv("  {0,-20}{1,9}{2,10}{3,10}{4,20}\n", "kind",
                          "problems", "mean", "10th", "by expectation");
  for (const RankingError &error : errors) {
    auto same = llvm::find_if(other, [&](const RankingError &candidate) {
      return candidate.kind == error.kind;
    });
    std::string plain = same == other.end() ? ""
                                            : printPercent(same->mean) + ", " +
                                                  printPercent(same->tenth);
    llvm::outs() << formatv("  {0,-20}{1,9}{2,10}{3,10}{4,20}\n", error.kind,
                            error.problems, printPercent(error.mean),
                            printPercent(error.tenth), plain);
    if (error.unmeasured)
      llvm::outs() << formatv("  {0} more, whose first choice was never "
                              "measured\n",
                              error.unmeasured);
  }
}

/// Prints choices, the worst first.
static void printChoices(std::vector<RankedProblem> ranked) {
  llvm::stable_sort(ranked, [](const RankedProblem &a, const RankedProblem &b) {
    return a.fraction.value_or(2) < b.fraction.value_or(2);
  });
  for (const RankedProblem &one : ranked)
    llvm::outs() << formatv(
        "  {0,8} {1}\n           chose {2} {{{3}}, best {4} {{{5}}\n",
        one.fraction ? printPercent(*one.fraction) : "-",
        one.problem->problem.key(), one.solver, one.config,
        one.problem->tuned.solver->id(), one.problem->tuned.config.str());
}

static void printFolds(const ProblemList &training, const TargetInfo &target,
                       const TrainingOptions &options) {
  llvm::outs() << "networks of training, each left out in turn\n";
  std::vector<RankedProblem> all;
  for (FoldResult &fold : crossValidate(training, target, options)) {
    RankingError error = summarizeRanking(fold.ranked).back();
    llvm::outs() << formatv("  {0,-20}{1,9}{2,10}{3,10}\n", fold.network,
                            error.problems, printPercent(error.mean),
                            printPercent(error.tenth));
    llvm::append_range(all, fold.ranked);
  }
  ProblemList ranked;
  for (const RankedProblem &one : all)
    ranked.push_back(one.problem);
  printErrors(
      summarizeRanking(all),
      summarizeRanking(rankProblems(ExpectedFractionRanker(), ranked, target)));
}

/// Opens the measurements: those of this build in the user's journal, or those
/// of any build in a store that was made to be shipped.
static Result<std::unique_ptr<Journal>>
openMeasurements(const TrainArguments &arguments, const TargetInfo &target) {
  JournalContext context = JournalContext::forTarget(target);
  if (arguments.store.empty())
    return Journal::open(Journal::getDefaultPath(target), context);
  // Records in a write-ahead log would be invisible.
  std::string pending = arguments.store + "-wal";
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(pending, bytes) && bytes > 0)
    return Error{"store " + arguments.store + " is being written (see " +
                 pending + "): copy it with sqlite3's .backup"};
  return Journal::openReadOnly(arguments.store, context);
}

static Status writeModel(const LearnedModel &model,
                         const TrainArguments &arguments,
                         const TargetInfo &target) {
  std::string path =
      arguments.into.empty() ? Journal::getDefaultPath(target) : arguments.into;
  std::string bytes = model.serialize();
  Result<std::unique_ptr<Journal>> journal = Journal::open(path, model.madeBy);
  if (!journal)
    return journal.error();
  if (Status status = (*journal)->recordModel(bytes); !status)
    return status;
  llvm::outs() << formatv("wrote a model of {0} bytes into {1}\n", bytes.size(),
                          path);
  return success();
}

/// Trains on the problems that are not held out, and judges by those that are.
static Result<LearnedModel> train(llvm::ArrayRef<MeasuredProblem> problems,
                                  const NetworkSplit &split,
                                  const TargetInfo &target,
                                  const TrainArguments &arguments) {
  ProblemList training, heldOut;
  for (const MeasuredProblem &problem : problems)
    (problem.isHeldOut ? heldOut : training).push_back(&problem);
  if (training.empty())
    return Error{"there is nothing to learn from: no measurement of a problem "
                 "that is not held out"};
  TrainingOptions options;
  options.seed = arguments.seed;
  LearnedModel model = trainModel(training, target, options);
  llvm::outs() << formatv(
      "trained on {0} measurements of {1} problems, {2}, {3} thread(s)\n",
      model.rows, model.problems, model.madeBy.target, model.madeBy.threads);
  if (arguments.report)
    printFolds(training, target, options);
  if (heldOut.empty())
    return model;
  LearnedRanker ranker(model);
  std::vector<RankedProblem> ranked = rankProblems(ranker, heldOut, target);
  model.split = split.getName();
  model.heldOut = summarizeRanking(ranked);
  llvm::outs() << formatv(
      "held out by {0} ({1}): the first choice's part of the tuned speed\n",
      split.getName(), llvm::join(split.getHeldOut(), ", "));
  printErrors(model.heldOut, summarizeRanking(rankProblems(
                                 ExpectedFractionRanker(), heldOut, target)));
  if (arguments.report)
    printChoices(std::move(ranked));
  return model;
}

static int runTrain(const TrainArguments &arguments) {
  NetworkSplit split;
  if (!arguments.split.empty()) {
    Result<NetworkSplit> read = NetworkSplit::read(arguments.split);
    if (!read)
      return fail(read.message());
    split = std::move(*read);
  }
  Result<TargetInfo> target = getHostTarget(arguments.threads, arguments.cpu);
  if (!target)
    return fail(target.message());
  Result<std::unique_ptr<Journal>> journal =
      openMeasurements(arguments, *target);
  if (!journal)
    return fail(journal.message());
  Result<LearnedModel> model =
      train(readMeasuredProblems(**journal, *target, split), split, *target,
            arguments);
  if (!model)
    return fail(model.message());
  if (!arguments.dryRun)
    if (Status status = writeModel(*model, arguments, *target); !status)
      return fail(status.message());
  llvm::outs().flush();
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addTrain(CommandSet &commands) {
  using namespace options;
  auto [sub, train] = commands.add(
      "train", "Train the learned model on measurements",
      "graph-opt train --split benchmarks/problems/split.json --threads 1",
      runTrain);
  sub->add_option(
         "--store", train.store,
         "A store that no process writes to (default: the journal of this "
         "machine)")
      ->type_name("FILE");
  CLI::Option *into =
      sub->add_option("--into", train.into,
                      "The store to write the model into (default: the journal "
                      "of this machine)")
          ->type_name("FILE");
  sub->add_option("--split", train.split,
                  "Networks to hold out, on which the model is judged")
      ->type_name("FILE");
  sub->add_option("--seed", train.seed,
                  "Seed of the samples that training draws (default: 1)")
      ->type_name("N");
  sub->add_flag("--report", train.report,
                "Print every held-out choice, and the results of leaving out "
                "each network of training in turn");
  sub->add_flag("--dry-run", train.dryRun, "Write no model")->excludes(into);
  addThreads(sub, train.threads);
  addCpu(sub, train.cpu);
}

} // namespace tarpon
