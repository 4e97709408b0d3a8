//===- Movement.cpp - Reference copies, concatenation, padding ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements pass through the compute type: those that are quantised with other
// parameters are requantised, and all others arrive unchanged.
//
//===----------------------------------------------------------------------===//

#include "Host/Movement/PadPlace.h"
#include "Reference.h"
#include "tarpon/IR/TarponDialect.h"

#include <bit>

using namespace mlir;
using namespace tarpon;

/// Plans a launch that stores, at every place of the result, the input's
/// element at the same place of `input`.
static SolutionPlan planCopy(const Problem &problem, LaunchBuilder &launch,
                             SolutionPlan &plan, const TensorAccess &input) {
  OutputAccess output(launch, problem);
  ElementLoop loop(launch, problem.result.shape, 10);
  std::string symbol =
      joinSymbol({"ref_copy", input.symbolPart(), output.symbolPart()});
  auto emit = [=](KernelBuilder &b) {
    BoundTensor in = input.bind(b);
    OutputAccess::Bound out = output.bind(b);
    loop.emit(b, [&](ArrayRef<Value> place) {
      out.store(b, place, in.load(b, place));
    });
  };
  launch.finish(symbol, emit, loop.tasks());
  return plan;
}

SolutionPlan reference::planConvert(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  return planCopy(problem, launch, plan,
                  accessOperand(launch, problem, 0, problem.result.shape));
}

