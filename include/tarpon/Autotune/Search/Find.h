//===- Find.h - Finds, runs and keeps solutions of problems -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds solutions for programs that have one operation rather than a model:
//
//   auto finder = Finder::create({});
//   auto found = (*finder)->findSolutions(*parseProblem(key));
//   (*finder)->runSolution(found->front(), operands, results);
//
// In "immediate mode" (count, list, compile, run) nothing is measured.
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
  /// Searches all configs that are not known yet.
  bool tuning = false;
  /// If not set, the finder's options apply.
  std::optional<FindMode> mode;
  std::optional<TuningPolicy> policy;
};

/// One way to solve a problem.
struct FoundSolution {
  Problem problem;
  Solution solution;
  int64_t workspaceBytes = 0;
  /// Names problem, scales, solver and config; invokers are kept by it.
  std::string key;

  /// The median of the measurement; none for a guess.
  std::optional<double> getMilliseconds() const;
};

struct FinderOptions {
  /// Name and options of the target, for findTarget: it has to be registered.
  std::string target = "host", device;
  /// 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";
  /// If not set, $TARPON_FIND_MODE and $TARPON_FIND_ENFORCE decide, else normal
  /// and none.
  std::optional<FindMode> mode;
  std::optional<TuningPolicy> policy;
  /// If not set, the environment decides; see resolveSearchOptions.
  SearchOverrides search;
  /// The caller's buffers may be read for 64 bytes behind their end, like those
  /// of HostTensor. Otherwise inputs are copied first.
  bool paddedBuffers = false;
  /// The file to which each problem that is searched for or run is appended, as
  /// a line for `graph-opt tune`; see ProblemLog.h.
  std::string logDriver;
  /// Shows progress and remarks on stderr; without it, remarks only.
  bool quiet = true;
  std::string evaluatorProgram = findEvaluatorProgram();
};

/// Not thread-safe: one thread at a time.
class Finder {
public:
  /// Opens the user's store and the system store. An error if the user's is
  /// damaged; a system store that is damaged is a remark.
  static runtime::Result<std::unique_ptr<Finder>>
  create(const FinderOptions &options);
  ~Finder();

  /// Follows find mode and tuning policy (FindPolicy.h). Returns one solution
  /// of each applicable solver that the limits allow.
  runtime::Result<std::vector<FoundSolution>>
  findSolutions(const Problem &problem, const FindOptions &options = {});

  /// Immediate mode: returns the first `max` solutions that are known, else
  /// those of a ranker, else those of the expected fractions; Solution::source
  /// tells which.
  std::vector<FoundSolution>
  listSolutions(const Problem &problem, const SolutionLimits &limits = {},
                size_t max = std::numeric_limits<size_t>::max(),
                SolutionOrder order = SolutionOrder::ByTime) const;
  size_t countSolutions(const Problem &problem,
                        const SolutionLimits &limits = {}) const;

  /// Prepares a solution for runSolution, so that its first call takes no
  /// longer than others. `operands` are those of runSolution; only constant
  /// ones are read.
  runtime::Status compileSolution(const FoundSolution &found,
                                  llvm::ArrayRef<const void *> operands);

  /// Runs on the caller's buffers: one per operand and result of the problem,
  /// as they lie in memory. Constant operands (`:const`) are read when the
  /// solution is compiled, once per set of addresses: who changes them in
  /// place, or frees them and uses the addresses again, calls compileSolution.
  /// The second call of a solution only looks up its key. The last 256 prepared
  /// solutions are kept.
  ///
  /// `workspace` is memory of the caller that the launches use for intermediate
  /// results: at least FoundSolution::workspaceBytes bytes, aligned to 64, with
  /// 64 more readable bytes behind them. Without it, solutions share a
  /// workspace of the finder.
  runtime::Status
  runSolution(const FoundSolution &found, llvm::ArrayRef<const void *> operands,
              llvm::ArrayRef<void *> results,
              std::optional<llvm::MutableArrayRef<char>> workspace = {});

  /// Writes a solution to a JSON file. Scales of quantised tensors, which are
  /// not part of a problem's key, are not kept.
  runtime::Status saveSolution(const FoundSolution &found,
                               const std::string &path);
  /// Also writes its kernels, with constant operands and scales, as a package
  /// beside it (`path` + ".tpn"). `operands` are those of runSolution; only
  /// constant ones are read.
  runtime::Status
  saveSolutionWithKernels(const FoundSolution &found, const std::string &path,
                          llvm::ArrayRef<const void *> operands);

  /// Loads a solution; one that was made for another target or by another
  /// version is refused. A solution that was saved with its kernels runs
  /// without compiling anything, and with the constants and scales that it was
  /// saved with: the caller's are not read.
  runtime::Result<FoundSolution> loadSolution(const std::string &path);

  /// Explains the basis of a guess: the heuristic's error on held-out problems,
  /// or why there is none. "" for measured solutions.
  std::string explainGuess(const FoundSolution &found) const;

  /// Sets a ranker that answers in place of the learned model; it must outlive
  /// the finder.
  void setRanker(const SolutionRanker *ranker) { tuner->setRanker(ranker); }
  void setDeadline(Deadline value);

  KernelCompiler &getKernelCompiler() { return *compiler; }
  /// See MeasurerFactory::getVerb.
  std::string getVerb() const { return measurers->getVerb(); }
  const SearchStatistics &getStatistics() const {
    return tuner->getStatistics();
  }
  /// The number of times that runSolution had to prepare something.
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
  /// The user's options of the search.
  SearchOptions searchOptions;
  std::unique_ptr<LearnedRanker> learned;
  std::unique_ptr<Tuner> tuner;
  /// The target's device, which all invokers share; opened for the first one.
  std::unique_ptr<runtime::Device> device;
  /// Invokers by key; several for several sets of constants.
  std::unordered_map<std::string, InvokerList> invokers;
  /// The shared workspace of solutions that run without the caller's: as large
  /// as any needs.
  runtime::AlignedBuffer workspace;
  std::set<std::string> logged;
  int64_t preparations = 0, calls = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_FIND_H
