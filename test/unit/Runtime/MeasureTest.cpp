//===- MeasureTest.cpp - Tests of measuring ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Measure.h"
#include "TestPackages.h"

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;

static Instance makeInstance(int64_t elements) {
  ExecutorOptions options;
  options.threads = 1;
  options.paddedBuffers = true;
  auto executor = Executor::create(makeTestPackage(elements), options);
  EXPECT_TRUE(executor) << executor.message();
  auto inputs = makeRandomInputs((*executor)->package(), 3);
  EXPECT_TRUE(inputs) << inputs.message();
  auto instance = Instance::create(std::move(*executor), std::move(*inputs));
  EXPECT_TRUE(instance) << instance.message();
  return std::move(*instance);
}

TEST(MeasureTest, Statistics) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(rootMeanSquare({}), 0);
  EXPECT_EQ(rootMeanSquare({1, 7}), 5);
  Timing result = summarize({1, 2, 3, 4, 100});
  EXPECT_EQ(result.medianMs, 3);
  EXPECT_EQ(result.madMs, 1);
  EXPECT_EQ(result.samplesMs.size(), 5u);
}

TEST(MeasureTest, TakesTheSamplesAndTheTimeItWasAskedFor) {
  std::vector<Instance> instances;
  instances.push_back(makeInstance(1000));
  MeasureOptions options;
  options.minSamples = 25;
  options.minTimeMs = 0;
  Timing result = measure(instances, options);
  EXPECT_EQ(result.samplesMs.size(), 25u);
  EXPECT_GT(result.medianMs, 0);
  EXPECT_FALSE(result.cutShort);

  std::vector<Instance> large;
  large.push_back(makeInstance(1000000));
  options.minSamples = 1;
  options.minTimeMs = 5;
  result = measure(large, options);
  double total = 0;
  for (double sample : result.samplesMs)
    total += sample;
  EXPECT_GE(total, 5);
}

TEST(MeasureTest, ShortRunsGiveFewSamplesOfManyRuns) {
  std::vector<Instance> instances;
  instances.push_back(makeInstance(1));
  MeasureOptions options;
  options.minSamples = 5;
  options.minTimeMs = 100;
  Timing result = measure(instances, options);
  EXPECT_GE(result.samplesMs.size(), 5u);
  EXPECT_LE(result.samplesMs.size(), 200u);
  EXPECT_FALSE(result.cutShort);
  // One run, not one sample.
  EXPECT_LT(result.medianMs, 0.02);
}

TEST(MeasureTest, StopsAtTheLimitWithAtLeastOneSample) {
  std::vector<Instance> instances;
  instances.push_back(makeInstance(100000));
  MeasureOptions options;
  options.minSamples = 1 << 30;
  options.maxTimeMs = 5;
  Timing result = measure(instances, options);
  EXPECT_TRUE(result.cutShort);
  EXPECT_FALSE(result.samplesMs.empty());
  options.maxTimeMs = 0;
  EXPECT_EQ(measure(instances, options).samplesMs.size(), 1u);
}

TEST(MeasureTest, RotatesOverAWorkingSetOfTheSizeAskedFor) {
  Instance first = makeInstance(1000);
  int64_t each = first.executor().workingSetBytes();
  Result<std::vector<Instance>> rotation =
      makeRotation(std::move(first), 10 * each);
  ASSERT_TRUE(rotation) << rotation.message();
  ASSERT_EQ(rotation->size(), 11u);
  MeasureOptions options;
  options.warmupRuns = 0;
  options.minSamples = 1;
  options.minTimeMs = 0;
  // The warm-up reaches every instance.
  measure(*rotation, options);
  for (Instance &instance : *rotation)
    EXPECT_EQ(floatsOf(instance.outputs()[0])[7],
              expectedOutput(floatsOf(instance.inputs()[0])[7]));
  EXPECT_NE((*rotation)[0].inputs()[0].data.data(),
            (*rotation)[1].inputs()[0].data.data());
}

TEST(MeasureTest, DoesNotRotateUnlessAsked) {
  Result<std::vector<Instance>> rotation = makeRotation(makeInstance(10), 0);
  ASSERT_TRUE(rotation);
  EXPECT_EQ(rotation->size(), 1u);
}

TEST(MeasureTest, InterleavesCandidates) {
  std::vector<Instance> small, large;
  small.push_back(makeInstance(1000));
  large.push_back(makeInstance(200000));
  std::vector<std::span<Instance>> candidates = {small, large};
  MeasureOptions options;
  options.minSamples = 10;
  options.minTimeMs = 0;
  std::vector<Timing> results = measureInterleaved(candidates, options);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].samplesMs.size(), 10u);
  EXPECT_EQ(results[1].samplesMs.size(), 10u);
  EXPECT_LT(results[0].medianMs, results[1].medianMs);
}

