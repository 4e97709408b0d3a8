//===- Batches.cpp - Stacks of matrices in a product ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batches.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace tarpon;

static ArrayRef<int64_t> getBatchShape(const TensorDesc &desc) {
  return ArrayRef(desc.shape).drop_back(2);
}

int64_t gemm::countMatrices(const TensorDesc &desc) {
  ArrayRef<int64_t> sizes = getBatchShape(desc);
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

bool gemm::isOneProduct(const Problem &problem) {
  const TensorDesc &lhs = problem.operands[0], &rhs = problem.operands[1];
  auto isPlain = [&](const TensorDesc &operand) {
    return igemm::getAccess(problem, operand, /*batched=*/false).has_value();
  };
  return countMatrices(rhs) == 1 &&
         countMatrices(lhs) == countMatrices(problem.result) &&
         llvm::all_of(ArrayRef(problem.operands).drop_front(2), isPlain);
}

std::vector<int64_t> gemm::getMatrixIndices(const TensorDesc &operand,
                                            const TensorDesc &result) {
  ArrayRef<int64_t> shape = getBatchShape(operand), all = getBatchShape(result);
  size_t missing = all.size() - shape.size();
  std::vector<int64_t> indices = {0};
  for (size_t dim = 0; dim < all.size(); ++dim) {
    int64_t size = dim < missing ? 1 : shape[dim - missing];
    std::vector<int64_t> inner;
    for (int64_t index : indices)
      for (int64_t i = 0; i < all[dim]; ++i)
        inner.push_back(index * size + (size == 1 ? 0 : i));
    indices = std::move(inner);
  }
  return indices;
}

int64_t gemm::getDepth(const Problem &problem) {
  const std::vector<int64_t> &lhs = problem.operands[0].shape;
  return lhs[lhs.size() - (problem.integer("transpose_lhs") ? 2 : 1)];
}
