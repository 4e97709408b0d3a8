//===- ScheduledWave.cpp - One wave in an assembler's order ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduledWave.h"

#include <algorithm>

using namespace tarpon;
using Kind = InstructionKind;

void ScheduledWave::execute(const BasicBlock &block) {
  for (const MachineInstruction &instruction : block.instructions)
    execute(instruction);
  closeRegion();
}

void ScheduledWave::closeRegion() {
  floor = std::max(latest, floor + issued);
  latest = floor;
  issued = 0;
}

double ScheduledWave::start(const MachineInstruction &instruction,
                            double unitFree) {
  double at = std::max(floor, unitFree);
  for (unsigned operand : instruction.reads)
    if (operand < ready.size())
      at = std::max(at, ready[operand]);
  issued += issue * static_cast<double>(instruction.rate);
  latest = std::max(latest, at);
  return at;
}

void ScheduledWave::finish(const MachineInstruction &instruction, double end) {
  for (unsigned result : instruction.writes) {
    if (result >= ready.size())
      ready.resize(result + 1);
    ready[result] = end;
  }
}

void ScheduledWave::access(const MachineInstruction &instruction, double &port,
                           double bytesPerClock, double latency) {
  double at = start(instruction, port);
  port = at + static_cast<double>(instruction.bytes * gpu.waveSize) /
                  bytesPerClock;
  finish(instruction, port + latency);
  if (instruction.kind == Kind::GlobalToLds)
    copied = std::max(copied, port + latency);
}

void ScheduledWave::execute(const MachineInstruction &instruction) {
  auto ldsRate = static_cast<double>(gpu.ldsBytesPerClock);
  switch (instruction.kind) {
  case Kind::Matrix: {
    double at = start(instruction, matrixFree);
    matrixFree = at + getMatrixClocks(instruction, gpu);
    finish(instruction, matrixFree + figures.matrixResultClocks);
    return;
  }
  case Kind::LdsRead:
  case Kind::LdsWrite:
    return access(instruction, ldsFree, ldsRate, figures.ldsLatency);
  case Kind::GlobalRead:
  case Kind::GlobalWrite:
  case Kind::GlobalToLds:
    return access(instruction, globalFree, figures.globalBytesPerClock,
                  figures.globalLatency);
  case Kind::ScalarLoad:
    return finish(instruction, start(instruction) + figures.scalarLatency);
  case Kind::Commit:
    groups.push_back(copied);
    copied = 0;
    return;
  case Kind::Wait:
    while (instruction.wait.reads &&
           static_cast<int64_t>(groups.size()) > *instruction.wait.reads) {
      latest = std::max(latest, groups.front());
      groups.pop_front();
    }
    return closeRegion();
  case Kind::Barrier:
    start(instruction);
    return closeRegion();
  case Kind::Vector:
  case Kind::Scalar:
  case Kind::Branch:
  case Kind::End:
  case Kind::Other:
    return finish(instruction, start(instruction) + figures.vectorLatency);
  }
}