/// Runs on constants that were just flushed give what others do.
TEST(MeasureTest, ColdConstantsAreTheSame) {
  std::vector<Instance> instances;
  instances.push_back(makeInstance(1000));
  MeasureOptions options;
  options.coldConstantBytes = 1;
  options.minSamples = 7;
  options.minTimeMs = 0;
  Timing measurement = measure(instances, options);
  EXPECT_EQ(measurement.samplesMs.size(), 7u);
  EXPECT_GT(measurement.medianMs, 0);
  Instance &instance = instances.front();
  for (size_t i : {0, 999})
    EXPECT_EQ(floatsOf(instance.outputs()[0])[i],
              expectedOutput(floatsOf(instance.inputs()[0])[i]));
}

TEST(MeasureTest, LargeConstantsAreCold) {
  Instance instance = makeInstance(1000);
  const Executor &executor = instance.executor();
  MeasureOptions options;
  EXPECT_FALSE(hasColdConstants(executor, options));
  ASSERT_GT(executor.constantBytes(), 0);
  options.coldConstantBytes = executor.constantBytes();
  EXPECT_TRUE(hasColdConstants(executor, options));
  ++options.coldConstantBytes;
  EXPECT_FALSE(hasColdConstants(executor, options));
}

TEST(MeasureTest, TimesWhateverItIsGiven) {
  std::vector<std::pair<char, int>> calls;
  auto takes = [&](char name, double milliseconds) {
    return TimedRuns{[&calls, name, milliseconds](int runs) {
                       calls.emplace_back(name, runs);
                       return runs * milliseconds;
                     },
                     /*instances=*/3};
  };
  std::vector<TimedRuns> timed = {takes('a', 0.25), takes('b', 3)};
  MeasureOptions options;
  options.minSamples = 2;
  options.minTimeMs = 0;
  options.minSampleMs = 1;
  std::vector<Timing> results = measureInterleaved(timed, options);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].samplesMs, (std::vector<double>{0.25, 0.25}));
  EXPECT_EQ(results[1].medianMs, 3);
  // A warm-up of every instance, then samples that are long enough, in turn.
  using Calls = std::vector<std::pair<char, int>>;
  EXPECT_EQ(calls, (Calls{{'a', 1},
                          {'a', 1},
                          {'a', 1},
                          {'b', 1},
                          {'b', 1},
                          {'b', 1},
                          {'a', 4},
                          {'b', 1},
                          {'a', 4},
                          {'b', 1}}));
}

TEST(MeasureTest, RefusesInputsThatDoNotMatch) {
  auto refuse = [](std::vector<HostTensor> inputs) {
    auto executor = Executor::create(makeTestPackage(10), {});
    auto instance = Instance::create(std::move(*executor), std::move(inputs));
    return instance ? "it was accepted" : instance.message();
  };
  EXPECT_EQ(refuse({}), "model 'two-layers' has 1 inputs, but got 0");
  std::vector<HostTensor> inputs;
  inputs.push_back(makeTensor(DType::F32, {2, 5}));
  EXPECT_EQ(refuse(std::move(inputs)),
            "input 'data' is 1x10 of f32, but got 2x5 of f32");
  inputs.clear();
  inputs.push_back(makeTensor(DType::F16, {1, 10}));
  EXPECT_EQ(refuse(std::move(inputs)),
            "input 'data' is 1x10 of f32, but got 1x10 of f16");
}

TEST(RaceTest, MarginsFallWithTheSamples) {
  for (int samples = 1; samples < 20; ++samples) {
    EXPECT_GE(getRaceMargin(samples), getRaceMargin(samples + 1));
    EXPECT_GT(getRaceMargin(samples), 1.05);
  }
  EXPECT_TRUE(isHopeless(2.1, 1, 1));
  EXPECT_FALSE(isHopeless(1.9, 1, 1));
  EXPECT_TRUE(isHopeless(1.3, 3, 1));
  EXPECT_FALSE(isHopeless(100, 9, 0)) << "there is no bound";
}

TEST(RaceTest, SlowOnesAreDroppedEarly) {
  std::vector<Instance> instances;
  instances.push_back(makeInstance(2000000));
  MeasureOptions options;
  options.minSamples = 20;
  options.minTimeMs = 0;
  double median = measure(instances, options).medianMs;
  options.cutoffMs = median / 100;
  Timing dropped = measure(instances, options);
  EXPECT_LT(dropped.samplesMs.size(), 20u);
  EXPECT_TRUE(dropped.isDropped);
  EXPECT_FALSE(dropped.cutShort);
  options.cutoffMs = 2 * median;
  Timing kept = measure(instances, options);
  EXPECT_EQ(kept.samplesMs.size(), 20u);
  EXPECT_FALSE(kept.isDropped);
}
