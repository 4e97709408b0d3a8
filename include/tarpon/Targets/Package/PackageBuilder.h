//===- PackageBuilder.h - Builds packages from launches ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_PACKAGE_PACKAGEBUILDER_H
#define TARPON_TARGETS_PACKAGE_PACKAGEBUILDER_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace tarpon {

/// Packages a function that consists of tarpon.constant, tarpon.reshape (views)
/// and planned tarpon.launch ops. Model name, hash and the names of inputs and
/// outputs come from the function's tarpon.* attributes. Identical kernels are
/// compiled and linked once, identical constants are stored once, and constants
/// that no launch reads are left out.
runtime::Result<runtime::Package> buildPackage(mlir::func::FuncOp function,
                                               KernelCompiler &compiler);

class PackageAssembler;

/// Packages functions of one model that differ in the sizes of its inputs'
/// dimensions. Their programs share kernels and constants.
class SizedPackageBuilder {
public:
  SizedPackageBuilder(std::vector<runtime::Dimension> dimensions,
                      KernelCompiler &compiler);
  ~SizedPackageBuilder();

  /// Adds a function, as buildPackage takes it, for certain sizes, which differ
  /// from all others. Returns its program; the function is not needed any more.
  /// Constants take less memory if larger sizes are added first.
  runtime::Result<runtime::Program> add(mlir::func::FuncOp function,
                                        std::vector<int64_t> sizes);
  runtime::Result<runtime::Package> finish();

private:
  KernelCompiler &compiler;
  std::unique_ptr<PackageAssembler> assembler;
  std::vector<runtime::Dimension> dimensions;
  /// The last package that was added, for what all programs share.
  runtime::Package package;
  std::map<std::vector<int64_t>, runtime::Program> programs;
};

/// Returns true if the problem only moves the elements of a constant to another
/// layout. buildPackage does that at compile time, so that such a problem needs
/// no layer.
bool movesConstant(const Problem &problem);

/// The problem with scales for random data, whose results do not saturate. Zero
/// points of 0 stay so, and others are others: kernels that copy an image as it
/// is need a zero point of 0 where it is padded, and so do their configs.
Problem withStandardScales(const Problem &problem);

/// Builds a package of one layer that poses `problem` and solves it with
/// `solver`: operands that are not constant are its inputs, constants are
/// filled from `seed` (the same for every solver). For timing and verification.
runtime::Result<runtime::Package> buildProblemPackage(const Problem &problem,
                                                      const Solver &solver,
                                                      const PerfConfig &config,
                                                      KernelCompiler &compiler,
                                                      uint64_t seed = 1);

/// Builds such a package with the caller's constants, row-major, one entry per
/// operand, and with the problem's scales.
runtime::Result<runtime::Package>
buildProblemPackage(const Problem &problem, const Solver &solver,
                    const PerfConfig &config, KernelCompiler &compiler,
                    const ConstantOperands &constants);

} // namespace tarpon

#endif // TARPON_TARGETS_PACKAGE_PACKAGEBUILDER_H
