//===- MagicDivisionTest.cpp - Division without dividing ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPU/MagicDivision.h"

#include "tarpon/Targets/AMDGPU/Emulator/AmdInstructions.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/GPU/Emulator/Emulator.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace tarpon;
using Value = mlir::Value;

namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();

/// Small divisors, those around powers of two, and random ones.
std::vector<int64_t> getDivisors() {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= 70; ++d)
    divisors.push_back(d);
  for (int shift = 7; shift < 31; ++shift)
    for (int64_t d : {-1, 0, 1})
      divisors.push_back((int64_t(1) << shift) + d);
  divisors.push_back(kMax);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i)
    divisors.push_back(1 + static_cast<int64_t>(random() % kMax));
  return divisors;
}

/// Where the quotient by `d` changes.
std::vector<int64_t> getNumerators(int64_t d) {
  std::vector<int64_t> numerators = {0, kMax - 1, kMax};
  std::mt19937_64 random(static_cast<uint64_t>(d));
  for (int i = 0; i < 100; ++i) {
    int64_t multiple =
        static_cast<int64_t>(random() % static_cast<uint64_t>(kMax / d + 1)) *
        d;
    for (int64_t n : {multiple - 1, multiple, multiple + d - 1})
      if (n >= 0 && n <= kMax)
        numerators.push_back(n);
  }
  int64_t last = kMax / d * d;
  numerators.insert(numerators.end(), {last - 1, last});
  return numerators;
}

TEST(MagicDivisionTest, NumbersGiveTheQuotient) {
  for (int64_t d : getDivisors()) {
    MagicNumbers magic = getMagicNumbers(d);
    for (int64_t n : getNumerators(d)) {
      uint64_t upper = (2 * static_cast<uint64_t>(n) * magic.multiplier) >> 32;
      ASSERT_EQ(static_cast<int64_t>(upper >> magic.shift), n / d)
          << n << " / " << d;
    }
  }
}

/// One lane per numerator, of either width.
TEST(MagicDivisionTest, KernelsDivide) {
  GpuTarget gpu = *parseGpuTarget("gfx942");
  for (int64_t d :
       {int64_t(1), int64_t(3), int64_t(64), int64_t(1000003), kMax})
    for (bool isWide : {false, true}) {
      SolutionPlan plan;
      LaunchBuilder launch(plan);
      int64_t in = launch.addOperand(0), out = launch.addResult();
      MagicDivisor divisor(launch, d);
      launch.finish(
          "divide",
          [=](KernelBuilder &b) {
            auto bound = divisor.bind(b);
            Value lane = b.getLane();
            Value n = b.load(b.offset(b.getBuffer(in), b.mul(lane, 4)),
                             b.getI32Type());
            if (isWide)
              n = mlir::arith::ExtUIOp::create(b, b.i64(), n);
            auto [quotient, remainder] = bound.divRem(b, n);
            int64_t bytes = isWide ? 8 : 4;
            Value to = b.offset(b.getBuffer(out), b.mul(lane, 2 * bytes));
            b.store(quotient, to);
            b.store(remainder, b.offset(to, bytes));
          },
          1);
      KernelSource kernel = plan.launches[0].kernel;
      kernel.workgroup = 256;
      kernel.numBuffers = 2;
      kernel.numParams = 3;
      auto emitted = EmittedGpuKernel::emit(kernel, gpu);
      ASSERT_TRUE(emitted) << emitted.message();
      std::vector<int64_t> numerators = getNumerators(d);
      numerators.resize(256);
      std::vector<int32_t> stored(numerators.begin(), numerators.end());
      std::vector<int64_t> wide(512, -1);
      std::vector<int32_t> narrow(512, -1);
      EmulatedLaunch run;
      run.block[0] = 256;
      run.arguments = {EmulatedBuffer{stored.data(), 1024},
                       isWide ? EmulatedBuffer{wide.data(), 4096}
                              : EmulatedBuffer{narrow.data(), 2048}};
      for (int64_t param : plan.launches[0].params)
        run.arguments.emplace_back(static_cast<int32_t>(param));
      EmulatorOptions options;
      options.instructions = &getAmdInstructions();
      auto report = emulate(emitted->getFunction(), run, options);
      ASSERT_TRUE(report) << report.message();
      for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(isWide ? wide[2 * i] : narrow[2 * i], numerators[i] / d);
        EXPECT_EQ(isWide ? wide[2 * i + 1] : narrow[2 * i + 1],
                  numerators[i] % d);
      }
    }
}

} // namespace
