//===- FakeCuda.cpp - A stand-in for libcuda that records its calls -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has the functions that Tarpon calls, with the signatures of the CUDA driver;
// see FakeGpuLibrary.h. $FAKE_CUDA_CAPABILITY is the GPUs' compute capability;
// it is 90 without it. $FAKE_CUDA_FIRST is the number in the UUID of the first
// GPU that is visible. $FAKE_CUDA_CLOCK is that of their memories in kHz, an
// H100's without it, whose bus they have. A context's handle is 16 and its
// GPU's number. As in the driver, calls that need a context fail without one,
// and text that is loaded ends with a NUL.
//
//===----------------------------------------------------------------------===//

#include "../GPU/FakeGpuLibrary.h"

const char *const fake::kPrefix = "CUDA";

using namespace fake;

static constexpr int kInvalidContext = 201;

static void *current = nullptr;

/// Like `record`, for a call that needs a context.
static int recordIn(const std::string &function, const std::string &text = "") {
  int code = record(function, text);
  return current ? code : kInvalidContext;
}

static void *toPointer(uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
extern "C" {

int cuInit(unsigned) { return getGpuCount() == 0 ? 100 : record("cuInit"); }
int cuGetErrorString(int code, const char **text) {
  *text = code == 2                 ? "out of memory"
          : code == 700             ? "an illegal memory access"
          : code == kInvalidContext ? "invalid device context"
                                    : nullptr;
  return *text ? 0 : 1;
}
int cuDeviceGetCount(int *count) {
  *count = getGpuCount();
  return record("cuDeviceGetCount");
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return record("cuDeviceGet", std::to_string(ordinal));
}
int cuDeviceGetName(char *name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "NVIDIA H100");
  return record("cuDeviceGetName");
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
  std::memset(uuid, 0xa0, 16);
  const char *first = getSetting("FIRST");
  uuid[15] = static_cast<unsigned char>(
      device + (first ? std::strtol(first, nullptr, 10) : 0));
  return record("cuDeviceGetUuid");
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  auto read = [](const char *setting, int otherwise) {
    const char *named = getSetting(setting);
    return named ? static_cast<int>(std::strtol(named, nullptr, 10))
                 : otherwise;
  };
  int capability = read("CAPABILITY", 90);
  *value = attribute == 16   ? 132
           : attribute == 36 ? read("CLOCK", 2619000)
           : attribute == 37 ? 5120
           : attribute == 75 ? capability / 10
           : attribute == 76 ? capability % 10
                             : 0;
  return record("cuDeviceGetAttribute", std::to_string(attribute));
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = makeHandle(16 + static_cast<uintptr_t>(device));
  return record("cuDevicePrimaryCtxRetain", std::to_string(device));
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  return record("cuDevicePrimaryCtxRelease", std::to_string(device));
}
int cuCtxSetCurrent(void *context) {
  current = context;
  return record("cuCtxSetCurrent",
                std::to_string(reinterpret_cast<uintptr_t>(context) - 16));
}
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  *pointer = reinterpret_cast<uintptr_t>(allocate(bytes));
  return recordIn("cuMemAlloc", std::to_string(bytes));
}
int cuMemFree_v2(uint64_t pointer) {
  release(toPointer(pointer));
  return recordIn("cuMemFree");
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *) {
  std::memcpy(toPointer(to), from, bytes);
  return recordIn("cuMemcpyHtoDAsync", std::to_string(bytes));
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *) {
  std::memcpy(to, toPointer(from), bytes);
  return recordIn("cuMemcpyDtoHAsync", std::to_string(bytes));
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  std::memcpy(toPointer(to), toPointer(from), bytes);
  return recordIn("cuMemcpyDtoDAsync", std::to_string(bytes));
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *) {
  std::memset(toPointer(to), value, bytes);
  return recordIn("cuMemsetD8Async", std::to_string(bytes));
}
int cuStreamCreate(void **stream, unsigned) {
  *stream = makeHandle(1);
  return recordIn("cuStreamCreate");
}
int cuStreamDestroy_v2(void *) { return recordIn("cuStreamDestroy"); }
int cuStreamSynchronize(void *) {
  wait();
  return recordIn("cuStreamSynchronize");
}
int cuEventCreate(void **event, unsigned) {
  *event = &events.emplace_back(0);
  return recordIn("cuEventCreate");
}
int cuEventDestroy_v2(void *) { return recordIn("cuEventDestroy"); }
int cuEventRecord(void *event, void *) {
  *static_cast<double *>(event) = now;
  return recordIn("cuEventRecord");
}
int cuEventSynchronize(void *) {
  wait();
  return recordIn("cuEventSynchronize");
}
int cuEventElapsedTime(float *milliseconds, void *start, void *stop) {
  *milliseconds = getElapsedTime(start, stop);
  return recordIn("cuEventElapsedTime");
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       const int *options, void **values) {
  *module = makeHandle(3);
  const char *text = static_cast<const char *>(image);
  bool isElf = std::memcmp(image,
                           "\x7f"
                           "ELF",
                           4) == 0;
  int code =
      recordIn("cuModuleLoadDataEx",
               isElf ? "cubin" : std::to_string(std::strlen(text)) + " of PTX");
  // The error log: options 5 and 6.
  if (code == 2 && count == 2 && options[0] == 5 && options[1] == 6)
    std::snprintf(static_cast<char *>(values[0]),
                  reinterpret_cast<size_t>(values[1]),
                  "ptxas fatal\n\nline 7\n");
  return code;
}
int cuModuleUnload(void *) { return recordIn("cuModuleUnload"); }
int cuModuleGetFunction(void **function, void *, const char *name) {
  *function = &functions.emplace_back(name);
  return recordIn("cuModuleGetFunction", name);
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  return recordIn("cuFuncSetAttribute",
                  std::to_string(attribute) + " " + std::to_string(value));
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z,
                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *, void **params, void **extra) {
  std::string text =
      launch(function, {x, y, z, bx, by, bz, shared}, params, extra, nullptr);
  if (text.empty())
    return 1;
  return recordIn("cuLaunchKernel", text);
}
int cuStreamBeginCapture_v2(void *, int mode) {
  beginCapture();
  return recordIn("cuStreamBeginCapture", std::to_string(mode));
}
int cuStreamEndCapture(void *, void **graph) {
  *graph = endCapture();
  return recordIn("cuStreamEndCapture");
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long) {
  *exec = graph;
  return recordIn("cuGraphInstantiate");
}
int cuGraphLaunch(void *exec, void *) {
  executeGraph(exec);
  return recordIn("cuGraphLaunch");
}
int cuGraphDestroy(void *) { return recordIn("cuGraphDestroy"); }
int cuGraphExecDestroy(void *) { return recordIn("cuGraphExecDestroy"); }

} // extern "C"
// NOLINTEND(readability-identifier-naming)
