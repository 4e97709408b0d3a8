//===- Passes.h - The passes of Tarpon --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_PASSES_H
#define TARPON_PASSES_PASSES_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Passes/Fusion.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Solver/Solver.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace tarpon {

/// On fused ops and function arguments: the range of the values in calibration,
/// as array<f32: low, high>.
inline constexpr llvm::StringLiteral kRangeAttrName = "tarpon.range";
/// On fused ops with a constant filter: the means of the channels that the
/// filter reads, and the same after these were rounded to 8 bits.
inline constexpr llvm::StringLiteral kInputMeansAttrName = "tarpon.input_means";
inline constexpr llvm::StringLiteral kStoredMeansAttrName =
    "tarpon.stored_means";
/// On fused ops: the names of the precision and the layout that the region is
/// to compute in, where these are not those of all regions. The passes that
/// read them last, tarpon-assign-dtype and tarpon-assign-layout, remove them.
inline constexpr llvm::StringLiteral kPrecisionAttrName = "tarpon.precision";
inline constexpr llvm::StringLiteral kLayoutAttrName = "tarpon.layout";
/// On fused ops: the ops of the region are to be launches of their own.
/// tarpon-split-regions obeys.
inline constexpr llvm::StringLiteral kUnfusedAttrName = "tarpon.unfused";
/// On fused ops: the region's index among those that have choices, which
/// identifies it in every plan of a model.
inline constexpr llvm::StringLiteral kRegionAttrName = "tarpon.region";
/// On functions: the size of the arena that tarpon-plan-memory laid out.
inline constexpr llvm::StringLiteral kArenaBytesAttrName = "tarpon.arena_bytes";

#define GEN_PASS_DECL
#include "tarpon/Passes/Passes.h.inc"

/// tarpon-fuse in that mode.
std::unique_ptr<mlir::Pass> createFusePass(Fusion fusion);

/// Folds batch norms into filters, or replaces them by mul and add.
void populateFoldBatchNormPatterns(mlir::RewritePatternSet &patterns);

/// Moves activations in front of concats and drops those without effect.
void populateMoveActivationsPatterns(mlir::RewritePatternSet &patterns);

/// Merges, drops and evaluates converts.
void populateRemoveRedundantConvertsPatterns(mlir::RewritePatternSet &patterns);

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

/// Decides how a fused region is computed. It reports its failures.
using SolutionChooser =
    std::function<mlir::FailureOr<SolutionAttr>(FusedOp, const Problem &)>;

/// The attribute for a solver with a perf config; `source` says where the
/// choice came from ("default", "measured", ...).
SolutionAttr makeSolutionAttr(mlir::MLIRContext *context, const Solver &solver,
                              const PerfConfig &config, llvm::StringRef source);

/// tarpon-select-solutions for a target; a null chooser takes the first
/// applicable solver with its default config.
std::unique_ptr<mlir::Pass>
createSelectSolutionsPass(const TargetInfo &target,
                          SolutionChooser chooser = nullptr);

/// tarpon-lower-to-launches for a target.
std::unique_ptr<mlir::Pass> createLowerToLaunchesPass(const TargetInfo &target);

/// The passes as programs run them: they leave a region alone that would lose
/// the solver that it has on this target.
std::unique_ptr<mlir::Pass>
createEliminateConcatsPass(const TargetInfo &target);
std::unique_ptr<mlir::Pass> createEliminateSlicesPass(const TargetInfo &target);
std::unique_ptr<mlir::Pass> createFuseProducersPass(const TargetInfo &target);
/// `precision` is that in which the model will compute.
std::unique_ptr<mlir::Pass>
createRaiseAttentionPass(const TargetInfo &target,
                         runtime::Precision precision);

#define GEN_PASS_REGISTRATION
#include "tarpon/Passes/Passes.h.inc"

} // namespace tarpon

#endif // TARPON_PASSES_PASSES_H
