//===- Interleave.cpp - Vectors of alternating elements -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interleave.h"

using namespace mlir;
using namespace tarpon;

Value tarpon::emitInterleaved(KernelBuilder &b, ArrayRef<Value> planes,
                              int64_t part, int64_t lanes) {
  int64_t count = static_cast<int64_t>(planes.size());
  Value merged = planes[0];
  for (int64_t plane = 0; plane < count; ++plane) {
    SmallVector<int64_t> pattern;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t flat = part * lanes + lane;
      // The elements of other planes stay; those of plane 0 are spread out
      // first.
      bool isMine = flat % count == plane;
      int64_t kept = plane == 0 ? flat / count : lane;
      pattern.push_back(isMine && plane > 0 ? lanes + flat / count : kept);
    }
    merged = b.shuffle(merged, planes[plane], pattern);
  }
  return merged;
}
