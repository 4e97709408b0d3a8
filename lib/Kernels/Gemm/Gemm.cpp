//===- Gemm.cpp - Matrix product with a constant right-hand side ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemm and MatMul with packed weights, on the engine of the convolutions: rows
// are pixels, K counts input and N output channels.
//
//===----------------------------------------------------------------------===//

#include "../ImplicitGemm/ImplicitGemm.h"
#include "../Solvers.h"

using namespace mlir;
using namespace tarpon;

static igemm::Geometry makeGeometry(const Problem &problem) {
  igemm::Geometry g;
  g.width = g.outWidth = problem.operands[0].shape[0];
  g.channels = problem.operands[0].shape[1];
  g.outChannels = problem.result.shape[1];
  return g;
}

namespace {
class Gemm final : public igemm::EngineSolver {
public:
  StringRef id() const override { return "gemm-packed-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    if (problem.op != "matmul")
      return Applicability::no("needs a matrix product");
    if (problem.operands[0].rank() != 2 || problem.operands[1].rank() != 2)
      return Applicability::no("needs matrices without batch dimensions");
    if (problem.integer("transpose_lhs"))
      return Applicability::no("needs a left-hand side that is not transposed");
    return igemm::isSupported(problem, target, makeGeometry(problem));
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    igemm::Geometry geometry = makeGeometry(problem);
    bool transposed = problem.integer("transpose_rhs");
    igemm::FilterStrides strides =
        transposed ? igemm::FilterStrides{geometry.channels, 1, 0}
                   : igemm::FilterStrides{1, geometry.outChannels, 0};
    return igemm::plan(problem, target, config, geometry, strides,
                       {Layout::NHWC, 1});
  }

protected:
  igemm::Geometry getGeometry(const Problem &problem) const override {
    return makeGeometry(problem);
  }
};
} // namespace

const Solver &tarpon::getGemm() {
  static const Gemm solver;
  return solver;
}
