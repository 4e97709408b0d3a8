//===- CudaDevice.cpp - NVIDIA GPUs through the CUDA driver ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include "CudaContext.h"
#include "CudaLibrary.h"
#include "tarpon/Targets/GPU/StreamDevice.h"

#include <algorithm>
#include <cctype>

using namespace tarpon;
using namespace tarpon::cuda;
using runtime::Device;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static Result<int> getAttribute(const CudaContext &context, Attribute attribute,
                                const std::string &what) {
  int value = 0;
  if (Status status = context.check(
          context.api.deviceGetAttribute(&value, attribute, context.device),
          "cuDeviceGetAttribute of the " + what);
      !status)
    return status.error();
  return value;
}

/// Finds the chip of "sm_90": "sm_90a".
static std::string findChip(const std::string &capability,
                            const std::vector<std::string> &chips) {
  auto isOf = [&](const std::string &chip) {
    return chip.starts_with(capability) &&
           std::none_of(
               chip.begin() + static_cast<ptrdiff_t>(capability.size()),
               chip.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  auto found = std::ranges::find_if(chips, isOf);
  return found == chips.end() ? capability : *found;
}

/// The target of a GPU: "sm_90a:cu=132".
static Result<std::string> getTarget(const CudaContext &context,
                                     const std::vector<std::string> &chips) {
  Result<int> major =
      getAttribute(context, kCapabilityMajor, "compute capability");
  Result<int> minor =
      getAttribute(context, kCapabilityMinor, "compute capability");
  Result<int> units =
      getAttribute(context, kMultiprocessorCount, "multiprocessors");
  for (const Result<int> *value : {&major, &minor, &units})
    if (!*value)
      return value->error();
  std::string capability =
      "sm_" + std::to_string(*major) + std::to_string(*minor);
  return findChip(capability, chips) + ":cu=" + std::to_string(*units);
}

static Result<std::unique_ptr<Device>>
openDevice(std::shared_ptr<CudaContext> context,
           const std::vector<std::string> &chips) {
  if (Status status = context->open(); !status)
    return status.error();
  Result<std::string> target = getTarget(*context, chips);
  if (!target)
    return target.error();
  char name[256] = "";
  if (Status status = context->check(
          context->api.deviceGetName(name, sizeof name, context->device),
          "cuDeviceGetName");
      !status)
    return status.error();
  return openStreamDevice(std::move(context), std::move(*target), name);
}

Result<std::vector<std::unique_ptr<Device>>>
tarpon::openCudaDevices(const CudaOptions &options) {
  Result<Api> api = loadApi(options.library);
  if (!api)
    return api.error();
  ErrorCode code = api->init(0);
  int count = 0;
  if (code == 0)
    code = api->deviceGetCount(&count);
  if (code == kErrorNoDevice || (code == 0 && count == 0))
    return Error{"CUDA finds no GPU on this machine; " +
                 describeCompileOnly(getDescription())};
  if (Status status =
          CudaContext(*api, 0).check(code, "cuInit or cuDeviceGetCount");
      !status)
    return status.error();
  std::vector<std::unique_ptr<Device>> devices;
  for (int index = 0; index < count; ++index) {
    auto device =
        openDevice(std::make_shared<CudaContext>(*api, index), options.chips);
    if (!device)
      return Error{"GPU " + std::to_string(index) + ": " + device.message()};
    devices.push_back(std::move(*device));
  }
  return devices;
}
