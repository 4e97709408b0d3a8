//===- CaseDump.h - Launches for another emulator ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the data to run the machine code of a solution elsewhere: a folder per
// launch with its code object, its arguments and its expected outputs. The
// arguments are in the form of emulate_code_object.py, which runs a code object
// instruction by instruction (docs/gpu-emulation.md).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_CASEDUMP_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_CASEDUMP_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"

#include <span>
#include <string>
#include <vector>

namespace tarpon {

/// One solution, compiled both to code objects and for the emulated device.
struct CaseSource {
  const Problem &problem;
  const runtime::Package &code, &ir;
  /// The emulated device.
  runtime::Device &device;
  std::span<const runtime::HostTensor> inputs;
  /// The results of the host's reference solver.
  const std::vector<runtime::HostTensor> &expected;
};

/// Writes launch-0, launch-1, ... into `directory`, which must be empty if it
/// exists. Each launch gets the outputs of the previous ones on the emulated
/// device. Returns the number of launches.
runtime::Result<int> dumpCases(const std::string &directory,
                               const CaseSource &solution);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_CASEDUMP_H
