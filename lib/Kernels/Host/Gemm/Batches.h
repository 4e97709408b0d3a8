//===- Batches.h - Stacks of matrices in a product --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_GEMM_BATCHES_H
#define TARPON_LIB_KERNELS_HOST_GEMM_BATCHES_H

#include "Host/ImplicitGemm/ImplicitGemm.h"

namespace tarpon::gemm {

/// The number of matrices in a tensor of rank 2 or more.
int64_t countMatrices(const TensorDesc &desc);

/// Returns true if all matrices of the left-hand side can be read as one tall
/// matrix, because they are multiplied by the same matrix and share an
/// epilogue.
bool isOneProduct(const Problem &problem);

/// The index of the operand's matrix for each matrix of the result.
std::vector<int64_t> getMatrixIndices(const TensorDesc &operand,
                                      const TensorDesc &result);

/// The size of the dimension that is summed over.
int64_t getDepth(const Problem &problem);

} // namespace tarpon::gemm

#endif // TARPON_LIB_KERNELS_HOST_GEMM_BATCHES_H
