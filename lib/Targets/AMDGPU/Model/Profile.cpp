//===- Profile.cpp - Executes one wave in the model -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFigures.h"
#include "tarpon/Targets/AMDGPU/Model/StaticModel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>
#include <set>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using Kind = InstructionKind;

double tarpon::getMatrixClocks(const MachineInstruction &instruction,
                               const GpuTarget &gpu) {
  for (const MatrixInstruction &known : gpu.matrixInstructions)
    if (known.dtype == instruction.input && known.m == instruction.m &&
        known.n == instruction.n && known.k == instruction.k)
      return static_cast<double>(known.cycles);
  // A form that is not in the table runs at the rate of the others.
  double perClock = gpu.peakGflops(instruction.input) / gpu.clockGhz /
                    static_cast<double>(gpu.computeUnits * gpu.simdsPerUnit);
  return instruction.flops / perClock;
}

double tarpon::getIssueClocks(const GpuTarget &gpu) {
  // Peaks assume packed (CDNA) or dual (RDNA) instructions, two products per
  // lane.
  double lanes = static_cast<double>(gpu.vectorFmasPerClock) /
                 static_cast<double>(2 * gpu.simdsPerUnit);
  return static_cast<double>(gpu.waveSize) / lanes;
}

//===----------------------------------------------------------------------===//
// One wave alone
//===----------------------------------------------------------------------===//

namespace {

/// Executes a wave's instructions in order; long ones continue in the
/// background until a wait.
class LoneWave {
public:
  explicit LoneWave(const GpuTarget &gpu)
      : gpu(gpu), issue(getIssueClocks(gpu)) {}

  void execute(const MachineInstruction &instruction);
  double getTime() const { return time; }

private:
  using Pending = std::deque<double>;

  void multiply(const MachineInstruction &instruction);
  void access(Pending &pending, double &port, double bytesPerLane,
              double bytesPerClock, double latency);
  void wait(Pending &pending, std::optional<int64_t> count);

  const GpuTarget &gpu;
  double issue;
  double time = 0;
  /// The times when the matrix unit, LDS and the path to the caches are free.
  double matrixFree = 0, ldsFree = 0, globalFree = 0;
  /// The time when each accumulator can be added to.
  std::map<std::string, double> ready;
  /// The times when outstanding accesses end, the oldest first.
  Pending reads, writes, lds, scalars;
};

} // namespace

void LoneWave::multiply(const MachineInstruction &instruction) {
  double clocks = getMatrixClocks(instruction, gpu);
  double start = std::max({time, matrixFree, ready[instruction.accumulator]});
  matrixFree = start + clocks;
  ready[instruction.accumulator] = matrixFree + model::kMatrixResultClocks;
  time = start + issue;
}

void LoneWave::access(Pending &pending, double &port, double bytesPerLane,
                      double bytesPerClock, double latency) {
  double clocks =
      bytesPerLane * static_cast<double>(gpu.waveSize) / bytesPerClock;
  port = std::max(port, time) + clocks;
  // Accesses end in order, since counters count them that way.
  double end = port + latency;
  pending.push_back(pending.empty() ? end : std::max(end, pending.back()));
  time += issue;
}

void LoneWave::wait(Pending &pending, std::optional<int64_t> count) {
  while (count && static_cast<int64_t>(pending.size()) > *count) {
    time = std::max(time, pending.front());
    pending.pop_front();
  }
}

