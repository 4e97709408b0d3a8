//===- Gemv.cpp - Products of a matrix and a vector -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MatMuls whose result has one row or one column read every element of the
// matrix once, so memory bounds them: the matrix is read in place, in a few
// streams. If the summed dimension is innermost, each line gives a dot product;
// otherwise lines are scaled and added up. The sums of a task are collected in
// its scratch, which the epilogue reads.
//
//===----------------------------------------------------------------------===//

#include "Batches.h"
#include "Common/LaunchBuilder.h"
#include "Common/VectorAccess.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gemm;
using igemm::AccessKind;

/// The number of lines of the matrix that are read at the same time.
static constexpr int64_t kStreams = 4;
/// The number of vectors of a line between two tests of the loop.
static constexpr int64_t kUnroll = 2;
/// The most results of a task, whose sums must stay in the L1 cache.
static constexpr int64_t kMaxChunk = 4096;

namespace {

class Gemv final : public Solver {
public:
  StringRef id() const override { return "gemv-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo & /*target*/) const override {
    // A constant matrix is read faster in the engine's packed form: in one
    // stream, and its columns in whole tiles.
    bool isPacked =
        problem.operands[1].constant && problem.result.shape.back() != 1;
    return isPacked ? 0.1 : 0.9;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The matrix and the vector of a problem.
struct Parts {
  int64_t matrix, vector; ///< operands
  bool isDot;             ///< the summed dimension of the matrix is innermost
  int64_t size, depth;    ///< elements of a result and of a vector
  int64_t batch;          ///< results
};

struct GemvKernel {
  DType dtype;
  bool isDot, batched;
  std::vector<AccessKind> kinds;
  std::vector<FlatTensor> operands;
  FlatTensor result;
  EpilogueEmitter epilogue;
  int firstOperand;
  int64_t matrixBuffer, vectorBuffer, tableBuffer;
  int64_t size, depth, chunk, chunks; ///< parameters

  std::string symbol() const;
  void emit(KernelBuilder &b) const;
};

class GemvEmitter {
public:
  GemvEmitter(KernelBuilder &b, const GemvKernel &kernel);
  void emitTask(Value task);

private:
  void emitDots(Value matrix, Value vector, Value first, Value count);
  void emitDotGroup(Value lines, Value vector, Value index, int64_t streams);
  void emitSums(Value matrix, Value vector, Value first, Value count);
  void addLines(Value lines, Value vector, Value count, int64_t streams);
  void emitEpilogue(Value image, Value first, Value count);
  Value load(Value pointer, Value index);
  Value elements(Value count) {
    return b.mul(count, runtime::dtypeBytes(kernel.dtype));
  }

  KernelBuilder &b;
  const GemvKernel &kernel;
  VectorType type;
  Value matrices, vectors, table, sums;
  SmallVector<BoundFlatTensor> operands;
  SmallVector<Value> epilogueParams;
  BoundFlatTensor result;
};

} // namespace

//===----------------------------------------------------------------------===//
// The emitter
//===----------------------------------------------------------------------===//

GemvEmitter::GemvEmitter(KernelBuilder &b, const GemvKernel &kernel)
    : b(b), kernel(kernel), type(b.vec(b.f32(), b.lanes())),
      matrices(b.getBuffer(kernel.matrixBuffer)),
      vectors(b.getBuffer(kernel.vectorBuffer)), sums(b.getScratch()),
      epilogueParams(kernel.epilogue.loadParams(b)),
      result(kernel.result.bind(b)) {
  if (kernel.batched)
    table = b.getBuffer(kernel.tableBuffer);
  for (const FlatTensor &operand : kernel.operands)
    operands.push_back(operand.bind(b));
}

void GemvEmitter::emitTask(Value task) {
  Value chunks = b.getParam(kernel.chunks), chunk = b.getParam(kernel.chunk);
  Value image = b.div(task, chunks);
  Value first = b.mul(b.rem(task, chunks), chunk);
  Value count = b.minS(chunk, b.sub(b.getParam(kernel.size), first));
  Value matrix = matrices, vector = vectors;
  if (kernel.batched) {
    Value entry = b.offset(table, b.mul(image, 16));
    matrix = b.offset(matrix, b.load(entry, b.i64()));
    vector = b.offset(vector, b.load(b.offset(entry, 8), b.i64()));
  }
  if (kernel.isDot)
    emitDots(matrix, vector, first, count);
  else
    emitSums(matrix, vector, first, count);
  emitEpilogue(image, first, count);
}

Value GemvEmitter::load(Value pointer, Value index) {
  return b.loadConverted(kernel.dtype, b.offset(pointer, elements(index)),
                         b.lanes());
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

void GemvEmitter::emitDots(Value matrix, Value vector, Value first,
                           Value count) {
  Value lineBytes = elements(b.getParam(kernel.depth));
  Value lines = b.offset(matrix, b.mul(first, lineBytes));
  Value whole = b.mul(b.div(count, kStreams), kStreams);
  b.forLoop(b.cst(0), whole, b.cst(kStreams),
            [&](Value index) { emitDotGroup(lines, vector, index, kStreams); });
  b.forLoop(whole, count, b.cst(1),
            [&](Value index) { emitDotGroup(lines, vector, index, 1); });
}

/// The dot products of lines [index, index + streams) with the vector.
void GemvEmitter::emitDotGroup(Value lines, Value vector, Value index,
                               int64_t streams) {
  int64_t lanes = b.lanes();
  Value depth = b.getParam(kernel.depth), lineBytes = elements(depth);
  SmallVector<Value> pointers = {b.offset(lines, b.mul(index, lineBytes))};
  for (int64_t s = 1; s < streams; ++s)
    pointers.push_back(b.offset(pointers.back(), lineBytes));
  // Each stream has one chain of additions per step.
  SmallVector<Value> chains(streams * kUnroll, b.cstLike(type, 0));
  Value step = b.cst(kUnroll * lanes);
  Value unrolled = b.mul(b.div(depth, step), step);
  chains = b.forLoop(b.cst(0), unrolled, step, chains,
                     [&](Value k, ValueRange before) {
                       SmallVector<Value> after;
                       for (int64_t u = 0; u < kUnroll; ++u) {
                         Value at = b.add(k, u * lanes), x = load(vector, at);
                         for (int64_t s = 0; s < streams; ++s)
                           after.push_back(b.fma(load(pointers[s], at), x,
                                                 before[u * streams + s]));
                       }
                       return after;
                     });
  SmallVector<Value> totals(chains.begin(), chains.begin() + streams);
  for (int64_t u = 1; u < kUnroll; ++u)
    for (int64_t s = 0; s < streams; ++s)
      totals[s] = b.addF(totals[s], chains[u * streams + s]);
  totals = b.forLoop(
      unrolled, depth, b.cst(lanes), totals, [&](Value k, ValueRange before) {
        // Elements behind the last one must be zero in both operands, since
        // zero times infinity is NaN.
        Value mask = b.firstLanes(b.sub(depth, k), lanes);
        Value zero = b.cstLike(type, 0);
        Value x = b.select(mask, load(vector, k), zero);
        SmallVector<Value> after;
        for (int64_t s = 0; s < streams; ++s)
          after.push_back(
              b.fma(b.select(mask, load(pointers[s], k), zero), x, before[s]));
        return after;
      });
  for (auto [s, total] : llvm::enumerate(totals))
    b.store(b.reduceAdd(total),
            b.offset(sums, b.mul(b.add(index, static_cast<int64_t>(s)), 4)));
}

//===----------------------------------------------------------------------===//
// Sums of lines
//===----------------------------------------------------------------------===//

void GemvEmitter::emitSums(Value matrix, Value vector, Value first,
                           Value count) {
  int64_t lanes = b.lanes();
  Value depth = b.getParam(kernel.depth);
  Value lineBytes = elements(b.getParam(kernel.size));
  Value lines = b.offset(matrix, elements(first));
  Value zero = b.cstLike(type, 0);
  b.forLoop(b.cst(0), count, b.cst(lanes),
            [&](Value i) { b.store(zero, b.offset(sums, b.mul(i, 4))); });
  auto add = [&](Value k, int64_t streams) {
    addLines(b.offset(lines, b.mul(k, lineBytes)),
             b.offset(vector, elements(k)), count, streams);
  };
  Value whole = b.mul(b.div(depth, kStreams), kStreams);
  b.forLoop(b.cst(0), whole, b.cst(kStreams),
            [&](Value k) { add(k, kStreams); });
  b.forLoop(whole, depth, b.cst(1), [&](Value k) { add(k, 1); });
}

/// sums += the lines, each times an element of the vector. Whole vectors are
/// added: the sums behind the last one are ignored.
void GemvEmitter::addLines(Value lines, Value vector, Value count,
                           int64_t streams) {
  int64_t lanes = b.lanes();
  Value lineBytes = elements(b.getParam(kernel.size));
  SmallVector<Value> pointers = {lines}, factors;
  for (int64_t s = 0; s < streams; ++s) {
    Value at = b.offset(vector, s * runtime::dtypeBytes(kernel.dtype));
    factors.push_back(b.broadcast(b.loadConverted(kernel.dtype, at), lanes));
    if (s > 0)
      pointers.push_back(b.offset(pointers.back(), lineBytes));
  }
  b.forLoop(b.cst(0), count, b.cst(lanes), [&](Value i) {
    Value place = b.offset(sums, b.mul(i, 4));
    Value sum = b.load(place, type);
    for (int64_t s = 0; s < streams; ++s)
      sum = b.fma(load(pointers[s], i), factors[s], sum);
    b.store(sum, place);
  });
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

void GemvEmitter::emitEpilogue(Value image, Value first, Value count) {
  int64_t lanes = b.lanes();
  Value start = b.mul(image, b.getParam(kernel.size));
  forVectors(b, b.cst(0), count, lanes, [&](Value i, Value mask) {
    Value inImage = b.add(first, i), place = b.add(start, inImage);
    auto loadOperand = [&](int operand) -> Value {
      size_t index = operand - kernel.firstOperand;
      const BoundFlatTensor &bound = operands[index];
      if (kernel.kinds[index] == AccessKind::Scalar)
        return b.broadcast(bound.load(b, b.cst(0), 1), lanes);
      bool isTensor = kernel.kinds[index] == AccessKind::Tensor;
      return bound.load(b, isTensor ? place : inImage, lanes, mask);
    };
    Value sum = b.load(b.offset(sums, b.mul(i, 4)), type);
    Value value = kernel.epilogue.emit(b, sum, epilogueParams, loadOperand);
    result.store(b, value, place, mask);
  });
}

std::string GemvKernel::symbol() const {
  std::string text =
      joinSymbol({"gemv", isDot ? "dot" : "sum", batched ? "batch" : "",
                  runtime::dtypeName(dtype), epilogue.symbolPart()});
  for (auto [kind, operand] : llvm::zip_equal(kinds, operands))
    text = joinSymbol(
        {text, operand.symbolPart() + (kind == AccessKind::Scalar   ? "s"
                                       : kind == AccessKind::Tensor ? "t"
                                                                    : "c")});
  return joinSymbol({text, "to", result.symbolPart()});
}

void GemvKernel::emit(KernelBuilder &b) const {
  GemvEmitter emitter(b, *this);
  b.forTasks([&](Value task) { emitter.emitTask(task); });
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

static Parts getParts(const Problem &problem) {
  const std::vector<int64_t> &result = problem.result.shape;
  int64_t columns = result.back(), rows = result[result.size() - 2];
  Parts parts{};
  bool isRow = columns != 1;
  parts.matrix = isRow ? 1 : 0;
  parts.vector = isRow ? 0 : 1;
  parts.isDot = isRow ? problem.integer("transpose_rhs")
                      : !problem.integer("transpose_lhs");
  parts.size = isRow ? columns : rows;
  // Two vectors have the same bytes, transposed or not.
  parts.isDot |= parts.size == 1;
  parts.depth = getDepth(problem);
  parts.batch = countMatrices(problem.result);
  // With dot products, columns below each other are one column.
  if (!isRow && parts.isDot && isOneProduct(problem)) {
    parts.size *= parts.batch;
    parts.batch = 1;
  }
  return parts;
}

Applicability Gemv::isApplicable(const Problem &problem,
                                 const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::MatMul)
    return Applicability::no("needs a matrix product");
  const std::vector<int64_t> &result = problem.result.shape;
  if (result.back() != 1 && result[result.size() - 2] != 1)
    return Applicability::no("needs a result of one row or one column");
  const TensorDesc &lhs = problem.operands[0], &rhs = problem.operands[1];
  if (lhs.quantized || rhs.quantized || lhs.dtype != rhs.dtype ||
      !fitsF32(lhs.dtype))
    return Applicability::no("needs two operands of " + listFloats());
  if (!isVectorizable(problem.result))
    return Applicability::no("cannot store the result's dtype");
  for (const TensorDesc &operand : ArrayRef(problem.operands).drop_front(2)) {
    if (!isVectorizable(operand))
      return Applicability::no("cannot read an epilogue operand's dtype");
    if (!igemm::getAccess(problem, operand, /*batched=*/false))
      return Applicability::no("an epilogue operand broadcasts otherwise than "
                               "per column");
  }
  return Applicability::yes();
}

/// The first bytes of the matrix and of the vector for each result.
static ConstantPlan makeTable(const Problem &problem, const Parts &parts) {
  const TensorDesc &matrix = problem.operands[parts.matrix],
                   &vector = problem.operands[parts.vector];
  std::vector<int64_t> matrixOf = getMatrixIndices(matrix, problem.result),
                       vectorOf = getMatrixIndices(vector, problem.result);
  int64_t bytes = runtime::dtypeBytes(matrix.dtype);
  std::vector<int64_t> table;
  for (auto [m, v] : llvm::zip_equal(matrixOf, vectorOf)) {
    table.push_back(m * parts.size * parts.depth * bytes);
    table.push_back(v * parts.depth * bytes);
  }
  return {[table](const ConstantOperands &) {
    std::vector<char> contents(table.size() * sizeof(int64_t));
    std::memcpy(contents.data(), table.data(), contents.size());
    return contents;
  }};
}

/// The number of results per task: enough tasks for all threads, each of about
/// 64 KiB of the matrix or more, and in whole vectors.
static int64_t chooseChunk(const Parts &parts, const TargetInfo &target) {
  int64_t wanted = llvm::divideCeil(getWantedTasks(target), parts.batch);
  int64_t chunk = llvm::divideCeil(parts.size, wanted);
  int64_t least = llvm::divideCeil(int64_t(16384), parts.depth);
  chunk = std::clamp<int64_t>(std::max(chunk, least), 64, kMaxChunk);
  return llvm::alignTo(std::min(chunk, parts.size), 16);
}

SolutionPlan Gemv::plan(const Problem &problem, const TargetInfo &target,
                        const PerfConfig & /*config*/) const {
  Parts parts = getParts(problem);
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  std::vector<AccessKind> kinds;
  std::vector<FlatTensor> operands;
  for (size_t i = 2; i < problem.operands.size(); ++i) {
    kinds.push_back(
        *igemm::getAccess(problem, problem.operands[i], /*batched=*/false));
    operands.emplace_back(
        launch, BufferSlot{BufferSlot::Operand, static_cast<int64_t>(i)},
        problem.operands[i]);
  }
  bool batched = parts.batch > 1;
  int64_t chunk = chooseChunk(parts, target);
  int64_t chunks = llvm::divideCeil(parts.size, chunk);
  GemvKernel kernel{
      .dtype = problem.operands[0].dtype,
      .isDot = parts.isDot,
      .batched = batched,
      .kinds = kinds,
      .operands = operands,
      .result = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .epilogue = launch.addEpilogue(problem),
      .firstOperand = problem.rootOperands,
      .matrixBuffer = launch.addOperand(parts.matrix),
      .vectorBuffer = launch.addOperand(parts.vector),
      .tableBuffer =
          batched ? launch.addConstant(makeTable(problem, parts)) : 0,
      .size = launch.addParam(parts.size),
      .depth = launch.addParam(parts.depth),
      .chunk = launch.addParam(chunk),
      .chunks = launch.addParam(chunks)};
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      parts.batch * chunks, chunk * 4 + 64);
  return plan;
}

const Solver &tarpon::getGemv() {
  static const Gemv solver;
  return solver;
}
