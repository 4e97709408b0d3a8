//===- NvidiaGpus.cpp - The NVIDIA GPUs that Tarpon knows -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources of the figures:
//   [CUDA]: NVIDIA's CUDA C++ Programming Guide, table of technical
//     specifications per compute capability: registers, warps, blocks and
//     shared memory of a multiprocessor;
//   [A100], [Ada], [H100], [Blackwell]: NVIDIA's white papers and data sheets
//     of these architectures;
//   [products]: its data sheets of the single products;
//   [measured]: matrix products on an H200 with driver 580 ran at that clock.
//
// A compute unit is a multiprocessor, a SIMD one of its four partitions, LDS
// its shared memory.
//
//===----------------------------------------------------------------------===//

#include "GpuTables.h"

using namespace tarpon;
using runtime::DType;

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

// Pairs of mma.sync, which Tarpon uses as one instruction of 16 x 16. TF32 has
// half of the operations of f16 in every generation.
static constexpr bool kTf32 = true;

// [A100]: 2048 operations per clock and unit in f16 and bf16, 4096 in i8.
static constexpr MatrixInstruction kSm80Matrix[] = {
    {DType::F16, 16, 16, 16, 16},
    {DType::BF16, 16, 16, 16, 16},
    {DType::I8, 16, 16, 32, 16},
    {DType::F32, 16, 16, 8, 16, kTf32}};

// [Ada], of the GeForce: 512 with sums in f32, 2048 in i8.
static constexpr MatrixInstruction kSm89Matrix[] = {
    {DType::F16, 16, 16, 16, 64},
    {DType::BF16, 16, 16, 16, 64},
    {DType::I8, 16, 16, 32, 32},
    {DType::F32, 16, 16, 8, 64, kTf32}};

// [measured]: 642 TFLOP/s in f16, which are 2456 per clock and unit and 60 % of
// what wgmma has; i8 has twice as many in every generation. Those of 64 pixels
// are wgmma's, which occupies all four partitions: [H100] 4096 operations per
// clock and unit in f16.
static constexpr MatrixInstruction kSm90Matrix[] = {
    {DType::F16, 16, 16, 16, 13},         {DType::BF16, 16, 16, 16, 13},
    {DType::I8, 16, 16, 32, 13},          {DType::F16, 256, 64, 16, 512},
    {DType::F16, 128, 64, 16, 256},       {DType::F16, 64, 64, 16, 128},
    {DType::BF16, 256, 64, 16, 512},      {DType::BF16, 128, 64, 16, 256},
    {DType::BF16, 64, 64, 16, 128},       {DType::I8, 256, 64, 32, 512},
    {DType::I8, 128, 64, 32, 256},        {DType::I8, 64, 64, 32, 128},
    {DType::F32, 16, 16, 8, 13, kTf32},   {DType::F32, 256, 64, 8, 512, kTf32},
    {DType::F32, 128, 64, 8, 256, kTf32}, {DType::F32, 64, 64, 8, 128, kTf32}};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Warps of 32 lanes on four partitions, each with 512 registers per lane
/// (64 Ki of a multiprocessor), of which a warp can address 255 [CUDA]. PTX is
/// of the first version that has the chip, unless a row says otherwise.
static GpuTarget makeNvidia(const char *chip, int64_t ptxVersion,
                            int64_t computeUnits, double clockGhz,
                            double memoryGbps) {
  GpuTarget target;
  target.vendor = GpuVendor::NVIDIA;
  target.chip = chip;
  target.ptxVersion = ptxVersion;
  target.waveSize = 32;
  target.maxVectorRegisters = 255;
  // The lanes of larger ones have 128 registers or fewer, and ptxas 13.0 spills
  // those of some depthwise and elementwise kernels.
  target.maxVectorWorkgroup = 256;
  target.maxWaves = 16;
  // PTX ISA, "Operand Alignment"; accesses are of up to 16 bytes.
  target.accessAlignment = 16;
  target.matrixUnit = MatrixUnit::MmaSync;
  target.maxGroupsPerUnit = 32;
  target.ldsReservedPerGroup = 1 << 10;
  target.computeUnits = computeUnits;
  target.clockGhz = clockGhz;
  target.memoryGbps = memoryGbps;
  return target;
}

std::vector<GpuTarget> tarpon::getNvidiaGpus() {
  // A100 SXM 80 GB: 108 units at 1.41 GHz, 2.0 TB/s, 40 MiB L2.
  GpuTarget sm80 = makeNvidia("sm_80", 70, 108, 1.41, 2039);
  sm80.vectorFmasPerClock = 64;
  sm80.matrixInstructions = kSm80Matrix;
  sm80.ldsBytes = 163 << 10;
  sm80.ldsBytesPerUnit = 164 << 10;
  sm80.l2Bytes = 40 << 20;
  // RTX 4090: 128 units at 2.52 GHz, 1.0 TB/s, 72 MiB L2; 48 warps, 24 blocks.
  GpuTarget sm89 = makeNvidia("sm_89", 78, 128, 2.52, 1008);
  sm89.matrixInstructions = kSm89Matrix;
  sm89.maxWaves = 12;
  sm89.maxGroupsPerUnit = 24;
  sm89.ldsBytes = 99 << 10;
  sm89.ldsBytesPerUnit = 100 << 10;
  sm89.l2Bytes = 72 << 20;
  // H200 SXM: 132 units at 1.98 GHz [measured], 4.8 TB/s, 50 MiB L2. wgmma
  // multiplies u8 by i8 from PTX 8.4 on; the chip is known to 8.0.
  GpuTarget sm90 = makeNvidia("sm_90a", 84, 132, 1.98, 4800);
  sm90.matrixInstructions = kSm90Matrix;
  sm90.ldsBytes = 227 << 10;
  sm90.ldsBytesPerUnit = 228 << 10;
  sm90.l2Bytes = 50 << 20;
  // B200: 148 units at 1.96 GHz, 8 TB/s, 126 MiB L2. NVIDIA does not say how
  // fast mma.sync is beside tcgen05; this takes it for as fast as on sm_80.
  GpuTarget sm100 = makeNvidia("sm_100a", 86, 148, 1.96, 8000);
  sm100.matrixInstructions = kSm80Matrix;
  sm100.ldsBytes = 227 << 10;
  sm100.ldsBytesPerUnit = 228 << 10;
  sm100.l2Bytes = 126 << 20;
  return {sm80, sm89, sm90, sm100};
}

// [products]
static constexpr GpuProduct kProducts[] = {
    {"sm_80", 108, 1935},  // A100 PCIe, 80 GB
    {"sm_80", 108, 1555},  // A100, 40 GB
    {"sm_80", 56, 933},    // A30
    {"sm_89", 142, 864},   // L40S
    {"sm_89", 58, 300},    // L4
    {"sm_90a", 132, 3352}, // H100 SXM
    {"sm_90a", 132, 3938}, // H100 NVL
    {"sm_90a", 114, 2039}, // H100 PCIe
    {"sm_90a", 78, 4000},  // H20
};

llvm::ArrayRef<GpuProduct> tarpon::getNvidiaProducts() { return kProducts; }
