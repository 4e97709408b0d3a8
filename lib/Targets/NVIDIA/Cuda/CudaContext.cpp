//===- CudaContext.cpp - A GPU of the CUDA driver -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"

#include "tarpon/Runtime/Package.h"

#include <string_view>
#include <vector>

using namespace tarpon;
using namespace tarpon::cuda;
using runtime::Error;
using runtime::Status;

const stream::CallNames &CudaContext::names() const {
  static constexpr stream::CallNames kNames = {
      .select = "cuCtxSetCurrent",
      .allocate = "cuMemAlloc",
      .fill = "cuMemsetD8Async",
      .copyIn = "cuMemcpyHtoDAsync",
      .copyOut = "cuMemcpyDtoHAsync",
      .copy = "cuMemcpyDtoDAsync",
      .createStream = "cuStreamCreate",
      .synchronizeStream = "cuStreamSynchronize",
      .createEvent = "cuEventCreate",
      .recordEvent = "cuEventRecord",
      .synchronizeEvent = "cuEventSynchronize",
      .getElapsedTime = "cuEventElapsedTime",
      .loadModule = "cuModuleLoadDataEx",
      .getFunction = "cuModuleGetFunction",
      .allowLds = "cuFuncSetAttribute",
      .launchKernel = "cuLaunchKernel",
      .beginCapture = "cuStreamBeginCapture",
      .endCapture = "cuStreamEndCapture",
      .instantiateGraph = "cuGraphInstantiate",
      .launchGraph = "cuGraphLaunch"};
  return kNames;
}

std::string CudaContext::getErrorString(ErrorCode code) const {
  const char *text = nullptr;
  return api.getErrorString(code, &text) == 0 && text ? text : "unknown error";
}

Status CudaContext::find() {
  return check(api.deviceGet(&device, index), "cuDeviceGet");
}

Status CudaContext::retain() {
  return check(api.primaryContextRetain(&primary, device),
               "cuDevicePrimaryCtxRetain");
}

ErrorCode CudaContext::allocate(void **pointer, size_t bytes) const {
  DevicePointer address = 0;
  ErrorCode code = api.memAlloc(&address, bytes);
  // Kernels alone read what it points to.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  return code;
}

/// PTX is text with this directive, before which there are only comments.
static bool isPtx(std::string_view code) {
  return code.find(".version") != std::string_view::npos;
}

Status CudaContext::checkCode(std::span<const char> code) const {
  if (runtime::isElf(code) || isPtx({code.data(), code.size()}))
    return runtime::success();
  return Error{"a code object is neither a cubin nor PTX"};
}

/// On one line, without the empty ones.
static std::string joinLines(std::string_view text) {
  std::string joined;
  for (char c : text)
    if (c != '\n')
      joined += c;
    else if (!joined.empty() && joined.back() != ' ')
      joined += ' ';
  return joined.substr(0, joined.find_last_not_of(' ') + 1);
}

ErrorCode CudaContext::loadModule(Module *module, std::span<const char> code,
                                  std::string &log) const {
  // The driver reads text up to a NUL.
  std::string text;
  const char *image = code.data();
  if (!runtime::isElf(code)) {
    text.assign(code.data(), code.size());
    image = text.c_str();
  }
  std::vector<char> buffer(size_t(16) << 10);
  int options[] = {kErrorLogBuffer, kErrorLogBufferBytes};
  // A number is passed as if it were an address.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void *values[] = {buffer.data(), reinterpret_cast<void *>(buffer.size())};
  ErrorCode result = api.moduleLoadDataEx(module, image, 2, options, values);
  buffer.back() = '\0';
  if (result != 0)
    log = joinLines(buffer.data());
  return result;
}

ErrorCode CudaContext::launchKernel(const stream::KernelCall &call,
                                    Stream stream) const {
  // cuda.h: CU_LAUNCH_PARAM_END.
  stream::ExtraOptions extra(call.arguments, nullptr);
  return api.launchKernel(call.function, call.groups, 1, 1, call.workgroup, 1,
                          1, call.ldsBytes, stream, nullptr, extra.get());
}
