//===- ConvBackward.cpp - Reference gradients of convolution --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward convolution adds, for every output place o and tap t,
//   y[o] += x[o * stride - pad + t * dilation] * w[t].
// The gradient for x collects at each of its places the outputs that read it;
// that for w collects at each tap the places that it was multiplied with.
//
//===----------------------------------------------------------------------===//

#include "Common/Window.h"
#include "Nest.h"
#include "Reference.h"

using namespace mlir;
using namespace tarpon;

using reference::PartialSums;

//===----------------------------------------------------------------------===//
// Transposed convolution
//===----------------------------------------------------------------------===//

namespace {
struct TransposeKernel {
  /// The parameters of a spatial dimension.
  struct Field {
    enum : int64_t { Kernel, Stride, Pad, Dilation, Input, Count };
  };

  bool quantized;
  ComputeKind kind;
  TensorAccess input, filter;
  OutputAccess output;
  ElementLoop loop;
  int64_t numDims, firstField;
  int64_t inputChannelsParam, outputChannelsParam; ///< of one group

  void emit(KernelBuilder &b) const;
  Value emitSum(KernelBuilder &b, const BoundTensor &in, const BoundTensor &f,
                ArrayRef<Value> place, Value group, Value channel) const;
  Value field(KernelBuilder &b, int64_t dim, int64_t which) const {
    return b.getParam(firstField + dim * Field::Count + which);
  }
};
} // namespace

Value TransposeKernel::emitSum(KernelBuilder &b, const BoundTensor &in,
                               const BoundTensor &f, ArrayRef<Value> place,
                               Value group, Value channel) const {
  Value zero = b.cst(0);
  Value firstChannel = b.mul(group, b.getParam(inputChannelsParam));
  SmallVector<Value> kernel;
  for (int64_t dim = 0; dim < numDims; ++dim)
    kernel.push_back(field(b, dim, Field::Kernel));
  auto tap = [&](ArrayRef<Value> t, ValueRange sums) {
    SmallVector<Value> inPlace{place[0], Value()}, fPlace{Value(), channel};
    Value reads;
    for (int64_t dim = 0; dim < numDims; ++dim) {
      Value stride = field(b, dim, Field::Stride);
      Value ahead = b.sub(b.add(place[2 + dim], field(b, dim, Field::Pad)),
                          b.mul(t[dim], field(b, dim, Field::Dilation)));
      // div and rem do not support negative numbers.
      Value distance = b.maxS(ahead, zero);
      Value index = b.div(distance, stride);
      Value here = b.andI(b.eq(ahead, distance),
                          b.andI(b.eq(b.rem(distance, stride), zero),
                                 b.slt(index, field(b, dim, Field::Input))));
      reads = reads ? b.andI(reads, here) : here;
      inPlace.push_back(index);
      fPlace.push_back(t[dim]);
    }
    return b.ifThenElse(
        reads, sums.getTypes(),
        [&] {
          Value inOffset = in.offsetOf(b, inPlace);
          Value fOffset = f.offsetOf(b, fPlace);
          return reference::emitSums(b, b.getParam(inputChannelsParam), sums,
                                     [&](Value c, ValueRange before) {
                                       Value k = b.add(firstChannel, c);
                                       return reference::emitProducts(
                                           b, quantized, {in, inOffset, 1, k},
                                           {f, fOffset, 0, k}, before);
                                     });
        },
        [&] { return PartialSums(sums); });
  };
  SmallVector<Value> anyTap(kernel.size());
  PartialSums start = reference::startSums(b, quantized, kind);
  return reference::addUp(b, quantized,
                          reference::emitNest(b, kernel, anyTap, start, tap));
}

void TransposeKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), f = filter.bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    Value channels = b.getParam(outputChannelsParam);
    Value channel = b.rem(place[1], channels);
    Value sum = emitSum(b, in, f, place, b.div(place[1], channels), channel);
    if (quantized)
      sum = reference::emitScaled(b, sum, in.scaleAt(b, {}),
                                  f.scaleAt(b, {Value(), channel}));
    out.store(b, place, sum);
  });
}

