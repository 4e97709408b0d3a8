//===- SpillProblems.cpp - Convolutions for the test of spills ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpillProblems.h"

#include "ProblemGenerator.h"

#include <gtest/gtest.h>

using namespace tarpon;
using namespace tarpon::test;

/// Dtypes, layouts and epilogues as networks have them, and shapes for which
/// solvers prefer different tiles: many and few pixels and channels.
static const char *const kProblems[] = {
    // fp32: stem, 3x3, wide and narrow 1x1 with the sum of a residual block
    "conv(1x3x224x224xf32:nhwc, 64x3x7x7xf32:const; 1x64x1x1xf32:const)->"
    "1x64x112x112xf32:nhwc {dilations=1,1 group=1 pads=3,3,3,3 strides=2,2} | "
    "add(2) | relu",
    "conv(1x3x224x224xf32, 64x3x7x7xf32:const; 1x64x1x1xf32:const)->"
    "1x64x112x112xf32 {dilations=1,1 group=1 pads=3,3,3,3 strides=2,2} | "
    "add(2) | relu",
    "conv(1x128x28x28xf32:nhwc, 128x128x3x3xf32:const; 1x128x1x1xf32:const)->"
    "1x128x28x28xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x128x28x28xf32, 128x128x3x3xf32:const; 1x128x1x1xf32:const)->"
    "1x128x28x28xf32 {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x512x7x7xf32:nhwc, 512x512x3x3xf32:const; 1x512x1x1xf32:const)->"
    "1x512x7x7xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | clip {high=6 low=0}",
    "conv(1x256x14x14xf32:nhwc, 1024x256x1x1xf32:const; 1x1024x1x1xf32:const, "
    "1x1024x14x14xf32:nhwc)->1x1024x14x14xf32:nhwc {dilations=1,1 group=1 "
    "pads=0,0,0,0 strides=1,1} | add(2) | add(3,swapped) | relu",
    "conv(1x96x56x56xf32:nhwc, 24x96x1x1xf32:const; 1x24x1x1xf32:const)->"
    "1x24x56x56xf32:nhwc {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | "
    "add(2)",
    "conv(1x64x28x28xf32:nchw16c, 64x64x3x3xf32:const; 1x64x1x1xf32:const)->"
    "1x64x28x28xf32:nchw16c {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | leaky_relu {alpha=0.125}",
    "conv(1x256x28x28xf32:nhwc, 256x256x3x3xf32:const; 1x256x1x1xf32:const)->"
    "1x256x28x28xf32:nhwc {dilations=2,2 group=1 pads=2,2,2,2 strides=1,1} | "
    "add(2) | relu",
    "conv(1x256x28x28xf32:nhwc, 256x256x3x3xf32:const; 1x256x1x1xf32:const)->"
    "1x256x28x28xf32:nhwc {dilations=24,24 group=1 pads=24,24,24,24 "
    "strides=1,1} | add(2) | relu",
    "conv(1x256x28x28xbf16:nhwc, 256x256x3x3xbf16:const)->"
    "1x256x28x28xbf16:nhwc {dilations=24,24 group=1 pads=24,24,24,24 "
    "strides=1,1}",
    // depthwise and grouped
    "conv(1x96x112x112xf32:nhwc, 96x1x3x3xf32:const; 1x96x1x1xf32:const)->"
    "1x96x56x56xf32:nhwc {dilations=1,1 group=96 pads=1,1,1,1 strides=2,2} | "
    "add(2) | clip {high=6 low=0}",
    "conv(1x672x14x14xf32:nhwc, 672x1x5x5xf32:const; 1x672x1x1xf32:const)->"
    "1x672x14x14xf32:nhwc {dilations=1,1 group=672 pads=2,2,2,2 strides=1,1} | "
    "add(2)",
    "conv(1x240x28x28xf32, 240x1x5x5xf32:const; 1x240x1x1xf32:const)->"
    "1x240x28x28xf32 {dilations=1,1 group=240 pads=2,2,2,2 strides=1,1} | "
    "add(2)",
    "conv(1x60x28x28xf32:nhwc, 240x20x1x1xf32:const; 1x240x1x1xf32:const)->"
    "1x240x28x28xf32:nhwc {dilations=1,1 group=3 pads=0,0,0,0 strides=1,1} | "
    "add(2) | relu",
    "conv(1x96x28x28xu8q:nhwc, 96x1x3x3xi8q:const; 1x96x1x1xf32:const)->"
    "1x96x28x28xu8q:nhwc {dilations=1,1 group=96 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x128x56x56xf32:nhwc, 128x4x3x3xf32:const; 1x128x1x1xf32:const)->"
    "1x128x56x56xf32:nhwc {dilations=1,1 group=32 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x256x56x56xf32:nhwc, 256x8x3x3xf32:const; 1x256x1x1xf32:const)->"
    "1x256x28x28xf32:nhwc {dilations=1,1 group=32 pads=1,1,1,1 strides=2,2} | "
    "add(2) | relu",
    "conv(1x1024x7x7xbf16:nhwc, 1024x32x3x3xbf16:const; 1x1024x1x1xf32:const)"
    "->1x1024x7x7xbf16:nhwc {dilations=1,1 group=32 pads=1,1,1,1 strides=1,1} "
    "| add(2) | relu",
    "conv(1x336x14x14xf32:nhwc, 336x24x3x3xf32:const; 1x336x1x1xf32:const)->"
    "1x336x14x14xf32:nhwc {dilations=1,1 group=14 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x256x28x28xf32, 256x8x5x5xf32:const; 1x256x1x1xf32:const)->"
    "1x256x28x28xf32 {dilations=1,1 group=32 pads=2,2,2,2 strides=1,1} | "
    "add(2) | relu",
    // filters of many taps
    "conv(1x64x56x56xf32:nhwc, 64x64x7x7xf32:const; 1x64x1x1xf32:const)->"
    "1x64x56x56xf32:nhwc {dilations=1,1 group=1 pads=3,3,3,3 strides=1,1} | "
    "add(2) | relu",
    "conv(1x64x20x20xf32, 64x64x15x5xf32:const; 1x64x1x1xf32:const)->"
    "1x64x6x16xf32 {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | add(2)",
    "conv(1x128x56x56xf32:nhwc, 128x1x31x31xf32:const; 1x128x1x1xf32:const)->"
    "1x128x56x56xf32:nhwc {dilations=1,1 group=128 pads=15,15,15,15 "
    "strides=1,1} | add(2)",
    // narrower floats
    "conv(1x128x28x28xbf16:nhwc, 128x128x3x3xbf16:const; 1x128x1x1xf32:const)->"
    "1x128x28x28xbf16:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x128x28x28xf16:nhwc, 128x128x3x3xf16:const; 1x128x1x1xf32:const)->"
    "1x128x28x28xf16:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    // int8
    "conv(1x128x28x28xu8q:nhwc, 128x128x3x3xi8q:const; 1x128x1x1xf32:const)->"
    "1x128x28x28xu8q:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | relu",
    "conv(1x256x14x14xu8q:nhwc, 1024x256x1x1xi8q:const; 1x1024x1x1xf32:const, "
    "1x1024x14x14xu8q:nhwc)->1x1024x14x14xu8q:nhwc {dilations=1,1 group=1 "
    "pads=0,0,0,0 strides=1,1} | add(2) | add(3,swapped) | relu",
    "conv(1x128x14x14xi8q, 128x128x3x3xi8q:const; 1x128x1x1xf32:const)->"
    "1x128x14x14xi8q {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2)",
    // activations of many instructions
    "conv(1x40x28x28xf32:nhwc, 240x40x1x1xf32:const; 1x240x1x1xf32:const)->"
    "1x240x28x28xf32:nhwc {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | "
    "add(2) | swish {alpha=1}",
    "conv(1x64x28x28xf32:nhwc, 64x64x3x3xf32:const; 1x64x1x1xf32:const, "
    "1x64x28x28xf32:nhwc)->1x64x28x28xf32:nhwc {dilations=1,1 group=1 "
    "pads=1,1,1,1 strides=1,1} | add(2) | gelu_tanh | add(3)",
    "conv(1x3x224x224xf32:nhwc, 32x3x3x3xf32:const; 1x32x1x1xf32:const)->"
    "1x32x112x112xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=2,2} | "
    "add(2) | swish {alpha=1}",
    "conv(1x64x28x28xu8q:nhwc, 64x64x3x3xi8q:const; 1x64x1x1xf32:const)->"
    "1x64x28x28xu8q:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | swish {alpha=1}",
    "conv(1x240x28x28xf32:nhwc, 240x1x5x5xf32:const; 1x240x1x1xf32:const)->"
    "1x240x28x28xf32:nhwc {dilations=1,1 group=240 pads=2,2,2,2 strides=1,1} | "
    "add(2) | swish {alpha=1}",
    // one and three dimensions
    "conv(1x64x200xf32:nhwc, 64x64x3xf32:const; 1x64x1xf32:const)->"
    "1x64x200xf32:nhwc {dilations=1 group=1 pads=1,1 strides=1} | add(2) | "
    "relu",
    "conv(1x32x8x28x28xf32, 64x32x3x3x3xf32:const; 1x64x1x1x1xf32:const)->"
    "1x64x8x28x28xf32 {dilations=1,1,1 group=1 pads=1,1,1,1,1,1 "
    "strides=1,1,1} | add(2) | relu",
    // backward data and weights
    "conv_transpose(1x128x14x14xf32:nhwc, 128x64x4x4xf32:const)->"
    "1x64x28x28xf32:nhwc {dilations=1,1 group=1 output_padding=0,0 "
    "pads=1,1,1,1 strides=2,2}",
    "conv_transpose(1x128x14x14xf32, 128x64x2x2xf32:const)->"
    "1x64x28x28xf32 {dilations=1,1 group=1 output_padding=0,0 "
    "pads=0,0,0,0 strides=2,2}",
    "conv_transpose(1x96x28x28xf32:nhwc, 96x1x3x3xf32:const)->"
    "1x96x28x28xf32:nhwc {dilations=1,1 group=96 output_padding=0,0 "
    "pads=1,1,1,1 strides=1,1}",
    "conv_backward_weights(1x64x28x28xf32:nhwc, 1x128x28x28xf32:nhwc)->"
    "128x64x3x3xf32 {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}",
    "conv_backward_weights(1x64x28x28xf32, 1x128x28x28xf32)->"
    "128x64x1x1xf32 {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
    // attention
    "attention(1x8x512x64xf32, 1x8x512x64xf32, 1x8x512x64xf32)->"
    "1x8x512x64xf32 {causal=0 scale=0.125}",
    "attention(1x8x512x64xf16, 1x8x512x64xf16, 1x8x512x64xf16, "
    "1x1x512x512xf32)->1x8x512x64xf16 {causal=1 scale=0.125}",
};

