//===- Profile.cpp - Counts what one wave does ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoneWave.h"
#include "ModelFigures.h"
#include "ScheduledWave.h"
#include "tarpon/Targets/GPU/Model/StaticModel.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace tarpon;
using Kind = InstructionKind;

/// The number of iterations before the period of a loop is measured.
static constexpr int kWarmIterations = 4;

static void count(const MachineInstruction &instruction, const GpuTarget &gpu,
                  InstructionMix &mix) {
  auto lanes = static_cast<double>(gpu.waveSize);
  double bytes = static_cast<double>(instruction.bytes) * lanes;
  double issue = getIssueClocks(gpu);
  switch (instruction.kind) {
  case Kind::Matrix:
    ++mix.matrix;
    mix.flops += instruction.flops;
    mix.matrixClocks += getMatrixClocks(instruction, gpu);
    mix.vectorClocks += issue;
    mix.ldsBytesRead += bytes;
    return;
  case Kind::Vector:
    ++mix.vector;
    mix.flops += instruction.flops * lanes;
    mix.vectorClocks += issue * static_cast<double>(instruction.rate);
    return;
  case Kind::LdsRead:
    ++mix.ldsReads[instruction.bytes];
    mix.ldsBytesRead += bytes;
    return;
  case Kind::LdsWrite:
    ++mix.ldsWrites[instruction.bytes];
    mix.ldsBytesWritten += bytes;
    return;
  case Kind::GlobalRead:
    ++mix.globalReads[instruction.bytes];
    mix.globalBytes += bytes;
    return;
  case Kind::GlobalWrite:
    ++mix.globalWrites[instruction.bytes];
    mix.globalBytes += bytes;
    return;
  case Kind::GlobalToLds:
    ++mix.globalToLds[instruction.bytes];
    mix.globalBytes += bytes;
    mix.ldsBytesWritten += bytes;
    return;
  case Kind::ScalarLoad:
    ++mix.scalarLoads;
    return;
  case Kind::Wait:
    ++mix.waits;
    return;
  case Kind::Barrier:
    ++mix.barriers;
    return;
  case Kind::Scalar:
  case Kind::Branch:
    ++mix.scalar;
    return;
  case Kind::Commit:
  case Kind::End:
  case Kind::Other:
    return;
  }
}

/// Counts all blocks that satisfy `isIn`, each executed once by the wave.
template <typename Wave, typename F>
static InstructionMix countBlocks(const MachineCode &code, const GpuTarget &gpu,
                                  int repetitions, F isIn) {
  InstructionMix mix;
  Wave wave(gpu);
  double warm = 0;
  for (int i = 0; i < repetitions; ++i) {
    warm = wave.getTime();
    for (auto [index, block] : llvm::enumerate(code.getBlocks())) {
      if (!isIn(index))
        continue;
      wave.execute(block);
      if (i == 0)
        for (const MachineInstruction &instruction : block.instructions)
          count(instruction, gpu, mix);
    }
  }
  mix.aloneClocks = wave.getTime() - warm;
  return mix;
}

/// The number of elements of a loop's distinct accumulators.
static double countResults(const MachineCode &code, const MachineLoop &loop,
                           const GpuTarget &gpu) {
  std::set<std::string> seen;
  double results = 0;
  for (size_t index : loop.blocks)
    for (const MachineInstruction &instruction :
         code.getBlocks()[index].instructions) {
      if (instruction.accumulator.empty() ||
          !seen.insert(instruction.accumulator).second)
        continue;
      bool isMatrix = instruction.kind == Kind::Matrix;
      // A packed instruction adds to two.
      int64_t products = instruction.m * instruction.n / instruction.waves;
      results += isMatrix ? static_cast<double>(products)
                          : static_cast<double>(gpu.waveSize) *
                                (instruction.flops > 2 ? 2 : 1);
    }
  return results;
}

/// Counts the code's blocks by waves that execute it in its order.
template <typename F>
static InstructionMix countBlocks(const MachineCode &code, const GpuTarget &gpu,
                                  int repetitions, F isIn) {
  if (code.getOrder() == MachineCode::Order::Operands)
    return countBlocks<ScheduledWave>(code, gpu, repetitions, isIn);
  return countBlocks<LoneWave>(code, gpu, repetitions, isIn);
}

KernelProfile tarpon::profileCode(const MachineCode &code,
                                  const KernelResources &resources,
                                  const GpuTarget &gpu) {
  KernelProfile profile;
  profile.resources = resources;
  profile.occupancy = gpu.getOccupancy(resources.vectorRegisters,
                                       resources.ldsBytes, resources.workgroup);
  std::optional<MachineLoop> loop = code.findInnerLoop();
  auto isInLoop = [&](size_t block) {
    return loop && llvm::is_contained(loop->blocks, block);
  };
  profile.rest =
      countBlocks(code, gpu, 1, [&](size_t b) { return !isInLoop(b); });
  profile.hasLoop = loop.has_value();
  if (!loop)
    return profile;
  // The first iterations fill the pipeline across the back edge.
  profile.loop = countBlocks(code, gpu, kWarmIterations, isInLoop);
  profile.resultsPerWave = countResults(code, *loop, gpu);
  return profile;
}
