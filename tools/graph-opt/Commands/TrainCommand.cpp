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
  /// The stores of the measurements; none for the user's.
  std::vector<std::string> stores;
  /// The store, or for a model of several CPUs the file, to write the model to;
  /// "" for the user's.
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

/// Prints a line for each fold, then all of them by kind; returns the latter.
static std::vector<RankingError> printFolds(llvm::StringRef title,
                                            std::vector<FoldResult> folds) {
  llvm::outs() << title << ", each left out in turn\n";
  std::vector<RankedProblem> all;
  for (FoldResult &fold : folds) {
    RankingError error = summarizeRanking(fold.ranked).back();
    llvm::outs() << formatv("  {0,-20}{1,9}{2,10}{3,10}\n", fold.leftOut,
                            error.problems, printPercent(error.mean),
                            printPercent(error.tenth));
    llvm::append_range(all, fold.ranked);
  }
  ProblemList ranked;
  for (const RankedProblem &one : all)
    ranked.push_back(one.problem);
  std::vector<RankingError> errors = summarizeRanking(all);
  printErrors(errors,
              summarizeRanking(rankProblems(ExpectedFractionRanker(), ranked)));
  return errors;
}

/// Reads all CPUs' measurements of a store that was made to be shipped.
static Result<std::vector<MeasuredProblem>>
readStore(const std::string &path, const TargetInfo &host,
          const NetworkSplit &split) {
  // Records in a write-ahead log would be invisible.
  std::string pending = path + "-wal";
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(pending, bytes) && bytes > 0)
    return Error{"store " + path + " is being written (see " + pending +
                 "): copy it with sqlite3's .backup"};
  std::vector<std::string> skipped;
  Result<std::vector<MeasuredProblem>> problems =
      readStoreOfAnyCpu(path, host, split, skipped);
  for (const std::string &reason : skipped)
    remark(reason + "; these are left out");
  return problems;
}

/// Reads the measurements of this build in the user's journal, or those of any
/// build in stores.
static Result<std::vector<MeasuredProblem>>
readMeasurements(const TrainArguments &arguments, const TargetInfo &target,
                 const NetworkSplit &split) {
  if (arguments.stores.empty()) {
    JournalContext context = JournalContext::forTarget(target);
    Result<std::unique_ptr<Journal>> journal =
        Journal::open(Journal::getDefaultPath(target), context);
    if (!journal)
      return journal.error();
    return readMeasuredProblems(
        **journal, context, std::make_shared<const TargetInfo>(target), split);
  }
  std::vector<MeasuredProblem> problems;
  for (const std::string &store : arguments.stores) {
    Result<std::vector<MeasuredProblem>> part = readStore(store, target, split);
    if (!part)
      return part;
    llvm::move(*part, std::back_inserter(problems));
  }
  return problems;
}

/// Writes the model of one CPU into a store, that of several into a file of its
/// own, where all CPUs of the architecture find it. So does that of another CPU
/// than this machine's, unless a store is named: none of this machine's is read
/// for that CPU.
static Status writeModel(const LearnedModel &model,
                         const TrainArguments &arguments,
                         const TargetInfo &target) {
  bool isOwn = model.madeBy.target == JournalContext::forTarget(target).target;
  bool isInStore =
      model.targets.size() == 1 && (isOwn || !arguments.into.empty());
  std::string path = arguments.into;
  if (path.empty())
    path = isInStore ? Journal::getDefaultPath(target)
                     : getModelPath(Journal::getDefaultDirectory(), target);
  std::string bytes = model.serialize();
  if (isInStore) {
    Result<std::unique_ptr<Journal>> journal =
        Journal::open(path, model.madeBy);
    if (!journal)
      return journal.error();
    if (Status status = (*journal)->recordModel(bytes); !status)
      return status;
  } else if (Status status = writeModelFile(model, path); !status) {
    return status;
  }
  llvm::outs() << formatv("wrote a model of {0} bytes into {1}\n", bytes.size(),
                          path);
  return success();
}

/// Judges a model by the problems of networks that were held out.
static void judge(const ProblemList &heldOut, const NetworkSplit &split,
                  bool isReported, LearnedModel &model) {
  std::vector<RankedProblem> ranked =
      rankProblems(LearnedRanker(model), heldOut);
  model.split = split.getName();
  model.heldOut = summarizeRanking(ranked);
  llvm::outs() << formatv(
      "held out by {0} ({1}): the first choice's part of the tuned speed\n",
      split.getName(), llvm::join(split.getHeldOut(), ", "));
  printErrors(model.heldOut, summarizeRanking(rankProblems(
                                 ExpectedFractionRanker(), heldOut)));
  if (isReported)
    printChoices(std::move(ranked));
}

/// Trains on the problems that are not held out, and judges by those that are.
static Result<LearnedModel> train(llvm::ArrayRef<MeasuredProblem> problems,
                                  const NetworkSplit &split,
                                  const TrainArguments &arguments) {
  ProblemList training, heldOut;
  for (const MeasuredProblem &problem : problems)
    (problem.isHeldOut ? heldOut : training).push_back(&problem);
  if (training.empty())
    return Error{"there is nothing to learn from: no measurement of a problem "
                 "that is not held out"};
  TrainingOptions options;
  options.seed = arguments.seed;
  LearnedModel model = trainModel(training, options);
  llvm::outs() << formatv(
      "trained on {0} measurements of {1} problems, {2}, {3} thread(s)\n",
      model.rows, model.problems,
      llvm::join(llvm::make_first_range(model.targets), ", "),
      model.madeBy.threads);
  if (arguments.report)
    printFolds("networks of training", crossValidate(training, options));
  if (model.targets.size() > 1)
    model.heldOutCpus = printFolds("CPUs", leaveOutCpus(training, options));
  if (!heldOut.empty())
    judge(heldOut, split, arguments.report, model);
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
  Result<std::vector<MeasuredProblem>> problems =
      readMeasurements(arguments, *target, split);
  if (!problems)
    return fail(problems.message());
  Result<LearnedModel> model = train(*problems, split, arguments);
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
         "--store", train.stores,
         "A store that no process writes to, of any CPUs; may be repeated "
         "(default: the journal of this machine)")
      ->type_name("FILE");
  CLI::Option *into =
      sub->add_option("--into", train.into,
                      "The store to write the model into, for a model of "
                      "several CPUs a file of its own (default: the journal of "
                      "this machine; ARCH.model beside it)")
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
