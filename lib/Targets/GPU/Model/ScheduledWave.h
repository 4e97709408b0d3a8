//===- ScheduledWave.h - One wave in an assembler's order -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_GPU_MODEL_SCHEDULEDWAVE_H
#define TARPON_LIB_TARGETS_GPU_MODEL_SCHEDULEDWAVE_H

#include "ModelFigures.h"

#include <deque>

namespace tarpon {

/// Executes a wave's instructions as soon as their operands are there and their
/// unit is free, which is how an assembler would order those of a block. Blocks
/// and barriers keep their order.
class ScheduledWave {
public:
  explicit ScheduledWave(const GpuTarget &gpu)
      : gpu(gpu), figures(getModelFigures(gpu)), issue(getIssueClocks(gpu)) {}

  void execute(const BasicBlock &block);
  double getTime() const { return floor; }

private:
  void execute(const MachineInstruction &instruction);
  /// The start of an instruction that waits for its operands and for the unit.
  double start(const MachineInstruction &instruction, double unitFree = 0);
  void finish(const MachineInstruction &instruction, double end);
  void access(const MachineInstruction &instruction, double &port,
              double bytesPerClock, double latency);
  void multiply(const MachineInstruction &instruction);
  void wait(const WaitCounts &counts);
  void closeRegion();

  const GpuTarget &gpu;
  const ModelFigures &figures;
  double issue;
  /// No instruction starts before it: all those before the last barrier or the
  /// last block have started.
  double floor = 0;
  /// Since then: the latest start, and the clocks of issue.
  double latest = 0, issued = 0;
  double matrixFree = 0, ldsFree = 0, globalFree = 0;
  /// The time when each register can be read.
  std::vector<double> ready;
  /// The end of the copies to LDS that belong to no group yet, and of each
  /// group, the oldest first.
  double copied = 0;
  std::deque<double> groups;
};

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_GPU_MODEL_SCHEDULEDWAVE_H
