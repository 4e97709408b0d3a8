//===- AxisLoop.cpp - Vectors along or across one dimension ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisLoop.h"

#include "Common/TensorAccess.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;

/// The number of vectors of lines that are processed together.
static constexpr int64_t kVectors = 4;

/// The most elements of a line: their intermediate values must fit into
/// scratch.
static constexpr int64_t kMaxRow = 1 << 20, kMaxColumn = 1 << 14;

AxisLoop::AxisLoop(LaunchBuilder &launch, const TensorDesc &desc, int64_t axis,
                   const TargetInfo &target) {
  int64_t length = desc.shape[axis];
  int64_t stride = getStrides(desc)[axis];
  int64_t outer = desc.numElements() / (length * stride);
  isRow = stride == 1;
  int64_t together = isRow ? 1 : kVectors * target.lanes();
  int64_t numBlocks = isRow ? 1 : llvm::divideCeil(stride, together);
  int64_t each = getItemsPerTask(length * together);
  size = launch.addParam(length);
  inner = launch.addParam(stride);
  blocks = launch.addParam(numBlocks);
  items = launch.addParam(outer * numBlocks);
  perTask = launch.addParam(each);
  numTasks = llvm::divideCeil(outer * numBlocks, each);
  // The last vector of a row is stored as a whole.
  constexpr int64_t kWidestVector = 64;
  scratch = length * together * 4 + kWidestVector;
}

Applicability AxisLoop::check(const TensorDesc &desc, int64_t axis) {
  if (desc.layout.kind == Layout::Blocked)
    return Applicability::no("needs nchw or nhwc");
  bool isRow = getStrides(desc)[axis] == 1;
  if (desc.shape[axis] > (isRow ? kMaxRow : kMaxColumn))
    return Applicability::no("has too many elements along the axis");
  return Applicability::yes();
}

AxisVector AxisLoop::Lines::getRowVector(Value i, Value tail) const {
  AxisVector vector;
  vector.place.offset = b.add(start, i);
  vector.place.channel = i;
  vector.place.lanesAreChannels = true;
  vector.place.lanes = b.lanes();
  vector.place.mask = tail;
  vector.scratchAt = b.mul(i, 4);
  return vector;
}

AxisVector AxisLoop::Lines::getColumnVector(Value j, int64_t v) const {
  int64_t lanes = b.lanes();
  AxisVector vector;
  Value row = b.mul(j, b.getParam(loop.inner));
  vector.place.offset = b.add(b.add(start, row), v * lanes);
  vector.place.lanes = lanes;
  vector.place.mask = mask;
  vector.scratchAt = b.add(b.mul(j, vectors * lanes * 4), v * lanes * 4);
  vector.group = v;
  return vector;
}

AxisLoop::Groups AxisLoop::Lines::fold(FoldKind kind, Term term) const {
  int64_t lanes = b.lanes();
  double neutral =
      kind == FoldKind::Sum ? 0 : -std::numeric_limits<double>::infinity();
  Value first = b.cstLike(b.vec(b.getF32Type(), lanes), neutral);
  Value count = b.getParam(loop.size);
  auto combine = [&](ValueRange left, ValueRange right) {
    Groups combined;
    for (auto [l, r] : llvm::zip_equal(left, right))
      combined.push_back(kind == FoldKind::Sum ? b.addF(l, r) : b.maxF(l, r));
    return combined;
  };
  if (!loop.isRow)
    return emitBlockedFold(
        b, b.cst(0), count, /*step=*/1, Groups(vectors, first),
        [&](Value j, ValueRange soFar) {
          Groups next;
          for (int64_t v = 0; v < vectors; ++v)
            next.push_back(term(getColumnVector(j, v), soFar[v]));
          return next;
        },
        combine);
  FoldSteps steps{.neutral = {first},
                  .step =
                      [&](Value i, Value tail, ValueRange soFar) {
                        Value next = term(getRowVector(i, tail), soFar.front());
                        return Groups{
                            selectLanes(b, tail, next, soFar.front())};
                      },
                  .combine = combine};
  Value folded = emitFold(b, b.cst(0), count, steps).front();
  folded = kind == FoldKind::Sum ? b.reduceAdd(folded) : b.reduceMax(folded);
  return {b.broadcast(folded, lanes)};
}

void AxisLoop::Lines::forEach(
    function_ref<void(const AxisVector &)> body) const {
  Value count = b.getParam(loop.size);
  if (loop.isRow)
    return forVectors(b, b.cst(0), count, b.lanes(), [&](Value i, Value tail) {
      body(getRowVector(i, tail));
    });
  b.forLoop(count, [&](Value j) {
    for (int64_t v = 0; v < vectors; ++v)
      body(getColumnVector(j, v));
  });
}

void AxisLoop::emit(KernelBuilder &b,
                    function_ref<void(const Lines &)> body) const {
  int64_t lanes = b.lanes();
  Value length = b.getParam(size), stride = b.getParam(inner);
  forItems(b, items, perTask, [&](Value item) {
    if (isRow)
      return body(Lines(b, *this, b.mul(item, length), 1, Value()));
    Value numBlocks = b.getParam(blocks);
    Value start = b.mul(b.div(item, numBlocks), b.mul(length, stride));
    Value first = b.mul(b.rem(item, numBlocks), kVectors * lanes);
    Value last = b.minS(b.add(first, kVectors * lanes), stride);
    b.ifThenElse(
        b.eq(b.sub(last, first), b.cst(kVectors * lanes)),
        [&] { body(Lines(b, *this, b.add(start, first), kVectors, Value())); },
        [&] {
          b.forLoop(first, last, b.cst(lanes), [&](Value i) {
            Value mask = b.firstLanes(b.sub(last, i), lanes);
            body(Lines(b, *this, b.add(start, i), 1, mask));
          });
        });
  });
}