SolutionPlan reference::planTranspose(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  return planCopy(problem, launch, plan,
                  TensorAccess::permuted(
                      launch, {BufferSlot::Operand, 0}, problem.operands[0],
                      problem.ints("permutation"), computeKindOf(problem)));
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// The indices of the `flat`-th element in a tensor of `dims`.
static SmallVector<Value> delinearize(KernelBuilder &b, Value flat,
                                      ArrayRef<Value> dims) {
  SmallVector<Value> indices(dims.size());
  for (size_t dim = dims.size(); dim-- > 0;) {
    indices[dim] = b.rem(flat, dims[dim]);
    flat = b.div(flat, dims[dim]);
  }
  return indices;
}

SolutionPlan reference::planReshape(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ArrayRef<int64_t> inShape = problem.operands[0].shape,
                    outShape = problem.result.shape;
  TensorAccess input = accessOperand(launch, problem, 0, inShape);
  OutputAccess output(launch, problem);
  ElementLoop loop(launch, outShape, 30);
  int64_t firstIn = launch.addParams(inShape);
  int64_t firstOut = launch.addParams(outShape);
  size_t inRank = inShape.size(), outRank = outShape.size();
  auto emit = [=](KernelBuilder &b) {
    BoundTensor in = input.bind(b);
    OutputAccess::Bound out = output.bind(b);
    SmallVector<Value> inDims;
    for (size_t dim = 0; dim < inRank; ++dim)
      inDims.push_back(b.getParam(firstIn + dim));
    loop.emit(b, [&](ArrayRef<Value> place) {
      Value flat = b.cst(0);
      for (size_t dim = 0; dim < outRank; ++dim)
        flat = b.add(b.mul(flat, b.getParam(firstOut + dim)), place[dim]);
      out.store(b, place, in.load(b, delinearize(b, flat, inDims)));
    });
  };
  launch.finish(joinSymbol({"ref_reshape", input.symbolPart(),
                            std::to_string(outRank), output.symbolPart()}),
                emit, loop.tasks());
  return plan;
}

//===----------------------------------------------------------------------===//
// Shuffle of channels
//===----------------------------------------------------------------------===//

SolutionPlan reference::planShuffleChannels(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ArrayRef<int64_t> shape = problem.result.shape;
  TensorAccess input = accessOperand(launch, problem, 0, shape);
  OutputAccess output(launch, problem);
  ElementLoop loop(launch, shape, 10);
  int64_t groups = problem.integer("group");
  int64_t groupsParam = launch.addParam(groups);
  int64_t perGroupParam = launch.addParam(shape[1] / groups);
  auto emit = [=](KernelBuilder &b) {
    BoundTensor in = input.bind(b);
    OutputAccess::Bound out = output.bind(b);
    Value numGroups = b.getParam(groupsParam);
    loop.emit(b, [&](ArrayRef<Value> place) {
      SmallVector<Value> source(place);
      source[1] =
          b.add(b.mul(b.rem(place[1], numGroups), b.getParam(perGroupParam)),
                b.div(place[1], numGroups));
      out.store(b, place, in.load(b, source));
    });
  };
  launch.finish(joinSymbol({"ref_shuffle_channels", input.symbolPart(),
                            output.symbolPart()}),
                emit, loop.tasks());
  return plan;
}

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

namespace {
struct ConcatKernel {
  int64_t axis, firstParam; ///< where the operand starts along the axis
  TensorAccess input;
  OutputAccess output;
  ElementLoop loop;

  void emit(KernelBuilder &b) const {
    BoundTensor in = input.bind(b);
    OutputAccess::Bound out = output.bind(b);
    Value first = b.getParam(firstParam);
    loop.emit(b, [&](ArrayRef<Value> place) {
      SmallVector<Value> outPlace(place);
      outPlace[axis] = b.add(place[axis], first);
      out.store(b, outPlace, in.load(b, place));
    });
  }
};
} // namespace

SolutionPlan reference::planConcat(const Problem &problem) {
  SolutionPlan plan;
  int64_t axis = problem.integer("axis"), first = 0;
  for (int64_t i = 0; i < problem.rootOperands; ++i) {
    const TensorDesc &operand = problem.operands[i];
    LaunchBuilder launch(plan);
    ConcatKernel kernel{.axis = axis,
                        .firstParam = launch.addParam(first),
                        .input =
                            accessOperand(launch, problem, i, operand.shape),
                        .output = OutputAccess(launch, problem),
                        .loop = ElementLoop(launch, operand.shape, 10)};
    first += operand.shape[axis];
    std::string symbol =
        joinSymbol({"ref_concat", std::to_string(axis),
                    kernel.input.symbolPart(), kernel.output.symbolPart()});
    int64_t tasks = kernel.loop.tasks();
    launch.finish(
        symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

namespace {
struct PadKernel {
  PadMode mode;
  ComputeKind kind;
  int64_t rank, firstBegin, firstDim, valueParam;
  TensorAccess input;
  OutputAccess output;
  ElementLoop loop;

  void emit(KernelBuilder &b) const;
  Value emitPadding(KernelBuilder &b) const;
};
} // namespace

Value tarpon::emitPadPlace(KernelBuilder &b, PadMode mode, Value wanted,
                           Value size) {
  Value zero = b.cst(0), last = b.sub(size, 1);
  if (mode == PadMode::Wrap) {
    // The remainder has the sign of the dividend.
    Value rest = arith::RemSIOp::create(b, wanted, size);
    return b.select(b.slt(rest, zero), b.add(rest, size), rest);
  }
  if (mode == PadMode::Reflect) {
    wanted = b.maxS(wanted, b.sub(zero, wanted));
    wanted = b.minS(wanted, b.sub(b.mul(last, 2), wanted));
  }
  return b.minS(b.maxS(wanted, zero), last);
}

Value PadKernel::emitPadding(KernelBuilder &b) const {
  Value slot = b.getParam(valueParam);
  if (kind == ComputeKind::F32)
    return b.getFloatParam(valueParam);
  return kind == ComputeKind::F64 ? b.bitcast(slot, b.getF64Type()) : slot;
}

void PadKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value padding = emitPadding(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<Value> inPlace;
    Value isInside;
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value size = b.getParam(firstDim + dim);
      Value wanted = b.sub(place[dim], b.getParam(firstBegin + dim));
      inPlace.push_back(emitPadPlace(b, mode, wanted, size));
      Value inDim = b.ult(wanted, size);
      isInside = isInside ? b.andI(isInside, inDim) : inDim;
    }
    Value value = in.load(b, inPlace);
    if (mode == PadMode::Constant && isInside)
      value = b.select(isInside, value, padding);
    out.store(b, place, value);
  });
}

/// Adds the padding's value as a parameter of the compute type.
static int64_t addPadding(LaunchBuilder &launch, ComputeKind kind,
                          double value) {
  if (kind == ComputeKind::F32)
    return launch.addFloatParam(value);
  return launch.addParam(kind == ComputeKind::F64
                             ? std::bit_cast<int64_t>(value)
                             : static_cast<int64_t>(value));
}

SolutionPlan reference::planPad(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  ArrayRef<int64_t> inShape = problem.operands[0].shape;
  std::vector<int64_t> begins = problem.ints("pads");
  begins.resize(inShape.size());
  PadKernel kernel{.mode = static_cast<PadMode>(problem.integer("mode")),
                   .kind = kind,
                   .rank = static_cast<int64_t>(inShape.size()),
                   .firstBegin = launch.addParams(begins),
                   .firstDim = launch.addParams(inShape),
                   .valueParam =
                       addPadding(launch, kind, problem.number("value")),
                   .input = accessOperand(launch, problem, 0, inShape),
                   .output = OutputAccess(launch, problem),
                   .loop = ElementLoop(launch, problem.result.shape, 20)};
  std::string symbol =
      joinSymbol({"ref_pad", stringifyPadMode(kernel.mode),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
