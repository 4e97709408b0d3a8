//===- PackageCandidates.h - Adds candidates to packages --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --include-candidates. The model is packaged once per candidate,
// each time with other solutions and all tensors in the same place; the
// solvers' plans tell the buffers of the launches.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_PACKAGECANDIDATES_H
#define TARPON_LIB_AUTOTUNE_CHOICE_PACKAGECANDIDATES_H

#include "tarpon/Autotune/Search/Solution.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <string>
#include <vector>

namespace tarpon {

/// Provides the solutions of a problem, the most promising first.
struct CandidateSource {
  std::function<runtime::Result<std::vector<Solution>>(const Problem &)> list;
  /// The number of candidates of a layer, the chosen one included;
  /// the target's arbiter (TargetTraits.h) is added to them.
  size_t limit = 0;
  /// See getKernelVersion (DeviceJournal.h).
  std::string kernelVersion;

  explicit operator bool() const { return limit > 0; }
};

/// Adds candidates to the package that buildPackage has made of the function.
/// Candidates that do not fit a layer, for example because of its scales, are
/// left out.
runtime::Status addCandidates(mlir::func::FuncOp function,
                              KernelCompiler &compiler,
                              const CandidateSource &source,
                              runtime::Package &package);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_PACKAGECANDIDATES_H
