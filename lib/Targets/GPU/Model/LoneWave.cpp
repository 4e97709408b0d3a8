//===- LoneWave.cpp - One wave alone on a compute unit --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoneWave.h"

#include <algorithm>

using namespace tarpon;
using Kind = InstructionKind;

void LoneWave::multiply(const MachineInstruction &instruction) {
  double clocks = getMatrixClocks(instruction, gpu);
  double start = std::max({time, matrixFree, ready[instruction.accumulator]});
  matrixFree = start + clocks;
  ready[instruction.accumulator] = matrixFree + figures.matrixResultClocks;
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
  switch (instruction.kind) {
  case Kind::Matrix:
    return multiply(instruction);
  case Kind::Vector:
    time += issue * static_cast<double>(instruction.rate);
    return;
  case Kind::LdsRead:
    return access(lds, ldsFree, bytes,
                  static_cast<double>(gpu.ldsReadBytesPerClock),
                  figures.ldsLatency);
  case Kind::LdsWrite:
    return access(lds, ldsFree, bytes,
                  static_cast<double>(gpu.ldsWriteBytesPerClock),
                  figures.ldsLatency);
  case Kind::GlobalRead:
  case Kind::GlobalToLds:
    return access(reads, globalFree, bytes, figures.globalBytesPerClock,
                  figures.globalLatency);
  case Kind::GlobalWrite:
    return access(writes, globalFree, bytes, figures.globalBytesPerClock,
                  figures.globalLatency);
  case Kind::ScalarLoad:
    return access(scalars, time, 0, 1, figures.scalarLatency);
  case Kind::Wait:
    wait(reads, instruction.wait.reads);
    wait(writes, instruction.wait.writes);
    wait(lds, instruction.wait.lds);
    wait(scalars, instruction.wait.scalars);
    return;
  case Kind::Scalar:
  case Kind::Barrier:
  case Kind::Branch:
  case Kind::Commit:
  case Kind::End:
  case Kind::Other:
    time += issue;
    return;
  }
}
