//===- Nest.cpp - Nested loops with carried values ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"

#include "Common/TensorAccess.h"

using namespace mlir;
using namespace tarpon;

SmallVector<Value> reference::emitNest(KernelBuilder &b, ArrayRef<Value> sizes,
                                       SmallVector<Value> indices,
                                       ValueRange carried, NestBody body) {
  size_t dim = 0;
  while (dim < indices.size() && indices[dim])
    ++dim;
  if (dim == indices.size())
    return body(indices, carried);
  return b.forLoop(b.cst(0), sizes[dim], b.cst(1), carried,
                   [&](Value i, ValueRange inner) {
                     SmallVector<Value> next = indices;
                     next[dim] = i;
                     return emitNest(b, sizes, std::move(next), inner, body);
                   });
}

Type reference::getSumType(KernelBuilder &b, ComputeKind kind) {
  Type type = computeTypeOf(b, kind);
  return type == b.f32() ? b.getF64Type() : type;
}

Value reference::addToSum(KernelBuilder &b, Value sum, Value term) {
  Type type = sum.getType();
  if (!isa<FloatType>(type))
    return b.add(sum, term);
  if (term.getType() != type)
    term = arith::ExtFOp::create(b, type, term);
  return b.addF(sum, term);
}

Value reference::finishSum(KernelBuilder &b, Value sum, ComputeKind kind) {
  Type type = computeTypeOf(b, kind);
  if (sum.getType() == type)
    return sum;
  return arith::TruncFOp::create(b, type, sum);
}

Value reference::emitNestSum(KernelBuilder &b, ComputeKind kind,
                             ArrayRef<Value> sizes, SmallVector<Value> indices,
                             function_ref<Value(ArrayRef<Value>)> term) {
  Value zero = b.cstLike(getSumType(b, kind), 0);
  Value sum = emitNest(b, sizes, std::move(indices), zero,
                       [&](ArrayRef<Value> at, ValueRange soFar) {
                         return SmallVector<Value>{
                             addToSum(b, soFar.front(), term(at))};
                       })
                  .front();
  return finishSum(b, sum, kind);
}
