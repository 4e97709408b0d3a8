//===- StaticModelTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using runtime::DType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

namespace {

class StaticModel : public testing::Test {
protected:
  /// Two workgroups of four waves on a unit: 4 waves of 128 registers fit on a
  /// SIMD, but LDS has room for two workgroups only.
  static KernelResources makeResources() {
    KernelResources resources;
    resources.symbol = "kernel";
    resources.vectorRegisters = 128;
    resources.ldsBytes = 32 << 10;
    resources.workgroup = 256;
    resources.waveSize = 64;
    return resources;
  }

  static KernelProfile profile(const std::string &assembly,
                               const KernelResources &resources,
                               const GpuTarget &gpu) {
    auto result = profileAssembly(assembly, resources, gpu);
    EXPECT_TRUE(result) << result.message();
    return *result;
  }

  /// 304 units of two workgroups, each of 2048 results (see below), with 1024
  /// products in each.
  static LaunchWork makeWork() {
    LaunchWork work;
    work.workgroups = 608;
    work.results = 608 * 2048;
    work.flops = 2 * work.results * 1024;
    work.bytes = 5.3e6;
    work.dtype = DType::F16;
    return work;
  }

  GpuTarget gpu = *parseGpuTarget("gfx942");
};

} // namespace

static const char *kGemm = R"(
kernel:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)
.LBB0_1:
	global_load_dwordx4 v[0:3], v[40:41], off
	ds_read_b128 v[4:7], v50
	ds_read_b128 v[8:11], v50 offset:1024
	s_waitcnt lgkmcnt(0)
	v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[8:9], a[0:3]
	v_mfma_f32_16x16x16_f16 a[4:7], v[4:5], v[10:11], a[4:7]
	v_mfma_f32_16x16x16_f16 a[0:3], v[6:7], v[8:9], a[0:3]
	v_mfma_f32_16x16x16_f16 a[4:7], v[6:7], v[10:11], a[4:7]
	s_waitcnt vmcnt(0)
	ds_write_b128 v51, v[0:3]
	s_add_i32 s6, s6, -1
	v_add_u32_e32 v40, 64, v40
	s_barrier
	s_cbranch_scc1 .LBB0_1
	global_store_dwordx4 v[60:61], v[0:3], off
	s_endpgm
)";

TEST_F(StaticModel, CountsTheInnerLoop) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  EXPECT_EQ(p.occupancy, 2);
  ASSERT_TRUE(p.hasLoop);
  EXPECT_EQ(p.loop.matrix, 4);
  EXPECT_EQ(p.loop.vector, 1);
  EXPECT_EQ(p.loop.scalar, 2);
  EXPECT_EQ(p.loop.waits, 2);
  EXPECT_EQ(p.loop.barriers, 1);
  EXPECT_THAT(p.loop.ldsReads, ElementsAre(Pair(16, 2)));
  EXPECT_THAT(p.loop.ldsWrites, ElementsAre(Pair(16, 1)));
  EXPECT_THAT(p.loop.globalReads, ElementsAre(Pair(16, 1)));
  // Four times 2 * 16 * 16 * 16.
  EXPECT_EQ(p.loop.flops, 32768);
  // Two, one and one times 64 lanes of 16 bytes.
  EXPECT_EQ(p.loop.ldsBytesRead, 2048);
  EXPECT_EQ(p.loop.ldsBytesWritten, 1024);
  EXPECT_EQ(p.loop.globalBytes, 1024);
  // 16 clocks each; 4 clocks for each of 4 matrix and 1 vector instruction.
  EXPECT_EQ(p.loop.matrixClocks, 64);
  EXPECT_EQ(p.loop.vectorClocks, 20);
  // a[0:3] and a[4:7] hold 16x16 each.
  EXPECT_EQ(p.resultsPerWave, 512);
  EXPECT_THAT(p.rest.globalWrites, ElementsAre(Pair(16, 1)));
  EXPECT_EQ(p.rest.scalarLoads, 1);
}

