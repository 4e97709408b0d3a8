//===- BehaviourVersion.h - Versions of what code does ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records are valid for the versions of the parts that they depend on. A
// version is raised when the behaviour of its part changes, and not when only
// its sources do. lib/Solver/BehaviourVersions.def lists the versions, each
// with a digest of the part's output for a list of problems. A test computes it
// again (test/unit/Versions), fails where a digest differs, and names the
// script that raises the version: scripts/update-behaviour-versions.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_BEHAVIOURVERSION_H
#define TARPON_SOLVER_BEHAVIOURVERSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tarpon {

/// The parts that are no solvers: the code generators, the static model of
/// GPUs, the passes from the imported model to its problems, and calibration:
/// the ranges of int8, and what the error of a model is. No digest knows the
/// latter.
inline constexpr llvm::StringLiteral kHostCodegen = "host-codegen";
inline constexpr llvm::StringLiteral kGpuCodegen = "gpu-codegen";
inline constexpr llvm::StringLiteral kGpuModel = "gpu-model";
inline constexpr llvm::StringLiteral kPasses = "passes";
inline constexpr llvm::StringLiteral kCalibration = "calibration";

struct BehaviourVersion {
  /// One of the parts above, or the id of a solver.
  llvm::StringLiteral part;
  int64_t version;
  llvm::StringLiteral digest;
};

/// All listed versions, sorted by part.
llvm::ArrayRef<BehaviourVersion> getBehaviourVersions();

/// The version of a part. It is 1 for a part that is not listed, such as a
/// solver from outside of this tree, whose id has a version of its own.
int64_t getBehaviourVersion(llvm::StringRef part);

} // namespace tarpon

#endif // TARPON_SOLVER_BEHAVIOURVERSION_H
