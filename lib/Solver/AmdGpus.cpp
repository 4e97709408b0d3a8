//===- AmdGpus.cpp - The AMD GPUs that Tarpon knows -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources of the figures:
//   [CDNA2], [CDNA3], [CDNA4]: AMD's white papers on these architectures, and
//     the data sheets of MI210/MI250/MI250X, MI300X/MI300A, MI350X/MI355X;
//   [ISA]: AMD's instruction set architecture guides of the same names, and of
//     RDNA 3 and RDNA 4;
//   [LLVM]: AMDGPUBaseInfo.cpp and GCNProcessors.td (LLVM 22) for registers,
//     granules, waves and LDS; SISchedule.td for the cycles of matrix
//     instructions, which are checked against the peaks of the data sheets
//     (GpuTargetTest.cpp);
//   [RX]: AMD's product pages of the RX 7900 XTX and the RX 9070 XT.
//
//===----------------------------------------------------------------------===//

#include "GpuTables.h"

using namespace tarpon;
using runtime::DType;

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

// [CDNA2]: 1024 operations per clock and unit in f16, bf16 and i8, 256 in f32.
static constexpr MatrixInstruction kGfx90aMatrix[] = {
    {DType::F16, 16, 16, 16, 32},  {DType::F16, 32, 32, 8, 64},
    {DType::BF16, 16, 16, 16, 32}, {DType::BF16, 32, 32, 8, 64},
    {DType::I8, 16, 16, 16, 32},   {DType::I8, 32, 32, 8, 64},
    {DType::F32, 16, 16, 4, 32},   {DType::F32, 32, 32, 2, 64}};

// [CDNA3]: 2048 in f16 and bf16, 4096 in i8, 256 in f32.
static constexpr MatrixInstruction kGfx942Matrix[] = {
    {DType::F16, 16, 16, 16, 16},  {DType::F16, 32, 32, 8, 32},
    {DType::BF16, 16, 16, 16, 16}, {DType::BF16, 32, 32, 8, 32},
    {DType::I8, 16, 16, 32, 16},   {DType::I8, 32, 32, 16, 32},
    {DType::F32, 16, 16, 4, 32},   {DType::F32, 32, 32, 2, 64}};

// [CDNA4]: 4096 in f16 and bf16, 8192 in i8, 256 in f32. The forms of CDNA3
// take as long as those with twice the depth.
static constexpr MatrixInstruction kGfx950Matrix[] = {
    {DType::F16, 16, 16, 32, 16},  {DType::F16, 32, 32, 16, 32},
    {DType::F16, 16, 16, 16, 16},  {DType::F16, 32, 32, 8, 32},
    {DType::BF16, 16, 16, 32, 16}, {DType::BF16, 32, 32, 16, 32},
    {DType::BF16, 16, 16, 16, 16}, {DType::BF16, 32, 32, 8, 32},
    {DType::I8, 16, 16, 64, 16},   {DType::I8, 32, 32, 32, 32},
    {DType::I8, 16, 16, 32, 16},   {DType::I8, 32, 32, 16, 32},
    {DType::F32, 16, 16, 4, 32},   {DType::F32, 32, 32, 2, 64}};

// [ISA] RDNA 3, [RX]: 512 per clock and compute unit, which has two SIMDs.
static constexpr MatrixInstruction kGfx1100Matrix[] = {
    {DType::F16, 16, 16, 16, 32},
    {DType::BF16, 16, 16, 16, 32},
    {DType::I8, 16, 16, 16, 32}};

// [ISA] RDNA 4, [RX]: 1024 in f16 and bf16, 2048 in i8.
static constexpr MatrixInstruction kGfx1201Matrix[] = {
    {DType::F16, 16, 16, 16, 16},
    {DType::BF16, 16, 16, 16, 16},
    {DType::I8, 16, 16, 16, 8}};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// CDNA: waves of 64 lanes on four SIMDs, with ArchVGPRs and AccVGPRs in one
