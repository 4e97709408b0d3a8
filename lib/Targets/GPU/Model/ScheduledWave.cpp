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
  port = at +
         static_cast<double>(instruction.bytes * gpu.waveSize) / bytesPerClock;
  finish(instruction, port + latency);
  if (instruction.kind == Kind::GlobalToLds)
    copied = std::max(copied, port + latency);
}

/// Products that several waves make together run in the background, in the
/// order of the code, until a wait.
void ScheduledWave::multiply(const MachineInstruction &instruction) {
  bool isAwaited = instruction.waves > 1;
  double at = isAwaited ? std::max(start(instruction), matrixFree)
                        : start(instruction, matrixFree);
  matrixFree = at + getMatrixClocks(instruction, gpu);
  if (!isAwaited)
    finish(instruction, matrixFree + figures.matrixResultClocks);
}

void ScheduledWave::wait(const WaitCounts &counts) {
  while (counts.reads && static_cast<int64_t>(groups.size()) > *counts.reads) {
    latest = std::max(latest, groups.front());
    groups.pop_front();
  }
  if (counts.matrices == 0)
    latest = std::max(latest, matrixFree + figures.matrixResultClocks);
  closeRegion();
}

void ScheduledWave::execute(const MachineInstruction &instruction) {
  switch (instruction.kind) {
  case Kind::Matrix:
    return multiply(instruction);
  case Kind::LdsRead:
    return access(instruction, ldsFree,
                  static_cast<double>(gpu.ldsReadBytesPerClock),
                  figures.ldsLatency);
  case Kind::LdsWrite:
    return access(instruction, ldsFree,
                  static_cast<double>(gpu.ldsWriteBytesPerClock),
                  figures.ldsLatency);
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
    return wait(instruction.wait);
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
