//===- SubSolution.cpp - Builds solutions from other solutions ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubSolution.h"

using namespace mlir;
using namespace tarpon;

void tarpon::appendSolution(SolutionPlan &plan, const Problem &problem,
                            const TargetInfo &target,
                            ArrayRef<BufferSlot> operands, BufferSlot result) {
  const Solver *solver = getApplicableSolvers(problem, target).front();
  SolutionPlan part =
      solver->plan(problem, target, solver->defaultConfig(problem, target));
  assert(part.workspaceBytes == 0 && "a part of a solution needs a workspace");
  int64_t constants = static_cast<int64_t>(plan.constants.size());
  plan.constants.insert(plan.constants.end(), part.constants.begin(),
                        part.constants.end());
  for (LaunchPlan &launch : part.launches) {
    for (BufferSlot &slot : launch.buffers) {
      if (slot.kind == BufferSlot::Operand)
        slot = operands[slot.index];
      else if (slot.kind == BufferSlot::Result)
        slot = result;
      else if (slot.kind == BufferSlot::Constant)
        slot.index += constants;
    }
    plan.launches.push_back(std::move(launch));
  }
}
