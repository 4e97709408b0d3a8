//===- CompileSizesTest.cpp - Tests of packages of several sizes ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFixture.h"

#include "tarpon/Runtime/SizedPackage.h"

#include "gmock/gmock.h"

#include <cmath>
#include <cstring>

using namespace tarpon;
using namespace tarpon::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class CompileSizesTest : public CompileTest {
protected:
  /// tiny_symbolic has the batch "N".
  CompileOptions getSizes(int64_t low, int64_t high) {
    CompileOptions options = getOptions("tiny_symbolic");
    options.layout = *parseLayoutKnob("nhwc");
    options.dims = {{"N", {low, high}}};
    return options;
  }

  runtime::Package take(const runtime::Package &package, int64_t size) {
    auto taken = runtime::takeProgram(package, std::span(&size, 1));
    EXPECT_TRUE(taken) << taken.message();
    return taken ? std::move(*taken) : runtime::Package();
  }

  /// The relative L2 distance of floats.
  double measureDistance(const std::string &got, const std::string &expected) {
    EXPECT_EQ(got.size(), expected.size());
    double difference = 0, norm = 0;
    for (size_t at = 0; at + sizeof(float) <= got.size(); at += sizeof(float)) {
      float a, b;
      std::memcpy(&a, got.data() + at, sizeof(float));
      std::memcpy(&b, expected.data() + at, sizeof(float));
      difference += (a - b) * (a - b);
      norm += b * b;
    }
    return std::sqrt(difference / norm);
  }

  /// Tunes at one size and writes the tuning file.
  std::string tuneAt(int64_t size) {
    CompileOptions options = getSizes(size, size);
    options.tuningFile = directory.file("t" + std::to_string(size) + ".json");
    options.tuningTime = 0.1;
    compile(options);
    return options.tuningFile;
  }
};

} // namespace

TEST_F(CompileSizesTest, EverySizeComputesWhatItsOwnPackageDoes) {
  for (const char *dtype : {"fp32", "int8"}) {
    CompileOptions options = getSizes(1, 5);
    options.dtype = *parseDtypeKnob(dtype);
    // In the middle, at 2, int8's ranges are measured.
    runtime::Package all = compile(options).package;
    ASSERT_EQ(all.programRanges.size(), 5u);
    for (int64_t size = 1; size <= 5; ++size) {
      runtime::Package taken = take(all, size);
      EXPECT_EQ(taken.inputs[0].shape[0], size);
      EXPECT_EQ(taken.outputs[0].shape[0], size);
      EXPECT_EQ(taken.modelSha256, all.modelSha256);
      options.dims["N"] = {size, size};
      std::string expected = runPackage(compile(options).package);
      // Ranges that are measured with another batch are others, and the best
      // solution with another batch may add in another order.
      double tolerance = options.dtype.text == "fp32" ? 1e-5 : 0.15;
      EXPECT_LT(measureDistance(runPackage(std::move(taken)), expected),
                size == 2 ? 1e-30 : tolerance)
          << size;
    }
  }
}

TEST_F(CompileSizesTest, SizesShareKernelsAndConstants) {
  CompileOptions options = getSizes(4, 4);
  size_t one = compile(options).package.constants.size();
  options.dims["N"] = {1, 16};
  CompileOutcome outcome = compile(options);
  EXPECT_EQ(outcome.package.constants.size(), one);
  EXPECT_LE(outcome.kernels.compiled + outcome.kernels.fromCache, 20);
}

TEST_F(CompileSizesTest, TheNearestTuningFileIsTaken) {
  CompileOptions options = getSizes(1, 16);
  options.replays = {tuneAt(1), tuneAt(16)};
  CompileOutcome outcome = compile(options);
  EXPECT_EQ(outcome.mode, CompileOutcome::Replayed);
  // Each file's very sizes are replayed exactly.
  for (int64_t size : {1, 16}) {
    CompileOptions exact = getSizes(size, size);
    exact.replays = {options.replays[size == 1 ? 0 : 1]};
    runtime::Package expected = compile(exact).package;
    runtime::Package taken = take(outcome.package, size);
    ASSERT_EQ(taken.layers.size(), expected.layers.size());
    for (size_t i = 0; i < taken.layers.size(); ++i) {
      EXPECT_EQ(taken.layers[i].solver, expected.layers[i].solver);
      EXPECT_EQ(taken.layers[i].config, expected.layers[i].config);
    }
    EXPECT_EQ(runPackage(std::move(taken)), runPackage(std::move(expected)));
  }
}

