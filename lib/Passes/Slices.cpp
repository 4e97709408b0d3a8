//===- Slices.cpp - Tensors that lie in others ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slices.h"

#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/FusedProblem.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

LayoutAttr tarpon::detail::getSliceLayout(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (layout.getKind() != LayoutKind::NHWC || layout.getPitch() != 0)
    return layout;
  return layout.withPitch(type.getDimSize(1));
}

bool tarpon::detail::canStartAt(int64_t element, Type elementType,
                                const TargetInfo &target) {
  return element * getElementBytes(elementType) %
             target.traits->getSliceAlignment(target) ==
         0;
}

bool tarpon::detail::takesSlice(FusedOp op, const Problem &sliced,
                                const TargetInfo &target) {
  std::vector<const Solver *> before =
      getApplicableSolvers(getProblem(op), target);
  std::vector<const Solver *> after = getApplicableSolvers(sliced, target);
  return before.front() == after.front();
}

bool tarpon::detail::readsSlice(FusedOp op, Value value, int64_t pitch,
                                const TargetInfo &target) {
  Problem problem = getProblem(op);
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    if (input == value)
      problem.operands[index].pitch = pitch;
  return takesSlice(op, problem, target);
}

void tarpon::detail::retypeOperand(FusedOp op, unsigned index) {
  op.dropSolution();
  BlockArgument argument = op.getBody().getArgument(index);
  RankedTensorType before = getTensorType(argument);
  argument.setType(op.getInputs()[index].getType());
  if (llvm::all_of(argument.getUsers(), llvm::IsaPred<ConvertOp>))
    return;
  auto builder = OpBuilder::atBlockBegin(&op.getBody().front());
  auto convert = ConvertOp::create(builder, op.getLoc(), before, argument);
  argument.replaceAllUsesExcept(convert, convert);
}
