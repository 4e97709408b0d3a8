//===- ReferenceSolver.cpp - The naive solver that takes everything -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/PartPlans.h"
#include "Host/Solvers.h"
#include "Reference.h"
#include "tarpon/Problem/ElementwiseOps.h"
#include "tarpon/Problem/Producer.h"

using namespace mlir;
using namespace tarpon;

namespace {

using PlanFn = SolutionPlan (*)(const Problem &);

struct PlanRow {
  OpKind op;
  PlanFn plan;
};

/// Beside the elementwise operations, which planElementwise knows.
constexpr PlanRow kPlans[] = {
#define TARPON_PLAN(OP, FUNCTION) {OpKind::OP, reference::FUNCTION},
#include "Plans.def"
};

class ReferenceSolver final : public Solver {
public:
  StringRef id() const override { return "reference-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    // There is one for each operation that reads a producer's value.
    if (findPlan(problem.op))
      return Applicability::yes();
    return Applicability::no(
        ("there is no kernel for '" + getOpName(problem.op) + "'").str());
  }

  bool knowsSlices() const override { return true; }
  bool knowsProducers() const override { return true; }

  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override {
    return hasProducer(problem) ? plan(problem, target, {}).workspaceBytes : 0;
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.001;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo & /*target*/,
                    const PerfConfig & /*config*/) const override {
    if (!hasProducer(problem))
      return findPlan(problem.op)(problem);
    Problem first = getProducer(problem), second = getConsumer(problem);
    return joinPlans(problem, findPlan(first.op)(first),
                     findPlan(second.op)(second));
  }

private:
  static PlanFn findPlan(OpKind op) {
    if (isElementwiseOp(op))
      return reference::planElementwise;
    const PlanRow *row = findRow(kPlans, op);
    return row ? row->plan : nullptr;
  }
};

} // namespace

const Solver &tarpon::getReference() {
  static const ReferenceSolver solver;
  return solver;
}

TensorAccess reference::accessOperand(LaunchBuilder &launch,
                                      const Problem &problem, int64_t index,
                                      ArrayRef<int64_t> indexShape) {
  return TensorAccess(launch, {BufferSlot::Operand, index},
                      problem.operands[index], indexShape,
                      computeKindOf(problem));
}
