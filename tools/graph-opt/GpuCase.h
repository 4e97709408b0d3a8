//===- GpuCase.h - Launches for another emulator ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes what running the machine code of a solution elsewhere takes: a folder
// per launch with its code object, its arguments and what it has to give. The
// arguments are in the form of emulate_code_object.py, which runs a code object
// instruction by instruction (docs/gpu-emulation.md).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPHOPT_GPUCASE_H
#define TARPON_TOOLS_GRAPHOPT_GPUCASE_H

#include "tarpon/Kernels/GpuTarget.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"

#include <string>
#include <vector>

namespace tarpon {

/// One solution, compiled both to code objects and for the emulated device.
struct GpuCase {
  const Problem &problem;
  const GpuTarget &gpu;
  const runtime::Package &code, &ir;
  const std::vector<runtime::HostTensor> &inputs;
  /// What the host's reference solver gives.
  const std::vector<runtime::HostTensor> &expected;
};

/// Writes launch-0, launch-1, ... into `directory`, which must be empty if it
/// is there. Each launch gets what those before it give on the emulated device.
/// The number of launches.
runtime::Result<int> dumpCases(const std::string &directory,
                               const GpuCase &solution);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPHOPT_GPUCASE_H
