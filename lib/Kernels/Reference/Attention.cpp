//===- Attention.cpp - Reference attention --------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As GPUs run it too, there is no scratch in which a row of scores could be
// kept. They are computed twice for each few channels of the result: for the
// largest one, and for the probabilities.
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Nest.h"
#include "Reference.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

/// The channels of the result that share the scores.
static constexpr int64_t kChannels = 16;

namespace {

struct AttentionKernel {
  bool causal;
  int64_t rank;
  ComputeKind kind;
  TensorAccess query, key, value;
  std::optional<TensorAccess> mask;
  OutputAccess output;
  ElementLoop loop;                       ///< over rows of few channels
  int64_t keys, channels, resultChannels; ///< parameters
  int64_t ahead;                          ///< parameter: keys - queries
  int64_t scale;                          ///< parameter

  std::string symbol() const;
  void emit(KernelBuilder &b) const;
};

/// One row of scores, for some channels of the result.
struct Row {
  KernelBuilder &b;
  const AttentionKernel &kernel;
  BoundTensor query, key, value;
  std::optional<BoundTensor> mask;
  SmallVector<Value> place; ///< of the query
  Value keys;               ///< that it sees

  /// The place of the query with other indices of the last two dimensions.
  SmallVector<Value> at(Value position, Value channel) const;
  Value emitScore(Value index) const;
  Value emitLargest() const;
  /// The sum of exp(score - largest), and those of its products with channels
  /// of the value from `channel` on, but none behind `last`.
  SmallVector<Value> emitSums(Value largest, Value channel, Value last) const;
};

} // namespace

SmallVector<Value> Row::at(Value position, Value channel) const {
  SmallVector<Value> indices(place);
  indices[kernel.rank - 2] = position;
  indices[kernel.rank - 1] = channel;
  return indices;
}

Value Row::emitScore(Value index) const {
  Value position = place[kernel.rank - 2];
  auto addProducts = [&](Value first, ValueRange sums) {
    PartialSums next;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value channel = b.add(first, static_cast<int64_t>(i));
      Value product = b.mulF(query.load(b, at(position, channel)),
                             key.load(b, at(index, channel)));
      next.push_back(b.addF(sum, product));
    }
    return next;
  };
  PartialSums sums = reference::emitSums(
      b, b.getParam(kernel.channels),
      startSums(b, /*quantized=*/false, kernel.kind), addProducts);
  Value score = b.mulF(addUp(b, /*quantized=*/false, sums),
                       getReal(b, kernel.kind, kernel.scale));
  return mask ? b.addF(score, mask->load(b, at(position, index))) : score;
}

Value Row::emitLargest() const {
  Value least = b.cstLike(computeTypeOf(b, kernel.kind),
                          -std::numeric_limits<double>::infinity());
  return b
      .forLoop(b.cst(0), keys, b.cst(1), least,
               [&](Value index, ValueRange soFar) {
                 return SmallVector<Value>{
                     b.maxF(emitScore(index), soFar.front())};
               })
      .front();
}

SmallVector<Value> Row::emitSums(Value largest, Value channel,
                                 Value last) const {
  Value zero = b.cstLike(getSumType(b, kernel.kind), 0);
  SmallVector<Value> sums = b.forLoop(
      b.cst(0), keys, b.cst(1), SmallVector<Value>(1 + kChannels, zero),
      [&](Value index, ValueRange soFar) {
        Value weight = emitExp(b, b.subF(emitScore(index), largest));
        SmallVector<Value> next = {addToSum(b, soFar.front(), weight)};
        for (int64_t c = 0; c < kChannels; ++c) {
          Value x = value.load(b, at(index, b.minS(b.add(channel, c), last)));
          next.push_back(addToSum(b, soFar[1 + c], b.mulF(weight, x)));
        }
        return next;
      });
  for (Value &sum : sums)
    sum = finishSum(b, sum, kernel.kind);
  return sums;
}

void AttentionKernel::emit(KernelBuilder &b) const {
  Row row{b, *this, query.bind(b), key.bind(b), value.bind(b), {}, {}, {}};
  if (mask)
    row.mask = mask->bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    row.place.assign(place.begin(), place.end());
    row.keys = b.getParam(keys);
    if (causal)
      row.keys = b.add(b.add(place[rank - 2], b.getParam(ahead)), 1);
    Value first = b.mul(place.back(), kChannels);
    Value end = b.getParam(resultChannels);
    SmallVector<Value> sums =
        row.emitSums(row.emitLargest(), first, b.sub(end, 1));
    for (int64_t c = 0; c < kChannels; ++c) {
      Value channel = b.add(first, c);
      b.ifThen(b.slt(channel, end), [&] {
        out.store(b, row.at(place[rank - 2], channel),
                  b.divF(sums[1 + c], sums.front()));
      });
    }
  });
}

std::string AttentionKernel::symbol() const {
  return joinSymbol({"ref_attention", causal ? "causal" : "",
                     query.symbolPart(), key.symbolPart(), value.symbolPart(),
                     mask ? mask->symbolPart() : "none", output.symbolPart()});
}

SolutionPlan reference::planAttention(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ArrayRef<int64_t> query = problem.operands[0].shape,
                    key = problem.operands[1].shape;
  int64_t rank = problem.result.rank(), queries = query[rank - 2],
          keys = key[rank - 2];
  std::vector<int64_t> rows = problem.result.shape;
  rows.back() = llvm::divideCeil(rows.back(), kChannels);
  std::optional<TensorAccess> mask;
  if (problem.rootOperands > 3)
    mask = accessOperand(launch, problem, 3, getScoresShape(query, key));
  ComputeKind kind = computeKindOf(problem);
  AttentionKernel kernel{
      .causal = problem.integer("causal") != 0,
      .rank = rank,
      .kind = kind,
      .query = accessOperand(launch, problem, 0, query),
      .key = accessOperand(launch, problem, 1, key),
      .value = accessOperand(launch, problem, 2, problem.operands[2].shape),
      .mask = mask,
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, rows,
                          4.0 * static_cast<double>(keys) *
                              static_cast<double>(query.back() + kChannels)),
      .keys = launch.addParam(keys),
      .channels = launch.addParam(query.back()),
      .resultChannels = launch.addParam(problem.result.shape.back()),
      .ahead = launch.addParam(keys - queries),
      .scale = addReal(launch, kind, problem.number("scale"))};
  int64_t tasks = kernel.loop.tasks();
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
