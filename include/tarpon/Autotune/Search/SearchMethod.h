//===- SearchMethod.h - Which candidates are measured next ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search method proposes candidates, given the results so far. It neither
// builds nor measures anything: the tuner does, and so can a table of recorded
// times (benchmarks/search). Results that are known from earlier runs count
// like those of this one.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SEARCHMETHOD_H
#define TARPON_AUTOTUNE_SEARCH_SEARCHMETHOD_H

#include "tarpon/Autotune/Search/SearchOptions.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// A solver with one of its configs, as a method sees it.
struct SearchCandidate {
  std::string solver;
  PerfConfig config;
  /// What a model expects, up to a factor that all candidates share; 0 if it
  /// says nothing.
  double expectedMs = 0;
  /// What has to be compiled before it can be measured, by names that are
  /// unique over all solvers.
  std::vector<std::string> kernels = {};
};

/// What was measured of another problem.
struct RelatedProblem {
  /// As SearchSpace::features, and as many.
  std::vector<double> features;
  /// What the same model expects of these.
  std::vector<SearchCandidate> candidates;
  /// What they take, by index.
  std::vector<double> milliseconds;
};

struct SearchSpace {
  /// The best guess first.
  std::vector<SearchCandidate> candidates;
  /// What tells the problem from others of its kind: see describeProblem.
  std::vector<double> features;
  std::vector<RelatedProblem> related;
  /// Kernels that need not be compiled any more. Those of results do not
  /// either.
  std::set<std::string> compiled;
  /// How many proposals a method may make at once without knowing how the first
  /// of them ends: they are compiled in parallel.
  size_t parallel = 1;
};

/// How a measurement ended.
struct SearchResult {
  size_t candidate = 0;
  /// Infinite for one that is wrong, crashes or hangs.
  double milliseconds = std::numeric_limits<double>::infinity();

  bool isOk() const {
    return milliseconds < std::numeric_limits<double>::infinity();
  }
};

/// For one problem; one thread at a time. Deterministic: for the same space and
/// seed, the same results give the same proposals.
class SearchMethod {
public:
  virtual ~SearchMethod() = default;

  /// What to measure next, in this order: at most `max` candidates, of which
  /// none is among the results. None at all if nothing more is worth it.
  /// `results` are all so far; those of the call before come first.
  virtual std::vector<size_t> propose(llvm::ArrayRef<SearchResult> results,
                                      size_t max) = 0;
};

/// The space has to outlive the method.
std::unique_ptr<SearchMethod> makeSearchMethod(SearchMethodKind kind,
                                               const SearchSpace &space,
                                               uint64_t seed);

/// Whether the last `patience` results are no better than one before them. A
/// time that is not smaller by policy::kImprovement is no better.
bool isPatienceOver(llvm::ArrayRef<SearchResult> results, int64_t patience);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SEARCHMETHOD_H
