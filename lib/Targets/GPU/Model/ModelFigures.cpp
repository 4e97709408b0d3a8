//===- ModelFigures.cpp - Assumptions of the static model -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFigures.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

static constexpr ModelFigures kAmd = {
    // The vector L1's (AMD's white papers on CDNA 2 and 3, and on RDNA).
    /*globalBytesPerClock=*/64,
    // Four quads in LLVM's scheduling models of gfx90a and gfx942, where a
    // 16x16x16 f16 takes 4 and its latency is 8.
    /*matrixResultClocks=*/16,
    // Results are forwarded within the clocks of the issue.
    /*vectorLatency=*/0,
    // The order of chipsandcheese.com's measurements on MI300X and RX 7900
    // XTX.
    /*ldsLatency=*/64,
    /*globalLatency=*/500,
    /*scalarLatency=*/50,
    // Assumed.
    /*launchMs=*/0.002,
    // Nothing was measured.
    /*groupMatrixFactor=*/1,
    /*memoryShare=*/1,
    /*waitsForGroup=*/false,
    /*narrowStoreClocks=*/0,
    /*firstLoadClocks=*/0,
    /*meetingClocks=*/0,
    /*unitNorm=*/kLongest,
    /*memoryNorm=*/kLongest,
    /*modelsAllCode=*/false,
    // Packed (CDNA) or dual (RDNA) instructions.
    /*fmasPerInstruction=*/2};

static constexpr ModelFigures kNvidia = {
    // Between a multiprocessor and L2 (NVIDIA's white paper on A100).
    /*globalBytesPerClock=*/64,
    // The mma.sync of 16x8x16 has a latency of about 33 clocks on A100 and H100
    // (arXiv 2402.13499), of which it occupies the unit for 7.
    /*matrixResultClocks=*/26,
    // arXiv 2402.13499; of memory rather than L2, since operands are read once.
    /*vectorLatency=*/5,
    /*ldsLatency=*/33,
    /*globalLatency=*/600,
    // The constant cache.
    /*scalarLatency=*/30,
    // Launches of 512 elements took 1.28 us each in one graph on an H100, of
    // which a load from memory is a quarter.
    /*launchMs=*/0.001,
    // cuBLAS reaches 782 of the 1070 TFLOP/s that 1.98 GHz make on an H200, and
    // a copy 4.3 TB/s of 4.8.
    /*groupMatrixFactor=*/1.37,
    /*memoryShare=*/0.9,
    // All waves of a workgroup multiply what has come behind one barrier, and
    // none of them has more to do until the next.
    /*waitsForGroup=*/true,
    // Candidates of 1x1 convolutions to 255 channels, whose rows in nhwc have
    // no
    // alignment but that of 2 bytes, took 25 to 80 clocks more on an H100 for
    // each such store of a wave.
    /*narrowStoreClocks=*/1,
    // Fitted to 200 measured candidates of eight convolutions, batch 64, on an
    // H200, as the norms below are: the mean correlation of ranks, and the
    // error
    // of the logarithm of the time. Both change little within a third of these
    // values.
    /*firstLoadClocks=*/1000,
    // 24 candidates of ResNet-50's nine largest convolutions, batch 64, took
    // 3.45 us more on an H100, at 1.83 GHz, than others by the model's measure.
    // Sums of 128 x 192 that go to L2 and come back take as long.
    /*meetingClocks=*/6300,
    /*unitNorm=*/4,
    /*memoryNorm=*/1.5,
    /*modelsAllCode=*/true,
    /*fmasPerInstruction=*/1};

const ModelFigures &tarpon::getModelFigures(const GpuTarget &gpu) {
  return gpu.vendor == GpuVendor::NVIDIA ? kNvidia : kAmd;
}

double tarpon::overlap(std::initializer_list<double> times, double norm) {
  if (norm == kLongest)
    return std::max(times);
  double sum = 0;
  for (double time : times)
    sum += std::pow(time, norm);
  return std::pow(sum, 1 / norm);
}

double tarpon::getMatrixClocks(const MachineInstruction &instruction,
                               const GpuTarget &gpu) {
  for (const MatrixInstruction &known : gpu.matrixInstructions)
    if (known.dtype == instruction.input && known.m == instruction.m &&
        known.n == instruction.n && known.k == instruction.k &&
        instruction.waves == 1)
      return static_cast<double>(known.cycles);
  // mma.sync and wgmma have rates of their own, which only the rows tell.
  if (gpu.matrixUnit == MatrixUnit::MmaSync)
    for (const MatrixInstruction &known : gpu.matrixInstructions)
      if (known.dtype == instruction.input && known.n == instruction.m &&
          known.k % instruction.k == 0)
        return static_cast<double>(known.cycles) * instruction.flops /
               known.flops() *
               (instruction.waves > 1 ? getModelFigures(gpu).groupMatrixFactor
                                      : 1);
  // A form that is not in the table runs at the rate of the others.
  double perClock = gpu.peakGflops(instruction.input) / gpu.clockGhz /
                    static_cast<double>(gpu.computeUnits * gpu.simdsPerUnit);
  return instruction.flops / perClock;
}

double tarpon::getIssueClocks(const GpuTarget &gpu) {
  double lanes = static_cast<double>(gpu.vectorFmasPerClock) /
                 static_cast<double>(getModelFigures(gpu).fmasPerInstruction *
                                     gpu.simdsPerUnit);
  return static_cast<double>(gpu.waveSize) / lanes;
}
