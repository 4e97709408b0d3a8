//===- GpuPool.cpp - Pooling in vectors of channels -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maximum, average and global pools. Cells outside of the input are read from
// its edge and then ignored, so that lanes of a wave do not diverge.
//
//===----------------------------------------------------------------------===//

#include "GpuOutput.h"
#include "GpuSolvers.h"
#include "Host/Pool/Pool.h"
#include "ImageWork.h"
#include "WorkgroupSolver.h"
#include "tarpon/Solver/GpuTarget.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

class GpuPool final : public WorkgroupSolver {
public:
  StringRef id() const override { return "gpu-pool-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The cells of a window that are loaded before the first one is needed: all of
/// a small window, or some of a row.
struct CellBlock {
  static constexpr int64_t kMostCells = 16, kMostInRow = 8;
  /// The sizes of the window, or an empty list for a row.
  std::vector<int64_t> sizes;
  int64_t inRow;
  /// True if a row may have more or fewer cells than its blocks.
  bool hasTail;

  explicit CellBlock(const std::vector<int64_t> &kernel)
      : inRow(std::min(kernel.back(), kMostInRow)),
        hasTail(kernel.back() > inRow) {
    int64_t cells = 1;
    for (int64_t size : kernel)
      cells *= size;
    if (cells <= kMostCells)
      sizes = kernel;
  }
  std::string symbolPart() const {
    if (sizes.empty())
      return "u" + std::to_string(inRow) + (hasTail ? "t" : "");
    std::string part = "w";
    for (int64_t size : sizes)
      part += (part.size() > 1 ? "x" : "") + std::to_string(size);
    return part;
  }
};

struct GpuPoolKernel {
  PoolReduction reduction;
  bool countsPadding;
  CellBlock block;
  FlatTensor input;
  VectorOutput output;
  GpuImageWork work;

  void emit(KernelBuilder &b) const;
  void emitPlace(KernelBuilder &b, const BoundFlatTensor &in,
                 const GpuOutput &out, const GpuImageWork::Place &place) const;
  /// A cell of the window, whose dimensions are known in part.
  struct Cell {
    Value offset;
    /// True in the input, and true in the input or its explicit padding.
    Value isInside, isPadded;
  };
  /// The cell at place `k` (i64) of one more dimension.
  static Cell enter(KernelBuilder &b, const GpuImageWork::Place &place,
                    size_t dim, const Cell &cell, Value k);
  /// Appends the cells of the dimensions from `dim` on.
  void listCells(KernelBuilder &b, const GpuImageWork::Place &place, size_t dim,
                 const Cell &cell, SmallVectorImpl<Cell> &cells) const;
  /// Folds the cells of the dimensions from `dim` on into `soFar`.
  SmallVector<Value> foldCells(KernelBuilder &b, const BoundFlatTensor &in,
                               const GpuImageWork::Place &place, size_t dim,
                               const Cell &cell, ValueRange soFar) const;
  /// Loads those cells, and then adds them.
  SmallVector<Value> addCells(KernelBuilder &b, const BoundFlatTensor &in,
                              ArrayRef<Cell> cells, ValueRange soFar) const;
  SmallVector<Value> start(KernelBuilder &b) const;
  Value load(KernelBuilder &b, const BoundFlatTensor &in,
             const Cell &cell) const;
  SmallVector<Value> add(KernelBuilder &b, const Cell &cell, Value loaded,
                         ValueRange soFar) const;

  /// The neutral element, in a vector if there are several.
  Value getIdentity(KernelBuilder &b) const;

  /// Bytes whose maximum is a byte are compared in pairs of 16 bits: those with
  /// odd numbers where they are, and the others beside zeros.
  bool comparesPairs() const {
    return reduction.isInteger && work.getVector() % 4 == 0;
  }
  Type getPairs(KernelBuilder &b) const {
    return b.vec(b.getI16Type(), work.getVector() / 2);
  }
  /// Turns bytes into unsigned ones, or back, in any type of integers.
  Value flipSigns(KernelBuilder &b, Value bytes) const;
};

} // namespace

Value GpuPoolKernel::flipSigns(KernelBuilder &b, Value bytes) const {
  if (reduction.dtype == DType::U8)
    return bytes;
  Value signs = b.cstLike(bytes.getType(), static_cast<int16_t>(0x8080));
  return arith::XOrIOp::create(b, bytes, signs);
}

SmallVector<Value> GpuPoolKernel::start(KernelBuilder &b) const {
  if (comparesPairs())
    return SmallVector<Value>(2, b.cstLike(getPairs(b), 0));
  SmallVector<Value> values = {getIdentity(b)};
  if (!reduction.isMax)
    values.append(2, b.cstF(0));
  return values;
}

Value GpuPoolKernel::getIdentity(KernelBuilder &b) const {
  Value identity = reduction.identity(b, work.getVector());
  return work.getVector() == 1
             ? Value(vector::ExtractOp::create(b, identity, int64_t(0)))
             : identity;
}

/// Cells outside read one that exists, and are replaced.
Value GpuPoolKernel::load(KernelBuilder &b, const BoundFlatTensor &in,
                          const Cell &cell) const {
  int64_t lanes = work.getVector();
  if (!reduction.isInteger)
    return in.loadRaw(b, cell.offset, lanes);
  Type byte = b.getI8Type();
  Value loaded = b.load(in.pointerTo(b, cell.offset),
                        lanes == 1 ? byte : b.vec(byte, lanes));
  return comparesPairs() ? b.bitcast(loaded, getPairs(b)) : loaded;
}

SmallVector<Value> GpuPoolKernel::add(KernelBuilder &b, const Cell &cell,
                                      Value loaded, ValueRange soFar) const {
  if (comparesPairs()) {
    Type type = getPairs(b);
    Value pairs =
        b.select(cell.isInside, flipSigns(b, loaded), b.cstLike(type, 0));
    Value even = b.andI(pairs, b.cstLike(type, 0xff));
    return {arith::MaxUIOp::create(b, soFar[0], even),
            arith::MaxUIOp::create(b, soFar[1], pairs)};
  }
  Value x = b.select(cell.isInside, loaded, getIdentity(b));
  Value combined = reduction.combine(b, x, soFar[0]);
  if (reduction.isMax)
    return {combined};
  Value one = b.cstF(1), zero = b.cstF(0);
  Value counted = countsPadding ? cell.isPadded : cell.isInside;
  return {combined, b.addF(soFar[1], b.select(cell.isInside, one, zero)),
          b.addF(soFar[2], b.select(counted, one, zero))};
}

SmallVector<Value> GpuPoolKernel::addCells(KernelBuilder &b,
                                           const BoundFlatTensor &in,
                                           ArrayRef<Cell> cells,
                                           ValueRange soFar) const {
  SmallVector<Value> loaded, sums(soFar);
  for (const Cell &cell : cells)
    loaded.push_back(load(b, in, cell));
  for (auto [cell, value] : llvm::zip(cells, loaded))
    sums = add(b, cell, value, sums);
  return sums;
}

GpuPoolKernel::Cell GpuPoolKernel::enter(KernelBuilder &b,
                                         const GpuImageWork::Place &place,
                                         size_t dim, const Cell &cell,
                                         Value k) {
  const GpuWindowDim &window = place.window[dim];
  Value first = b.sub(b.mul(place.out[dim], window.stride), window.pad);
  Value padded = b.add(window.input, window.padEnd);
  Value at = b.add(first, b.mul(k, window.dilation));
  Value isInside = b.ult(at, window.input);
  // An existing place is read in any case.
  Value read = b.select(isInside, at, b.cst(0));
  return {b.add(cell.offset, b.mul(read, window.step)),
          b.andI(cell.isInside, isInside),
          b.andI(cell.isPadded, b.slt(at, padded))};
}

void GpuPoolKernel::listCells(KernelBuilder &b,
                              const GpuImageWork::Place &place, size_t dim,
                              const Cell &cell,
                              SmallVectorImpl<Cell> &cells) const {
  if (dim == place.window.size())
    return cells.push_back(cell);
  for (int64_t k = 0; k < block.sizes[dim]; ++k)
    listCells(b, place, dim + 1, enter(b, place, dim, cell, b.cst(k)), cells);
}

SmallVector<Value> GpuPoolKernel::foldCells(KernelBuilder &b,
                                            const BoundFlatTensor &in,
                                            const GpuImageWork::Place &place,
                                            size_t dim, const Cell &cell,
                                            ValueRange soFar) const {
  SmallVector<Cell> cells;
  if (!block.sizes.empty()) {
    listCells(b, place, dim, cell, cells);
    return addCells(b, in, cells, soFar);
  }
  Value kernel = place.window[dim].kernel;
  if (dim + 1 < place.window.size())
    return b.forLoop(b.cst(0), kernel, b.cst(1), soFar,
                     [&](Value k, ValueRange inner) {
                       return foldCells(b, in, place, dim + 1,
                                        enter(b, place, dim, cell, k), inner);
                     });
  auto addBlock = [&](Value k, ValueRange inner) {
    SmallVector<Cell> row;
    for (int64_t i = 0; i < block.inRow; ++i) {
      Value at = b.add(k, b.cst(i));
      Cell next = enter(b, place, dim, cell, at);
      if (block.hasTail) {
        Value exists = b.slt(at, kernel);
        next.isInside = b.andI(next.isInside, exists);
        next.isPadded = b.andI(next.isPadded, exists);
      }
      row.push_back(next);
    }
    return addCells(b, in, row, inner);
  };
  if (!block.hasTail)
    return addBlock(b.cst(0), soFar);
  return b.forLoop(b.cst(0), kernel, b.cst(block.inRow), soFar, addBlock);
}

void GpuPoolKernel::emitPlace(KernelBuilder &b, const BoundFlatTensor &in,
                              const GpuOutput &out,
                              const GpuImageWork::Place &place) const {
  int64_t lanes = work.getVector();
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  SmallVector<Value> folded =
      foldCells(b, in, place, 0, {place.start, yes, yes}, start(b));
  VectorPlace to = work.getOutput(b, place, place.out.back());
  Value value = folded[0];
  if (comparesPairs()) {
    Value odd =
        b.andI(folded[1], b.cstLike(getPairs(b), static_cast<int16_t>(0xff00)));
    value = flipSigns(b, b.orI(folded[0], odd));
  }
  if (reduction.isInteger)
    return out.storeBytes(b, to, value);
  value = reduction.isMax
              ? in.dequantize(b, value)
              : emitPoolMean(b, in, value, b.broadcast(folded[1], lanes),
                             b.broadcast(folded[2], lanes));
  out.store(b, to, value);
}

void GpuPoolKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  GpuOutput out(b, output);
  work.emit(b, [&](const GpuImageWork::Place &place) {
    emitPlace(b, in, out, place);
  });
}

