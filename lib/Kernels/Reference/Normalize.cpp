//===- Normalize.cpp - Reference normalisation, own statistics ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Batch normalisation in training, and layer, group and instance normalisation:
// mean and variance are taken over some of the dimensions, for each place in
// the others. The group of elements of such a place is read three times.
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
struct NormalizeKernel {
  ComputeKind kind;
  NormSpace space;
  int64_t firstSize;              ///< parameters: the sizes of the space
  int64_t count, epsilon;         ///< parameters
  int64_t factor = 0, unbias = 0; ///< parameters, with running statistics
  TensorAccess input;
  OutputAccess output;
  std::vector<TensorAccess> affine; ///< scale and bias, as far as there are
  /// Mean and inverse deviation, or none.
  std::vector<TensorAccess> saved;
  /// Running mean and variance, old and new, or none.
  std::vector<TensorAccess> running;
  ElementLoop loop;

  void emit(KernelBuilder &b) const;
};
} // namespace

void NormalizeKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  auto bindAll = [&](ArrayRef<TensorAccess> list) {
    SmallVector<BoundTensor> bound;
    for (const TensorAccess &access : list)
      bound.push_back(access.bind(b));
    return bound;
  };
  SmallVector<BoundTensor> factors = bindAll(affine), stats = bindAll(saved),
                           averages = bindAll(running);
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
    auto sumOf = [&](function_ref<Value(Value)> function) {
      return emitNestSum(b, kind, sizes, group, [&](ArrayRef<Value> indices) {
        return function(in.load(b, space.toPlace(b, indices, sizes)));
      });
    };
    Value mean = b.divF(sumOf([](Value x) { return x; }), n);
    Value variance = b.divF(sumOf([&](Value x) {
                              Value centred = b.subF(x, mean);
                              return b.mulF(centred, centred);
                            }),
                            n);
    Value inverse =
        b.divF(one, math::SqrtOp::create(b, b.addF(variance, small)));
    emitNest(b, sizes, group, {},
             [&](ArrayRef<Value> indices, ValueRange) -> SmallVector<Value> {
               SmallVector<Value> at = space.toPlace(b, indices, sizes);
               Value y = b.mulF(b.subF(in.load(b, at), mean), inverse);
               if (!factors.empty())
                 y = b.mulF(y, factors[0].load(b, at));
               if (factors.size() > 1)
                 y = b.addF(y, factors[1].load(b, at));
               out.store(b, at, y);
               return {};
             });
    if (!stats.empty()) {
      stats[0].store(b, place, mean);
      stats[1].store(b, place, inverse);
    }
    for (int i = 0; i < static_cast<int>(averages.size()) / 2; ++i) {
      Value weight = getReal(b, kind, factor);
      Value batch = i == 0 ? mean : b.mulF(variance, getReal(b, kind, unbias));
      Value old = averages[i].load(b, place);
      averages[2 + i].store(
          b, place,
          b.addF(b.mulF(b.subF(one, weight), old), b.mulF(weight, batch)));
    }
  });
}

SolutionPlan reference::planNormalize(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  const TensorDesc &x = problem.operands[0];
  NormSpace space = getNormSpace(problem);
  int64_t count = space.getGroupSize();
  int64_t firstSize = launch.addParams(space.sizes);
  NormalizeKernel kernel{
      .kind = kind,
      .space = space,
      .firstSize = firstSize,
      .count = addReal(launch, kind, static_cast<double>(count)),
      .epsilon = addReal(launch, kind, problem.number("epsilon")),
      .input = accessOperand(launch, problem, 0, x.shape),
      .output = OutputAccess(launch, problem),
      .affine = {},
      .saved = {},
      .running = {},
      .loop = ElementLoop(launch, space.getGroups(), 12.0 * count)};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), space.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  auto add = [&](std::vector<TensorAccess> &list, BufferSlot slot,
                 const TensorDesc &desc, bool followsElements) {
    list.emplace_back(launch, slot, space.spread(desc, x, followsElements),
                      followsElements ? x.shape : space.sizes, kind);
    symbol = joinSymbol({symbol, list.back().symbolPart()});
  };
  int64_t numAffine = std::min(problem.rootOperands, 3) - 1;
  symbol = joinSymbol({symbol, "affine"});
  for (int64_t i = 1; i <= numAffine; ++i)
    add(kernel.affine, {BufferSlot::Operand, i}, problem.operands[i], true);
  symbol = joinSymbol({symbol, "saved"});
  if (problem.numResults() > 1)
    for (int64_t i = 1; i <= 2; ++i)
      add(kernel.saved, {BufferSlot::Result, i}, problem.getResult(i), false);
  if (problem.numResults() == 5) {
    for (int64_t i = 3; i <= 4; ++i)
      add(kernel.running, {BufferSlot::Operand, i}, problem.operands[i], false);
    for (int64_t i = 3; i <= 4; ++i)
      add(kernel.running, {BufferSlot::Result, i}, problem.getResult(i), false);
    bool adjusts = problem.integer("unbiased") != 0 && count > 1;
    auto n = static_cast<double>(count);
    kernel.factor = addReal(launch, kind, problem.number("factor"));
    kernel.unbias = addReal(launch, kind, adjusts ? n / (n - 1) : 1);
  }
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
