//===- PackageBuilder.h - Launches to packages -*- C++ -*-===//
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
#include "tarpon/Targets/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tarpon {

/// Packages a function that consists of tarpon.constant, tarpon.reshape (views)
/// and planned tarpon.launch ops. Model name, hash and the names of inputs and
/// outputs come from the function's tarpon.* attributes. Identical kernels are
/// compiled and linked once, identical constants stored once, constants that no
/// launch reads not at all.
runtime::Result<runtime::Package> buildPackage(mlir::func::FuncOp function,
                                               KernelCompiler &compiler);

/// Whether the problem moves the elements of a constant to another layout and
/// does nothing else. buildPackage does that once, so that such a problem need
/// not have a layer.
bool movesConstant(const Problem &problem);

/// A package of one layer that poses `problem` and solves it with `solver`:
/// operands that are not constant are its inputs, constants are filled from
/// `seed` (the same for every solver). For timing and verification.
runtime::Result<runtime::Package> buildProblemPackage(const Problem &problem,
                                                      const Solver &solver,
                                                      const PerfConfig &config,
                                                      KernelCompiler &compiler,
                                                      uint64_t seed = 1);

/// The same with the caller's constants, row-major, one entry per operand, of a
/// problem with the scales that it has.
runtime::Result<runtime::Package>
buildProblemPackage(const Problem &problem, const Solver &solver,
                    const PerfConfig &config, KernelCompiler &compiler,
                    const ConstantOperands &constants);

} // namespace tarpon

#endif // TARPON_TARGETS_PACKAGE_PACKAGEBUILDER_H
