//===- GpuOutputTest.cpp - Epilogues that saturation replaces -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPU/GpuOutput.h"

#include "gtest/gtest.h"

using namespace tarpon;

/// The number of steps that are left of an epilogue, for a result of bytes.
static size_t countSteps(const char *dtype, const char *epilogue, double scale,
                         int64_t zeroPoint) {
  std::string tensor = std::string("1x8x4x4x") + dtype + ":nhwc";
  std::string key = "sigmoid(" + tensor + ")->" + tensor + " | " + epilogue;
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
  problem->result.scales = {static_cast<float>(scale)};
  problem->result.zeroPoint = zeroPoint;
  return dropSaturatedSteps(*problem).epilogue.size();
}

TEST(GpuOutput, dropsStepsThatSaturationReplaces) {
  EXPECT_EQ(countSteps("u8q", "relu", 0.1, 0), 0u);
  EXPECT_EQ(countSteps("i8q", "relu", 0.1, -128), 0u);
  EXPECT_EQ(countSteps("u8q", "clip{high=6 low=0}", 5.9 / 255, 0), 0u);
  EXPECT_EQ(countSteps("u8q", "relu | relu", 0.1, 0), 0u);
  // Numbers below zero, or above the limit, have bytes of their own.
  EXPECT_EQ(countSteps("u8q", "relu", 0.1, 1), 1u);
  EXPECT_EQ(countSteps("i8q", "relu", 0.1, 0), 1u);
  EXPECT_EQ(countSteps("u8q", "clip{high=6 low=0}", 6.1 / 255, 0), 1u);
  EXPECT_EQ(countSteps("f16", "relu", 1, 0), 1u);
  // Only at the end, and only limits.
  EXPECT_EQ(countSteps("u8q", "relu | neg", 0.1, 0), 2u);
  EXPECT_EQ(countSteps("u8q", "neg | relu", 0.1, 0), 1u);
}
