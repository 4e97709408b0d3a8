//===- PackageCandidates.h - Solutions to choose from later -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --include-candidates adds to a package. The model is packaged once per
// candidate, each time with other solutions and all tensors where they were;
// what the launches are bound to there is told by the solvers' plans.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_PACKAGECANDIDATES_H
#define TARPON_LIB_AUTOTUNE_CHOICE_PACKAGECANDIDATES_H

#include "tarpon/Autotune/Search/Solution.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <string>
#include <vector>

namespace tarpon {

/// Solutions of a problem, the most promising first.
struct CandidateSource {
  std::function<runtime::Result<std::vector<Solution>>(const Problem &)> list;
  /// How many a layer gets, the chosen one among them; policy::kArbiter comes
  /// in addition.
  size_t limit = 0;
  /// See getKernelVersion (DeviceJournal.h).
  std::string kernelVersion;

  explicit operator bool() const { return limit > 0; }
};

/// Adds candidates to what buildPackage has made of the function. What does not
/// fit a layer, whose scales may be its own, is left out.
runtime::Status addCandidates(mlir::func::FuncOp function,
                              KernelCompiler &compiler,
                              const CandidateSource &source,
                              runtime::Package &package);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_PACKAGECANDIDATES_H