/// file of 512 per lane [LLVM].
static GpuTarget makeCdna(const char *chip, int64_t computeUnits,
                          double clockGhz, double memoryGbps) {
  GpuTarget target;
  target.chip = chip;
  // [ISA], buffer resource descriptor: NUM_FORMAT float, DATA_FORMAT 32.
  target.bufferFlags = 7u << 12 | 4u << 15;
  target.computeUnits = computeUnits;
  target.clockGhz = clockGhz;
  target.memoryGbps = memoryGbps;
  return target;
}

/// RDNA: waves of 32 lanes on two SIMDs; 1536 registers per lane in granules of
/// 24, of which a wave can address 256 [LLVM]. Two compute units share the LDS
/// of their workgroup processor, 128 KiB.
static GpuTarget makeRdna(const char *chip, int64_t computeUnits,
                          double clockGhz, double memoryGbps) {
  GpuTarget target = makeCdna(chip, computeUnits, clockGhz, memoryGbps);
  target.waveSize = 32;
  target.simdsPerUnit = 2;
  target.vectorRegisters = 1536;
  target.vectorGranule = 24;
  target.maxVectorRegisters = 256;
  target.maxWaves = 16;
  target.matrixUnit = MatrixUnit::Wmma;
  // [ISA]: a bit that must be 1, and OOB_SELECT 3: raw, checked by bytes.
  target.bufferFlags |= 1u << 24 | 3u << 28;
  return target;
}

std::vector<GpuTarget> tarpon::getAmdGpus() {
  // MI250X, one of its two dies: 110 units at 1.7 GHz, 1.6 TB/s, 8 MiB L2.
  GpuTarget gfx90a = makeCdna("gfx90a", 110, 1.7, 1638);
  gfx90a.matrixInstructions = kGfx90aMatrix;
  gfx90a.matrixFamily = MatrixFamily::CDNA2;
  gfx90a.l2Bytes = 8 << 20;
  gfx90a.directToLdsBytes = 4;
  // MI300X: 304 units at 2.1 GHz, 5.3 TB/s, 4 MiB L2 per die, 256 MiB
  // Infinity Cache. MI300A has 228 units.
  GpuTarget gfx942 = makeCdna("gfx942", 304, 2.1, 5300);
  gfx942.matrixInstructions = kGfx942Matrix;
  gfx942.matrixFamily = MatrixFamily::CDNA3;
  gfx942.l2Bytes = 4 << 20;
  gfx942.memoryCacheBytes = 256 << 20;
  gfx942.directToLdsBytes = 4;
  // MI355X: 256 units at 2.4 GHz, 8 TB/s, 160 KiB of LDS [CDNA4], which is
  // read twice as fast as CDNA 3's (hyper.ai's summary of its announcement).
  GpuTarget gfx950 = makeCdna("gfx950", 256, 2.4, 8000);
  gfx950.matrixInstructions = kGfx950Matrix;
  gfx950.matrixFamily = MatrixFamily::CDNA4;
  gfx950.l2Bytes = 4 << 20;
  gfx950.memoryCacheBytes = 256 << 20;
  gfx950.ldsBytes = gfx950.ldsBytesPerUnit = 160 << 10;
  gfx950.ldsReadBytesPerClock = 256;
  gfx950.directToLdsBytes = 16;
  // RX 7900 XTX: 96 units at 2.5 GHz, 960 GB/s, 6 MiB L2, 96 MiB Infinity
  // Cache.
  GpuTarget gfx1100 = makeRdna("gfx1100", 96, 2.5, 960);
  gfx1100.matrixInstructions = kGfx1100Matrix;
  gfx1100.matrixFamily = MatrixFamily::RDNA3;
  gfx1100.l2Bytes = 6 << 20;
  gfx1100.memoryCacheBytes = 96 << 20;
  // RX 9070 XT: 64 units at 2.97 GHz, 640 GB/s, 8 MiB L2, 64 MiB Infinity
  // Cache.
  GpuTarget gfx1201 = makeRdna("gfx1201", 64, 2.97, 640);
  gfx1201.matrixInstructions = kGfx1201Matrix;
  gfx1201.matrixFamily = MatrixFamily::RDNA4;
  gfx1201.l2Bytes = 8 << 20;
  gfx1201.memoryCacheBytes = 64 << 20;
  return std::vector{gfx90a, gfx942, gfx950, gfx1100, gfx1201};
}
