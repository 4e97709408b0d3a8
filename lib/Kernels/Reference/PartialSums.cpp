//===- PartialSums.cpp - Independent partial sums -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

using reference::PartialSums;

Value reference::Run::offsetOf(KernelBuilder &b, int64_t index) const {
  Value place = b.add(first, index);
  return b.add(offset, tensor.dimOffset(b, dim, place));
}

PartialSums reference::startSums(KernelBuilder &b, bool quantized,
                                 ComputeKind kind) {
  Value zero = quantized ? b.cst(0) : b.cstLike(computeTypeOf(b, kind), 0);
  return PartialSums(kNumPartialSums, zero);
}

PartialSums reference::emitSums(KernelBuilder &b, Value count, ValueRange sums,
                                AddTerms add) {
  Value step = b.cst(static_cast<int64_t>(sums.size()));
  Value end = b.mul(b.div(count, step), step);
  PartialSums result = b.forLoop(b.cst(0), end, step, sums, add);
  result.front() = b.forLoop(end, count, b.cst(1), result.front(), add).front();
  return result;
}

PartialSums reference::emitProducts(KernelBuilder &b, bool quantized,
                                    const Run &lhs, const Run &rhs,
                                    ValueRange sums) {
  PartialSums next;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    auto i = static_cast<int64_t>(index);
    Value l = lhs.offsetOf(b, i);
    Value r = rhs.offsetOf(b, i);
    next.push_back(
        emitMultiplyAdd(b, quantized, lhs.tensor, l, rhs.tensor, r, sum));
  }
  return next;
}

Value reference::addUp(KernelBuilder &b, bool quantized, ValueRange sums) {
  static_assert(llvm::isPowerOf2_64(kNumPartialSums), "they are paired");
  PartialSums left(sums);
  while (left.size() > 1) {
    PartialSums pairs;
    for (size_t i = 0; i + 1 < left.size(); i += 2)
      pairs.push_back(quantized ? b.add(left[i], left[i + 1])
                                : b.addF(left[i], left[i + 1]));
    left = std::move(pairs);
  }
  return left.front();
}
