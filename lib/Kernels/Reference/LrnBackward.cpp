//===- LrnBackward.cpp - Reference gradients of LRN -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Reference.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {
struct GradientKernel {
  ComputeKind kind;
  TensorAccess x, dy;
  OutputAccess output;
  ElementLoop loop;
  int64_t channels, below, above;                ///< parameters
  int64_t alphaOverSize, minusBeta, bias, twice; ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void GradientKernel::emit(KernelBuilder &b) const {
  BoundTensor xs = x.bind(b), dys = dy.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value zero = b.cstLike(computeTypeOf(b, kind), 0);
  loop.emit(b, [&](ArrayRef<Value> place) {
    auto at = [&](Value channel) {
      SmallVector<Value> neighbour(place);
      neighbour[1] = channel;
      return neighbour;
    };
    // The sum is over the channels from c - before to c + behind.
    auto sum = [&](Value channel, int64_t before, int64_t behind,
                   function_ref<Value(Value)> term) {
      Value first = b.maxS(b.sub(channel, b.getParam(before)), b.cst(0));
      Value last = b.minS(b.add(channel, b.add(b.getParam(behind), 1)),
                          b.getParam(channels));
      return b
          .forLoop(first, last, b.cst(1), zero,
                   [&](Value c, ValueRange soFar) {
                     return SmallVector<Value>{b.addF(soFar.front(), term(c))};
                   })
          .front();
    };
    auto baseOf = [&](Value channel) {
      Value squares = sum(channel, below, above, [&](Value c) {
        Value value = xs.load(b, at(c));
        return b.mulF(value, value);
      });
      return b.addF(getReal(b, kind, bias),
                    b.mulF(getReal(b, kind, alphaOverSize), squares));
    };
    auto powerOf = [&](Value base) {
      return emitPow(b, base, getReal(b, kind, minusBeta));
    };
    Value along = sum(place[1], above, below, [&](Value c) {
      Value base = baseOf(c);
      Value product = b.mulF(dys.load(b, at(c)), xs.load(b, at(c)));
      return b.divF(b.mulF(product, powerOf(base)), base);
    });
    Value direct = b.mulF(dys.load(b, place), powerOf(baseOf(place[1])));
    Value factor = b.mulF(getReal(b, kind, twice), xs.load(b, place));
    out.store(b, place, b.subF(direct, b.mulF(factor, along)));
  });
}

SolutionPlan reference::planLrnBackward(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  auto size = static_cast<double>(problem.integer("size"));
  double alpha = problem.number("alpha") / size, beta = problem.number("beta");
  GradientKernel kernel{
      .kind = kind,
      .x = accessOperand(launch, problem, 0, problem.result.shape),
      .dy = accessOperand(launch, problem, 1, problem.result.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, 60.0 * size),
      .channels = launch.addParam(problem.result.shape[1]),
      .below = launch.addParam((problem.integer("size") - 1) / 2),
      .above = launch.addParam(problem.integer("size") / 2),
      .alphaOverSize = addReal(launch, kind, alpha),
      .minusBeta = addReal(launch, kind, -beta),
      .bias = addReal(launch, kind, problem.number("bias")),
      .twice = addReal(launch, kind, 2 * alpha * beta)};
  std::string symbol =
      joinSymbol({"ref_lrn_backward", kernel.x.symbolPart(),
                  kernel.dy.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
