//===- LoneWave.h - One wave alone on a compute unit ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_GPU_MODEL_LONEWAVE_H
#define TARPON_LIB_TARGETS_GPU_MODEL_LONEWAVE_H

#include "ModelFigures.h"

#include <deque>
#include <map>
#include <string>

namespace tarpon {

/// Executes a wave's instructions in order; long ones continue in the
/// background until a wait.
class LoneWave {
public:
  explicit LoneWave(const GpuTarget &gpu)
      : gpu(gpu), figures(getModelFigures(gpu)), issue(getIssueClocks(gpu)) {}

  void execute(const BasicBlock &block) {
    for (const MachineInstruction &instruction : block.instructions)
      execute(instruction);
  }
  double getTime() const { return time; }

private:
  using Pending = std::deque<double>;

  void execute(const MachineInstruction &instruction);
  void multiply(const MachineInstruction &instruction);
  void access(Pending &pending, double &port, double bytesPerLane,
              double bytesPerClock, double latency);
  void wait(Pending &pending, std::optional<int64_t> count);

  const GpuTarget &gpu;
  const ModelFigures &figures;
  double issue;
  double time = 0;
  /// The times when the matrix unit, LDS and the path to the caches are free.
  double matrixFree = 0, ldsFree = 0, globalFree = 0;
  /// The time when each accumulator can be added to.
  std::map<std::string, double> ready;
  /// The times when outstanding accesses end, the oldest first.
  Pending reads, writes, lds, scalars;
};

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_GPU_MODEL_LONEWAVE_H
