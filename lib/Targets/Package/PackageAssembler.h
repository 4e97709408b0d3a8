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

#include "ConstantPool.h"

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
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

/// The places of constants that earlier programs made, by what they were made
/// of and how.
using MadeConstants = std::map<std::string, int64_t>;

/// Collects the kernels and constants of planned programs, so that programs of
/// one package share them.
class PackageAssembler {
public:
  /// `remembers` if there will be several programs, which make the same
  /// constants again and again.
  explicit PackageAssembler(KernelCompiler &compiler, bool remembers = false)
      : compiler(compiler), remembers(remembers) {}

  /// Adds the layers to a program that has none yet: compiles their kernels,
  /// packs their constants and binds their buffers. The result does not depend
  /// on the number of threads.
  runtime::Status add(runtime::Program &program,
                      std::vector<PlannedLayer> layers);

  /// Links the kernels, and adds all but programs to a package.
  runtime::Status finish(runtime::Package &package);

private:
  struct Kernel {
    std::string solver;
    KernelSource source;
    std::shared_ptr<const std::vector<char>> object;
  };

  void collectKernels(llvm::ArrayRef<PlannedLayer> layers,
                      std::vector<Kernel *> &missing);
  runtime::Status link(runtime::Package &package);

  KernelCompiler &compiler;
  /// By their symbols.
  std::map<std::string, Kernel> kernels;
  ConstantPool pool;
  bool remembers;
  MadeConstants made;
};

/// Makes a package of one program.
runtime::Result<runtime::Package>
assemblePackage(runtime::Package package, std::vector<PlannedLayer> layers,
                KernelCompiler &compiler);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_PACKAGE_PACKAGEASSEMBLER_H
