//===- Rewrite.cpp - Operands in another dtype and layout -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrite.h"

#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

BufferSlot Workspace::reserve(int64_t bytes) {
  BufferSlot slot = {BufferSlot::Workspace, used};
  // Like any buffer, a part may be read behind its end.
  used += llvm::alignTo(bytes + runtime::kBufferTailPadding,
                        runtime::kBufferAlignment);
  return slot;
}

TensorDesc tarpon::asChannelsLast(const TensorDesc &desc, DType dtype) {
  TensorDesc last = desc;
  last.dtype = dtype;
  last.layout = {Layout::NHWC, 1};
  last.constant = false;
  return last;
}

bool tarpon::liesTheSame(const TensorDesc &from, const TensorDesc &to) {
  if (from.dtype != to.dtype || from.quantized != to.quantized)
    return false;
  if (from.layout == to.layout)
    return true;
  bool isBlocked =
      from.layout.kind == Layout::Blocked || to.layout.kind == Layout::Blocked;
  return !isBlocked && (from.spatialSize() == 1 || from.shape[1] == 1);
}

BufferSlot tarpon::rewrite(SolutionPlan *plan, Workspace &workspace,
                           const TargetInfo &target, const TensorDesc &from,
                           BufferSlot source, const TensorDesc &to) {
  if (liesTheSame(from, to))
    return source;
  BufferSlot destination = workspace.reserve(to.numBytes());
  if (!plan)
    return destination;
  Problem convert;
  convert.op = OpKind::Convert;
  convert.operands = {from};
  convert.operands[0].constant = false;
  convert.result = to;
  const Solver *solver = getApplicableSolvers(convert, target).front();
  SolutionPlan launches =
      solver->plan(convert, target, solver->defaultConfig(convert, target));
  assert(launches.constants.empty() && launches.workspaceBytes == 0 &&
         "a conversion needs neither constants nor workspace");
  for (LaunchPlan &launch : launches.launches) {
    for (BufferSlot &slot : launch.buffers)
      slot = slot.kind == BufferSlot::Result ? destination : source;
    plan->launches.push_back(std::move(launch));
  }
  return destination;
}
