//===- SoftmaxBackward.cpp - Reference gradients of softmax ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Nest.h"
#include "Reference.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {
struct GradientKernel {
  bool isLog;
  int64_t axis, sizeParam;
  ComputeKind kind;
  TensorAccess y, dy;
  OutputAccess output;
  ElementLoop loop; ///< over all but the axis

  void emit(KernelBuilder &b) const;
};
} // namespace

void GradientKernel::emit(KernelBuilder &b) const {
  BoundTensor values = y.bind(b), gradients = dy.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value size = b.getParam(sizeParam);
  loop.emit(b, [&](ArrayRef<Value> row) {
    SmallVector<Value> place(row);
    Value sum = emitNestSum(b, kind, size, {Value()}, [&](ArrayRef<Value> i) {
      place[axis] = i.front();
      Value term = gradients.load(b, place);
      return isLog ? term : b.mulF(term, values.load(b, place));
    });
    b.forLoop(size, [&](Value i) {
      place[axis] = i;
      Value value = values.load(b, place), gradient = gradients.load(b, place);
      Value result = isLog ? b.subF(gradient, b.mulF(emitExp(b, value), sum))
                           : b.mulF(value, b.subF(gradient, sum));
      out.store(b, place, result);
    });
  });
}

SolutionPlan reference::planSoftmaxBackward(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t axis = problem.integer("axis");
  std::vector<int64_t> rows = problem.result.shape;
  int64_t size = rows[axis];
  rows[axis] = 1;
  GradientKernel kernel{
      .isLog = problem.op == OpKind::LogSoftmaxBackward,
      .axis = axis,
      .sizeParam = launch.addParam(size),
      .kind = computeKindOf(problem),
      .y = accessOperand(launch, problem, 0, problem.result.shape),
      .dy = accessOperand(launch, problem, 1, problem.result.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, rows, 30.0 * size)};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), std::to_string(axis),
                  kernel.y.symbolPart(), kernel.dy.symbolPart(),
                  kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
