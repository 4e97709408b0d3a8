//===- Conv.cpp - Reference convolution and matrix product ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Window.h"
#include "Reference.h"

using namespace mlir;
using namespace tarpon;

using reference::emitProducts;
using reference::emitScaled;
using reference::emitSums;
using reference::PartialSums;

Value reference::emitMultiplyAdd(KernelBuilder &b, bool quantized,
                                 const BoundTensor &lhs, Value lhsOffset,
                                 const BoundTensor &rhs, Value rhsOffset,
                                 Value sum) {
  if (quantized)
    return b.add(sum, b.mul(lhs.loadInteger(b, lhsOffset),
                            rhs.loadInteger(b, rhsOffset)));
  return b.addF(sum,
                b.mulF(lhs.loadAt(b, lhsOffset), rhs.loadAt(b, rhsOffset)));
}

Value reference::emitScaled(KernelBuilder &b, Value sum, Value lhsScale,
                            Value rhsScale) {
  Value real = arith::SIToFPOp::create(b, b.getF32Type(), sum);
  return b.mulF(real, b.mulF(lhsScale, rhsScale));
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

namespace {
struct ConvKernel {
  bool quantized;
  ComputeKind kind;
  TensorAccess input, filter;
  OutputAccess output;
  ElementLoop loop;
  Window window;
  int64_t inputChannelsParam, outputChannelsParam; ///< of one group

  void emit(KernelBuilder &b) const;
  Value emitSum(KernelBuilder &b, const BoundTensor &in, const BoundTensor &f,
                ArrayRef<Value> place) const;
};
} // namespace

Value ConvKernel::emitSum(KernelBuilder &b, const BoundTensor &in,
                          const BoundTensor &f, ArrayRef<Value> place) const {
  Value channels = b.getParam(inputChannelsParam);
  Value group = b.div(place[1], b.getParam(outputChannelsParam));
  Value firstChannel = b.mul(group, channels);
  SmallVector<WindowRange> ranges;
  for (int64_t dim = 0; dim < window.rank(); ++dim)
    ranges.push_back(window.at(b, dim, place[2 + dim]));

  auto cell = [&](ArrayRef<Value> k, ArrayRef<Value> i, ValueRange sums) {
    SmallVector<Value> inPlace{place[0], Value()}, fPlace{place[1], Value()};
    inPlace.append(i.begin(), i.end());
    fPlace.append(k.begin(), k.end());
    Value inOffset = in.offsetOf(b, inPlace), fOffset = f.offsetOf(b, fPlace);
    return emitSums(b, channels, sums, [&](Value c, ValueRange before) {
      return emitProducts(b, quantized,
                          {in, inOffset, 1, b.add(firstChannel, c)},
                          {f, fOffset, 1, c}, before);
    });
  };
  PartialSums start = reference::startSums(b, quantized, kind);
  return reference::addUp(b, quantized, forWindow(b, ranges, start, cell));
}

void ConvKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), f = filter.bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    Value sum = emitSum(b, in, f, place);
    if (quantized)
      sum = emitScaled(b, sum, in.scaleAt(b, {}), f.scaleAt(b, place[1]));
    out.store(b, place, sum);
  });
}

SolutionPlan reference::planConv(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  int64_t group = problem.integer("group");
  double cost = 3;
  for (int64_t size : ArrayRef(filter.shape).drop_front())
    cost *= static_cast<double>(size);
  ConvKernel kernel{
      .quantized = input.quantized,
      .kind = computeKindOf(problem),
      .input = accessOperand(launch, problem, 0, input.shape),
      .filter = accessOperand(launch, problem, 1, filter.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, cost),
      .window = Window(launch, problem, ArrayRef(filter.shape).drop_front(2),
                       input.spatial()),
      .inputChannelsParam = launch.addParam(filter.shape[1]),
      .outputChannelsParam = launch.addParam(filter.shape[0] / group)};
  std::string symbol =
      joinSymbol({"ref_conv", kernel.input.symbolPart(),
                  kernel.filter.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

namespace {
struct MatMulKernel {
  bool quantized, transposeLhs, transposeRhs;
  ComputeKind kind;
  TensorAccess lhs, rhs;
  OutputAccess output;
  ElementLoop loop;
  int64_t depthParam;

  void emit(KernelBuilder &b) const;
};
} // namespace

void MatMulKernel::emit(KernelBuilder &b) const {
  BoundTensor left = lhs.bind(b), right = rhs.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value depth = b.getParam(depthParam);
  loop.emit(b, [&](ArrayRef<Value> place) {
    // The places lack the contracted dimension, which is added per step.
    auto rank = static_cast<int64_t>(place.size());
    int64_t leftK = transposeLhs ? rank - 2 : rank - 1;
    int64_t rightK = transposeRhs ? rank - 1 : rank - 2;
    SmallVector<Value> leftPlace(place), rightPlace(place);
    leftPlace[transposeLhs ? rank - 1 : rank - 2] = place[rank - 2];
    leftPlace[leftK] = Value();
    rightPlace[transposeRhs ? rank - 2 : rank - 1] = place[rank - 1];
    rightPlace[rightK] = Value();
    Value leftBase = left.offsetOf(b, leftPlace);
    Value rightBase = right.offsetOf(b, rightPlace);
    PartialSums sums = emitSums(
        b, depth, reference::startSums(b, quantized, kind),
        [&](Value first, ValueRange before) {
          return emitProducts(b, quantized, {left, leftBase, leftK, first},
                              {right, rightBase, rightK, first}, before);
        });
    Value sum = reference::addUp(b, quantized, sums);
    if (quantized)
      sum =
          emitScaled(b, sum, left.scaleAt(b, {}), right.scaleAt(b, rightPlace));
    out.store(b, place, sum);
  });
}

SolutionPlan reference::planMatMul(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &lhs = problem.operands[0], &rhs = problem.operands[1];
  bool transposeLhs = problem.integer("transpose_lhs"),
       transposeRhs = problem.integer("transpose_rhs");
  // The batch dimensions of the result, and the matrix of each operand.
  auto indexShape = [&](const TensorDesc &operand) {
    std::vector<int64_t> shape = problem.result.shape;
    std::copy(operand.shape.end() - 2, operand.shape.end(), shape.end() - 2);
    return shape;
  };
  int64_t depth = lhs.shape[lhs.rank() - (transposeLhs ? 2 : 1)];
  MatMulKernel kernel{
      .quantized = lhs.quantized,
      .transposeLhs = transposeLhs,
      .transposeRhs = transposeRhs,
      .kind = computeKindOf(problem),
      .lhs = accessOperand(launch, problem, 0, indexShape(lhs)),
      .rhs = accessOperand(launch, problem, 1, indexShape(rhs)),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, 3.0 * depth),
      .depthParam = launch.addParam(depth)};
  std::string symbol =
      joinSymbol({"ref_matmul", kernel.lhs.symbolPart(),
                  transposeLhs ? "t" : "", kernel.rhs.symbolPart(),
                  transposeRhs ? "rt" : "", kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
