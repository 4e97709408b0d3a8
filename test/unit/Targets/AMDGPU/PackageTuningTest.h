//===- PackageTuningTest.h - A toy package and its device -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of which each has candidates, and functions in place of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_AMDGPU_PACKAGETUNINGTEST_H
#define TARPON_TEST_UNIT_TARGETS_AMDGPU_PACKAGETUNINGTEST_H

#include "ToyDevice.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Tuning/PackageTuning.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Targets/AMDGPU/AmdGpuTarget.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tarpon::test {

struct Arguments {
  const float *in;
  float *out;
  uint32_t count;
};

/// The arguments' bytes have no padding at their end.
inline Arguments readArguments(const char *bytes) {
  Arguments arguments;
  std::memcpy(&arguments, bytes, 20);
  return arguments;
}

inline void relu(const char *bytes, uint32_t) {
  Arguments a = readArguments(bytes);
  for (uint32_t i = 0; i < a.count; ++i)
    a.out[i] = a.in[i] > 0 ? a.in[i] : 0;
}

inline void negate(const char *bytes, uint32_t) {
  Arguments a = readArguments(bytes);
  for (uint32_t i = 0; i < a.count; ++i)
    a.out[i] = -a.in[i];
}

/// Writes nothing.
inline void idle(const char *, uint32_t) {}

/// Right at first.
inline int flakyRuns = 0;
inline void flaky(const char *bytes, uint32_t task) {
  (flakyRuns++ < 100 ? relu : negate)(bytes, task);
}

/// Longer than the time that there is.
inline bool isTardy = false;
inline void tardy(const char *bytes, uint32_t task) {
  if (std::exchange(isTardy, false))
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  relu(bytes, task);
}

inline bool isFaulty = false;
inline void fault(const char *, uint32_t) { isFaulty = true; }

/// Gives nothing any more once a kernel has touched what is not its own.
class FaultyDevice : public ToyDevice {
public:
  runtime::Status copyOut(std::span<char> to, const runtime::DeviceMemory &from,
                          int64_t offset) override {
    return isFaulty ? runtime::Error{"a fault"}
                    : ToyDevice::copyOut(to, from, offset);
  }
};

inline constexpr const char *kProblem = "relu(1x4x2x2xf32)->1x4x2x2xf32";
inline const runtime::BufferRef kIn{runtime::BufferSpace::Input, 0},
    kOut{runtime::BufferSpace::Output, 0};
inline const runtime::BufferRef kArena{runtime::BufferSpace::Arena, 0};

inline runtime::Launch makeLaunch(const std::string &symbol,
                                  runtime::BufferRef in,
                                  runtime::BufferRef out) {
  runtime::Launch launch;
  launch.symbol = symbol;
  launch.buffers = {in, out};
  launch.params = {16};
  return launch;
}

inline runtime::Candidate makeCandidate(const std::string &symbol) {
  runtime::Candidate candidate;
  candidate.solver = symbol + "-v1";
  candidate.config = "{}";
  candidate.modelMs = 1;
  candidate.launches = {makeLaunch(symbol, kIn, kOut)};
  return candidate;
}

/// relu(relu(x)), each by the first of these kernels; any of them may be
/// chosen.
inline runtime::Package makePackage(const std::vector<std::string> &symbols) {
  runtime::Package package;
  package.modelName = "toy";
  package.modelSha256 = std::string(64, '0');
  package.arch = "amdgcn";
  package.chip = "gfx942:cu=304";
  package.kernelVersion = "0.1.0+kernels";
  package.dtype = "fp32";
  package.layout = "nchw";
  package.fusion = "on";
  runtime::TensorInfo tensor;
  tensor.name = "x";
  tensor.shape = {1, 4, 2, 2};
  package.inputs = {tensor};
  package.outputs = {tensor};
  package.arenaBytes = 128;
  for (const std::string &symbol : symbols) {
    auto offset = static_cast<int64_t>(package.kernels.size());
    std::string code = "\x7f"
                       "ELF\2\1" +
                       symbol;
    code.resize(64);
    package.kernels.insert(package.kernels.end(), code.begin(), code.end());
    package.codeObjects.push_back({symbol, offset, 64, 64});
  }
  for (int index = 0; index < 2; ++index) {
    runtime::Layer layer;
    layer.name = "relu" + std::to_string(index);
    layer.problem = kProblem;
    layer.solver = symbols.front() + "-v1";
    layer.config = "{}";
    layer.source = "model";
    layer.operands = {index == 0 ? kIn : kArena};
    layer.results = {index == 0 ? kArena : kOut};
    layer.launches = {
        makeLaunch(symbols.front(), layer.operands[0], layer.results[0])};
    for (const std::string &symbol : symbols)
      layer.candidates.push_back(makeCandidate(symbol));
    package.layers.push_back(std::move(layer));
  }
  return package;
}

class PackageTuningTest : public testing::Test {
protected:
  PackageTuningTest() {
    for (const char *symbol : {"slow", "fast", "near", "gpu-naive"})
      device.bodies[symbol] = relu;
    device.bodies["wrong"] = negate;
    device.bodies["idle"] = idle;
    device.bodies["flaky"] = flaky;
    device.bodies["tardy"] = tardy;
    device.bodies["fault"] = fault;
    flakyRuns = 0;
    isTardy = isFaulty = false;
    device.milliseconds = {{"slow", 2},
                           {"fast", 1},
                           {"near", 1.05},
                           {"wrong", 0.1},
                           {"gpu-naive", 3}};
  }

  runtime::Result<PackageTuning>
  tune(runtime::Package package, const PackageTuningOptions &options = {}) {
    return tunePackage(std::move(package), device, progress, options);
  }

  std::vector<float> run(const runtime::Package &package) {
    auto executor = runtime::Executor::create(package, device);
    EXPECT_TRUE(executor) << executor.message();
    std::vector<float> in(16), out(16);
    for (int i = 0; i < 16; ++i)
      in[i] = static_cast<float>(i - 8);
    const void *inputs[] = {in.data()};
    void *outputs[] = {out.data()};
    auto status = (*executor)->run(inputs, outputs);
    EXPECT_TRUE(status) << status.message();
    return out;
  }

  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  ToyDevice device;
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942:cu=228"));
  JournalContext context = getMeasuredContext(target, "0.1.0+kernels");
};

inline std::vector<std::string> getSolvers(const runtime::Package &package) {
  std::vector<std::string> solvers;
  solvers.reserve(package.layers.size());
  for (const runtime::Layer &layer : package.layers)
    solvers.push_back(layer.solver);
  return solvers;
}

inline std::vector<MeasurementStatus>
getStatuses(const std::vector<Measurement> &results) {
  std::vector<MeasurementStatus> statuses;
  statuses.reserve(results.size());
  for (const Measurement &result : results)
    statuses.push_back(result.status);
  return statuses;
}

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_AMDGPU_PACKAGETUNINGTEST_H
