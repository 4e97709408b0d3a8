//===- Norm.cpp - Reference batch normalisation, softmax and LRN ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Nest.h"
#include "Reference.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <bit>
#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

int64_t reference::addReal(LaunchBuilder &launch, ComputeKind kind,
                           double value) {
  if (kind == ComputeKind::F64)
    return launch.addParam(std::bit_cast<int64_t>(value));
  return launch.addFloatParam(value);
}

Value reference::getReal(KernelBuilder &b, ComputeKind kind, int64_t param) {
  if (kind == ComputeKind::F64)
    return b.bitcast(b.getParam(param), b.getF64Type());
  return b.getFloatParam(param);
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

SolutionPlan reference::planBatchNorm(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  ElementLoop loop(launch, problem.result.shape, 8);
  OutputAccess output(launch, problem);
  TensorAccess input = accessOperand(launch, problem, 0, problem.result.shape);
  std::vector<TensorAccess> vectors;
  std::string symbol =
      joinSymbol({"ref_batch_norm", input.symbolPart(), output.symbolPart()});
  for (int64_t i = 1; i < 5; ++i) {
    // A vector of channels broadcasts like one of C x 1 x ...
    TensorDesc desc = problem.operands[i];
    if (desc.rank() == 1)
      desc.shape.resize(problem.result.rank() - 1, 1);
    vectors.emplace_back(launch, BufferSlot{BufferSlot::Operand, i}, desc,
                         problem.result.shape, kind);
    symbol = joinSymbol({symbol, vectors.back().symbolPart()});
  }
  int64_t epsilon = addReal(launch, kind, problem.number("epsilon"));
  auto emit = [=](KernelBuilder &b) {
    BoundTensor in = input.bind(b);
    SmallVector<BoundTensor> bound;
    for (const TensorAccess &vector : vectors)
      bound.push_back(vector.bind(b));
    OutputAccess::Bound out = output.bind(b);
    Value small = getReal(b, kind, epsilon);
    loop.emit(b, [&](ArrayRef<Value> place) {
      Value scale = bound[0].load(b, place), bias = bound[1].load(b, place),
            mean = bound[2].load(b, place), variance = bound[3].load(b, place);
      Value deviation = math::SqrtOp::create(b, b.addF(variance, small));
      Value centred = b.subF(in.load(b, place), mean);
      Value scaled = b.divF(b.mulF(scale, centred), deviation);
      out.store(b, place, b.addF(scaled, bias));
    });
  };
  launch.finish(symbol, emit, loop.tasks());
  return plan;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {
struct SoftmaxKernel {
  bool isLog;
  int64_t axis, sizeParam;
  ComputeKind kind;
  TensorAccess input;
  OutputAccess output;
  ElementLoop loop; ///< over all but the axis

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundTensor &in,
               const OutputAccess::Bound &out, SmallVector<Value> place) const;
};
} // namespace

void SoftmaxKernel::emitRow(KernelBuilder &b, const BoundTensor &in,
                            const OutputAccess::Bound &out,
                            SmallVector<Value> place) const {
  Value size = b.getParam(sizeParam);
  Type type = computeTypeOf(b, kind);
  auto elementAt = [&](Value i) {
    place[axis] = i;
    return in.load(b, place);
  };
  Value least = b.cstLike(type, -std::numeric_limits<double>::infinity());
  Value largest = b.forLoop(b.cst(0), size, b.cst(1), least,
                            [&](Value i, ValueRange soFar) {
                              return SmallVector<Value>{
                                  b.maxF(elementAt(i), soFar.front())};
                            })
                      .front();
  auto exponential = [&](Value x) { return emitExp(b, b.subF(x, largest)); };
  Value sum = emitNestSum(b, kind, size, {Value()}, [&](ArrayRef<Value> i) {
    return exponential(elementAt(i.front()));
  });
  b.forLoop(size, [&](Value i) {
    Value value = isLog ? b.subF(b.subF(elementAt(i), largest), emitLog(b, sum))
                        : b.divF(exponential(elementAt(i)), sum);
    place[axis] = i;
    out.store(b, place, value);
  });
}

void SoftmaxKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    emitRow(b, in, out, SmallVector<Value>(place));
  });
}

SolutionPlan reference::planSoftmax(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t axis = problem.integer("axis");
  std::vector<int64_t> rows = problem.result.shape;
  int64_t size = rows[axis];
  rows[axis] = 1;
  SoftmaxKernel kernel{
      .isLog = problem.op == OpKind::LogSoftmax,
      .axis = axis,
      .sizeParam = launch.addParam(size),
      .kind = computeKindOf(problem),
      .input = accessOperand(launch, problem, 0, problem.result.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, rows, 60.0 * size)};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), std::to_string(axis),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

//===----------------------------------------------------------------------===//
// Local response normalisation
//===----------------------------------------------------------------------===//

namespace {
struct LrnKernel {
  ComputeKind kind;
  TensorAccess input;
  OutputAccess output;
  ElementLoop loop;
  int64_t channels, below, above;         ///< parameters: C, and the window
  int64_t alphaOverSize, minusBeta, bias; ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void LrnKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value numChannels = b.getParam(channels);
  Value zero = b.cstLike(computeTypeOf(b, kind), 0);
  loop.emit(b, [&](ArrayRef<Value> place) {
    Value first = b.maxS(b.sub(place[1], b.getParam(below)), b.cst(0));
    Value last =
        b.minS(b.add(place[1], b.add(b.getParam(above), 1)), numChannels);
    auto addSquare = [&](Value channel, ValueRange sum) {
      SmallVector<Value> neighbour(place);
      neighbour[1] = channel;
      Value x = in.load(b, neighbour);
      return SmallVector<Value>{b.addF(sum.front(), b.mulF(x, x))};
    };
    Value sum = b.forLoop(first, last, b.cst(1), zero, addSquare).front();
    Value base = b.addF(getReal(b, kind, bias),
                        b.mulF(getReal(b, kind, alphaOverSize), sum));
    Value factor = emitPow(b, base, getReal(b, kind, minusBeta));
    out.store(b, place, b.mulF(in.load(b, place), factor));
  });
}

SolutionPlan reference::planLrn(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  int64_t size = problem.integer("size");
  LrnKernel kernel{
      .kind = kind,
      .input = accessOperand(launch, problem, 0, problem.result.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, 50.0 + 4.0 * size),
      .channels = launch.addParam(problem.result.shape[1]),
      .below = launch.addParam((size - 1) / 2),
      .above = launch.addParam(size / 2),
      .alphaOverSize = addReal(launch, kind, problem.number("alpha") / size),
      .minusBeta = addReal(launch, kind, -problem.number("beta")),
      .bias = addReal(launch, kind, problem.number("bias"))};
  std::string symbol = joinSymbol(
      {"ref_lrn", kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
