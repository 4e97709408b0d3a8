//===- Scalars.h - Single elements of constants as C++ numbers --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IR_SCALARS_H
#define TARPON_LIB_IR_SCALARS_H

#include "mlir/IR/Types.h"

#include <cstdint>

namespace tarpon::detail {

/// Reads and writes one element of some type, at any address. Stores to floats
/// round to nearest even; stores of floats to integers truncate towards zero,
/// saturate, and turn NaN into 0; stores to i1 compare with zero.
struct ScalarAccess {
  int64_t bytes;
  double (*loadDouble)(const char *);
  void (*storeDouble)(char *, double);
  /// Null for floats. Stores wrap.
  int64_t (*loadInteger)(const char *);
  void (*storeInteger)(char *, int64_t);

  bool isInteger() const { return loadInteger != nullptr; }
};

/// The access to elements of that type, or null for types that constants do not
/// hold.
const ScalarAccess *getScalarAccess(mlir::Type elementType);

} // namespace tarpon::detail

#endif // TARPON_LIB_IR_SCALARS_H
