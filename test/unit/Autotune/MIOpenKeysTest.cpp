//===- MIOpenKeysTest.cpp - Names and keys are written as MIOpen does -----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::miopen;

TEST(MIOpenKeysTest, NamesAreThoseThatAreParsed) {
  struct {
    Format format;
    const char *arch;
    int64_t units;
    const char *name;
  } cases[] = {{Format::FindText, "gfx942", 304, "gfx942130.HIP.fdb.txt"},
               {Format::FindText, "gfx1030", 36, "gfx1030_36.HIP.fdb.txt"},
               {Format::FindText, "gfx906", 64, "gfx906_64.HIP.fdb.txt"},
               {Format::PerfText, "gfx90a", 104, "gfx90a68.db.txt"},
               {Format::PerfSqlite, "gfx90a", 110, "gfx90a6e.db"}};
  for (const auto &expected : cases) {
    std::string name =
        makeFileName(expected.format, expected.arch, expected.units);
    EXPECT_EQ(name, expected.name);
    auto file = parseFileName(name);
    ASSERT_TRUE(file) << file.message();
    EXPECT_EQ(file->format, expected.format);
    EXPECT_EQ(file->arch, expected.arch);
    EXPECT_EQ(file->computeUnits, expected.units);
    EXPECT_EQ(findFileName(expected.format, expected.arch +
                                                std::string(":cu=") +
                                                std::to_string(expected.units)),
              name);
  }
  for (const char *target : {"x86-64/znver5/512", "sm_90a:cu=132:bw=4800",
                             "gfx942", "gfx942x:cu=304", "gfx942:cu="})
    EXPECT_EQ(findFileName(Format::FindText, target), std::nullopt) << target;
}

/// What poses a key's problem finds that key again.
TEST(MIOpenKeysTest, FindKeysAreWrittenAsTheyAreRead) {
  for (const char *key :
       {"64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F",
        "128-28-28-3x3-64-56-56-8-1x1-2x2-1x1-0-NCHW-FP32-B_g2",
        "128-28-28-3x5-64-56-56-8-1x2-2x2-1x1-0-NCHW-BF16-W",
        "4-5-6-7-3x3x3-8-5-6-7-1-1x1x1-1x1x1-1x1x1-0-NCDHW-FP32-F",
        "4-5-6-7-3x3x3-8-5-6-7-1-1x1x1-1x1x1-1x1x1-0-NDHWC-NDHWC-NDHWC-FP32-W",
        "16-7-7-3x3-32-7-7-1-1x1-1x1-1x1-0-NHWC-NHWC-NHWC-FP32-F_g2",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-INT8INT8FP32-F"}) {
    auto parsed = parseFindKey(key);
    ASSERT_TRUE(parsed) << key;
    EXPECT_EQ(printFindKey(*parsed), key);
    auto posed = poseProblem(*parsed);
    ASSERT_TRUE(posed) << key << ": " << posed.message();
    EXPECT_EQ(findKey(Format::FindText, posed->problem), key);
  }
}

TEST(MIOpenKeysTest, PerfKeysAreWrittenAsTheyAreRead) {
  for (const char *key :
       {"2x64x56x56x1x3x3x1x128x8x1x1x0x2x2x0x1x1x0x0x1xNCHWxFP16xF",
        "3x4x6x7x5x1x1x3x8x1x0x0x1x1x1x1x1x1x1x0x1xNCDHWxFP32xF",
        "2x8x6x7x1x3x3x1x4x1x0x0x0x1x1x0x1x1x0x0x2xNHWCxFP32xB"}) {
    auto parsed = parsePerfKey(key);
    ASSERT_TRUE(parsed) << key;
    // The key of a forward pass has no result, that of a backward pass no
    // image but what follows from it.
    EXPECT_EQ(printPerfKey(*parsed), key);
    auto posed = poseProblem(*parsed);
    ASSERT_TRUE(posed) << key << ": " << posed.message();
    EXPECT_EQ(findKey(Format::PerfText, posed->problem), key);
  }
}

TEST(MIOpenKeysTest, ProblemsThatNoKeyDescribes) {
  struct {
    const char *problem;
    bool hasFindKey;
  } cases[] = {
      // A perf DB's key has neither a backward pass's image nor two layouts.
      {"conv_transpose(1x8x4x4xf32, 8x4x3x3xf32:const)->1x4x9x9xf32 "
       "{dilations=1,1 group=1 output_padding=0,0 pads=0,0,0,0 strides=2,2}",
       true},
      {"conv(1x4x6x7xf32:nhwc, 8x4x1x1xf32:const)->1x8x6x7xf32 "
       "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
       true},
      // Neither has other paddings at the end, nor another result.
      {"conv(1x4x6x7xf32, 8x4x3x3xf32:const)->1x8x5x6xf32 {dilations=1,1 "
       "group=1 pads=1,1,0,0 strides=1,1}",
       false},
      {"relu(1x4x6x7xf32)->1x4x6x7xf32", false}};
  for (const auto &expected : cases) {
    auto problem = parseProblem(expected.problem);
    ASSERT_TRUE(mlir::succeeded(problem)) << expected.problem;
    EXPECT_EQ(findKey(Format::FindText, *problem).has_value(),
              expected.hasFindKey)
        << expected.problem;
    EXPECT_EQ(findKey(Format::PerfText, *problem), std::nullopt)
        << expected.problem;
  }
}

TEST(MIOpenKeysTest, ThereIsNoFftForWeights) {
  EXPECT_EQ(getAlgorithmName(Algorithm::Fft, ConvDirection::Forward),
            "miopenConvolutionFwdAlgoFFT");
  EXPECT_EQ(getAlgorithmName(Algorithm::Fft, ConvDirection::BackwardWeights),
            "miopenConvolutionBwdWeightsAlgoDirect");
  EXPECT_EQ(
      getAlgorithmName(Algorithm::ImplicitGemm, ConvDirection::BackwardData),
      "miopenConvolutionBwdDataAlgoImplicitGEMM");
}
