//===- GpuFusedConvTest.cpp - Which producers are fused -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "gtest/gtest.h"

using namespace tarpon;

static const char *const kTail =
    " | conv(3){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}";

static std::string getReason(const std::string &key, const char *solver) {
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
  if (mlir::failed(problem))
    return fault;
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("sm_90a"));
  return checkApplicable(*findSolver(solver), *problem, target)
      .getReason()
      .str();
}

TEST(GpuFusedConv, saysWhatItDoesNotTake) {
  const std::string depthwise =
      "{dilations=1,1 group=16 pads=1,1,1,1 strides=1,1}";
  struct Case {
    std::string key, reason;
  };
  const Case cases[] = {
      {"conv(1x16x8x8xf16:nhwc, 16x1x3x3xf16:const; 1x16x1x1xf32:const, "
       "24x16x1x1xf16:const)->1x24x8x8xf16:nhwc " +
           depthwise + " | add(2)" + kTail,
       ""},
      {"relu(1x16x8x8xf16:nhwc)->1x16x8x8xf16:nhwc",
       "needs a producer of the convolution's input"},
      {"relu(1x16x8x8xf16; 24x16x1x1xf16:const)->1x24x8x8xf16 | "
       "conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "the producer needs nhwc"},
      {"relu(1x16x8xf16; 24x16x1xf16:const)->1x24x8xf16 | conv(1){dilations=1 "
       "group=1 pads=0,0 strides=1}",
       "the producer needs two spatial dimensions"},
      {"avg_pool(1x16x8x8xf16:nhwc; 24x16x1x1xf16:const)->1x24x8x8xf16:nhwc "
       "{ceil_mode=0 count_include_pad=0 dilations=1,1 kernel=3,3 pads=1,1,1,1 "
       "strides=1,1} | conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "the producer is neither depthwise nor elementwise"},
      {"relu(1x16x8x8xf16:nhwc; 24x16x3x3xf16:const)->1x24x8x8xf16:nhwc | "
       "conv(1){dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}",
       "needs a 1x1 convolution with a stride of 1"},
      {"relu(1x16x8x8xf16:nhwc; 24x16x1x1xf16)->1x24x8x8xf16:nhwc | "
       "conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "needs a constant filter"},
      {"relu(1x12x8x8xf16:nhwc; 24x12x1x1xf16:const)->1x24x8x8xf16:nhwc | "
       "conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "needs channels in whole chunks of 16 bytes"},
      {"relu(1x16x8x8xf16:nhwc; 24x16x1x1xf16:const)->1x24x8x8xf32:nhwc | "
       "conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "has a result of more bits than the value between the two"},
      {"erf(1x16x8x8xf16:nhwc; 24x16x1x1xf16:const)->1x24x8x8xf16:nhwc | "
       "conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "the producer has a step that takes many registers"},
      {"add(1x16x8x8xf16:nhwc, 1x16x8x8xf16:nhwc; 24x16x1x1xf16:const)->"
       "1x24x8x8xf16:nhwc | conv(2){dilations=1,1 group=1 pads=0,0,0,0 "
       "strides=1,1}",
       "the producer has an operand other than numbers for each channel"},
      {"conv(1x16x8x8xf16:nhwc, 16x1x5x5xf16:const; 24x16x1x1xf16:const)->"
       "1x24x8x8xf16:nhwc {dilations=1,1 group=16 pads=2,2,2,2 strides=1,1} | "
       "conv(2){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "the producer has more than 16 cells"},
      {"conv(1x16x8x8xf16:nhwc, 16x1x3x3xf32:const; 24x16x1x1xf16:const)->"
       "1x24x8x8xf16:nhwc " +
           depthwise +
           " | conv(2){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       "the producer has a filter of another dtype"}};
  for (const auto &[key, reason] : cases)
    EXPECT_EQ(getReason(key, "gpu-fused-conv-v1"), reason) << key;
}

TEST(GpuSeparate, needsTwoOperations) {
  EXPECT_EQ(getReason("relu(1x16x8x8xf16:nhwc)->1x16x8x8xf16:nhwc",
                      "gpu-separate-v1"),
            "needs two operations");
}
