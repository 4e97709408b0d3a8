//===- HipContext.cpp - A GPU of HIP's ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HipContext.h"

#include "tarpon/Runtime/Package.h"

#include <limits>

using namespace tarpon;
using namespace tarpon::hip;
using runtime::Status;

const stream::CallNames &HipContext::names() const {
  static constexpr stream::CallNames kNames = {
      .select = "hipSetDevice",
      .allocate = "hipMalloc",
      .fill = "hipMemsetAsync",
      .copyIn = "hipMemcpyAsync",
      .copyOut = "hipMemcpyAsync",
      .copy = "hipMemcpyAsync",
      .createStream = "hipStreamCreate",
      .synchronizeStream = "hipStreamSynchronize",
      .createEvent = "hipEventCreate",
      .recordEvent = "hipEventRecord",
      .synchronizeEvent = "hipEventSynchronize",
      .getElapsedTime = "hipEventElapsedTime",
      .loadModule = "hipModuleLoadData",
      .getFunction = "hipModuleGetFunction",
      .allowLds = "hipFuncSetAttribute",
      .launchKernel = "hipModuleLaunchKernel",
      .beginCapture = "hipStreamBeginCapture",
      .endCapture = "hipStreamEndCapture",
      .instantiateGraph = "hipGraphInstantiate",
      .launchGraph = "hipGraphLaunch"};
  return kNames;
}

std::string HipContext::getErrorString(ErrorCode code) const {
  const char *text = api.getErrorString(code);
  return text ? text : "unknown error";
}

Status HipContext::checkCode(std::span<const char> code) const {
  if (runtime::isElf(code))
    return runtime::success();
  return runtime::Error{"a code object is not an ELF shared object"};
}

int64_t HipContext::getFreeLdsBytes() const {
  return std::numeric_limits<int64_t>::max();
}

ErrorCode HipContext::launchKernel(const stream::KernelCall &call,
                                   Stream stream) const {
  // hip_runtime_api.h: HIP_LAUNCH_PARAM_END.
  stream::ExtraOptions extra(call.arguments, reinterpret_cast<void *>(3));
  return api.moduleLaunchKernel(call.function, call.groups, 1, 1,
                                call.workgroup, 1, 1, call.ldsBytes, stream,
                                nullptr, extra.get());
}
