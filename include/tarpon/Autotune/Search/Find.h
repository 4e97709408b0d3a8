//===- Find.h - Finds, runs and keeps solutions of problems -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that have one operation rather than a model:
//
//   auto finder = Finder::create({});
//   auto found = (*finder)->findSolutions(*parseProblem(key));
//   (*finder)->runSolution(found->front(), operands, results);
//
// Nothing is measured in "immediate mode": count, list, compile and run.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_FIND_H
#define TARPON_AUTOTUNE_SEARCH_FIND_H

#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Executor.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tarpon {

enum class SolutionOrder : uint8_t {
  ByTime,     ///< guesses behind what was measured, see Tuner::list
  ByWorkspace ///< the smallest first; those that need as much by time
};

struct FindOptions {
  SolutionOrder order = SolutionOrder::ByTime;
  SolutionLimits limits;
  /// Searches all configs, as far as they are not known.
  bool tuning = false;
  /// Without them, those of the finder.
  std::optional<FindMode> mode;
  std::optional<TuningPolicy> policy;
};

/// One way to solve a problem.
struct FoundSolution {
  Problem problem;
  Solution solution;
  int64_t workspaceBytes = 0;
  /// Names problem, scales, solver and config: what invokers are kept under.
  std::string key;

  /// The median of what was measured; none for a guess.
  std::optional<double> getMilliseconds() const;
};

struct FinderOptions {
  /// Name and options of the target, for findTarget: it has to be registered.
  std::string target = "host", device;
  /// 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";
  /// Without them, $TARPON_FIND_MODE and $TARPON_FIND_ENFORCE decide, else
  /// normal and none.
  std::optional<FindMode> mode;
  std::optional<TuningPolicy> policy;
  /// Without them, the environment decides; see resolveSearchOptions.
  SearchOverrides search;
  /// The caller's buffers may be read for 64 bytes behind their end, as those
  /// of HostTensor: else inputs are copied first.
  bool paddedBuffers = false;
  /// A file that each problem is appended to which solutions are looked for, or
  /// run, as a line for `graph-opt tune`; see ProblemLog.h.
  std::string logDriver;
  /// Shows progress and remarks on stderr; without it, remarks only.
  bool quiet = true;
  std::string evaluatorProgram = findEvaluatorProgram();
};

/// One thread at a time.
class Finder {
public:
  /// Opens the user's store and the system store. An error if the user's is
  /// damaged; a system store that is damaged is a remark.
  static runtime::Result<std::unique_ptr<Finder>>
  create(const FinderOptions &options);
  ~Finder();

  /// Does what find mode and tuning policy say; see FindPolicy.h. One solution
  /// of each applicable solver that the limits allow.
  runtime::Result<std::vector<FoundSolution>>
  findSolutions(const Problem &problem, const FindOptions &options = {});

  /// Immediate mode: what is known, else what a ranker says, else expected
  /// fractions; Solution::source tells which. The first `max` of them.
  std::vector<FoundSolution>
  listSolutions(const Problem &problem, const SolutionLimits &limits = {},
                size_t max = std::numeric_limits<size_t>::max(),
                SolutionOrder order = SolutionOrder::ByTime) const;
  size_t countSolutions(const Problem &problem,
                        const SolutionLimits &limits = {}) const;

  /// Makes what runSolution needs, so that its first call takes no longer than
  /// others. `operands` are those of runSolution; only constant ones are read.
  runtime::Status compileSolution(const FoundSolution &found,
                                  llvm::ArrayRef<const void *> operands);

