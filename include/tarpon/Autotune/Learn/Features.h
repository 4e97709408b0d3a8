//===- Features.h - What a learned model sees of a solution -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A problem, a solver and a perf config as numbers. docs/heuristics.md lists
// them with their units; the names here are those of that list. Sizes are
// logarithms to base 2, so that a tree cuts them by ratio.
//
// A row of features has three parts: what is the same for the whole problem,
// what is the same for a solver, and what a config adds. The order of a part
// never depends on a problem.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_FEATURES_H
#define TARPON_AUTOTUNE_LEARN_FEATURES_H

#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// What the kinds of problems are called of which a model knows some or none:
/// "conv2d f32 nhwc", by operation, dtype of the first operand ("u8q" where it
/// is quantised) and layout. None for a problem that features do not describe:
/// anything but a convolution with two spatial dimensions and a constant
/// filter.
std::optional<std::string> getProblemKind(const Problem &problem);

/// The least time that a problem can take by the target's arithmetic and a
/// common bandwidth, in cycles of a core: what expected times are multiples of.
/// The problem has a kind.
double getRooflineCycles(const Problem &problem, const TargetInfo &target);

/// Which solvers and which fields of configs have features of their own, and
/// how rows are filled. Immutable and thread-safe once made.
class FeatureSpace {
public:
  /// Ids of solvers and names of fields; both are sorted.
  FeatureSpace(std::vector<std::string> solvers,
               std::vector<std::string> fields);
  FeatureSpace() : FeatureSpace({}, {}) {}

  /// Of all features, in order.
  const std::vector<std::string> &getNames() const { return names; }
  const std::vector<std::string> &getSolvers() const { return solvers; }
  const std::vector<std::string> &getFields() const { return fields; }

  bool knowsSolver(llvm::StringRef id) const;
  /// Whether every field of a config has a feature.
  bool knowsFields(const PerfConfig &config) const;

  /// How long a row of a solver is, and one of a config, which begins with
  /// that.
  size_t solverColumns() const { return firstConfigColumn; }
  size_t configColumns() const { return names.size(); }

  /// Fills the first part. The problem has a kind.
  void fillProblem(const Problem &problem, const TargetInfo &target,
                   llvm::MutableArrayRef<float> row) const;
  /// The second part, behind the first. `fraction` is what the solver expects
  /// of itself (Solver::expectedFraction).
  void fillSolver(const Problem &problem, const TargetInfo &target,
                  const Solver &solver, double fraction,
                  llvm::MutableArrayRef<float> row) const;
  /// The third part. `place` is that of the config in what Solver::configs
  /// lists, best guess first; the length of the list for one that is not in it.
  void fillConfig(const Problem &problem, const TargetInfo &target,
                  const PerfConfig &config, size_t place,
                  llvm::MutableArrayRef<float> row) const;

private:
  std::vector<std::string> solvers, fields, names;
  size_t firstSolverColumn = 0, firstConfigColumn = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_FEATURES_H