/// One wave alone, from the loop's start. The global load is under way from 16
/// (64 lanes of 16 bytes at 64 per clock) to 516. The reads of LDS are issued
/// at 4 and 8, and go through it one after the other, 8 clocks each: the second
/// ends at 12 + 8 + 64 = 84. The matrix instructions start at 84, 100, 116 (the
/// first one's accumulator is ready then: 100 + 16) and 132. The wait for the
/// load ends at 516. Write, scalar, vector, barrier and branch: 536.
TEST_F(StaticModel, OneWaveAlone) {
  EXPECT_EQ(profile(kGemm, makeResources(), gpu).loop.aloneClocks, 536);
}

/// With two workgroups on a unit, there are two waves on each SIMD:
///   matrix 2 * 64 = 128, vector 2 * 20 = 40,
///   lds 8 * 3072 / 128 = 192, global 8 * 1024 / 64 = 128, latency 536.
/// An iteration adds 32768 * 4 / (2 * 2048) = 32 products to each result, so
/// that 1024 take 32 iterations. Outside of the loop: the store of 8 waves,
/// 8 * 1024 / 64 = 128 clocks. One round: 32 * 536 + 128 = 17280 clocks of 2.1
/// GHz, 0.0082286 ms. Memory: 5.3e6 bytes at 5300 GB/s, 0.001 ms.
TEST_F(StaticModel, TimeOfALaunch) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  LaunchEstimate e = estimateLaunch(p, makeWork(), gpu);
  EXPECT_TRUE(e.isFromCode);
  EXPECT_EQ(e.terms.matrix, 128);
  EXPECT_EQ(e.terms.vector, 40);
  EXPECT_EQ(e.terms.lds, 192);
  EXPECT_EQ(e.terms.global, 128);
  EXPECT_EQ(e.terms.latency, 536);
  EXPECT_STREQ(e.terms.getBinding(), "latency");
  EXPECT_EQ(e.iterations, 32);
  EXPECT_EQ(e.rounds, 1);
  EXPECT_EQ(e.groupsPerUnit, 2);
  EXPECT_EQ(e.waves, 2);
  EXPECT_EQ(e.outsideClocks, 128);
  EXPECT_NEAR(e.matrixUtilisation, 128.0 / 536, 1e-12);
  EXPECT_NEAR(e.computeMs, 17280 / 2.1e6, 1e-9);
  EXPECT_NEAR(e.memoryMs, 0.001, 1e-9);
  EXPECT_NEAR(e.milliseconds, e.computeMs + e.launchMs, 1e-12);
}

TEST_F(StaticModel, LastRoundHoldsFewerWorkgroups) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  LaunchWork work = makeWork();
  work.workgroups += 1;
  work.results += 2048;
  work.flops = 2 * work.results * 1024;
  LaunchEstimate e = estimateLaunch(p, work, gpu);
  EXPECT_EQ(e.rounds, 2);
  // The one that is left: latency binds, and its store takes 8 clocks less
  // than the 58 of a wave alone: 4 * 1024 / 64 = 64 of all its waves.
  EXPECT_NEAR(e.computeMs, (17280 + 32 * 536 + 64) / 2.1e6, 1e-9);
}

TEST_F(StaticModel, WorkDecidesIterations) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  LaunchWork work = makeWork();
  // The rest of the reduction takes an iteration of its own.
  work.flops = 2 * work.results * 1025;
  EXPECT_EQ(estimateLaunch(p, work, gpu).iterations, 33);
  // Shared by two workgroups, which then do two tiles each.
  work.flops = 2 * work.results * 1024;
  work.splitK = 2;
  EXPECT_EQ(estimateLaunch(p, work, gpu).iterations, 16 * 2);
  work.workgroups *= 2;
  EXPECT_EQ(estimateLaunch(p, work, gpu).iterations, 16);
  // Tiles that reach beyond the results cost as much.
  work.splitK = 1;
  EXPECT_EQ(estimateLaunch(p, work, gpu).iterations, 32);
}

