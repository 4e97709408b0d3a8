//===- Pad.cpp - Vectorised padding and cropping --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works in any layout: dimensions are taken in memory order, and dimensions
// without padding are joined with their neighbours. A row of the result is the
// left padding, a copy of the input's bytes, and the right padding.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "CopyBytes.h"
#include "Host/Solvers.h"
#include "PadPlace.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tarpon;

namespace {

class Pad final : public Solver {
public:
  StringRef id() const override { return "pad-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct Dim {
  int64_t inSize, outSize, begin;

  bool isPadded() const { return begin != 0 || inSize != outSize; }
};

struct PadKernel {
  PadMode mode;
  int64_t elementBytes, numOuter;
  int64_t from, to; ///< buffers
  /// Indices of parameters: sizes and begin of each outer dimension; those of
  /// the row.
  int64_t outer, row, value, rows, rowsPerTask;

  struct Parts;
  void emit(KernelBuilder &b) const;
  Value emitSource(KernelBuilder &b, Value index, Value &isInside) const;
  void emitRow(KernelBuilder &b, const Parts &parts, Value source,
               Value target) const;
  void emitFill(KernelBuilder &b, Value target, Value count, Value bits) const;
  void emitSide(KernelBuilder &b, const Parts &parts, Value source,
                Value target, Value first, Value last) const;
};

/// A row: elements from `left` to `right` are copied from `skipped` on.
struct PadKernel::Parts {
  Value inSize, outSize, begin, left, right, skipped, bits;
};

} // namespace

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void PadKernel::emitFill(KernelBuilder &b, Value target, Value count,
                         Value bits) const {
  int64_t lanes = b.getTarget().vectorBits / 8 / elementBytes;
  auto pointer = [&](Value i) {
    return b.offset(target, b.mul(i, elementBytes));
  };
  b.ifThenElse(
      b.slt(count, b.cst(lanes)),
      [&] { b.forLoop(count, [&](Value i) { b.store(bits, pointer(i)); }); },
      [&] {
        Value filled = b.broadcast(bits, lanes);
        forVectors(b, b.cst(0), count, lanes, [&](Value i, Value mask) {
          mask ? b.maskedStore(filled, pointer(i), mask)
               : b.store(filled, pointer(i));
        });
      });
}

/// Emits elements `first` to `last` of a row, which are padding.
void PadKernel::emitSide(KernelBuilder &b, const Parts &parts, Value source,
                         Value target, Value first, Value last) const {
  auto pointer = [&](Value base, Value i) {
    return b.offset(base, b.mul(i, elementBytes));
  };
  if (mode == PadMode::Constant)
    return emitFill(b, pointer(target, first), b.sub(last, first), parts.bits);
  b.forLoop(first, last, b.cst(1), [&](Value i) {
    Value wanted = b.sub(i, parts.begin);
    Value place = emitPadPlace(b, mode, wanted, parts.inSize);
    b.store(b.load(pointer(source, place), parts.bits.getType()),
            pointer(target, i));
  });
}

void PadKernel::emitRow(KernelBuilder &b, const Parts &parts, Value source,
                        Value target) const {
  auto bytes = [&](Value count) { return b.mul(count, elementBytes); };
  emitSide(b, parts, source, target, b.cst(0), parts.left);
  Value count = b.sub(parts.right, parts.left);
  b.ifThen(b.slt(b.cst(0), count), [&] {
    emitCopyBytes(b, b.offset(target, bytes(parts.left)),
                  b.offset(source, bytes(parts.skipped)), bytes(count));
  });
  emitSide(b, parts, source, target, parts.right, parts.outSize);
}

/// The input's row for row `index` of the result, and whether there is one.
Value PadKernel::emitSource(KernelBuilder &b, Value index,
                            Value &isInside) const {
  Value source = b.cst(0), stride = b.cst(1);
  for (int64_t dim = numOuter - 1; dim >= 0; --dim) {
    Value inSize = b.getParam(outer + 3 * dim);
    Value outSize = b.getParam(outer + 3 * dim + 1);
    Value place = dim > 0 ? b.rem(index, outSize) : index;
    index = b.div(index, outSize);
    Value wanted = b.sub(place, b.getParam(outer + 3 * dim + 2));
    Value isIn = b.ult(wanted, inSize);
    isInside = isInside ? b.andI(isInside, isIn) : isIn;
    if (mode != PadMode::Constant)
      wanted = emitPadPlace(b, mode, wanted, inSize);
    source = b.add(source, b.mul(wanted, stride));
    stride = b.mul(stride, inSize);
  }
  return source;
}

void PadKernel::emit(KernelBuilder &b) const {
  Value input = b.getBuffer(from), result = b.getBuffer(to);
  Value zero = b.cst(0);
  Parts parts;
  parts.inSize = b.getParam(row);
  parts.outSize = b.getParam(row + 1);
  parts.begin = b.getParam(row + 2);
  parts.left = b.minS(b.maxS(parts.begin, zero), parts.outSize);
  parts.skipped = b.maxS(b.sub(zero, parts.begin), zero);
  Value available = b.maxS(b.sub(parts.inSize, parts.skipped), zero);
  parts.right = b.minS(b.add(parts.left, available), parts.outSize);
  Type element = b.getIntegerType(8 * elementBytes);
  parts.bits = b.getParam(value);
  if (elementBytes < 8)
    parts.bits = arith::TruncIOp::create(b, element, parts.bits);

  Value step = b.getParam(rowsPerTask);
  Value first = b.mul(b.getBegin(), step);
  Value last = b.minS(b.mul(b.getEnd(), step), b.getParam(rows));
  b.forLoop(first, last, b.cst(1), [&](Value index) {
    Value isInside;
    Value place = emitSource(b, index, isInside);
    Value source =
        b.offset(input, b.mul(b.mul(place, parts.inSize), elementBytes));
    Value target =
        b.offset(result, b.mul(b.mul(index, parts.outSize), elementBytes));
    if (mode != PadMode::Constant || !isInside)
      return emitRow(b, parts, source, target);
    b.ifThenElse(
        isInside, [&] { emitRow(b, parts, source, target); },
        [&] { emitFill(b, target, parts.outSize, parts.bits); });
  });
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

Applicability Pad::isApplicable(const Problem &problem,
                                const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Pad)
    return Applicability::no("is not a pad");
  const TensorDesc &input = problem.operands[0];
  if (!(input.layout == problem.result.layout))
    return Applicability::no("operand and result differ in layout");
  if (!problem.epilogue.empty() || !haveSameElements(input, problem.result) ||
      input.scales.size() > 1)
    return Applicability::no("changes elements");
  bool padsChannels =
      input.rank() > 1 &&
      problem.ints("pads")[1] + input.shape[1] != problem.result.shape[1];
  bool movesChannels = input.rank() > 1 && problem.ints("pads")[1] != 0;
  if (input.layout.kind == Layout::Blocked && (padsChannels || movesChannels))
    return Applicability::no("pads the channels of a blocked layout");
  return Applicability::yes();
}

/// The dimensions as they lie in memory.
static SmallVector<Dim> getDims(const Problem &problem) {
  const TensorDesc &input = problem.operands[0];
  std::vector<int64_t> begins = problem.ints("pads");
  SmallVector<Dim> dims;
  for (int64_t dim = 0; dim < input.rank(); ++dim)
    dims.push_back({input.shape[dim], problem.result.shape[dim], begins[dim]});
  if (input.layout.kind == Layout::NHWC)
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  if (input.layout.kind == Layout::Blocked) {
    int64_t block = input.layout.block;
    dims[1].inSize = dims[1].outSize = llvm::divideCeil(dims[1].inSize, block);
    dims.push_back({block, block, 0});
  }
  return dims;
}

/// Joins a dimension with an inner one that is not padded: if it is not padded
/// itself, or if the padding is constant.
static SmallVector<Dim> joinDims(ArrayRef<Dim> dims, bool isConstant) {
  SmallVector<Dim> joined;
  for (const Dim &dim : dims) {
    bool joins = !joined.empty() && !dim.isPadded() &&
                 (isConstant || !joined.back().isPadded());
    if (!joins) {
      joined.push_back(dim);
      continue;
    }
    joined.back().inSize *= dim.inSize;
    joined.back().outSize *= dim.outSize;
    joined.back().begin *= dim.inSize;
  }
  if (joined.empty())
    joined.push_back({1, 1, 0});
  return joined;
}

/// The bits of the constant as elements of the result.
static int64_t getValueBits(const Problem &problem) {
  const TensorDesc &desc = problem.result;
  double value = problem.number("value");
  if (desc.quantized)
    value = std::nearbyint(static_cast<float>(value) / desc.scales.front()) +
            static_cast<double>(desc.zeroPoint);
  int64_t bits = 0;
  if (desc.dtype == DType::F64) {
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
  }
  if (desc.dtype == DType::Bool)
    return value != 0;
  bool isInteger = !isFloat(desc.dtype);
  if (isInteger && runtime::dtypeBytes(desc.dtype) >= 4)
    return static_cast<int64_t>(value);
  // Integers truncate; quantisation has rounded already.
  runtime::storeFromFloat(
      desc.dtype, static_cast<float>(isInteger ? std::trunc(value) : value),
      reinterpret_cast<char *>(&bits));
  return bits;
}

SolutionPlan Pad::plan(const Problem &problem, const TargetInfo & /*target*/,
                       const PerfConfig & /*config*/) const {
  auto mode = static_cast<PadMode>(problem.integer("mode"));
  SmallVector<Dim> dims = joinDims(getDims(problem), mode == PadMode::Constant);
  Dim inner = dims.pop_back_val();
  std::vector<int64_t> fields;
  int64_t rows = 1;
  for (const Dim &dim : dims) {
    fields.insert(fields.end(), {dim.inSize, dim.outSize, dim.begin});
    rows *= dim.outSize;
  }
  constexpr int64_t kBytesPerTask = 64 << 10;
  int64_t bytes = runtime::dtypeBytes(problem.result.dtype);
  int64_t perTask =
      std::max<int64_t>(1, kBytesPerTask / (inner.outSize * bytes));

  SolutionPlan plan;
  LaunchBuilder launch(plan);
  PadKernel kernel{
      .mode = mode,
      .elementBytes = bytes,
      .numOuter = static_cast<int64_t>(dims.size()),
      .from = launch.addOperand(0),
      .to = launch.addResult(),
      .outer = launch.addParams(fields),
      .row = launch.addParams({inner.inSize, inner.outSize, inner.begin}),
      .value = launch.addParam(getValueBits(problem)),
      .rows = launch.addParam(rows),
      .rowsPerTask = launch.addParam(perTask)};
  std::string symbol = joinSymbol({"pad", stringifyPadMode(mode),
                                   std::to_string(8 * bytes) + "bit",
                                   std::to_string(kernel.numOuter)});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      std::max<int64_t>(1, llvm::divideCeil(rows, perTask)));
  return plan;
}

const Solver &tarpon::getPad() {
  static const Pad solver;
  return solver;
}
