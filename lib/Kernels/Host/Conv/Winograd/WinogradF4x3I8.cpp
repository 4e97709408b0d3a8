//===- WinogradF4x3I8.cpp - F(4 x 4, 3 x 3) of bytes ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of bytes are transformed to integers of 16 bits, of which an
// instruction multiplies half as many as of bytes; there are a quarter of the
// products. Sums of 32 bits are exact; what follows is computed in f32:
//
// - The points 1 and 2 make B^T a matrix of integers, whose rows add up to 10
//   at most. Bytes less their zero point become at most 17340.
// - The rows of G are those of integers, (1, p, p^2) and (0, 0, 1), times a
//   factor of the point. Without it, a filter of i8 becomes at most 6272.
// - A sum of products fits 32 bits for 64 channels of any filter and input; for
//   how many of the filter at hand, its packing counts. Longer ones are added
//   up in f32.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "Winograd.h"

using namespace mlir;
using namespace tarpon;

namespace {
class WinogradF4x3I8 final : public winograd::WinogradSolver {
public:
  WinogradF4x3I8()
      : WinogradSolver(winograd::Transform({1, 2}), /*maxChannels=*/4096,
                       /*isInteger=*/true) {}

  StringRef id() const override { return "conv-winograd-f4x3-i8-v1"; }
};
} // namespace

const Solver &tarpon::getWinogradF4x3I8() {
  static const WinogradF4x3I8 solver;
  return solver;
}
