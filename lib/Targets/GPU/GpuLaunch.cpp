//===- GpuLaunch.cpp - The ABI of GPU kernels -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuLaunch.h"

#include "tarpon/Runtime/Package.h"

using namespace tarpon;
using runtime::Error;
using runtime::Status;

std::vector<char> tarpon::packArguments(const runtime::DeviceLaunch &launch) {
  std::vector<char> segment;
  auto append = [&](const auto &value) {
    const char *bytes = reinterpret_cast<const char *>(&value);
    segment.insert(segment.end(), bytes, bytes + sizeof(value));
  };
  for (void *buffer : launch.buffers)
    append(buffer);
  // The sizes fit, since the package was validated.
  for (int64_t param : launch.params)
    append(static_cast<uint32_t>(param));
  return segment;
}

std::string tarpon::getGpuChip(const std::string &target) {
  return target.substr(0, target.find(':'));
}

Status tarpon::checkGpuPackage(const runtime::Package &package,
                               const std::string &target) {
  if (package.getKernelForm() != runtime::KernelForm::CodeObjects)
    return Error{"it was compiled for " + package.arch + ", not for a GPU"};
  if (getGpuChip(package.chip) != getGpuChip(target))
    return Error{"it was compiled for " + package.chip + ", and this GPU is " +
                 target};
  return runtime::success();
}
