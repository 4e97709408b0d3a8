//===- BlockMatMul.cpp - Products with weights of a few bits --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding a token reads each weight once, so memory bounds it: the weights
// stay narrow in memory and become f32 in registers. Lanes are columns. At
// compile time the weights of some columns, a tile, are packed into one stream:
// for each block the scales, the zero points, and words of 32 bits, one per
// column, with consecutive elements of k. A word is shifted and converted once
// for each of its elements, and multiplied by elements of a few rows. More rows
// come in groups, each of which reads the weights again, from a cache.
//
//===----------------------------------------------------------------------===//

#include "Common/LaunchBuilder.h"
#include "Common/VectorAccess.h"
#include "Host/ImplicitGemm/ImplicitGemm.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using igemm::AccessKind;

/// The elements of k that a step multiplies. Blocks are made of whole steps.
static constexpr int64_t kStep = 8;
/// The most rows that are multiplied by a weight at a time.
static constexpr int64_t kMaxRows = 8;
/// The fewest bytes of weights of a task, so that starting it costs little.
static constexpr int64_t kLeastTaskBytes = 64 << 10;

namespace {

class BlockMatMul final : public Solver {
public:
  StringRef id() const override { return "block-matmul-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.8;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The sizes of the packed weights.
struct Packing {
  int64_t bits, blockSize, blocks;
  int64_t columns;     ///< of the result
  int64_t tileColumns; ///< whole vectors
  bool hasZeroPoints;

  int64_t tiles() const { return llvm::divideCeil(columns, tileColumns); }
  int64_t wordsPerStep() const { return kStep * bits / 32; }
  int64_t stepsPerBlock() const { return blockSize / kStep; }
  int64_t wordsPerBlock() const { return stepsPerBlock() * wordsPerStep(); }
  int64_t headBytes() const { return tileColumns * (hasZeroPoints ? 5 : 4); }
  int64_t stepBytes() const { return wordsPerStep() * tileColumns * 4; }
  int64_t blockBytes() const {
    return headBytes() + stepsPerBlock() * stepBytes();
  }
  int64_t tileBytes() const { return blocks * blockBytes(); }
};

struct BlockMatMulKernel {
  DType dtype; ///< of the left-hand side
  int64_t rows, vectors;
  /// The kernel knows the sizes of a step; those of a block, and how many there
  /// are, are parameters.
  Packing packing;
  std::vector<AccessKind> kinds;
  std::vector<FlatTensor> operands;
  FlatTensor result;
  EpilogueEmitter epilogue;
  int firstOperand;
  int64_t lhsBuffer, weightBuffer;
  int64_t allRows, depth, columns, blocks, blockBytes, steps, tiles, chunk,
      chunks; ///< parameters

  int64_t sumBytes() const { return rows * packing.tileColumns * 4; }
  std::string symbol() const;
  void emit(KernelBuilder &b) const;
};

/// The scales and zero points of a block, for each vector of columns.
struct BlockParams {
  SmallVector<Value> scales, zeroPoints;
};

class BlockMatMulEmitter {
public:
  BlockMatMulEmitter(KernelBuilder &b, const BlockMatMulKernel &kernel);
  void emitTask(Value task);

private:
  void copyRows(Value firstRow);
  void emitTile(Value firstRow, Value tile);
  BlockParams loadParams(Value block);
  SmallVector<Value> addBlock(Value block, Value rows, ValueRange sums);
  SmallVector<Value> addStep(Value words, Value rows, const BlockParams &params,
                             ValueRange sums);
  SmallVector<Value> loadWords(Value pointer);
  Value unpack(Value packed, int64_t element, const BlockParams &params,
               int64_t v);
  void storeRow(Value row, Value firstColumn, Value rowSums);
  /// Sums of a block are scaled at its end if the registers hold both them and
  /// those of all blocks; otherwise each weight is scaled.
  bool scalesSums() const { return kernel.rows == 1; }

  KernelBuilder &b;
  const BlockMatMulKernel &kernel;
  VectorType type, words;
  Value lhs, weights, sums, rows;
  SmallVector<BoundFlatTensor> operands;
  SmallVector<Value> epilogueParams;
  BoundFlatTensor result;
};

} // namespace

//===----------------------------------------------------------------------===//
// The emitter
//===----------------------------------------------------------------------===//

BlockMatMulEmitter::BlockMatMulEmitter(KernelBuilder &b,
                                       const BlockMatMulKernel &kernel)
    : b(b), kernel(kernel), type(b.vec(b.f32(), b.lanes())),
      words(b.vec(b.getI32Type(), b.lanes())),
      lhs(b.getBuffer(kernel.lhsBuffer)),
      weights(b.getBuffer(kernel.weightBuffer)), sums(b.getScratch()),
      rows(b.offset(sums, kernel.sumBytes())),
      epilogueParams(kernel.epilogue.loadParams(b)),
      result(kernel.result.bind(b)) {
  for (const FlatTensor &operand : kernel.operands)
    operands.push_back(operand.bind(b));
}

/// The last group of rows overlaps the one before it.
void BlockMatMulEmitter::emitTask(Value task) {
  Value chunks = b.getParam(kernel.chunks), chunk = b.getParam(kernel.chunk);
  Value firstRow = b.minS(b.mul(b.div(task, chunks), kernel.rows),
                          b.sub(b.getParam(kernel.allRows), kernel.rows));
  Value first = b.mul(b.rem(task, chunks), chunk);
  Value last = b.minS(b.add(first, chunk), b.getParam(kernel.tiles));
  copyRows(firstRow);
  b.forLoop(first, last, b.cst(1),
            [&](Value tile) { emitTile(firstRow, tile); });
}

/// Copies a group of rows to the scratch in f32: the elements of a step of all
/// rows side by side, and zeros behind the last one.
void BlockMatMulEmitter::copyRows(Value firstRow) {
  int64_t bytes = runtime::dtypeBytes(kernel.dtype);
  Value depth = b.getParam(kernel.depth), whole = b.div(depth, kStep);
  Value steps = b.mul(b.getParam(kernel.blocks), b.getParam(kernel.steps));
  b.forLoop(b.cst(kernel.rows), [&](Value row) {
    Value from =
        b.offset(lhs, b.mul(b.mul(b.add(firstRow, row), depth), bytes));
    Value to = b.offset(rows, b.mul(row, kStep * 4));
    auto copy = [&](Value step, Value mask) {
      Value place = b.offset(from, b.mul(step, kStep * bytes));
      b.store(b.loadConverted(kernel.dtype, place, kStep, mask),
              b.offset(to, b.mul(step, kernel.rows * kStep * 4)));
    };
    b.forLoop(b.cst(0), whole, b.cst(1),
              [&](Value step) { copy(step, Value()); });
    b.forLoop(whole, steps, b.cst(1), [&](Value step) {
      copy(step, b.firstLanes(b.sub(depth, b.mul(step, kStep)), kStep));
    });
  });
}

void BlockMatMulEmitter::emitTile(Value firstRow, Value tile) {
  int64_t rowBytes = kernel.packing.tileColumns * 4;
  Value blocks = b.getParam(kernel.blocks),
        blockBytes = b.getParam(kernel.blockBytes);
  Value start = b.offset(weights, b.mul(b.mul(tile, blocks), blockBytes));
  Value blockRows = b.mul(b.getParam(kernel.steps), kernel.rows * kStep * 4);
  SmallVector<Value> zeros(kernel.rows * kernel.vectors, b.cstLike(type, 0));
  SmallVector<Value> totals = b.forLoop(
      b.cst(0), blocks, b.cst(1), zeros, [&](Value block, ValueRange before) {
        return addBlock(b.offset(start, b.mul(block, blockBytes)),
                        b.offset(rows, b.mul(block, blockRows)), before);
      });
  for (auto [index, total] : llvm::enumerate(totals))
    b.store(total, b.offset(sums, static_cast<int64_t>(index) * b.lanes() * 4));
  Value firstColumn = b.mul(tile, kernel.packing.tileColumns);
  b.forLoop(b.cst(kernel.rows), [&](Value row) {
    storeRow(b.add(firstRow, row), firstColumn,
             b.offset(sums, b.mul(row, rowBytes)));
  });
}

BlockParams BlockMatMulEmitter::loadParams(Value block) {
  BlockParams params;
  int64_t lanes = b.lanes();
  Value zeroPoints = b.offset(block, kernel.packing.tileColumns * 4);
  for (int64_t v = 0; v < kernel.vectors; ++v) {
    params.scales.push_back(b.load(b.offset(block, v * lanes * 4), type));
    if (!kernel.packing.hasZeroPoints)
      continue;
    Value bytes =
        b.load(b.offset(zeroPoints, v * lanes), b.vec(b.getI8Type(), lanes));
    params.zeroPoints.push_back(arith::ExtUIOp::create(b, words, bytes));
  }
  return params;
}

SmallVector<Value> BlockMatMulEmitter::addBlock(Value block, Value blockRows,
                                                ValueRange before) {
  BlockParams params = loadParams(block);
  Value first = b.offset(block, kernel.packing.headBytes());
  SmallVector<Value> start(before);
  if (scalesSums())
    start.assign(before.size(), b.cstLike(type, 0));
  SmallVector<Value> after = b.forLoop(
      b.cst(0), b.getParam(kernel.steps), b.cst(1), start,
      [&](Value step, ValueRange soFar) {
        Value rowBytes = b.mul(step, kernel.rows * kStep * 4);
        return addStep(b.offset(first, b.mul(step, kernel.packing.stepBytes())),
                       b.offset(blockRows, rowBytes), params, soFar);
      });
  if (scalesSums())
    for (auto [index, sum] : llvm::enumerate(after))
      sum = b.fma(sum, params.scales[index], before[index]);
  return after;
}

/// The sums of row r and vector v are sums[r * vectors + v].
SmallVector<Value> BlockMatMulEmitter::addStep(Value stepWords, Value stepRows,
                                               const BlockParams &params,
                                               ValueRange before) {
  SmallVector<Value> after(before), packed;
  int64_t perWord = 32 / kernel.packing.bits, vectorBytes = b.lanes() * 4;
  for (int64_t k = 0; k < kStep; ++k) {
    // Factors that are loaded ahead would push others out of registers.
    b.fence({}, {});
    if (k % perWord == 0)
      packed = loadWords(
          b.offset(stepWords, k / perWord * kernel.vectors * vectorBytes));
    SmallVector<Value> weights;
    for (int64_t v = 0; v < kernel.vectors; ++v)
      weights.push_back(unpack(packed[v], k % perWord, params, v));
    for (int64_t r = 0; r < kernel.rows; ++r) {
      Value factor = b.broadcast(
          b.load(b.offset(stepRows, (r * kStep + k) * 4), b.f32()), b.lanes());
      for (int64_t v = 0; v < kernel.vectors; ++v) {
        Value &sum = after[r * kernel.vectors + v];
        sum = b.fma(weights[v], factor, sum);
      }
    }
  }
  return after;
}

SmallVector<Value> BlockMatMulEmitter::loadWords(Value pointer) {
  SmallVector<Value> packed;
  for (int64_t v = 0; v < kernel.vectors; ++v)
    packed.push_back(b.load(b.offset(pointer, v * b.lanes() * 4), words));
  return packed;
}

/// One element of each word of vector `v`, in f32. Without a zero point it is
/// signed.
Value BlockMatMulEmitter::unpack(Value packed, int64_t element,
                                 const BlockParams &params, int64_t v) {
  int64_t bits = kernel.packing.bits, low = element * bits;
  auto amount = [&](int64_t count) {
    return b.cstLike(words, static_cast<double>(count));
  };
  Value integer = packed;
  if (kernel.packing.hasZeroPoints) {
    if (low > 0)
      integer = arith::ShRUIOp::create(b, integer, amount(low));
    if (low + bits < 32)
      integer = b.andI(integer, amount((1 << bits) - 1));
    integer = b.sub(integer, params.zeroPoints[v]);
  } else {
    if (low + bits < 32)
      integer = arith::ShLIOp::create(b, integer, amount(32 - bits - low));
    integer = arith::ShRSIOp::create(b, integer, amount(32 - bits));
  }
  Value weight = arith::SIToFPOp::create(b, type, integer);
  return scalesSums() ? weight : b.mulF(weight, params.scales[v]);
}

void BlockMatMulEmitter::storeRow(Value row, Value firstColumn, Value rowSums) {
  int64_t lanes = b.lanes();
  Value columns = b.getParam(kernel.columns);
  Value count =
      b.minS(b.sub(columns, firstColumn), b.cst(kernel.packing.tileColumns));
  forVectors(b, b.cst(0), count, lanes, [&](Value i, Value mask) {
    Value column = b.add(firstColumn, i);
    Value place = b.add(b.mul(row, columns), column);
    auto loadOperand = [&](int operand) -> Value {
      size_t index = operand - kernel.firstOperand;
      const BoundFlatTensor &bound = operands[index];
      if (kernel.kinds[index] == AccessKind::Scalar)
        return b.broadcast(bound.load(b, b.cst(0), 1), lanes);
      bool isTensor = kernel.kinds[index] == AccessKind::Tensor;
      return bound.load(b, isTensor ? place : column, lanes, mask);
    };
    Value sum = b.load(b.offset(rowSums, b.mul(i, 4)), type);
    Value value = kernel.epilogue.emit(b, sum, epilogueParams, loadOperand);
    result.store(b, value, place, mask);
  });
}

std::string BlockMatMulKernel::symbol() const {
  std::string text =
      joinSymbol({"block_matmul", std::to_string(packing.bits),
                  packing.hasZeroPoints ? "z" : "",
                  std::to_string(rows) + "x" + std::to_string(vectors),
                  runtime::dtypeName(dtype), epilogue.symbolPart()});
  for (auto [kind, operand] : llvm::zip_equal(kinds, operands))
    text = joinSymbol(
        {text, operand.symbolPart() + (kind == AccessKind::Scalar   ? "s"
                                       : kind == AccessKind::Tensor ? "t"
                                                                    : "c")});
  return joinSymbol({text, "to", result.symbolPart()});
}

void BlockMatMulKernel::emit(KernelBuilder &b) const {
  BlockMatMulEmitter emitter(b, *this);
  b.forTasks([&](Value task) { emitter.emitTask(task); });
}

//===----------------------------------------------------------------------===//
// Packed weights
//===----------------------------------------------------------------------===//

/// Copies the words of a column's blocks. Elements become signed where there
/// are no zero points.
static void packColumn(const Packing &packing, ArrayRef<char> column,
                       char *to) {
  uint32_t flip = packing.hasZeroPoints ? 0
                  : packing.bits == 4   ? 0x88888888
                                        : 0x80808080;
  const char *from = column.data();
  for (int64_t block = 0; block < packing.blocks; ++block) {
    char *words = to + block * packing.blockBytes() + packing.headBytes();
    for (int64_t w = 0; w < packing.wordsPerBlock(); ++w, from += 4) {
      uint32_t word;
      std::memcpy(&word, from, sizeof(word));
      word ^= flip;
      std::memcpy(words + w * packing.tileColumns * 4, &word, sizeof(word));
    }
  }
}

/// Columns behind the last one have scales of 0.
static std::vector<char> packWeights(const Packing &packing,
                                     const ConstantOperands &constants) {
  std::vector<char> packed(packing.tiles() * packing.tileBytes());
  int64_t columnBytes = packing.blocks * packing.wordsPerBlock() * 4;
  for (int64_t column = 0; column < packing.columns; ++column) {
    int64_t inTile = column % packing.tileColumns;
    char *tile =
        packed.data() + column / packing.tileColumns * packing.tileBytes();
    packColumn(packing, constants[1].slice(column * columnBytes, columnBytes),
               tile + inTile * 4);
    for (int64_t block = 0; block < packing.blocks; ++block) {
      char *head = tile + block * packing.blockBytes();
      int64_t index = column * packing.blocks + block;
      std::memcpy(head + inTile * 4, constants[2].data() + index * 4, 4);
      if (packing.hasZeroPoints)
        head[packing.tileColumns * 4 + inTile] = constants[3][index];
    }
  }
  return packed;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

Applicability BlockMatMul::isApplicable(const Problem &problem,
                                        const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::BlockMatMul)
    return Applicability::no("needs a product with weights in blocks");
  for (const TensorDesc &operand :
       ArrayRef(problem.operands).take_front(problem.rootOperands).drop_front())
    if (!operand.constant)
      return Applicability::no("needs constant weights");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the lhs");
  if (!isVectorizable(problem.result))
    return Applicability::no("cannot store the result's dtype");
  for (const TensorDesc &operand :
       ArrayRef(problem.operands).drop_front(problem.rootOperands)) {
    if (!isVectorizable(operand))
      return Applicability::no("cannot read an epilogue operand's dtype");
    if (!igemm::getAccess(problem, operand, /*batched=*/false))
      return Applicability::no("an epilogue operand broadcasts otherwise than "
                               "per column");
  }
  return Applicability::yes();
}

/// The vectors of columns of a tile: enough sums for the latency of an
/// addition, and few enough that they stay in registers.
static int64_t chooseVectors(int64_t rows, const TargetInfo &target) {
  if (target.vectorRegisters > 16)
    return rows <= 4 ? 4 : 2;
  return rows == 1 ? 4 : rows <= 4 ? 2 : 1;
}

/// The tiles of a task: enough tasks for all threads, each of some weights.
static int64_t chooseChunk(const Packing &packing, int64_t groups,
                           const TargetInfo &target) {
  int64_t wanted = llvm::divideCeil(getWantedTasks(target), groups);
  int64_t chunk = llvm::divideCeil(packing.tiles(), wanted);
  int64_t least = llvm::divideCeil(kLeastTaskBytes, packing.tileBytes());
  return std::max(chunk, least);
}

SolutionPlan BlockMatMul::plan(const Problem &problem, const TargetInfo &target,
                               const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t columns = problem.result.shape.back(),
          allRows = problem.result.numElements() / columns,
          depth = problem.operands[0].shape.back();
  int64_t rows = std::min(allRows, kMaxRows),
          vectors = chooseVectors(rows, target);
  Packing packing{.bits = problem.integer("bits"),
                  .blockSize = problem.integer("block_size"),
                  .blocks = problem.operands[1].shape[1],
                  .columns = columns,
                  .tileColumns = vectors * target.lanes(),
                  .hasZeroPoints = problem.rootOperands > 3};
  std::vector<AccessKind> kinds;
  std::vector<FlatTensor> operands;
  for (size_t i = problem.rootOperands; i < problem.operands.size(); ++i) {
    kinds.push_back(
        *igemm::getAccess(problem, problem.operands[i], /*batched=*/false));
    operands.emplace_back(
        launch, BufferSlot{BufferSlot::Operand, static_cast<int64_t>(i)},
        problem.operands[i]);
  }
  int64_t groups = llvm::divideCeil(allRows, rows);
  int64_t chunk = chooseChunk(packing, groups, target);
  int64_t chunks = llvm::divideCeil(packing.tiles(), chunk);
  ConstantPlan weights{[packing](const ConstantOperands &constants) {
    return packWeights(packing, constants);
  }};
  BlockMatMulKernel kernel{
      .dtype = problem.operands[0].dtype,
      .rows = rows,
      .vectors = vectors,
      .packing = packing,
      .kinds = kinds,
      .operands = operands,
      .result = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .epilogue = launch.addEpilogue(problem),
      .firstOperand = problem.rootOperands,
      .lhsBuffer = launch.addOperand(0),
      .weightBuffer = launch.addConstant(weights),
      .allRows = launch.addParam(allRows),
      .depth = launch.addParam(depth),
      .columns = launch.addParam(columns),
      .blocks = launch.addParam(packing.blocks),
      .blockBytes = launch.addParam(packing.blockBytes()),
      .steps = launch.addParam(packing.stepsPerBlock()),
      .tiles = launch.addParam(packing.tiles()),
      .chunk = launch.addParam(chunk),
      .chunks = launch.addParam(chunks)};
  int64_t paddedDepth = packing.blocks * packing.blockSize;
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      groups * chunks, kernel.sumBytes() + rows * paddedDepth * 4);
  return plan;
}

const Solver &tarpon::getBlockMatMul() {
  static const BlockMatMul solver;
  return solver;
}
