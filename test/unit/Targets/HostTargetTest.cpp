//===- HostTargetTest.cpp - The description of this machine ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Runtime/ThreadPool.h"

#include "llvm/ADT/STLExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

using namespace tarpon;

namespace {

TargetInfo get(const std::string &cpu, int64_t threads = 0) {
  auto target = getHostTarget(threads, cpu);
  EXPECT_TRUE(target) << target.message();
  return target ? *target : TargetInfo();
}

/// What `scripts/test --cpu` asks for does not change what is tested here.
class HostTarget : public testing::Test {
protected:
  void SetUp() override {
    if (const char *value = std::getenv("TARPON_CPU"))
      before = value;
    unsetenv("TARPON_CPU");
  }
  void TearDown() override {
    unsetenv("TARPON_CPU");
    if (before)
      setenv("TARPON_CPU", before->c_str(), /*replace=*/1);
  }

private:
  std::optional<std::string> before;
};

bool has(const TargetInfo &target, const char *feature) {
  return llvm::is_contained(target.features, feature);
}

TEST_F(HostTarget, NativeDescribesThisMachine) {
  TargetInfo target = get("native");
  EXPECT_EQ(target.arch, "x86-64");
  EXPECT_FALSE(target.cpu.empty());
  EXPECT_TRUE(llvm::is_sorted(target.features));
  // Code may only use features that the runtime can check for.
  for (const std::string &feature : target.features)
    EXPECT_TRUE(runtime::hostHasFeature(feature)) << feature;
  EXPECT_EQ(target.vectorBits == 512, runtime::hostHasFeature("avx512f") &&
                                          runtime::hostHasFeature("avx512bw") &&
                                          runtime::hostHasFeature("avx512dq") &&
                                          runtime::hostHasFeature("avx512vl"));
  EXPECT_EQ(target.hasFma, runtime::hostHasFeature("fma"));
  EXPECT_GE(target.l1Bytes, 8 << 10);
  EXPECT_GE(target.l2Bytes, target.l1Bytes);
  EXPECT_GE(target.l3Bytes, target.l2Bytes);
  EXPECT_EQ(target.threads, runtime::availableCores());
}

TEST_F(HostTarget, ThreadsAsAsked) { EXPECT_EQ(get("native", 5).threads, 5); }

TEST_F(HostTarget, RefusesNegativeThreads) {
  for (const auto &target :
       {getHostTarget(-3), getCpuTarget("znver5", /*threads=*/-3)})
    EXPECT_EQ(target.message(), "cannot compile for -3 threads");
}

TEST_F(HostTarget, LevelsNarrow) {
  TargetInfo v2 = get("x86-64-v2");
  EXPECT_EQ(v2.cpu, "x86-64-v2");
  EXPECT_EQ(v2.vectorBits, 128);
  EXPECT_EQ(v2.vectorRegisters, 16);
  EXPECT_FALSE(v2.hasFma || v2.hasF16c || v2.hasVnni || v2.hasBf16);
  EXPECT_FALSE(has(v2, "avx"));

  TargetInfo v3 = get("x86-64-v3");
  bool avx2 = runtime::hostHasFeature("avx2") && runtime::hostHasFeature("fma");
  EXPECT_EQ(v3.vectorBits, avx2 ? 256 : 128);
  EXPECT_EQ(v3.vectorRegisters, 16);
  EXPECT_FALSE(has(v3, "avx512f"));

  TargetInfo v4 = get("x86-64-v4"), native = get("native");
  EXPECT_EQ(v4.vectorBits, native.vectorBits);
  EXPECT_FALSE(v4.hasVnni || v4.hasBf16);
}

TEST_F(HostTarget, FewCpusHaveAmx) {
  for (const char *cpu : {"sapphirerapids", "emeraldrapids", "graniterapids"}) {
    TargetInfo target = *getCpuTarget(cpu, /*threads=*/1);
    EXPECT_TRUE(target.hasAmxInt8 && target.hasAmxBf16) << cpu;
  }
  for (const char *cpu : {"x86-64-v3", "x86-64-v4", "cascadelake",
                          "icelake-server", "cooperlake", "znver5"}) {
    TargetInfo target = *getCpuTarget(cpu, /*threads=*/1);
    EXPECT_FALSE(target.hasAmxInt8 || target.hasAmxBf16) << cpu;
  }
}

TEST_F(HostTarget, OtherCpusKeepToThisMachine) {
  TargetInfo other = get("sapphirerapids");
  for (const std::string &feature : other.features)
    EXPECT_TRUE(runtime::hostHasFeature(feature)) << feature;
}

TEST_F(HostTarget, VariableNamesTheCpu) {
  setenv("TARPON_CPU", "x86-64-v2", /*replace=*/1);
  EXPECT_EQ(get("native").cpu, "x86-64-v2");
  EXPECT_EQ(get("x86-64-v3").cpu, "x86-64-v3");
  setenv("TARPON_CPU", "pentium-none", /*replace=*/1);
  EXPECT_EQ(getHostTarget().message(),
            "TARPON_CPU: unknown CPU 'pentium-none'");
  setenv("TARPON_CPU", "", /*replace=*/1);
  EXPECT_GE(get("native").vectorBits, 128);
}

TEST_F(HostTarget, UnknownCpuIsAnError) {
  auto target = getHostTarget(0, "pentium-none");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.message(), "unknown CPU 'pentium-none'");
  auto narrow = getHostTarget(0, "i486");
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.message(), "CPU 'i486' is not a 64-bit CPU");
}

} // namespace