TEST_F(CompileSizesTest, LayersWithoutASolutionAreCounted) {
  std::string path = tuneAt(4);
  auto file = readTuningFile(path);
  ASSERT_TRUE(file) << file.message();
  std::vector<LayerRecord> &layers = file->candidates[file->winner].layers;
  size_t count = layers.size();
  layers.clear();
  ASSERT_TRUE(writeTuningFile(*file, path));
  CompileOptions options = getSizes(4, 5);
  options.layout = *parseLayoutKnob("nhwc");
  options.replays = {path};
  options.strict = true;
  EXPECT_THAT(getError(options),
              AllOf(HasSubstr("layers of all sizes have no solution in the "
                              "tuning files that fits them"),
                    HasSubstr(std::to_string(2 * count) + " of ")));
}

TEST_F(CompileSizesTest, AnotherModelsFileIsRefused) {
  CompileOptions other = getOptions("tiny_resnet");
  other.tuningFile = directory.file("other.json");
  other.tuningTime = 0.1;
  compile(other);
  CompileOptions options = getSizes(1, 2);
  options.replays = {other.tuningFile};
  EXPECT_THAT(getError(options), HasSubstr("was made for another model"));
}

TEST_F(CompileSizesTest, WhatCannotBeIsSaid) {
  CompileOptions options = getSizes(1, 5000);
  EXPECT_EQ(getError(options),
            "the dimensions have more than 4096 sizes together, each of which "
            "takes a program");
  options.dims = {{"N", {1, int64_t(1) << 62}}};
  EXPECT_THAT(getError(options), HasSubstr("more than 4096 sizes"));
  options.dims = {{"N", {0, INT64_MAX}}};
  EXPECT_THAT(getError(options), HasSubstr("more than 4096 sizes"));
  options.dims = {{"M", {1, 2}}};
  EXPECT_THAT(getError(options),
              HasSubstr("no input has a dimension called 'M', only 'N'"));
  options = getSizes(2, 9);
  options.candidates = 2;
  EXPECT_EQ(getError(options),
            "a package of several sizes holds no candidates");
  options = getSizes(2, 9);
  options.tuningTime = 1;
  EXPECT_EQ(getError(options),
            "a package of several sizes is not tuned as a whole: tune the "
            "model at some sizes, such as --dim N=9 --tuning-file T.json, and "
            "--replay these files");
}

TEST_F(CompileSizesTest, AStoppedRunSaysWhere) {
  CompileOptions options = getSizes(1, 4);
  Deadline::Condition isStopped = [] { return true; };
  options.isStopped = &isStopped;
  options.output = directory.file("none.tpn");
  EXPECT_EQ(getError(options), "stopped at N=4");
  EXPECT_FALSE(llvm::sys::fs::exists(options.output));
}

TEST(SizeRangeTest, Parses) {
  auto parse = [](const char *text) {
    auto parsed = parseSizeRange(text);
    return parsed ? parsed->first + " " + std::to_string(parsed->second.low) +
                        " " + std::to_string(parsed->second.high)
                  : parsed.message();
  };
  EXPECT_EQ(parse("batch=4"), "batch 4 4");
  EXPECT_EQ(parse("past + seq=1..16"), "past + seq 1 16");
  EXPECT_EQ(parse("a=b=2"), "a=b 2 2");
  EXPECT_EQ(parse("past=0..2"), "past 0 2");
  for (const char *text : {"batch", "=4", "batch=", "batch=1..", "batch=..4",
                           "batch=4x", "batch=1...4", "batch=1-4"})
    EXPECT_EQ(parse(text), std::string("expected NAME=SIZE or NAME=LOW..HIGH, "
                                       "got '") +
                               text + "'");
  for (const char *text : {"batch=-1", "batch=4..2", "batch=-1..2"})
    EXPECT_EQ(parse(text), std::string("expected sizes of 0 or more, the lower "
                                       "one first, got '") +
                               text + "'");
}
