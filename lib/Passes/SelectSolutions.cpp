//===- SelectSolutions.cpp - Attaches solutions to regions ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassTarget.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Solver/SolverRegistry.h"

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_SELECTSOLUTIONSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

SolutionAttr tarpon::makeSolutionAttr(MLIRContext *context,
                                      const Solver &solver,
                                      const PerfConfig &config,
                                      StringRef source) {
  return SolutionAttr::get(context, StringAttr::get(context, solver.id()),
                           config, StringAttr::get(context, source));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SelectSolutionsPass
    : tarpon::impl::SelectSolutionsPassBase<SelectSolutionsPass> {
  using SelectSolutionsPassBase::SelectSolutionsPassBase;

  SelectSolutionsPass(const TargetInfo &target, SolutionChooser chooser)
      : given(target), chooser(std::move(chooser)) {}

  void runOnOperation() override {
    FailureOr<TargetInfo> found = tarpon::detail::getPassTarget(
        getOperation(), given, targetName, threads);
    if (failed(found))
      return signalPassFailure();
    target = *found;
    const Solver *preferred =
        solver.empty() ? nullptr : findSolver(target, solver);
    if (!solver.empty() && !preferred) {
      getOperation().emitError("expects the id of a solver, got '")
          << solver << "'";
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](FusedOp op) {
      FailureOr<SolutionAttr> solution = choose(op, preferred);
      if (failed(solution))
        return WalkResult::interrupt();
      op.setSolutionAttr(*solution);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
  }

private:
  FailureOr<SolutionAttr> choose(FusedOp op, const Solver *preferred) {
    ProblemAttr posed = poseProblem(op);
    if (!posed)
      return failure();
    const Problem &problem = posed.getValue();
    if (chooser)
      return chooser(op, problem);
    const Solver *chosen = getApplicableSolvers(problem, target).front();
    if (preferred) {
      Applicability applicable = checkApplicable(*preferred, problem, target);
      if (applicable)
        chosen = preferred;
      else
        op.emitRemark() << "takes the solver '" << chosen->id() << "': '"
                        << preferred->id() << "' " << applicable.getReason();
    }
    return makeSolutionAttr(&getContext(), *chosen,
                            chosen->defaultConfig(problem, target), "default");
  }

  std::optional<TargetInfo> given;
  TargetInfo target;
  SolutionChooser chooser;
};

} // namespace

std::unique_ptr<Pass>
tarpon::createSelectSolutionsPass(const TargetInfo &target,
                                  SolutionChooser chooser) {
  return std::make_unique<SelectSolutionsPass>(target, std::move(chooser));
}
