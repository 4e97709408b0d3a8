//===- Resize.cpp - Reference interpolation -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/Resize/ResizeTaps.h"
#include "Reference.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tarpon;

namespace {
struct ResizeKernel {
  bool hasOutside;
  ComputeKind kind;
  int64_t extrapolation; ///< parameter
  std::vector<ResizeTable> tables;
  TensorAccess input;
  OutputAccess output;
  ElementLoop loop;

  void emit(KernelBuilder &b) const;
  Value emitSum(KernelBuilder &b, const BoundTensor &in, ArrayRef<Value> place,
                SmallVectorImpl<Value> &source, Value weight) const;
  Value emitIsInside(KernelBuilder &b, ArrayRef<Value> place) const;
  Value toCompute(KernelBuilder &b, Value real) const {
    if (kind != ComputeKind::F64)
      return real;
    return arith::ExtFOp::create(b, b.getF64Type(), real);
  }
};
} // namespace

/// The sum over the taps of the dimensions for which `source` has no place yet;
/// a null `weight` is 1.
Value ResizeKernel::emitSum(KernelBuilder &b, const BoundTensor &in,
                            ArrayRef<Value> place,
                            SmallVectorImpl<Value> &source,
                            Value weight) const {
  size_t dim = source.size();
  if (dim == tables.size()) {
    Value value = in.load(b, source);
    return weight ? b.mulF(toCompute(b, weight), value) : value;
  }
  const ResizeTable &table = tables[dim];
  Value sum;
  for (int64_t tap = 0; tap < table.taps; ++tap) {
    Value index = table.index(b, place[dim], tap);
    // Places outside are replaced afterwards.
    source.push_back(hasOutside ? b.maxS(index, b.cst(0)) : index);
    Value both = weight;
    if (table.isWeighted()) {
      Value own = table.weight(b, place[dim], tap);
      both = weight ? b.mulF(weight, own) : own;
    }
    Value part = emitSum(b, in, place, source, both);
    sum = sum ? b.addF(sum, part) : part;
    source.pop_back();
  }
  return sum;
}

Value ResizeKernel::emitIsInside(KernelBuilder &b,
                                 ArrayRef<Value> place) const {
  Value isInside;
  for (auto [dim, table] : llvm::enumerate(tables)) {
    Value index = table.index(b, place[dim], 0);
    Value here = b.cmp(KernelBuilder::Pred::sge, index, b.cst(0));
    isInside = isInside ? b.andI(isInside, here) : here;
  }
  return isInside;
}

void ResizeKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<Value> source;
    Value value = emitSum(b, in, place, source, Value());
    if (hasOutside)
      value = b.select(emitIsInside(b, place), value,
                       toCompute(b, b.getFloatParam(extrapolation)));
    out.store(b, place, value);
  });
}

SolutionPlan reference::planResize(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t rank = problem.result.rank();
  bool hasOutside = false;
  double cost = 4;
  std::vector<ResizeTable> tables;
  std::string dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    ResizeTaps taps = getResizeTaps(problem, dim);
    hasOutside |= taps.hasOutside;
    tables.emplace_back(launch, taps);
    cost *= static_cast<double>(tables.back().taps);
    dims += tables.back().symbolPart();
  }
  ResizeKernel kernel{
      .hasOutside = hasOutside,
      .kind = computeKindOf(problem),
      .extrapolation = launch.addFloatParam(problem.number("extrapolation")),
      .tables = tables,
      .input = accessOperand(launch, problem, 0, problem.result.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, cost)};
  std::string symbol =
      joinSymbol({"ref_resize", dims, hasOutside ? "crop" : "",
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