void LoneWave::execute(const MachineInstruction &instruction) {
  double bytes = static_cast<double>(instruction.bytes);
  double ldsRate = static_cast<double>(gpu.ldsBytesPerClock);
  switch (instruction.kind) {
  case Kind::Matrix:
    return multiply(instruction);
  case Kind::Vector:
    time += issue * static_cast<double>(instruction.rate);
    return;
  case Kind::LdsRead:
  case Kind::LdsWrite:
    return access(lds, ldsFree, bytes, ldsRate, model::kLdsLatency);
  case Kind::GlobalRead:
  case Kind::GlobalToLds:
    return access(reads, globalFree, bytes, model::kGlobalBytesPerClock,
                  model::kGlobalLatency);
  case Kind::GlobalWrite:
    return access(writes, globalFree, bytes, model::kGlobalBytesPerClock,
                  model::kGlobalLatency);
  case Kind::ScalarLoad:
    return access(scalars, time, 0, 1, model::kScalarLatency);
  case Kind::Wait:
    wait(reads, instruction.wait.reads);
    wait(writes, instruction.wait.writes);
    wait(lds, instruction.wait.lds);
    wait(scalars, instruction.wait.scalars);
    return;
  case Kind::Scalar:
  case Kind::Barrier:
  case Kind::Branch:
  case Kind::End:
  case Kind::Other:
    time += issue;
    return;
  }
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

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
    return;
  case Kind::Vector:
    ++mix.vector;
    mix.flops += instruction.flops * lanes;
    mix.vectorClocks += issue * static_cast<double>(instruction.rate);
    return;
  case Kind::LdsRead:
    ++mix.ldsReads[instruction.bytes];
    mix.ldsBytes += bytes;
    return;
  case Kind::LdsWrite:
    ++mix.ldsWrites[instruction.bytes];
    mix.ldsBytes += bytes;
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
    mix.ldsBytes += bytes;
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
  case Kind::End:
  case Kind::Other:
    return;
  }
}

/// Counts all blocks that satisfy `isIn`, each executed once.
template <typename F>
static InstructionMix countBlocks(const MachineCode &code, const GpuTarget &gpu,
                                  int repetitions, F isIn) {
  InstructionMix mix;
  LoneWave wave(gpu);
  double warm = 0;
  for (int i = 0; i < repetitions; ++i) {
    warm = wave.getTime();
    for (auto [index, block] : llvm::enumerate(code.getBlocks())) {
      if (!isIn(index))
        continue;
      for (const MachineInstruction &instruction : block.instructions) {
        wave.execute(instruction);
        if (i == 0)
          count(instruction, gpu, mix);
      }
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
      results += isMatrix ? static_cast<double>(instruction.m * instruction.n)
                          : static_cast<double>(gpu.waveSize) *
                                (instruction.flops > 2 ? 2 : 1);
    }
  return results;
}

Result<KernelProfile> tarpon::profileAssembly(llvm::StringRef assembly,
                                              const KernelResources &resources,
                                              const GpuTarget &gpu) {
  Result<MachineCode> code = MachineCode::parse(assembly);
  if (!code)
    return Error{"kernel '" + resources.symbol + "': " + code.message()};
  KernelProfile profile;
  profile.resources = resources;
  profile.occupancy = gpu.getOccupancy(resources.vectorRegisters,
                                       resources.ldsBytes, resources.workgroup);
  std::optional<MachineLoop> loop = code->findInnerLoop();
  auto isInLoop = [&](size_t block) {
    return loop && llvm::is_contained(loop->blocks, block);
  };
  profile.rest =
      countBlocks(*code, gpu, 1, [&](size_t b) { return !isInLoop(b); });
  profile.hasLoop = loop.has_value();
  if (!loop)
    return profile;
  // The first iterations fill the pipeline across the back edge.
  profile.loop = countBlocks(*code, gpu, model::kWarmIterations, isInLoop);
  profile.resultsPerWave = countResults(*code, *loop, gpu);
  return profile;
}

Result<KernelProfile> tarpon::profileKernel(llvm::ArrayRef<char> codeObject,
                                            llvm::StringRef symbol,
                                            const GpuTarget &gpu) {
  Result<std::vector<KernelResources>> kernels =
      readKernelResources(codeObject);
  if (!kernels)
    return kernels.error();
  auto resources = llvm::find_if(*kernels, [&](const KernelResources &kernel) {
    return kernel.symbol == symbol;
  });
  if (resources == kernels->end())
    return Error{"the code object has no kernel '" + symbol.str() + "'"};
  Result<std::string> text = disassembleKernel(codeObject, symbol, gpu);
  if (!text)
    return text.error();
  return profileAssembly(*text, *resources, gpu);
}
