//===- PoolIndices.cpp - Reference pools with indices ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/Pool/PoolIndices.h"
#include "Host/Pool/Pool.h"
#include "Nest.h"
#include "Reference.h"

#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

//===----------------------------------------------------------------------===//
// Maxima and their indices
//===----------------------------------------------------------------------===//

namespace {
struct PoolIndicesKernel {
  ComputeKind kind;
  TensorAccess input;
  OutputAccess output;
  TensorAccess indices;
  ElementLoop loop;
  Window window;
  int64_t steps, channels, pixels; ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void PoolIndicesKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), where = indices.bind(b);
  OutputAccess::Bound out = output.bind(b);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value none = b.cstLike(computeTypeOf(b, kind), -infinity);
  loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<WindowRange> ranges;
    for (int64_t dim = 0; dim < window.rank(); ++dim)
      ranges.push_back(window.at(b, dim, place[2 + dim]));
    Value plane = b.add(b.mul(place[0], b.getParam(channels)), place[1]);
    Value start = b.mul(plane, b.getParam(pixels));
    auto cell = [&](ArrayRef<Value>, ArrayRef<Value> i, ValueRange soFar) {
      SmallVector<Value> inPlace{place[0], place[1]};
      inPlace.append(i.begin(), i.end());
      Value value = in.load(b, inPlace), index = start;
      for (auto [dim, at] : llvm::enumerate(i))
        index = b.add(index, b.mul(at, b.getParam(steps + dim)));
      Value isGreater =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, value, soFar[0]);
      return SmallVector<Value>{b.select(isGreater, value, soFar[0]),
                                b.select(isGreater, index, soFar[1])};
    };
    SmallVector<Value> best = forWindow(b, ranges, {none, b.cst(-1)}, cell);
    out.store(b, place, best[0]);
    where.store(b, place, best[1]);
  });
}

SolutionPlan reference::planPoolIndices(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0];
  PoolIndicesKernel kernel{
      .kind = computeKindOf(problem),
      .input = accessOperand(launch, problem, 0, input.shape),
      .output = OutputAccess(launch, problem),
      .indices =
          TensorAccess(launch, {BufferSlot::Result, 1}, problem.getResult(1),
                       problem.result.shape, ComputeKind::I64),
      .loop =
          ElementLoop(launch, problem.result.shape, 6 * getPoolCost(problem)),
      .window =
          Window(launch, problem, problem.ints("kernel"), input.spatial()),
      .steps = launch.addParams(getPixelSteps(problem)),
      .channels = launch.addParam(input.shape[1]),
      .pixels = launch.addParam(input.spatialSize())};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), kernel.input.symbolPart(),
                  kernel.output.symbolPart(), kernel.indices.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

//===----------------------------------------------------------------------===//
// Unpooling by indices
//===----------------------------------------------------------------------===//

namespace {
struct MaxUnpoolKernel {
  ComputeKind kind;
  int64_t numDims;
  TensorAccess input, indices;
  OutputAccess output;
  ElementLoop loop;                            ///< over images and channels
  int64_t inSizes, outSizes, channels, pixels; ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void MaxUnpoolKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), where = indices.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value zero = b.cstLike(computeTypeOf(b, kind), 0), size = b.getParam(pixels);
  auto forPlane = [&](ArrayRef<Value> plane, int64_t firstSize,
                      function_ref<void(ArrayRef<Value>)> body) {
    SmallVector<Value> sizes(plane), place(plane);
    for (int64_t dim = 0; dim < numDims; ++dim) {
      sizes.push_back(b.getParam(firstSize + dim));
      place.push_back(Value());
    }
    emitNest(b, sizes, place, {}, [&](ArrayRef<Value> at, ValueRange) {
      body(at);
      return SmallVector<Value>();
    });
  };
  loop.emit(b, [&](ArrayRef<Value> plane) {
    forPlane(plane, outSizes,
             [&](ArrayRef<Value> place) { out.store(b, place, zero); });
    Value number = b.add(b.mul(plane[0], b.getParam(channels)), plane[1]);
    forPlane(plane, inSizes, [&](ArrayRef<Value> place) {
      Value pixel = b.sub(where.load(b, place), b.mul(number, size));
      b.ifThen(b.ult(pixel, size), [&] {
        SmallVector<Value> target(plane);
        target.resize(2 + numDims);
        for (int64_t dim = numDims - 1; dim >= 0; --dim) {
          Value extent = b.getParam(outSizes + dim);
          target[2 + dim] = b.rem(pixel, extent);
          pixel = b.div(pixel, extent);
        }
        out.store(b, target, in.load(b, place));
      });
    });
  });
}

SolutionPlan reference::planMaxUnpool(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0], &result = problem.result;
  MaxUnpoolKernel kernel{
      .kind = computeKindOf(problem),
      .numDims = input.rank() - 2,
      .input = accessOperand(launch, problem, 0, input.shape),
      .indices =
          TensorAccess(launch, {BufferSlot::Operand, 1}, problem.operands[1],
                       input.shape, ComputeKind::I64),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, ArrayRef(result.shape).take_front(2),
                          4.0 * static_cast<double>(result.spatialSize())),
      .inSizes = launch.addParams(input.spatial()),
      .outSizes = launch.addParams(result.spatial()),
      .channels = launch.addParam(result.shape[1]),
      .pixels = launch.addParam(result.spatialSize())};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), kernel.input.symbolPart(),
                  kernel.indices.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
