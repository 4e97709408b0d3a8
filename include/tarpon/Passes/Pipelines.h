//===- Pipelines.h - Pipelines of passes ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_PIPELINES_H
#define TARPON_PASSES_PIPELINES_H

#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/Precision.h"

#include "mlir/Pass/PassManager.h"

#include <optional>

namespace tarpon {

/// One global choice, or what regions without marks take beside others.
struct ChoiceOptions {
  runtime::Precision dtype = runtime::Precision::F32;
  Layout layout;
  Fusion fusion = Fusion::On;
  /// The target that decides which solvers there are; overrides the module's
  /// attribute tarpon.target.
  std::optional<TargetInfo> target = {};
  /// True if the function has been fused before, in the same mode, and its
  /// regions are marked with their dtypes and layouts (setRegionChoices).
  bool perRegion = false;
};

struct LoweringOptions {
  /// The target; overrides the module's attribute tarpon.target.
  std::optional<TargetInfo> target;
  /// Null takes the first applicable solver with its default config. Needs a
  /// target.
  SolutionChooser chooser;
};

// All pipelines run on functions; the pass manager is one of functions or of
// modules.

/// Raises activations and folds constants and batch norms, which all choices
/// have in common.
void buildSimplifyPipeline(mlir::OpPassManager &pm);

/// Fuses, assigns dtype and layout, and wraps the inserted ops, so that every
/// op is in a region. For int8 the function has been fused in the same mode and
/// calibrated before; with marked regions it has to be calibrated only if one
/// of them computes in int8. Attention is raised only before fusion.
void buildChoicePipeline(mlir::OpPassManager &pm, const ChoiceOptions &options);

/// Attaches solutions, makes launches and plans their memory.
void buildLoweringPipeline(mlir::OpPassManager &pm,
                           const LoweringOptions &options);

/// Registers the pipelines for the command line: tarpon-simplify,
/// tarpon-choose{dtype= layout= fusion= target= threads= per-region},
/// tarpon-lower{target= threads=}.
void registerTarponPipelines();

} // namespace tarpon

#endif // TARPON_PASSES_PIPELINES_H
