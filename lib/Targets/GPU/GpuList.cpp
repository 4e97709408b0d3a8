//===- GpuList.cpp - Opens the GPU that was asked for ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuList.h"

#include "tarpon/Targets/GPU/GpuLaunch.h"

using namespace tarpon;
using runtime::Device;
using runtime::Error;
using runtime::Result;

static Error describe(int index, const std::string &why) {
  return Error{"GPU " + std::to_string(index) + ": " + why};
}

static Error refuse(const GpuRequest &request, int found,
                    const std::string &first) {
  if (found == 0)
    return Error{"the package is for " + request.target +
                 ", and this machine has " + first};
  return Error{"GPU " + std::to_string(request.index) +
               " was asked for, and this machine has " + std::to_string(found) +
               (request.target.empty() ? "" : " of " + request.target)};
}

namespace {

struct FoundGpu {
  int index;
  std::string target;
};

} // namespace

static Result<FoundGpu> find(const GpuList &gpus, const GpuRequest &request) {
  int found = 0;
  std::string first;
  for (int index = 0; index < gpus.count(); ++index) {
    Result<std::string> target = gpus.getTarget(index);
    if (!target)
      return describe(index, target.message());
    if (first.empty())
      first = *target;
    if (!request.target.empty() &&
        getGpuChip(*target) != getGpuChip(request.target))
      continue;
    if (found++ == request.index)
      return FoundGpu{index, std::move(*target)};
  }
  return refuse(request, found, first);
}

Result<std::string> tarpon::findGpu(const GpuList &gpus,
                                    const GpuRequest &request) {
  Result<FoundGpu> found = find(gpus, request);
  if (!found)
    return found.error();
  return std::move(found->target);
}

Result<std::unique_ptr<Device>> tarpon::openGpu(const GpuList &gpus,
                                                const GpuRequest &request) {
  Result<FoundGpu> found = find(gpus, request);
  if (!found)
    return found.error();
  Result<std::unique_ptr<Device>> device = gpus.open(found->index);
  if (!device)
    return describe(found->index, device.message());
  return device;
}
