//===- DeviceRotationTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/DeviceRotation.h"

#include "../AMDGPU/ToyDevice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace tarpon;
using namespace tarpon::runtime;
using testing::ElementsAre;

namespace {

/// The results of all runs, and where they lay.
std::vector<float> results;
std::set<const float *> places;

/// out = in * factor, of the first element.
void scale(const char *bytes, uint32_t) {
  const float *in, *factors;
  float *out;
  std::memcpy(static_cast<void *>(&in), bytes, 8);
  std::memcpy(static_cast<void *>(&factors), bytes + 8, 8);
  std::memcpy(static_cast<void *>(&out), bytes + 16, 8);
  out[0] = in[0] * factors[0];
  results.push_back(out[0]);
  places.insert(out);
}

class DeviceRotationTest : public testing::Test {
protected:
  DeviceRotationTest() {
    device.bodies["scale"] = scale;
    device.milliseconds["scale"] = 0.003;
  }

  /// A rotation over the bytes of so many instances of one launch, after a run
  /// with the input 3.
  std::unique_ptr<DeviceRotation> make(int64_t instances) {
    Package package = test::makeToyPackage();
    package.layers.pop_back();
    Launch &launch = package.layers.front().launches.front();
    launch.buffers[2] = {BufferSpace::Output, 0};
    launch.tasks = 1;
    auto executor = Executor::create(package, device);
    EXPECT_TRUE(executor) << executor.message();
    std::vector<float> in(5, 3), out(5);
    const void *inputs[] = {in.data()};
    void *outputs[] = {out.data()};
    EXPECT_TRUE((*executor)->run(inputs, outputs));
    int64_t bytes = (*executor)->workingSetBytes() * instances - 1;
    auto rotation = DeviceRotation::create(std::move(*executor), bytes);
    EXPECT_TRUE(rotation) << rotation.message();
    results.clear();
    places.clear();
    device.graphLaunches = 0;
    return std::move(*rotation);
  }

  test::ToyDevice device;
};

} // namespace

/// A GPU would wait for each of 3 microseconds to be queued.
TEST_F(DeviceRotationTest, ARoundIsOneGraph) {
  auto rotation = make(4);
  ASSERT_EQ(rotation->countInstances(), 4);
  TimedRuns timed = rotation->getTimed();
  EXPECT_DOUBLE_EQ(timed.time(8), 8 * 0.003);
  EXPECT_EQ(device.graphLaunches, 2);
  // Each has memory of its own, with the constants and the inputs.
  EXPECT_EQ(results, std::vector<float>(8, 6));
  EXPECT_EQ(places.size(), 4u);
  // The rest is run one by one, and so is all until the next round begins.
  EXPECT_DOUBLE_EQ(timed.time(5), 5 * 0.003);
  EXPECT_EQ(device.graphLaunches, 2 + 2);
  EXPECT_DOUBLE_EQ(timed.time(7), 7 * 0.003);
  EXPECT_EQ(device.graphLaunches, 4 + 4);
}

TEST_F(DeviceRotationTest, SamplesAreWholeRounds) {
  auto rotation = make(4);
  TimedRuns timed = rotation->getTimed();
  MeasureOptions options;
  options.minSamples = 10;
  options.minTimeMs = 0;
  options.minSampleMs = 0.03;
  Timing timing = measureInterleaved({&timed, 1}, options).front();
  EXPECT_NEAR(timing.medianMs, 0.003, 1e-9);
  // Four runs warm up, and a sample of ten runs takes twelve.
  EXPECT_EQ(results.size(), 4 + 10 * 12u);
  EXPECT_EQ(device.graphLaunches, 4 + 10 * 3);
}

TEST_F(DeviceRotationTest, InstancesAreLimited) {
  EXPECT_EQ(make(1)->countInstances(), 1);
  EXPECT_EQ(make(1000)->countInstances(), DeviceRotation::kMaxInstances);
}

TEST_F(DeviceRotationTest, WarmUpTakesItsTime) {
  auto rotation = make(2);
  rotation->warmUp(0.3);
  EXPECT_NEAR(static_cast<double>(results.size()) * 0.003, 0.3, 0.01);
}

TEST_F(DeviceRotationTest, AFailureEndsTheTimes) {
  auto rotation = make(2);
  device.failure = "an illegal memory access";
  EXPECT_TRUE(std::isinf(rotation->getTimed().time(2)));
  device.failure = "";
  EXPECT_TRUE(std::isinf(rotation->getTimed().time(2)));
  EXPECT_EQ(rotation->getFailure().message(), "an illegal memory access");
}
