//===- WinogradF4x3.cpp - F(4 x 4, 3 x 3) ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 36 products for 16 outputs, 4 times fewer than direct. The relative L2 error
// is about twice that of a direct sum: 7.8e-7 for 64 channels, and grows with
// their root (Transform.h): 6.2e-6 for 4096.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "Winograd.h"

using namespace mlir;
using namespace tarpon;

namespace {
class WinogradF4x3 final : public winograd::WinogradSolver {
public:
  WinogradF4x3()
      : WinogradSolver(winograd::Transform({5.0 / 8, 3.0 / 2}),
                       /*maxChannels=*/4096) {}

  StringRef id() const override { return "conv-winograd-f4x3-v1"; }
};
} // namespace

const Solver &tarpon::getWinogradF4x3() {
  static const WinogradF4x3 solver;
  return solver;
}
