//===- FusedProblem.cpp - The problem that a fused region poses -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/FusedProblem.h"

#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/ElementTypes.h"

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static Layout readLayout(LayoutAttr attr) {
  switch (attr.getKind()) {
  case LayoutKind::NCHW:
    return {Layout::NCHW, 1};
  case LayoutKind::NHWC:
    return {Layout::NHWC, 1};
  case LayoutKind::Blocked:
    return {Layout::Blocked, attr.getBlock()};
  }
  llvm_unreachable("unknown layout");
}

/// Takes dtype, scales and zero point from a quantised element type.
static void describeQuantized(TensorDesc &desc, quant::QuantizedType type) {
  desc.quantized = true;
  desc.dtype = *getDType(type);
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type)) {
    desc.scales = {static_cast<float>(uniform.getScale())};
    desc.zeroPoint = uniform.getZeroPoint();
    return;
  }
  auto perAxis = cast<quant::UniformQuantizedPerAxisType>(type);
  assert(llvm::all_equal(perAxis.getZeroPoints()) &&
         perAxis.getZeroPoints().front() == 0 && "verified by the dialect");
  desc.scales.assign(perAxis.getScales().begin(), perAxis.getScales().end());
  desc.quantAxis = perAxis.getQuantizedDimension();
}

TensorDesc tarpon::getTensorDesc(RankedTensorType type, bool constant) {
  TensorDesc desc;
  desc.shape.assign(type.getShape().begin(), type.getShape().end());
  desc.layout = readLayout(getLayout(type));
  desc.pitch = getLayout(type).getPitch();
  desc.constant = constant;
  if (auto quantized = dyn_cast<quant::QuantizedType>(type.getElementType()))
    describeQuantized(desc, quantized);
  else
    // Regions and packages verify that kernels support it.
    desc.dtype = *getDType(type.getElementType());
  return desc;
}

//===----------------------------------------------------------------------===//
// From a fused region
//===----------------------------------------------------------------------===//

static ProblemAttrs getProblemAttrs(Operation *op) {
  ProblemAttrs attrs;
  for (NamedAttribute named : op->getAttrDictionary()) {
    std::vector<double> &values = attrs[named.getName().str()];
    Attribute attr = named.getValue();
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attr))
      values.assign(list.asArrayRef().begin(), list.asArrayRef().end());
    else if (auto numbers = dyn_cast<DenseF64ArrayAttr>(attr))
      values.assign(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
    else if (auto reals = dyn_cast<DenseF32ArrayAttr>(attr))
      values.assign(reals.asArrayRef().begin(), reals.asArrayRef().end());
    else if (auto integer = dyn_cast<IntegerAttr>(attr))
      values = {integer.getType().isInteger(1)
                    ? double(integer.getValue().getZExtValue())
                    : double(integer.getValue().getSExtValue())};
    else if (auto number = dyn_cast<FloatAttr>(attr))
      values = {number.getValueAsDouble()};
    else
      attrs.erase(named.getName().str()); // Not an argument of the operation.
  }
  return attrs;
}

/// The region argument behind `value`, through a convert.
static BlockArgument getRegionArgument(Value value) {
  if (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getInput();
  return dyn_cast<BlockArgument>(value);
}

OpKind tarpon::getOpKind(Operation *op) {
  std::optional<OpKind> kind = parseOp(op->getName().stripDialect());
  assert(kind && "a region of an operation that no problem has");
  return *kind;
}

static EpilogueStep getEpilogueStep(Operation *op, Value previous) {
  EpilogueStep step;
  step.op = getOpKind(op);
  step.attrs = getProblemAttrs(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() == previous)
      continue;
    step.operand = getRegionArgument(operand.get()).getArgNumber();
    step.swapped = operand.getOperandNumber() == 0;
  }
  return step;
}

Problem tarpon::getProblem(FusedOp op) {
  Problem problem;
  for (Value input : op.getInputs())
    problem.operands.push_back(
        getTensorDesc(cast<RankedTensorType>(input.getType()),
                      static_cast<bool>(getConstantValue(input))));
  problem.result =
      getTensorDesc(cast<RankedTensorType>(op.getResult().getType()), false);
  for (Type type : op.getMoreResults().getTypes())
    problem.moreResults.push_back(
        getTensorDesc(cast<RankedTensorType>(type), false));

  Operation *root = op.getRoot();
  if (!root) {
    problem.op = OpKind::Convert;
    return problem;
  }
  problem.op = getOpKind(root);
  problem.attrs = getProblemAttrs(root);
  problem.rootOperands = root->getNumOperands();
  Value value = root->getResult(0);
  for (Operation *next = root->getNextNode(); next;
       next = next->getNextNode()) {
    if (isa<YieldOp>(next))
      break;
    if (isa<ConvertOp>(next)) {
      // The conversion of an operand, or of the result when it is stored.
      if (cast<ConvertOp>(next).getInput() == value)
        value = next->getResult(0);
      continue;
    }
    problem.epilogue.push_back(getEpilogueStep(next, value));
    value = next->getResult(0);
  }
  return problem;
}

ProblemAttr tarpon::poseProblem(FusedOp op) {
  if (ProblemAttr held = op.getProblemAttr())
    return held;
  auto emitError = [&] { return op.emitOpError(); };
  ProblemAttr problem =
      ProblemAttr::getChecked(emitError, op.getContext(), getProblem(op));
  if (problem)
    op.setProblemAttr(problem);
  return problem;
}
