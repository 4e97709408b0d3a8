//===- GpuLaunch.h - The ABI of GPU kernels ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task is a workgroup of a one-dimensional grid. The argument segment holds
// the addresses of the launch's buffers, 8 bytes each, and behind them its
// parameters as 32-bit numbers (f32 as their bits). GPUs of all vendors share
// this ABI.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_GPULAUNCH_H
#define TARPON_TARGETS_GPU_GPULAUNCH_H

#include "tarpon/Runtime/Device.h"

#include <string>
#include <vector>

namespace tarpon {

/// Returns the chip of "gfx942:cu=304".
std::string getGpuChip(const std::string &target);

/// Makes the argument segment of a launch.
std::vector<char> packArguments(const runtime::DeviceLaunch &launch);

/// Checks that a GPU of that target ("gfx942:cu=304") has the instructions that
/// the package was compiled for; see Device::checkPackage. The number of
/// compute units does not matter.
runtime::Status checkGpuPackage(const runtime::Package &package,
                                const std::string &target);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_GPULAUNCH_H
