//===- Nest.cpp - Nested loops with carried values ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"

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