/// More activations of many instructions.
static const char *const kMoreActivations[] = {
    "conv(1x96x28x28xf32, 384x96x1x1xf32:const; 1x384x1x1xf32:const)->"
    "1x384x28x28xf32 {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | "
    "add(2) | gelu",
    "conv(1x64x28x28xf32, 64x64x3x3xf32:const; 1x64x1x1xf32:const)->"
    "1x64x28x28xf32 {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | mish",
    "conv(1x3x224x224xf32, 16x3x3x3xf32:const; 1x16x1x1xf32:const)->"
    "1x16x112x112xf32 {dilations=1,1 group=1 pads=1,1,1,1 strides=2,2} | "
    "add(2) | hard_swish",
    "conv(1x64x56x56xf32:nhwc, 64x64x7x7xf32:const; 1x64x1x1xf32:const)->"
    "1x64x56x56xf32:nhwc {dilations=1,1 group=1 pads=3,3,3,3 strides=1,1} | "
    "add(2) | gelu",
    "conv(1x80x14x14xu8q:nhwc, 480x80x1x1xi8q:const; 1x480x1x1xf32:const)->"
    "1x480x14x14xu8q:nhwc {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | "
    "add(2) | hard_swish",
    "conv(1x64x28x28xbf16:nhwc, 64x64x3x3xbf16:const; 1x64x1x1xf32:const)->"
    "1x64x28x28xbf16:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | gelu",
    "conv(1x64x28x28xf16:nhwc, 64x64x3x3xf16:const; 1x64x1x1xf32:const)->"
    "1x64x28x28xf16:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
    "add(2) | swish {alpha=1}",
    "conv(1x96x112x112xf32:nhwc, 96x1x3x3xf32:const; 1x96x1x1xf32:const)->"
    "1x96x56x56xf32:nhwc {dilations=1,1 group=96 pads=1,1,1,1 strides=2,2} | "
    "add(2) | mish",
    "conv(1x240x28x28xf32, 240x1x5x5xf32:const; 1x240x1x1xf32:const)->"
    "1x240x28x28xf32 {dilations=1,1 group=240 pads=2,2,2,2 strides=1,1} | "
    "add(2) | swish {alpha=1}",
    "conv(1x96x28x28xbf16:nhwc, 96x1x7x7xbf16:const; 1x96x1x1xf32:const)->"
    "1x96x28x28xbf16:nhwc {dilations=1,1 group=96 pads=3,3,3,3 strides=1,1} | "
    "add(2) | gelu",
    "conv(1x96x56x56xf16:nhwc, 96x1x3x3xf16:const; 1x96x1x1xf32:const)->"
    "1x96x56x56xf16:nhwc {dilations=1,1 group=96 pads=1,1,1,1 strides=1,1} | "
    "add(2) | hard_swish",
    "conv(1x128x28x28xf32:nhwc, 128x4x3x3xf32:const; 1x128x1x1xf32:const)->"
    "1x128x28x28xf32:nhwc {dilations=1,1 group=32 pads=1,1,1,1 strides=1,1} | "
    "add(2) | swish {alpha=1}",
};

/// All directions, should there be several.
static bool isConvolution(const Problem &problem) {
  return llvm::is_contained(
      {OpKind::Conv, OpKind::ConvBackwardWeights, OpKind::ConvTranspose},
      problem.op);
}

static void parseProblems(llvm::ArrayRef<const char *> keys,
                          std::vector<Problem> &problems) {
  for (const char *key : keys) {
    std::string fault;
    auto problem = parseProblem(key, &fault);
    EXPECT_TRUE(succeeded(problem)) << key << ": " << fault;
    if (succeeded(problem))
      problems.push_back(*problem);
  }
}

std::vector<Problem> test::makeSpillProblems(bool moreActivations) {
  std::vector<Problem> problems;
  parseProblems(kProblems, problems);
  if (moreActivations)
    parseProblems(kMoreActivations, problems);
  return problems;
}

void test::addRandomConvolutions(uint64_t count, uint64_t seed,
                                 std::vector<Problem> &problems) {
  for (uint64_t added = 0; added < count; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    if (!isConvolution(problem))
      continue;
    problems.push_back(std::move(problem));
    ++added;
  }
}
