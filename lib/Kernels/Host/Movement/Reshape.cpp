//===- Reshape.cpp - Reshapes as copies -----------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most reshapes are views, which cost nothing; one whose operand and result
// must have memory of their own (an input that is an output) is copied here.
//
//===----------------------------------------------------------------------===//

#include "CopyBytes.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

/// Returns true if the elements lie in memory in row-major order.
static bool isRowMajor(const TensorDesc &desc) {
  return desc.layout.kind == Layout::NCHW ||
         (desc.layout.kind == Layout::NHWC && desc.spatialSize() == 1);
}

namespace {
class Reshape final : public Solver {
public:
  StringRef id() const override { return "reshape-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    if (problem.op != OpKind::Reshape)
      return Applicability::no("is not a reshape");
    if (!isRowMajor(problem.operands[0]) || !isRowMajor(problem.result))
      return Applicability::no("needs row-major tensors");
    if (!problem.epilogue.empty() ||
        !haveSameElements(problem.operands[0], problem.result))
      return Applicability::no("changes elements");
    return Applicability::yes();
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.8;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo & /*target*/,
                    const PerfConfig & /*config*/) const override {
    SolutionPlan plan;
    LaunchBuilder launch(plan);
    RowCopy copy;
    copy.rowBytes = problem.result.numBytes();
    planRowCopy(launch, {BufferSlot::Operand, 0}, {BufferSlot::Result, 0},
                copy);
    return plan;
  }
};
} // namespace

const Solver &tarpon::getReshape() {
  static const Reshape solver;
  return solver;
}
