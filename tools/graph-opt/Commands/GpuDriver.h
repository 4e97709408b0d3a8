//===- GpuDriver.h - graph-opt driver on a GPU ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPUDRIVER_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPUDRIVER_H

#include "Commands.h"

#include "tarpon/Driver/DriverLine.h"
#include "tarpon/Targets/KernelCompiler.h"

namespace tarpon {

/// Does what the line asks for on the GPU of the arguments, and gives the exit
/// status. The reference is run on the host.
int runGpuDriver(const DriverArguments &arguments, const DriverLine &line,
                 KernelCompiler &hostCompiler);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPUDRIVER_H
