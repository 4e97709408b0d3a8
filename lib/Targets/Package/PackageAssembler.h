//===- PackageAssembler.h - Makes a package of planned layers ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common steps of whole models and single problems: compiling kernels,
// packing constants, and binding every buffer.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_PACKAGE_PACKAGEASSEMBLER_H
#define TARPON_LIB_TARGETS_PACKAGE_PACKAGEASSEMBLER_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <functional>
#include <utility>
#include <vector>

namespace tarpon {

/// The row-major bytes of a constant: referenced, or made for the package.
class ConstantBytes {
public:
  ConstantBytes() = default;
  ConstantBytes(std::vector<char> made) : made(std::move(made)) {}
  /// Refers to bytes that outlive the assembly of the package.
  explicit ConstantBytes(llvm::ArrayRef<char> kept) : kept(kept) {}

  llvm::ArrayRef<char> get() const {
    return kept.empty() ? llvm::ArrayRef<char>(made) : kept;
  }

private:
  llvm::ArrayRef<char> kept;
  std::vector<char> made;
};

/// The source of an operand: memory, or a constant.
struct OperandBinding {
  /// Returns the bytes of a constant; null for an operand in memory. Called
  /// from any thread.
  std::function<ConstantBytes()> constant;
  runtime::BufferRef place;
};

/// A layer whose launches are still to be bound.
struct PlannedLayer {
  /// The layer without its launches.
  runtime::Layer layer;
  SolutionPlan plan;
  /// The size of the problem's constant operands.
  int64_t constantBytes = 0;
  std::vector<OperandBinding> operands;
  /// The places of the results, by index.
  std::vector<runtime::BufferRef> results;
  /// The offset in the arena.
  int64_t workspaceOffset = 0;
};

/// Plans a layer that solves `problem`; the caller binds its buffers. Fails if
/// the solver does not take the problem or the config.
runtime::Result<PlannedLayer>
planLayer(const std::string &name, const Problem &problem, const Solver &solver,
          const PerfConfig &config, const TargetInfo &target);

/// Describes a tensor at the border of the package.
runtime::TensorInfo makeTensorInfo(std::string name, const TensorDesc &desc);

/// Adds the layers, their kernels and their constants to a package that has
/// none yet. The result does not depend on the number of threads.
runtime::Result<runtime::Package>
assemblePackage(runtime::Package package, std::vector<PlannedLayer> layers,
                KernelCompiler &compiler);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_PACKAGE_PACKAGEASSEMBLER_H
