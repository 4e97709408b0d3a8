//===- WinogradF2x3.cpp - F(2 x 2, 3 x 3) ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 16 products for 4 outputs, 2.25 times fewer than direct. Its filter is half
// as large as that of F(4 x 4), which is for layers with few pixels. The
// relative L2 error stays below that of a direct sum (Transform.h): no filter
// in use reaches 1e-5.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "Winograd.h"

using namespace mlir;
using namespace tarpon;

namespace {
class WinogradF2x3 final : public winograd::WinogradSolver {
public:
  WinogradF2x3()
      : WinogradSolver(winograd::Transform({1}), /*maxChannels=*/65536) {}

  StringRef id() const override { return "conv-winograd-f2x3-v1"; }
};
} // namespace

const Solver &tarpon::getWinogradF2x3() {
  static const WinogradF2x3 solver;
  return solver;
}
