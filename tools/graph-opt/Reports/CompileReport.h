//===- CompileReport.h - The cost of compiling a package --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is specialised on dtype, layout, tile and epilogue, and takes shapes
// as arguments: few kernels serve many problems. This report counts them, and
// measures the time to compile each.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_COMPILEREPORT_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_COMPILEREPORT_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tarpon {

/// One kernel of a package.
struct KernelCost {
  std::string symbol, solver;
  int64_t launches = 0;
  /// The numbers of distinct problem keys and of distinct lists of parameters:
  /// the latter is how often a kernel would be compiled if shapes were
  /// compile-time constants.
  int64_t problems = 0, shapes = 0;
  double compileMs = 0;
  /// The bytes of machine code.
  int64_t codeBytes = 0;
};

struct CompileReport {
  /// The kernels by descending cost.
  std::vector<KernelCost> kernels;
  int64_t layers = 0;
  /// The numbers for all layers that launch anything.
  int64_t launches = 0, problems = 0, shapes = 0;

  double totalMs() const;
  int64_t totalBytes() const;
  void printTable(llvm::raw_ostream &os) const;
  nlohmann::ordered_json toJson() const;
};

/// Plans the solution of a layer again. Fails if this build lacks the layer's
/// solver, or if the plan has other launches than the package, which then comes
/// from another build or is for another CPU.
runtime::Result<SolutionPlan> planAgain(const runtime::Layer &layer,
                                        const TargetInfo &target);

/// Compiles every kernel of the package again, without caches, one by one.
runtime::Result<CompileReport>
makeCompileReport(const runtime::Package &package, const TargetInfo &target);

/// Counts the bytes of machine code in an object file.
int64_t countCodeBytes(const std::vector<char> &object);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_COMPILEREPORT_H
