//===- BatchNormBackward.cpp - Reference gradients of batch norm ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "NormSpace.h"
#include "Reference.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {
struct GradientKernel {
  ComputeKind kind;
  NormSpace space;
  int64_t firstSize;      ///< parameters: the sizes of the space
  int64_t count, epsilon; ///< parameters
  TensorAccess x, dy, scale;
  /// Mean and inverse deviation, or none.
  std::vector<TensorAccess> saved;
  TensorAccess dscale, dbias;
  OutputAccess output;
  ElementLoop loop;

  void emit(KernelBuilder &b) const;
};
} // namespace

void GradientKernel::emit(KernelBuilder &b) const {
  BoundTensor xs = x.bind(b), dys = dy.bind(b), scales = scale.bind(b),
              dscales = dscale.bind(b), dbiases = dbias.bind(b);
  OutputAccess::Bound out = output.bind(b);
  SmallVector<BoundTensor> stats;
  for (const TensorAccess &access : saved)
    stats.push_back(access.bind(b));
  SmallVector<Value> sizes;
  for (size_t dim = 0; dim < space.sizes.size(); ++dim)
    sizes.push_back(b.getParam(firstSize + static_cast<int64_t>(dim)));
  Value n = getReal(b, kind, count), small = getReal(b, kind, epsilon);
  Value one = b.cstLike(computeTypeOf(b, kind), 1);

  loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<Value> group(place);
    for (size_t dim = 0; dim < group.size(); ++dim)
      if (!space.kept[dim])
        group[dim] = Value();
    auto sum = [&](function_ref<Value(ArrayRef<Value>)> term) {
      return emitNestSum(b, kind, sizes, group, term);
    };
    Value mean, inverse;
    if (stats.empty()) {
      mean = b.divF(sum([&](ArrayRef<Value> at) { return xs.load(b, at); }), n);
      Value squares = sum([&](ArrayRef<Value> at) {
        Value centred = b.subF(xs.load(b, at), mean);
        return b.mulF(centred, centred);
      });
      Value variance = b.divF(squares, n);
      inverse = b.divF(one, math::SqrtOp::create(b, b.addF(variance, small)));
    } else {
      mean = stats[0].load(b, place);
      inverse = stats[1].load(b, place);
    }
    auto normalized = [&](ArrayRef<Value> at) {
      return b.mulF(b.subF(xs.load(b, at), mean), inverse);
    };
    Value bias = sum([&](ArrayRef<Value> at) { return dys.load(b, at); });
    Value slope = sum([&](ArrayRef<Value> at) {
      return b.mulF(dys.load(b, at), normalized(at));
    });
    dbiases.store(b, place, bias);
    dscales.store(b, place, slope);
    Value factor = b.mulF(scales.load(b, place), inverse);
    emitNest(b, sizes, group, {},
             [&](ArrayRef<Value> at, ValueRange) -> SmallVector<Value> {
               Value rest = b.subF(dys.load(b, at), b.divF(bias, n));
               Value along = b.mulF(normalized(at), b.divF(slope, n));
               out.store(b, at, b.mulF(factor, b.subF(rest, along)));
               return {};
             });
  });
}

SolutionPlan reference::planBatchNormBackward(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  const TensorDesc &x = problem.operands[0];
  NormSpace space = getNormSpace(problem);
  int64_t count = space.getGroupSize();
  auto access = [&](BufferSlot slot, const TensorDesc &desc) {
    TensorDesc spread = space.spread(desc, x, /*followsElements=*/false);
    return TensorAccess(launch, slot, spread, space.sizes, kind);
  };
  auto parameter = [&](int64_t index) {
    return access({BufferSlot::Operand, index}, problem.operands[index]);
  };
  auto result = [&](int64_t index) {
    return access({BufferSlot::Result, index}, problem.getResult(index));
  };
  int64_t firstSize = launch.addParams(space.sizes);
  GradientKernel kernel{
      .kind = kind,
      .space = space,
      .firstSize = firstSize,
      .count = addReal(launch, kind, static_cast<double>(count)),
      .epsilon = addReal(launch, kind, problem.number("epsilon")),
      .x = accessOperand(launch, problem, 0, x.shape),
      .dy = accessOperand(launch, problem, 1, x.shape),
      .scale = parameter(2),
      .saved = {},
      .dscale = result(1),
      .dbias = result(2),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, space.getGroups(), 20.0 * count)};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), space.symbolPart(),
                  kernel.x.symbolPart(), kernel.dy.symbolPart(),
                  kernel.scale.symbolPart(), kernel.dscale.symbolPart(),
                  kernel.dbias.symbolPart(), kernel.output.symbolPart()});
  for (int64_t i = 3; i < problem.rootOperands; ++i) {
    kernel.saved.push_back(parameter(i));
    symbol = joinSymbol({symbol, kernel.saved.back().symbolPart()});
  }
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