/// A workgroup that does two tiles in turn stores two, and loads their first
/// data at once: half of the code is for each, and half for the first one.
TEST_F(StaticModel, TurnsRepeatTheCodeOutsideOfTheLoop) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  LaunchWork work = makeWork();
  work.splitK = 2;
  EXPECT_EQ(estimateLaunch(p, work, gpu).outsideClocks, 128);
  work.takesTurns = true;
  LaunchEstimate e = estimateLaunch(p, work, gpu);
  EXPECT_EQ(e.outsideClocks, 1.5 * 128);
  EXPECT_NEAR(e.computeMs, (17280 + 64) / 2.1e6, 1e-9);
  work.splitK = 1;
  EXPECT_EQ(estimateLaunch(p, work, gpu).outsideClocks, 128);
  // Half of its tiles' results do not exist.
  work.tiledResults = 2 * work.results;
  EXPECT_EQ(estimateLaunch(p, work, gpu).outsideClocks, 1.5 * 128);
}

/// A share of one tile's iterations begins within one tile and ends in another.
TEST_F(StaticModel, SharesStorePartsOfTwoTiles) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  LaunchWork work = makeWork();
  work.takesTurns = work.sharesSteps = true;
  EXPECT_EQ(estimateLaunch(p, work, gpu).outsideClocks, 2 * 128);
}

/// Four elements per lane and no loop: half the peaks. 1.3e9 FLOP of f16 at
/// 1307.4 TFLOP/s take 0.000994 ms, 53e6 bytes at 5300 GB/s 0.01 ms.
TEST_F(StaticModel, WithoutALoop) {
  KernelProfile p =
      profile("\tv_add_f32 v0, v1, v2\n\ts_endpgm\n", makeResources(), gpu);
  LaunchWork work = makeWork();
  work.flops = 1.3e9;
  work.bytes = 53e6;
  work.expectedFraction = 0.5;
  LaunchEstimate e = estimateLaunch(p, work, gpu);
  EXPECT_FALSE(e.isFromCode);
  EXPECT_NEAR(e.memoryMs, 0.02, 1e-9);
  EXPECT_NEAR(e.computeMs, 2 * 0.000994, 1e-5);
  EXPECT_NEAR(e.milliseconds, 0.022, 1e-6);
}

/// RDNA: 2 SIMDs of 32 lanes, waves of 32. A workgroup of 128 lanes is two
/// waves on each. WMMA takes 32 clocks, vectors 1.
TEST_F(StaticModel, WavesOf32) {
  gpu = *parseGpuTarget("gfx1100");
  KernelResources resources = makeResources();
  resources.workgroup = 128;
  resources.waveSize = 32;
  KernelProfile p = profile(R"(
.LBB0_1:
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
	v_dual_mov_b32 v30, v31 :: v_dual_mov_b32 v32, v33
	s_cbranch_scc1 .LBB0_1
	s_endpgm
)",
                            resources, gpu);
  // 1536 / 144 = 10 waves, in workgroups of 4 waves 5; LDS has room for 2.
  EXPECT_EQ(p.occupancy, 4);
  EXPECT_EQ(p.loop.matrixClocks, 32);
  EXPECT_EQ(p.loop.vectorClocks, 2);
  // The accumulator is ready 16 clocks after it: 48.
  EXPECT_EQ(p.loop.aloneClocks, 48);
  LaunchWork work;
  work.workgroups = 96 * 2;
  work.results = 96 * 2 * 4 * 256;
  work.flops = 2 * work.results * 16;
  work.dtype = DType::F16;
  LaunchEstimate e = estimateLaunch(p, work, gpu);
  EXPECT_EQ(e.iterations, 1);
  EXPECT_EQ(e.waves, 4);
  EXPECT_EQ(e.terms.matrix, 128);
  EXPECT_EQ(e.matrixUtilisation, 1);
}

