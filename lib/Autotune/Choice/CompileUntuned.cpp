//===- CompileUntuned.cpp - A package without any tuning ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/CompileUntuned.h"

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "tarpon/Solver/SolverRegistry.h"

using namespace tarpon;
using runtime::Error;
using runtime::Package;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

/// The default config of the solver that ranks first.
static Result<Solution> guess(const Problem &problem,
                              const TargetInfo &target) {
  std::vector<const Solver *> ranked = getApplicableSolvers(problem, target);
  if (ranked.empty())
    return Error{"no solver for " + target.name() + " can solve " +
                 problem.key()};
  Solution solution;
  solution.solver = ranked.front();
  solution.config = solution.solver->defaultConfig(problem, target);
  solution.source = "default";
  return solution;
}

Result<Package> tarpon::compileUntuned(const UntunedOptions &options) {
  if (options.dtype == Precision::I8)
    return Error{"int8 has to be calibrated, which only tuning does"};
  Result<TargetCompiler> compiler = makeTargetCompiler(
      options.target, {options.threads, options.cpu, options.device});
  if (!compiler)
    return compiler.error();
  std::unique_ptr<mlir::MLIRContext> context = makeModelContext();
  ImportOptions importOptions;
  importOptions.batch = options.batch;
  importOptions.threads = static_cast<int>(options.threads);
  importOptions.digest = true;
  auto module = importModel(*context, options.model, importOptions,
                            [&](const std::string &remark) -> Status {
                              if (options.onRemark)
                                options.onRemark(remark);
                              return runtime::success();
                            });
  if (!module)
    return module.error();
  ModelCompiler model(**module, *compiler->kernels);
  if (Status status = model.simplify(); !status)
    return status.error();
  Result<PreparedModel> prepared =
      model.prepare({options.dtype, options.layout, options.fusion});
  if (!prepared)
    return prepared.error();
  const TargetInfo &target = compiler->target->getInfo();
  Result<CompiledModel> compiled = model.lower(
      std::move(*prepared), [&](const Problem &problem, const std::string &) {
        return guess(problem, target);
      });
  if (!compiled)
    return compiled.error();
  return std::move(compiled->package);
}
