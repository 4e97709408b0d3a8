//===- Winograd.h - Convolution by fewer products on GPUs ----- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A 3 x 3 convolution in three steps, of which the first and the last are a
// launch each; ../../Host/Conv/Winograd/Transform.h has the algorithm.
//
//   1. input tiles, transformed: V[point][tile][channel], of the input's dtype;
//   2. for each point, a product of matrices: M[point][tile][output channel] =
//      V[point] * U[point] in f32, by the tiled engine (../ImplicitGemm). The
//      filter U[point][channel][output channel] is transformed when it is
//      packed;
//   3. M, transformed back, with the epilogue.
//
// Transforms compute in f32. An input tile's transform adds up to four pixels:
// that of f16 is stored divided by four, so that no pixels up to the greatest
// f16 overflow, and step 3 multiplies by four.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_WINOGRAD_WINOGRAD_H
#define TARPON_LIB_KERNELS_GPU_WINOGRAD_WINOGRAD_H

#include "Host/Conv/Winograd/Transform.h"
#include "TileWork.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon::gpuwinograd {

using winograd::Transform;

TileGrid getTileGrid(const Problem &problem, const Transform &transform);

/// The factor by which V is stored, a power of two.
double getInputScale(DType dtype);

/// Step 2 as a problem of its own: operand 0 is V, operand 1 is U, and the
/// result is M. Channels are padded to whole chunks of 16 bytes.
Problem getProducts(const Problem &problem, const Transform &transform);

/// Appends a launch; V and M are at those bytes of the workspace.
void planInputTransform(SolutionPlan &plan, const Problem &problem,
                        const Transform &transform, int64_t transformed);
void planOutputTransform(SolutionPlan &plan, const Problem &problem,
                         const Transform &transform, int64_t products);

/// Appends the launches of `solver` for step 2, whose own workspace starts
/// behind that of `plan`.
void planProducts(SolutionPlan &plan, const Problem &problem,
                  const Transform &transform, const Solver &solver,
                  const TargetInfo &target, const PerfConfig &config,
                  int64_t transformed, int64_t products);

/// The largest power of two, up to `most`, that divides `channels`.
int64_t chooseVector(int64_t channels, int64_t most);

} // namespace tarpon::gpuwinograd

#endif // TARPON_LIB_KERNELS_GPU_WINOGRAD_WINOGRAD_H
