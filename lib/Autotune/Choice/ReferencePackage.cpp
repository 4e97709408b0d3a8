//===- ReferencePackage.cpp - Makes packages to compare with --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choice/ReferencePackage.h"

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "tarpon/Solver/SolverRegistry.h"

using namespace tarpon;
using runtime::Package;
using runtime::Result;

static Result<Package> compile(mlir::ModuleOp module, KernelCompiler &kernels) {
  ModelCompiler model(module, kernels);
  Result<PreparedModel> prepared =
      model.prepare({runtime::Precision::F32, Layout(), Fusion::Off});
  if (!prepared)
    return prepared.error();
  auto solve = [&](const Problem &problem,
                   const std::string &) -> Result<Solution> {
    const Solver &solver = getReferenceSolver();
    Solution solution;
    solution.solver = &solver;
    solution.config = solver.defaultConfig(problem, kernels.getTarget());
    solution.source = "default";
    return solution;
  };
  Result<CompiledModel> compiled = model.lower(std::move(*prepared), solve);
  if (!compiled)
    return compiled.error();
  return std::move(compiled->package);
}

Result<Package> tarpon::compileReferencePackage(mlir::ModuleOp module,
                                                KernelCompiler &kernels,
                                                const TargetOptions &options) {
  if (findSolver(kernels.getTarget(), getReferenceSolver().id()))
    return compile(module, kernels);
  Result<TargetCompiler> host = makeTargetCompiler("host", options);
  if (!host)
    return host.error();
  return compile(module, *host->kernels);
}