SolutionPlan reference::planConvTranspose(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  std::vector<int64_t> strides = problem.ints("strides"),
                       pads = problem.ints("pads"),
                       dilations = problem.ints("dilations"), fields;
  auto numDims = static_cast<int64_t>(strides.size());
  for (int64_t dim = 0; dim < numDims; ++dim)
    fields.insert(fields.end(), {filter.spatial()[dim], strides[dim], pads[dim],
                                 dilations[dim], input.spatial()[dim]});
  double cost =
      3 * problem.flops() /
      std::max(1.0, static_cast<double>(problem.result.numElements()));
  TransposeKernel kernel{
      .quantized = input.quantized,
      .kind = computeKindOf(problem),
      .input = accessOperand(launch, problem, 0, input.shape),
      .filter = accessOperand(launch, problem, 1, filter.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, cost),
      .numDims = numDims,
      .firstField = launch.addParams(fields),
      .inputChannelsParam =
          launch.addParam(input.shape[1] / problem.integer("group")),
      .outputChannelsParam = launch.addParam(filter.shape[1])};
  std::string symbol =
      joinSymbol({"ref_conv_transpose", kernel.input.symbolPart(),
                  kernel.filter.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

//===----------------------------------------------------------------------===//
// Gradient of the weights
//===----------------------------------------------------------------------===//

namespace {
struct WeightsKernel {
  ComputeKind kind;
  TensorAccess input, gradient;
  OutputAccess output;
  ElementLoop loop;
  Window window;
  int64_t firstOutDim;
  int64_t batchParam, inputChannelsParam, outputChannelsParam; ///< of a group

  void emit(KernelBuilder &b) const;
  Value emitSum(KernelBuilder &b, const BoundTensor &x, const BoundTensor &dy,
                ArrayRef<Value> place) const;
};
} // namespace

Value WeightsKernel::emitSum(KernelBuilder &b, const BoundTensor &x,
                             const BoundTensor &dy,
                             ArrayRef<Value> place) const {
  Value group = b.div(place[0], b.getParam(outputChannelsParam));
  Value channel = b.add(b.mul(group, b.getParam(inputChannelsParam)), place[1]);
  SmallVector<Value> bounds{b.getParam(batchParam)};
  for (int64_t dim = 0; dim < window.rank(); ++dim)
    bounds.push_back(b.getParam(firstOutDim + dim));
  auto step = [&](ArrayRef<Value> at, ValueRange sums) {
    SmallVector<Value> xPlace{at[0], channel}, dyPlace{at[0], place[0]};
    Value inside;
    for (int64_t dim = 0; dim < window.rank(); ++dim) {
      Value out = at[1 + dim];
      WindowRange range = window.inside(b, dim, out);
      Value i = b.add(range.start, b.mul(place[2 + dim], range.dilation));
      Value here = b.ult(i, window.input(b, dim));
      inside = inside ? b.andI(inside, here) : here;
      xPlace.push_back(i);
      dyPlace.push_back(out);
    }
    Value before = sums.front();
    return b.ifThenElse(
        inside, before.getType(),
        [&] {
          Value product = b.mulF(x.loadAt(b, x.offsetOf(b, xPlace)),
                                 dy.loadAt(b, dy.offsetOf(b, dyPlace)));
          return SmallVector<Value>{reference::addToSum(b, before, product)};
        },
        [&] { return SmallVector<Value>{before}; });
  };
  SmallVector<Value> anyPlace(bounds.size());
  Value start = b.cstLike(reference::getSumType(b, kind), 0);
  Value sum = reference::emitNest(b, bounds, anyPlace, start, step).front();
  return reference::finishSum(b, sum, kind);
}

void WeightsKernel::emit(KernelBuilder &b) const {
  BoundTensor x = input.bind(b), dy = gradient.bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    out.store(b, place, emitSum(b, x, dy, place));
  });
}

SolutionPlan reference::planConvBackwardWeights(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0],
                   &gradient = problem.operands[1], &result = problem.result;
  int64_t group = problem.integer("group");
  double cost = 3.0 * static_cast<double>(gradient.shape[0]) *
                static_cast<double>(gradient.spatialSize());
  WeightsKernel kernel{
      .kind = computeKindOf(problem),
      .input = accessOperand(launch, problem, 0, input.shape),
      .gradient = accessOperand(launch, problem, 1, gradient.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, result.shape, cost),
      .window = Window(launch, problem, result.spatial(), input.spatial()),
      .firstOutDim = launch.addParams(gradient.spatial()),
      .batchParam = launch.addParam(input.shape[0]),
      .inputChannelsParam = launch.addParam(input.shape[1] / group),
      .outputChannelsParam = launch.addParam(gradient.shape[1] / group)};
  std::string symbol =
      joinSymbol({"ref_conv_backward_weights", kernel.input.symbolPart(),
                  kernel.gradient.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
