//===- GpuTargetTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/GpuName.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using runtime::DType;

static GpuTarget get(const char *name) {
  auto target = parseGpuTarget(name);
  EXPECT_TRUE(target) << target.message();
  return *target;
}

/// The peaks of the data sheets, in TFLOP/s: what units, clocks and cycles have
/// to multiply to.
TEST(GpuTargetTest, PeaksAreThoseOfTheDataSheets) {
  struct Peak {
    const char *chip;
    DType dtype;
    double teraflops;
  };
  for (const Peak &peak : {Peak{"gfx90a", DType::F16, 191.5},
                           {"gfx90a", DType::BF16, 191.5},
                           {"gfx90a", DType::I8, 191.5},
                           {"gfx90a", DType::F32, 47.9},
                           {"gfx942", DType::F16, 1307.4},
                           {"gfx942", DType::I8, 2614.9},
                           {"gfx942", DType::F32, 163.4},
                           {"gfx950", DType::F16, 2516.6},
                           {"gfx950", DType::I8, 5033.2},
                           {"gfx950", DType::F32, 157.3},
                           {"gfx1100", DType::F16, 122.9},
                           {"gfx1100", DType::F32, 61.4},
                           {"gfx1201", DType::F16, 194.6},
                           {"gfx1201", DType::I8, 389.3},
                           {"gfx1201", DType::F32, 48.7}})
    EXPECT_NEAR(get(peak.chip).peakGflops(peak.dtype) / 1e3, peak.teraflops,
                peak.teraflops * 0.005)
        << peak.chip << " " << runtime::dtypeName(peak.dtype);
}

TEST(GpuTargetTest, VariantsHaveTheirUnits) {
  EXPECT_EQ(get("gfx942").name(), "gfx942:cu=304");
  EXPECT_EQ(get("gfx942:cu=228").name(), "gfx942:cu=228");
  EXPECT_EQ(get("gfx942:cu=228").waveSize, 64);
  EXPECT_EQ(parseGpuTarget("gfx000").message(),
            "unknown GPU 'gfx000', expected gfx90a, gfx942, gfx950, gfx1100, "
            "gfx1201, sm_80, sm_89, sm_90a, sm_100a");
  for (const char *bad :
       {"gfx942:", "gfx942:cu=", "gfx942:cu=0", "gfx942:cu=x", "gfx942:304",
        "gfx942:cu=304:", "gfx942:cu=304:cu=304", "gfx942:bw=5300"})
    EXPECT_EQ(parseGpuTarget(bad).message(),
              "'" + std::string(bad) +
                  "' is not a GPU target, expected gfx942:cu=N with N compute "
                  "units");
}

/// An H100 and an H200 have one chip and as many units.
TEST(GpuTargetTest, NvidiaGpusAreToldApartByTheirMemory) {
  EXPECT_EQ(get("sm_90a").name(), "sm_90a:cu=132:bw=4800");
  EXPECT_EQ(get("sm_90a").memoryGbps, 4800);
  EXPECT_EQ(get("sm_90a:bw=3352").name(), "sm_90a:cu=132:bw=3352");
  EXPECT_EQ(get("sm_90a:bw=3352").memoryGbps, 3352);
  EXPECT_EQ(get("sm_90a:bw=3352:cu=132").name(), "sm_90a:cu=132:bw=3352");
  // Units alone tell some products.
  EXPECT_EQ(get("sm_90a:cu=114").name(), "sm_90a:cu=114:bw=2039");
  EXPECT_EQ(get("sm_90a:cu=100").name(), "sm_90a:cu=100:bw=4800");
  EXPECT_EQ(parseGpuTarget("sm_90a:bw=0").message(),
            "'sm_90a:bw=0' is not a GPU target, expected sm_90a:cu=N:bw=G with "
            "N compute units and G GB/s of memory");
  std::string name = get("sm_80").name();
  EXPECT_EQ(get(name.c_str()).name(), name);
}

