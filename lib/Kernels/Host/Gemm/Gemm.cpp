//===- Gemm.cpp - Matrix products on the implicit GEMM engine -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemm and batched MatMul on the engine of the convolutions: rows are pixels, K
// counts input and N output channels, and batches are images. The right-hand
// side is packed at compile time if it is constant, otherwise by a preceding
// launch; another one transposes a transposed left-hand side back.
//
//===----------------------------------------------------------------------===//

#include "Batches.h"
#include "Common/SubSolution.h"
#include "Host/Solvers.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gemm;

static igemm::Geometry makeGeometry(const Problem &problem) {
  ArrayRef<int64_t> result = problem.result.shape;
  igemm::Geometry g;
  g.batch = countMatrices(problem.result);
  g.width = result[result.size() - 2];
  g.channels = getDepth(problem);
  g.outChannels = result.back();
  g.batched = !isOneProduct(problem);
  if (!g.batched) {
    g.width *= g.batch;
    g.batch = 1;
  }
  g.outWidth = g.width;
  return g;
}

/// The problem that transposes a transposed left-hand side back, or none.
static std::optional<Problem> getTurning(const Problem &problem) {
  const TensorDesc &lhs = problem.operands[0];
  if (!problem.integer("transpose_lhs") || lhs.shape.back() == 1 ||
      lhs.shape[lhs.rank() - 2] == 1)
    return std::nullopt;
  Problem transpose;
  transpose.op = OpKind::Transpose;
  transpose.operands = {lhs};
  transpose.operands[0].constant = false;
  // Bytes are moved, whatever their dtype.
  transpose.operands[0].quantized = false;
  transpose.result = transpose.operands[0];
  std::vector<double> permutation(lhs.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[lhs.rank() - 1], permutation[lhs.rank() - 2]);
  std::swap(transpose.result.shape[lhs.rank() - 1],
            transpose.result.shape[lhs.rank() - 2]);
  transpose.attrs["permutation"] = permutation;
  return transpose;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

static constexpr Layout kRows = {Layout::NHWC, 1};

namespace {
class Gemm final : public igemm::EngineSolver {
public:
  StringRef id() const override { return "gemm-packed-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    if (problem.op != OpKind::MatMul)
      return Applicability::no("needs a matrix product");
    return igemm::isSupported(problem, target, makeGeometry(problem),
                              /*packsFilters=*/true);
  }

  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override {
    int64_t filters = countMatrices(problem.operands[1]);
    int64_t bytes = igemm::filterWorkspace(
        problem, target, makeGeometry(problem), kRows, filters);
    if (std::optional<Problem> turning = getTurning(problem))
      bytes += turning->result.numBytes() + runtime::kBufferAlignment;
    return bytes;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

protected:
  igemm::Geometry getGeometry(const Problem &problem) const override {
    return makeGeometry(problem);
  }
};
} // namespace

SolutionPlan Gemm::plan(const Problem &problem, const TargetInfo &target,
                        const PerfConfig &config) const {
  igemm::Geometry geometry = makeGeometry(problem);
  igemm::FilterStrides strides =
      problem.integer("transpose_rhs")
          ? igemm::FilterStrides{geometry.channels, 1, 0}
          : igemm::FilterStrides{1, geometry.outChannels, 0};
  igemm::Batch batch;
  if (geometry.batched)
    batch = {getMatrixIndices(problem.operands[0], problem.result),
             getMatrixIndices(problem.operands[1], problem.result),
             countMatrices(problem.operands[1])};
  SolutionPlan plan = igemm::plan(problem, target, config, geometry, strides,
                                  kRows, geometry.batched ? &batch : nullptr);

  std::optional<Problem> turning = getTurning(problem);
  if (!turning)
    return plan;
  BufferSlot turned = {BufferSlot::Workspace,
                       static_cast<int64_t>(llvm::alignTo(
                           plan.workspaceBytes, runtime::kBufferAlignment))};
  LaunchPlan product = std::move(plan.launches.back());
  plan.launches.pop_back();
  appendSolution(plan, *turning, target, BufferSlot{BufferSlot::Operand, 0},
                 turned);
  product.buffers.front() = turned;
  plan.launches.push_back(std::move(product));
  plan.workspaceBytes = turned.index + turning->result.numBytes();
  return plan;
}

const Solver &tarpon::getGemm() {
  static const Gemm solver;
  return solver;
}
