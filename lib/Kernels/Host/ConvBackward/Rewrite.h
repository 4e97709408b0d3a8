//===- Rewrite.h - Operands in another dtype and layout ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solvers that compute in one layout rewrite operands in others into the
// workspace first, by the launches of a convert.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONVBACKWARD_REWRITE_H
#define TARPON_LIB_KERNELS_HOST_CONVBACKWARD_REWRITE_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Allocates parts of a solution's workspace.
class Workspace {
public:
  /// The slot of the next part, which has this size.
  BufferSlot reserve(int64_t bytes);
  int64_t size() const { return used; }

private:
  int64_t used = 0;
};

/// The tensor with channels last and that dtype.
TensorDesc asChannelsLast(const TensorDesc &desc, DType dtype);

/// Returns true if both have the same bytes: layouts differ in name only if
/// there is one pixel or one channel.
bool liesTheSame(const TensorDesc &from, const TensorDesc &to);

/// Appends the launches that rewrite `from` at `source` as `to`, and returns
/// the slot of the result: `source` if there is nothing to do. With a null
/// plan, only reserves the workspace.
BufferSlot rewrite(SolutionPlan *plan, Workspace &workspace,
                   const TargetInfo &target, const TensorDesc &from,
                   BufferSlot source, const TensorDesc &to);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_CONVBACKWARD_REWRITE_H
