//===- BlockMatMul.cpp - Products with weights in blocks ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {

struct BlockMatMulKernel {
  int64_t bits;
  TensorAccess lhs, weights, scales;
  std::optional<TensorAccess> zeroPoints;
  OutputAccess output;
  ElementLoop loop;
  int64_t depth, blockSize; ///< parameters

  std::string symbol() const;
  void emit(KernelBuilder &b) const;
};

/// The operands of one sum.
struct Sum {
  KernelBuilder &b;
  const BlockMatMulKernel &kernel;
  BoundTensor lhs, weights, scales;
  std::optional<BoundTensor> zeroPoints;
  SmallVector<Value> place; ///< of the result

  Value emitInteger(Value column, Value block, Value inBlock) const;
  /// The weight in row `index`.
  Value emitWeight(Value index) const;
  Value emit() const;
};

} // namespace

/// The stored integer minus the zero point.
Value Sum::emitInteger(Value column, Value block, Value inBlock) const {
  Value byte = b.div(b.mul(inBlock, kernel.bits), 8);
  Value stored = weights.load(b, {column, block, byte});
  if (kernel.bits < 8) {
    Value shift = b.rem(b.mul(inBlock, kernel.bits), 8);
    stored = b.andI(arith::ShRUIOp::create(b, stored, shift),
                    b.cst((1 << kernel.bits) - 1));
  }
  Value zeroPoint = zeroPoints ? zeroPoints->load(b, {column, block})
                               : b.cst(1 << (kernel.bits - 1));
  return b.sub(stored, zeroPoint);
}

Value Sum::emitWeight(Value index) const {
  Value size = b.getParam(kernel.blockSize), column = place.back();
  Value block = b.div(index, size);
  Value integer = emitInteger(column, block, b.rem(index, size));
  return b.mulF(arith::SIToFPOp::create(b, b.f32(), integer),
                scales.load(b, {column, block}));
}

Value Sum::emit() const {
  auto addProducts = [&](Value first, ValueRange sums) {
    PartialSums next;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value index = b.add(first, static_cast<int64_t>(i));
      SmallVector<Value> left(place);
      left.back() = index;
      next.push_back(b.addF(sum, b.mulF(lhs.load(b, left), emitWeight(index))));
    }
    return next;
  };
  PartialSums start = startSums(b, /*quantized=*/false, ComputeKind::F32);
  return addUp(
      b, /*quantized=*/false,
      reference::emitSums(b, b.getParam(kernel.depth), start, addProducts));
}

void BlockMatMulKernel::emit(KernelBuilder &b) const {
  Sum sum{b, *this, lhs.bind(b), weights.bind(b), scales.bind(b), {}, {}};
  if (zeroPoints)
    sum.zeroPoints = zeroPoints->bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    sum.place.assign(place.begin(), place.end());
    out.store(b, place, sum.emit());
  });
}

std::string BlockMatMulKernel::symbol() const {
  return joinSymbol({"ref_block_matmul", std::to_string(bits), lhs.symbolPart(),
                     weights.symbolPart(), scales.symbolPart(),
                     zeroPoints ? zeroPoints->symbolPart() : "none",
                     output.symbolPart()});
}

SolutionPlan reference::planBlockMatMul(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t depth = problem.operands[0].shape.back();
  auto access = [&](int64_t index, ComputeKind kind) {
    const TensorDesc &desc = problem.operands[index];
    return TensorAccess(launch, {BufferSlot::Operand, index}, desc, desc.shape,
                        kind);
  };
  std::optional<TensorAccess> zeroPoints;
  if (problem.rootOperands > 3)
    zeroPoints = access(3, ComputeKind::I64);
  BlockMatMulKernel kernel{
      .bits = problem.integer("bits"),
      .lhs = access(0, ComputeKind::F32),
      .weights = access(1, ComputeKind::I64),
      .scales = access(2, ComputeKind::F32),
      .zeroPoints = zeroPoints,
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape,
                          10.0 * static_cast<double>(depth)),
      .depth = launch.addParam(depth),
      .blockSize = launch.addParam(problem.integer("block_size"))};
  int64_t tasks = kernel.loop.tasks();
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