//===----------------------------------------------------------------------===//
// More of something never takes less
//===----------------------------------------------------------------------===//

TEST_F(StaticModel, MoreWorkTakesLonger) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  double last = 0;
  for (double products : {64, 128, 1000, 4096}) {
    LaunchWork work = makeWork();
    work.flops = 2 * work.results * products;
    double now = estimateLaunch(p, work, gpu).milliseconds;
    EXPECT_GT(now, last);
    last = now;
  }
  last = 0;
  for (int64_t groups : {1, 304, 305, 608, 609, 6080, 6081}) {
    LaunchWork work = makeWork();
    work.workgroups = groups;
    work.results = static_cast<double>(groups * 2048);
    work.flops = 2 * work.results * 1024;
    double now = estimateLaunch(p, work, gpu).milliseconds;
    EXPECT_GE(now, last);
    last = now;
  }
  LaunchWork much = makeWork();
  much.bytes *= 100;
  EXPECT_GT(estimateLaunch(p, much, gpu).milliseconds,
            estimateLaunch(p, makeWork(), gpu).milliseconds);
}

TEST_F(StaticModel, LessOccupancyIsNeverFaster) {
  LaunchWork work = makeWork();
  work.workgroups *= 8;
  work.results *= 8;
  work.flops *= 8;
  double last = 0;
  for (int64_t registers : {64, 128, 256, 512}) {
    KernelResources resources = makeResources();
    resources.ldsBytes = 8 << 10;
    resources.vectorRegisters = registers;
    double now =
        estimateLaunch(profile(kGemm, resources, gpu), work, gpu).milliseconds;
    EXPECT_GE(now, last) << registers;
    last = now;
  }
}

TEST_F(StaticModel, MoreInstructionsAreNeverFaster) {
  std::string text = kGemm;
  double before =
      estimateLaunch(profile(text, makeResources(), gpu), makeWork(), gpu)
          .milliseconds;
  for (const char *more :
       {"\tv_exp_f32 v0, v1\n", "\tds_read_b128 v[20:23], v50\n",
        "\tglobal_load_dwordx4 v[20:23], v[40:41], off\n", "\ts_nop 0\n"}) {
    for (int i = 0; i < 100; ++i)
      text.insert(text.find("\ts_add_i32"), more);
    double now =
        estimateLaunch(profile(text, makeResources(), gpu), makeWork(), gpu)
            .milliseconds;
    EXPECT_GE(now, before) << more;
    before = now;
  }
}

TEST_F(StaticModel, SlowerMemoryIsNeverFaster) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  LaunchWork work = makeWork();
  work.bytes = 5.3e8;
  double before = estimateLaunch(p, work, gpu).milliseconds;
  gpu.memoryGbps /= 2;
  EXPECT_GT(estimateLaunch(p, work, gpu).milliseconds, before);
}

TEST_F(StaticModel, Report) {
  KernelProfile p = profile(kGemm, makeResources(), gpu);
  std::string text =
      printEstimate(p, makeWork(), estimateLaunch(p, makeWork(), gpu), gpu);
  EXPECT_THAT(text, HasSubstr("128 vector registers"));
  EXPECT_THAT(text, HasSubstr("0 spills, 2 waves per SIMD"));
  EXPECT_THAT(text, HasSubstr("lds reads: 2 of 16 bytes"));
  // 3072 / 32768 and 1024 / 32768.
  EXPECT_THAT(text, HasSubstr("lds 0.0938, caches 0.0312"));
  EXPECT_THAT(text, HasSubstr("matrix issue share: 80.0%"));
  EXPECT_THAT(text, HasSubstr("latency binds"));
  EXPECT_THAT(text, HasSubstr("modelled matrix utilisation: 23.9%"));
}

TEST_F(StaticModel, Faults) {
  EXPECT_EQ(profileAssembly("", makeResources(), gpu).message(),
            "kernel 'kernel': the assembly has no instructions");
}