  /// Runs on the caller's buffers: one per operand and result of the problem,
  /// as they lie in memory. Constant operands (`:const`) are read when the
  /// solution is compiled, once per set of addresses: who changes them in
  /// place, or frees them and uses the addresses again, calls compileSolution.
  /// The second call of a solution looks nothing up but its key. The last 256
  /// are kept.
  ///
  /// `workspace` is memory of the caller's for what the launches hand to each
  /// other: at least FoundSolution::workspaceBytes bytes, aligned to 64, with
  /// 64 more behind them that can be read. Without it, solutions share a
  /// workspace of the finder's.
  runtime::Status
  runSolution(const FoundSolution &found, llvm::ArrayRef<const void *> operands,
              llvm::ArrayRef<void *> results,
              std::optional<llvm::MutableArrayRef<char>> workspace = {});

  /// Writes a solution to a JSON file. Scales of quantised tensors, which are
  /// not part of a problem's key, are not kept.
  runtime::Status saveSolution(const FoundSolution &found,
                               const std::string &path);
  /// And its kernels, with constant operands and scales, as a package beside it
  /// (`path` + ".tpn"). `operands` are those of runSolution; only constant ones
  /// are read.
  runtime::Status
  saveSolutionWithKernels(const FoundSolution &found, const std::string &path,
                          llvm::ArrayRef<const void *> operands);

  /// Refuses what was made for another target or by another version. A solution
  /// that was saved with its kernels runs without any being compiled, and with
  /// the constants and scales that it was saved with: those of the caller are
  /// not read.
  runtime::Result<FoundSolution> loadSolution(const std::string &path);

  /// Says of a guess what it stands on: how wrong the heuristic was on
  /// held-out problems, or why there is none. "" for what was measured.
  std::string explainGuess(const FoundSolution &found) const;

  /// Answers in place of the learned model; has to outlive the finder.
  void setRanker(const SolutionRanker *ranker) { tuner->setRanker(ranker); }
  void setDeadline(Deadline value);

  KernelCompiler &getKernelCompiler() { return *compiler; }
  /// See MeasurerFactory::getVerb.
  std::string getVerb() const { return measurers->getVerb(); }
  const SearchStatistics &getStatistics() const {
    return tuner->getStatistics();
  }
  /// How many times something had to be made for runSolution.
  int64_t countPreparations() const { return preparations; }

private:
  struct Invoker;
  using InvokerList = std::vector<std::unique_ptr<Invoker>>;

  explicit Finder(const FinderOptions &options);
  runtime::Status open();
  runtime::Status openTarget();
  runtime::Status openStores();
  FoundSolution describe(const Problem &problem, Solution solution) const;
  runtime::Status log(const Problem &problem);
  runtime::Result<Invoker *> prepare(const FoundSolution &found,
                                     llvm::ArrayRef<const void *> operands);
  runtime::Result<runtime::Package>
  build(const FoundSolution &found,
        llvm::ArrayRef<const void *> operands) const;
  runtime::Result<Invoker *> load(const FoundSolution &found,
                                  runtime::Package package);
  Invoker *findInvoker(const FoundSolution &found,
                       llvm::ArrayRef<const void *> operands);
  void evictInvoker();
  runtime::Result<runtime::Device *> getDevice();

  runtime::Status save(const FoundSolution &found, const std::string &path,
                       bool hasKernels) const;
  runtime::Status loadKernels(const FoundSolution &found,
                              const std::string &path);

  FinderOptions options;
  Progress progress;
  FindPolicy policy;
  std::shared_ptr<const Target> target;
  std::unique_ptr<KernelCompiler> compiler;
  std::unique_ptr<MeasurerFactory> measurers;
  std::unique_ptr<Journal> journal, system;
  /// What the user has said of it.
  SearchOptions searchOptions;
  std::unique_ptr<LearnedRanker> learned;
  std::unique_ptr<Tuner> tuner;
  /// That of the target, which all invokers share; opened for the first one.
  std::unique_ptr<runtime::Device> device;
  /// By key; several for several sets of constants.
  std::unordered_map<std::string, InvokerList> invokers;
  /// Of solutions that run without one of the caller's: as large as any needs.
  runtime::AlignedBuffer workspace;
  std::set<std::string> logged;
  int64_t preparations = 0, calls = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_FIND_H
