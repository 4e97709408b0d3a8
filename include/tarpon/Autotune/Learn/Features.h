//===- Features.h - The features of a solution ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes a problem, a solver and a perf config by numbers.
// docs/heuristics.md lists them with their units; the names here are those of
// that list. Sizes are logarithms to base 2, so that a tree cuts them by ratio.
//
// A row of features has three parts: that of the problem with the machine, that
// of the solver, and that of the config. The order of a part never depends on a
// problem. Rows of several machines go into one model: sizes are counted in the
// machine's vectors and caches where they can be.
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

/// The kind of a problem, for example "conv2d f32 nhwc": operation, dtype of
/// the first operand ("u8q" where it is quantised) and layout. A model knows
/// all problems of a kind or none. None for a problem that features do not
/// describe: anything but a convolution with two spatial dimensions and a
/// constant filter.
std::optional<std::string> getProblemKind(const Problem &problem);

/// The least time that a problem can take by the target's arithmetic and a
/// common bandwidth, in cycles of a core. Expected times are multiples of it.
/// The problem has a kind.
double getRooflineCycles(const Problem &problem, const TargetInfo &target);

/// Maps solvers and fields of configs to columns, and fills rows of features.
/// Immutable and thread-safe.
class FeatureSpace {
public:
  /// Takes ids of solvers and names of fields, both sorted.
  FeatureSpace(std::vector<std::string> solvers,
               std::vector<std::string> fields);
  FeatureSpace() : FeatureSpace({}, {}) {}

  /// The names of all features, in order.
  const std::vector<std::string> &getNames() const { return names; }
  const std::vector<std::string> &getSolvers() const { return solvers; }
  const std::vector<std::string> &getFields() const { return fields; }

  bool knowsSolver(llvm::StringRef id) const;
  /// Returns true if every field of the config has a feature.
  bool knowsFields(const PerfConfig &config) const;

  /// The number of columns of a row for a solver, and of one for a config,
  /// which begins with the former.
  size_t solverColumns() const { return firstConfigColumn; }
  size_t configColumns() const { return names.size(); }

  /// Fills the problem's part, which ends with the machine's figures. The
  /// problem has a kind.
  void fillProblem(const Problem &problem, const TargetInfo &target,
                   llvm::MutableArrayRef<float> row) const;
  /// Fills the solver's part, which follows the problem's. `fraction` is
  /// Solver::expectedFraction.
  void fillSolver(const Problem &problem, const TargetInfo &target,
                  const Solver &solver, double fraction,
                  llvm::MutableArrayRef<float> row) const;
  /// Fills the config's part. `place` is the config's index in Solver::configs
  /// (best guess first), or the length of that list for a config that is not in
  /// it.
  void fillConfig(const Problem &problem, const TargetInfo &target,
                  const PerfConfig &config, size_t place,
                  llvm::MutableArrayRef<float> row) const;

private:
  std::vector<std::string> solvers, fields, names;
  size_t firstSolverColumn = 0, firstConfigColumn = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_FEATURES_H