Applicability GpuPool::isApplicable(const Problem &problem,
                                    const TargetInfo & /*target*/) const {
  if (!isPool(problem.op))
    return Applicability::no("is not a pool");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (Applicability answer = GpuImageWork::check(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

/// The widest vector of channels; where windows take several blocks of loads,
/// with which there are lanes for the whole GPU, but no narrower one than 4
/// bytes.
static int64_t chooseVector(const Problem &problem, const CellBlock &block,
                            const GpuTarget &gpu) {
  constexpr int64_t kLeastBytes = 4, kLanesPerUnit = 512;
  const TensorDesc &input = problem.operands[0];
  if (input.layout.kind != Layout::NHWC)
    return 1;
  int64_t vector = chooseGpuVector(problem, input.shape[1]);
  if (!block.sizes.empty())
    return vector;
  int64_t least = std::max<int64_t>(
      1, kLeastBytes / runtime::dtypeBytes(problem.operands[0].dtype));
  while (vector > least && problem.result.numElements() / vector <
                               gpu.computeUnits * kLanesPerUnit)
    vector /= 2;
  return vector;
}

SolutionPlan GpuPool::plan(const Problem &original, const TargetInfo &target,
                           const PerfConfig &config) const {
  Problem problem = asWindowedPool(original);
  const TensorDesc &input = problem.operands[0];
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t workgroup = config.get("workgroup");
  PoolReduction reduction = PoolReduction::of(problem);
  CellBlock block(problem.ints("kernel"));
  GpuPoolKernel kernel{
      .reduction = reduction,
      .countsPadding =
          !reduction.isMax && problem.integer("count_include_pad") != 0,
      .block = block,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .work = GpuImageWork(launch, problem, problem.ints("kernel"),
                           chooseVector(problem, block, *target.gpu),
                           /*tile=*/1, workgroup)};
  std::string symbol =
      joinSymbol({getOpName(problem.op), kernel.countsPadding ? "padded" : "",
                  reduction.isInteger ? "exact" : "", kernel.block.symbolPart(),
                  kernel.work.symbolPart(), kernel.input.symbolPart(),
                  kernel.output.symbolPart()});
  int64_t tasks = kernel.work.tasks();
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      tasks, workgroup);
  return plan;
}

const Solver &tarpon::getGpuPool() {
  static const GpuPool solver;
  return solver;
}
