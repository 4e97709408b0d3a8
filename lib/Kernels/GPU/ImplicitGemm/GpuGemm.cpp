//===- GpuGemm.cpp - Matrix products on the tiled engine ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of matrices and of stacks of them, with a right-hand side that is
// constant or not. Rows of the left-hand side are pixels, columns of the
// right-hand side output channels.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include "GPU/GpuSolvers.h"
#include "Host/Gemm/Batches.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

static bool isRowMajor(const TensorDesc &desc) {
  return desc.layout.kind == Layout::NCHW || desc.rank() < 3;
}

namespace {

class GpuGemm final : public EngineSolver {
public:
  StringRef id() const override { return "gpu-gemm-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    if (problem.op != OpKind::MatMul)
      return Applicability::no("needs a matrix product");
    if (!llvm::all_of(problem.operands, isRowMajor) ||
        !isRowMajor(problem.result))
      return Applicability::no("needs row-major matrices");
    return isSupported(problem, target, getProduct(problem, target));
  }

protected:
  Product getProduct(const Problem &problem,
                     const TargetInfo &target) const override;
};

} // namespace

Product GpuGemm::getProduct(const Problem &problem,
                            const TargetInfo & /*target*/) const {
  const TensorDesc &lhs = problem.operands[0];
  ArrayRef<int64_t> result = problem.result.shape;
  int64_t rows = result[result.size() - 2], columns = result.back();
  int64_t depth = gemm::getDepth(problem);
  Product product;
  Geometry &g = product.geometry;
  g.channels = depth;
  g.outChannels = columns;
  product.images = gemm::countMatrices(lhs);
  product.packed = g;
  product.packed.width = rows;
  g.batched = !gemm::isOneProduct(problem);
  g.batch = g.batched ? gemm::countMatrices(problem.result) : 1;
  g.width = g.outWidth = g.batched ? rows : rows * product.images;

  bool turned = problem.integer("transpose_lhs") && rows > 1 && depth > 1;
  product.inputStrides = turned ? InputStrides{rows * depth, 1, rows}
                                : InputStrides{rows * depth, depth, 1};
  product.readsInput =
      !turned && depth * runtime::dtypeBytes(lhs.dtype) % kChunkBytes == 0;

  int64_t filters = g.batched ? gemm::countMatrices(problem.operands[1]) : 1;
  product.filters = {filters, depth * columns, {1, columns, 0}};
  if (problem.integer("transpose_rhs"))
    product.filters.strides = {depth, 1, 0};
  if (g.batched)
    product.batch = {
        gemm::getMatrixIndices(lhs, problem.result),
        gemm::getMatrixIndices(problem.operands[1], problem.result), filters};
  return product;
}

const Solver &tarpon::getGpuGemm() {
  static const GpuGemm solver;
  return solver;
}