/// A permission is a part of the name, and no property of a device.
TEST(GpuTargetTest, Tf32IsAllowedByName) {
  GpuTarget plain = get("sm_90a"), allowed = get("sm_90a:tf32");
  EXPECT_EQ(allowed.name(), "sm_90a:cu=132:bw=4800:tf32");
  EXPECT_EQ(get("sm_90a:tf32:bw=3352").name(), "sm_90a:cu=132:bw=3352:tf32");
  EXPECT_EQ(get(allowed.name().c_str()).name(), allowed.name());
  for (const char *chip : {"sm_80", "sm_89", "sm_90a", "sm_100a"}) {
    GpuTarget before = get(chip),
              after = get((chip + std::string(":tf32")).c_str());
    EXPECT_FALSE(before.allowsTf32);
    EXPECT_TRUE(before.hasTf32() && after.allowsTf32);
    EXPECT_TRUE(before.getMatrixInstructions(DType::F32).empty());
    EXPECT_FALSE(after.getMatrixInstructions(DType::F32).empty());
    EXPECT_NEAR(after.peakGflops(DType::F32), after.peakGflops(DType::F16) / 2,
                1)
        << chip;
  }
  EXPECT_NEAR(plain.peakGflops(DType::F32) / 1e3, 66.9, 0.1);
  EXPECT_EQ(parseGpuTarget("gfx942:tf32").message(),
            "'gfx942:tf32' allows TF32, and gfx942 has no instructions for it");
  EXPECT_EQ(parseGpuTarget("sm_90a:tf32:tf32").message(),
            "'sm_90a:tf32:tf32' is not a GPU target, expected sm_90a:cu=N:bw=G "
            "with N compute units and G GB/s of memory");
  // What the driver tells is completed by it, and a device called by it.
  EXPECT_EQ(completeGpuName("sm_90a:tf32", "sm_90a:cu=132:bw=3352"),
            "sm_90a:tf32:cu=132:bw=3352");
  EXPECT_EQ(takePermissions("sm_90a:cu=132:bw=3352", "sm_90a:tf32"),
            "sm_90a:cu=132:bw=3352:tf32");
  EXPECT_EQ(takePermissions("sm_90a:cu=132:bw=3352", "sm_90a"),
            "sm_90a:cu=132:bw=3352");
  EXPECT_EQ(takePermissions("sm_75:cu=40:bw=320", "sm_90a:tf32"),
            "sm_75:cu=40:bw=320");
}

/// Drivers tell clocks, and data sheets rounded figures.
TEST(GpuTargetTest, NamesOfDriversBecomeThoseOfDataSheets) {
  EXPECT_EQ(normaliseGpuName("sm_90a:cu=132:bw=4917"), "sm_90a:cu=132:bw=4800");
  EXPECT_EQ(normaliseGpuName("sm_90a:cu=132:bw=3360"), "sm_90a:cu=132:bw=3352");
  EXPECT_EQ(normaliseGpuName("sm_90a:cu=132:bw=4400"), "sm_90a:cu=132:bw=4400");
  EXPECT_EQ(normaliseGpuName("sm_80:cu=108:bw=1944"), "sm_80:cu=108:bw=1935");
  EXPECT_EQ(normaliseGpuName("sm_75:cu=40:bw=320"), "sm_75:cu=40:bw=320");
}

TEST(GpuTargetTest, OpenFeaturesAreTheDevices) {
  const char *device = "sm_90a:cu=132:bw=3352";
  EXPECT_EQ(completeGpuName("sm_90a", device), device);
  EXPECT_EQ(completeGpuName("sm_90a:cu=132", device), device);
  EXPECT_EQ(completeGpuName("sm_90a:bw=3352", device), "sm_90a:bw=3352:cu=132");
  EXPECT_EQ(completeGpuName("sm_90a:cu=132:bw=4800", device),
            "sm_90a:cu=132:bw=4800");
  for (const char *name :
       {"sm_90a:cu=114", "sm_90a:bw=4800", "sm_90", "sm_80", "sm_90a:cu"})
    EXPECT_EQ(completeGpuName(name, device), name);
  EXPECT_EQ(completeGpuName("gfx942", "gfx942:cu=228"), "gfx942:cu=228");
}

TEST(GpuTargetTest, OccupancyIsBoundByRegistersLdsAndWaves) {
  GpuTarget cdna = get("gfx942");
  EXPECT_EQ(cdna.getOccupancy(32, 0, 256), 8);
  EXPECT_EQ(cdna.getOccupancy(64, 0, 256), 8);
  EXPECT_EQ(cdna.getOccupancy(65, 0, 256), 7);
  EXPECT_EQ(cdna.getOccupancy(128, 0, 256), 4);
  EXPECT_EQ(cdna.getOccupancy(512, 0, 256), 1);
  EXPECT_EQ(cdna.getOccupancy(513, 0, 256), 0);
  // Two workgroups' LDS fit, with one wave of each on every SIMD.
  EXPECT_EQ(cdna.getOccupancy(64, 32 << 10, 256), 2);
  EXPECT_EQ(cdna.getOccupancy(64, 65 << 10, 256), 0);
  EXPECT_EQ(get("gfx950").getOccupancy(64, 65 << 10, 256), 2);
  GpuTarget rdna = get("gfx1100");
  EXPECT_EQ(rdna.getOccupancy(96, 0, 128), 16);
  EXPECT_EQ(rdna.getOccupancy(97, 0, 128), 12);
  // Five waves fit, but not five halves of workgroups.
  EXPECT_EQ(rdna.getOccupancy(256, 0, 128), 4);
}

TEST(GpuTargetTest, LargestMatrixInstructionComesFirst) {
  auto list = get("gfx950").getMatrixInstructions(DType::F16);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list.front().m * list.front().n * list.front().k, 32 * 32 * 16);
  EXPECT_TRUE(get("gfx1100").getMatrixInstructions(DType::F32).empty());
}
