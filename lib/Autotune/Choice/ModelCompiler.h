//===- ModelCompiler.h - Compiles a graph for a choice ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_MODELCOMPILER_H
#define TARPON_LIB_AUTOTUNE_CHOICE_MODELCOMPILER_H

#include "PackageCandidates.h"
#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Solution.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// Returns the solution of a problem. The layer's name is for messages.
using SolutionSource = std::function<runtime::Result<Solution>(
    const Problem &problem, const std::string &layer)>;

/// A region of a model for which each region was chosen.
struct PreparedRegion {
  /// The keys of its problems: of one, or of each of its operations.
  std::vector<std::string> problems;
  /// The layout in which it computes, which is nchw if it cannot compute in the
  /// one that was chosen.
  Layout layout;
  /// False if its operations compute in several layouts.
  bool hasOneLayout = true;
};

/// A model with one choice made, its problems not yet solved.
struct PreparedModel {
  GlobalChoice choice;
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  /// The distinct problems, in the order of the layers.
  std::vector<std::pair<std::string, Problem>> problems;
  /// The number of layers that pose a problem, by its key.
  std::map<std::string, int64_t> counts;
  /// By the index of the region; those that passes have removed are missing, as
  /// are all if the choice is one for the whole model.
  std::map<size_t, PreparedRegion> regions;
};

struct CompiledModel {
  runtime::Package package;
  std::vector<LayerRecord> layers;
};

/// Makes packages of one imported model. Diagnostics of passes become errors.
class ModelCompiler {
public:
  ModelCompiler(mlir::ModuleOp module, KernelCompiler &compiler);
  ModelCompiler(const ModelCompiler &) = delete;
  ModelCompiler &operator=(const ModelCompiler &) = delete;

  /// Does the simplification that all choices share. Must be called first,
  /// once.
  runtime::Status simplify();

  /// Returns the fused model whose regions choices are made for.
  runtime::Result<mlir::OwningOpRef<mlir::func::FuncOp>> fuse(Fusion fusion);

  /// Clones the model and applies the choice. If any of it is in int8, the
  /// ranges of its fusion must be known.
  runtime::Result<PreparedModel> prepare(const GlobalChoice &choice);

  /// Lowers a model to a package. With `candidates`, the package can be tuned.
  runtime::Result<CompiledModel> lower(PreparedModel model,
                                       const SolutionSource &solve,
                                       const CandidateSource &candidates = {});

  /// Sets how lower() makes a package; by default, buildPackage does.
  using Packager = std::function<runtime::Result<runtime::Package>(
      mlir::func::FuncOp function)>;
  void setPackager(Packager value) { packager = std::move(value); }

  /// Measures the ranges for int8 unless they are known.
  runtime::Status calibrate(Fusion fusion, const CalibrationInputs &inputs,
                            const SolutionSource &solve);
  /// Sets how calibrate() chooses ranges; see measureRanges.
  void setRangeMethod(std::optional<RangeMethod> value) { rangeMethod = value; }
  std::optional<RangeMethod> getRangeMethod() const { return rangeMethod; }
  void setRanges(Fusion fusion, std::vector<TensorRange> ranges) {
    rangesByFusion[fusion] = std::move(ranges);
  }
  const std::vector<TensorRange> &getRanges(Fusion fusion) {
    return rangesByFusion[fusion];
  }

  /// The model's inputs and outputs, as a package has them.
  std::vector<runtime::TensorInfo> getInputs();
  std::vector<runtime::TensorInfo> getOutputs();
  TuningFile::Model describeModel();
  KernelCompiler &getKernelCompiler() { return compiler; }

private:
  mlir::func::FuncOp getMain();
  runtime::Result<mlir::OwningOpRef<mlir::func::FuncOp>>
  mark(const GlobalChoice &choice);
  runtime::Result<CompiledModel>
  lowerFunction(mlir::func::FuncOp function, const SolutionSource &solve,
                const Packager &makePackage,
                const CandidateSource &candidates = {});

  mlir::ModuleOp module;
  KernelCompiler &compiler;
  Packager packager;
  std::optional<RangeMethod> rangeMethod;
  std::map<Fusion, std::vector<TensorRange>> rangesByFusion;
};

/// Captures the first error that is reported on a context during its lifetime;
/// warnings and remarks go to `onRemark`.
class ErrorCapture {
public:
  explicit ErrorCapture(mlir::MLIRContext *context,
                        std::function<void(std::string)> onRemark = {});

  /// The error, or `otherwise` if none was reported.
  runtime::Error getError(const std::string &otherwise) const;

private:
  void handle(mlir::Diagnostic &diagnostic);

  std::string error;
  std::function<void(std::string)> onRemark;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_MODELCOMPILER_H
