//===- LowerToLaunches.cpp - Lowers regions to launches ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassTarget.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/Locations.h"

#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_LOWERTOLAUNCHESPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

namespace {

/// Gives launches unique names.
class LaunchNames {
public:
  std::string makeName(Operation *root) {
    std::string base = getLocationName(root->getLoc()).str();
    if (base.empty())
      base = (root->getName().stripDialect() + "_" + Twine(count)).str();
    ++count;
    std::string name = base;
    for (unsigned suffix = 1; !taken.insert(name).second; ++suffix)
      name = base + "_" + std::to_string(suffix);
    return name;
  }

private:
  unsigned count = 0;
  llvm::StringSet<> taken;
};

struct LowerToLaunchesPass
    : tarpon::impl::LowerToLaunchesPassBase<LowerToLaunchesPass> {
  using LowerToLaunchesPassBase::LowerToLaunchesPassBase;

  explicit LowerToLaunchesPass(const TargetInfo &target) : given(target) {}

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<TargetInfo> found = tarpon::detail::getPassTarget(
        getOperation(), given, targetName, threads);
    if (failed(found))
      return signalPassFailure();
    target = *found;
    LaunchNames names;
    IRRewriter rewriter(&getContext());
    for (Operation &op : llvm::make_early_inc_range(
             getOperation().getBody().front().without_terminator())) {
      if (isa<BitcastOp, ConstantOp, JoinOp, ReshapeOp, SliceOp, LaunchOp>(op))
        continue;
      auto fused = dyn_cast<FusedOp>(op);
      if (!fused) {
        op.emitOpError("cannot be launched outside of a fused region");
        return signalPassFailure();
      }
      if (failed(lower(rewriter, fused, names)))
        return signalPassFailure();
    }
  }

private:
  /// Returns the solver of the region's solution, if the solution fits the
  /// problem.
  FailureOr<const Solver *> getSolver(FusedOp op, const Problem &problem) {
    SolutionAttr solution = op.getSolutionAttr();
    if (!solution)
      return op.emitOpError("has no solution");
    const Solver *solver = findSolver(target, solution.getSolver());
    if (!solver)
      return op.emitOpError("expects the id of a solver, got ")
             << solution.getSolver();
    Applicability applicable = checkApplicable(*solver, problem, target);
    if (!applicable)
      return op.emitOpError("has a solver that is not applicable: ")
             << solution.getSolver() << " " << applicable.getReason();
    if (!solver->isValidConfig(problem, target, solution.getConfig()))
      return op.emitOpError("expects a perf config of ")
             << solution.getSolver() << ", got \"" << solution.getConfig().str()
             << "\"";
    return solver;
  }

  /// The operands that the result may overwrite, or null if there are none.
  DenseI64ArrayAttr getOverwritable(const Solver &solver,
                                    const Problem &problem) {
    SmallVector<int64_t> operands;
    for (size_t i = 0; i < problem.operands.size(); ++i)
      if (problem.numResults() == 1 && !problem.operands[i].constant &&
          solver.mayOverwrite(problem, target, i))
        operands.push_back(i);
    return operands.empty() ? nullptr
                            : DenseI64ArrayAttr::get(&getContext(), operands);
  }

  LogicalResult lower(IRRewriter &rewriter, FusedOp op, LaunchNames &names) {
    ProblemAttr posed = poseProblem(op);
    if (!posed)
      return failure();
    const Problem &problem = posed.getValue();
    FailureOr<const Solver *> solver = getSolver(op, problem);
    if (failed(solver))
      return failure();
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<LaunchOp>(
        op, op.getResultTypes(), op.getInputs(), names.makeName(op.getRoot()),
        posed, op.getSolutionAttr(), (*solver)->workspaceSize(problem, target),
        /*offset=*/nullptr,
        /*workspace_offset=*/nullptr, /*more_offsets=*/nullptr,
        getOverwritable(**solver, problem));
    return success();
  }

  std::optional<TargetInfo> given;
  TargetInfo target;
};

} // namespace

std::unique_ptr<Pass>
tarpon::createLowerToLaunchesPass(const TargetInfo &target) {
  return std::make_unique<LowerToLaunchesPass>(target);
}
