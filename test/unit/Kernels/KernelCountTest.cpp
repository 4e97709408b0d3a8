//===- KernelCountTest.cpp - How many kernels a network compiles ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes are run-time parameters, so that a network needs few kernels and
// another batch size none. The layers are those of ResNet-50 (He et al., "Deep
// Residual Learning for Image Recognition", CVPR 2016, table 1).
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/Solver.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <set>

using namespace tarpon;

namespace {
struct ConvLayer {
  int64_t channels, outChannels, kernel, stride, size;
  const char *epilogue;
};
} // namespace

static constexpr const char *kBias = "add(2)", *kBiasRelu = "add(2) | relu",
                            *kResidual = "add(2) | add(3) | relu",
                            *kSwapped = "add(2) | add(3,swapped) | relu";

static std::vector<ConvLayer> getResNet50() {
  std::vector<ConvLayer> layers = {{3, 64, 7, 2, 224, kBiasRelu}};
  int64_t channels = 64, size = 56;
  for (int64_t stage = 0; stage < 4; ++stage) {
    int64_t width = 64 << stage, wide = 4 * width;
    for (int64_t block = 0; block < 2; ++block) {
      int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      layers.push_back({channels, width, 1, 1, size, kBiasRelu});
      layers.push_back({width, width, 3, stride, size, kBiasRelu});
      if (block == 0)
        layers.push_back(
            {channels, wide, 1, stride, size, stage == 0 ? kBias : kSwapped});
      size /= stride;
      layers.push_back({width, wide, 1, 1, size,
                        block == 0 && stage > 0 ? kBias : kResidual});
      channels = wide;
    }
  }
  return layers;
}

static std::string getKey(const ConvLayer &l, int64_t batch,
                          const char *layout) {
  int64_t out = l.size / l.stride, pad = l.kernel / 2;
  std::string result = llvm::formatv("{0}x{1}x{2}x{2}xf32{3}", batch,
                                     l.outChannels, out, layout);
  std::string residual;
  if (std::string(l.epilogue).find("add(3") != std::string::npos)
    residual = ", " + result;
  return llvm::formatv(
      "conv({0}x{1}x{2}x{2}xf32{3}, {4}x{1}x{5}x{5}xf32:const; "
      "1x{4}x1x1xf32:const{6})->{7} {{dilations=1,1 group=1 "
      "pads={8},{8},{8},{8} strides={9},{9}} | {10}",
      batch, l.channels, l.size, layout, l.outChannels, l.kernel, residual,
      result, pad, l.stride, l.epilogue);
}

/// The symbols of the kernels that the network's convolutions and its
/// classifier take with default configs.
static std::set<std::string> getSymbols(const TargetInfo &target, int64_t batch,
                                        const char *layout) {
  std::vector<std::string> keys;
  for (const ConvLayer &layer : getResNet50())
    keys.push_back(getKey(layer, batch, layout));
  keys.push_back(llvm::formatv("matmul({0}x2048xf32, 1000x2048xf32:const; "
                               "1000xf32:const)->{0}x1000xf32 "
                               "{{transpose_lhs=0 transpose_rhs=1} | add(2)",
                               batch));
  std::set<std::string> symbols;
  for (const std::string &key : keys) {
    std::string fault;
    auto problem = parseProblem(key, &fault);
    EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
    if (mlir::failed(problem))
      continue;
    const Solver *solver = getApplicableSolvers(*problem, target).front();
    PerfConfig config = solver->defaultConfig(*problem, target);
    for (const LaunchPlan &launch :
         solver->plan(*problem, target, config).launches)
      symbols.insert(launch.kernel.symbol);
  }
  return symbols;
}

TEST(KernelCount, resNet50) {
  // With two poolings, twelve; a few more where few registers ask for more
  // shapes of tiles.
  for (auto [cpu, most] : {std::pair("znver5", 10u), {"x86-64-v3", 12u}})
    for (const char *layout : {":nhwc", ""}) {
      SCOPED_TRACE(std::string(cpu) + " " + layout);
      auto target = getHostTarget(/*threads=*/1, cpu);
      ASSERT_TRUE(target) << target.message();
      std::set<std::string> one = getSymbols(*target, 1, layout);
      EXPECT_LE(one.size(), most);
      // Another batch may do with fewer, and needs no other.
      for (const std::string &symbol : getSymbols(*target, 7, layout))
        EXPECT_TRUE(one.count(symbol)) << symbol;
      for (const std::string &symbol : one)
        RecordProperty(symbol, 1);
    }
}
