//===- SearchMethod.h - Decides what is measured next -----------*- C++ -*-===//
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
  /// The time that a model expects, up to a factor that all candidates share; 0
  /// if there is none.
  double expectedMs = 0;
  /// The kernels to compile before it can be measured, by names that are unique
  /// over all solvers.
  std::vector<std::string> kernels = {};
};

/// The measurements of another problem.
struct RelatedProblem {
  /// The problem's features: as SearchSpace::features, and as many.
  std::vector<double> features;
  /// The candidates, with the expectations of the same model.
  std::vector<SearchCandidate> candidates;
  /// The measured time of each candidate, by index.
  std::vector<double> milliseconds;
};

struct SearchSpace {
  /// All candidates, the best guess first.
  std::vector<SearchCandidate> candidates;
  /// Numbers that tell the problem from others of its kind: see
  /// describeProblem.
  std::vector<double> features;
  std::vector<RelatedProblem> related;
  /// Kernels that are compiled already, besides those of results.
  std::set<std::string> compiled;
  /// The number of proposals that a method may make at once, without knowing
  /// the first one's result: they are compiled in parallel.
  size_t parallel = 1;
};

/// The result of a measurement.
struct SearchResult {
  size_t candidate = 0;
  /// Infinite for a candidate that is wrong, crashes or hangs.
  double milliseconds = std::numeric_limits<double>::infinity();

  bool isOk() const {
    return milliseconds < std::numeric_limits<double>::infinity();
  }
};

/// Searches one problem. Not thread-safe. Deterministic: for the same space and
/// seed, the same results give the same proposals.
class SearchMethod {
public:
  virtual ~SearchMethod() = default;

  /// Returns the indices of at most `max` candidates to measure next, in this
  /// order; none of them is among the results. Returns none if nothing more is
  /// worth measuring. `results` are all so far; those of the previous call come
  /// first.
  virtual std::vector<size_t> propose(llvm::ArrayRef<SearchResult> results,
                                      size_t max) = 0;
};

/// Makes a search method. The space must outlive it.
std::unique_ptr<SearchMethod> makeSearchMethod(SearchMethodKind kind,
                                               const SearchSpace &space,
                                               uint64_t seed);

/// Returns true if the last `patience` results are no better than an earlier
/// one. A time must be smaller by policy::kImprovement to be better.
bool isPatienceOver(llvm::ArrayRef<SearchResult> results, int64_t patience);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SEARCHMETHOD_H
