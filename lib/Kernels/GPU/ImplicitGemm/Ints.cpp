//===- Ints.cpp - Arithmetic on i32 in GPU kernels ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ints.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

Value Ints::from(Value wide) {
  if (wide.getType().isInteger(32))
    return wide;
  return b.createOrFold<arith::TruncIOp>(type(), wide);
}

Value Ints::widen(Value value) {
  return arith::ExtUIOp::create(b, b.getI64Type(), value);
}

Value Ints::exclusiveOr(Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(x, y);
}
