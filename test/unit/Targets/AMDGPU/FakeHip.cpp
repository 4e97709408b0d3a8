//===- FakeHip.cpp - A stand-in for libamdhip64 that records its calls ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has the functions that Tarpon calls, with the signatures of HIP; see
// FakeGpuLibrary.h.
//
//===----------------------------------------------------------------------===//

#include "../GPU/FakeGpuLibrary.h"

const char *const fake::kPrefix = "HIP";

using namespace fake;

extern "C" {

int hipInit(unsigned) { return record("hipInit"); }
int hipGetDeviceCount(int *count) {
  *count = getGpuCount();
  return *count == 0 ? 100 : record("hipGetDeviceCount");
}
int hipSetDevice(int index) {
  return record("hipSetDevice", std::to_string(index));
}
int hipDeviceGetAttribute(int *value, int attribute, int index) {
  // Compute units, and where the GPU is: at 0:c1+index:00.
  *value = attribute == 63 ? 304 : attribute == 67 ? 0xc1 + index : 0;
  return record("hipDeviceGetAttribute", std::to_string(attribute));
}
int hipDeviceGetName(char *name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "AMD Instinct");
  return record("hipDeviceGetName");
}
int hipDeviceGetPCIBusId(char *place, int size, int index) {
  std::snprintf(place, static_cast<size_t>(size), "0000:%02x:00.0",
                0xc1U + static_cast<unsigned>(index));
  return record("hipDeviceGetPCIBusId");
}
int hipMalloc(void **pointer, size_t bytes) {
  *pointer = allocate(bytes);
  return record("hipMalloc", std::to_string(bytes));
}
int hipFree(void *pointer) {
  release(pointer);
  return record("hipFree");
}
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *) {
  std::memcpy(to, from, bytes);
  return record("hipMemcpyAsync",
                std::to_string(bytes) + " " + std::to_string(kind));
}
int hipMemsetAsync(void *to, int value, size_t bytes, void *) {
  std::memset(to, value, bytes);
  return record("hipMemsetAsync", std::to_string(bytes));
}
int hipStreamCreate(void **stream) {
  *stream = makeHandle(1);
  return record("hipStreamCreate");
}
int hipStreamDestroy(void *) { return record("hipStreamDestroy"); }
int hipStreamSynchronize(void *) {
  wait();
  return record("hipStreamSynchronize");
}
int hipEventCreate(void **event) {
  *event = &events.emplace_back(0);
  return record("hipEventCreate");
}
int hipEventDestroy(void *) { return record("hipEventDestroy"); }
int hipEventRecord(void *event, void *) {
  *static_cast<double *>(event) = now;
  return record("hipEventRecord");
}
int hipEventSynchronize(void *) {
  wait();
  return record("hipEventSynchronize");
}
int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  *milliseconds = getElapsedTime(start, stop);
  return record("hipEventElapsedTime");
}
int hipModuleLoadData(void **module, const void *) {
  *module = makeHandle(3);
  return record("hipModuleLoadData");
}
int hipModuleUnload(void *) { return record("hipModuleUnload"); }
int hipModuleGetFunction(void **function, void *, const char *name) {
  *function = &functions.emplace_back(name);
  return record("hipModuleGetFunction", name);
}
int hipModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z,
                          unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *, void **params,
                          void **extra) {
  std::string text = launch(function, {x, y, z, bx, by, bz, shared}, params,
                            extra, makeHandle(3));
  if (text.empty())
    return 1;
  return record("hipModuleLaunchKernel", text);
}
int hipStreamBeginCapture(void *, int mode) {
  beginCapture();
  return record("hipStreamBeginCapture", std::to_string(mode));
}
int hipStreamEndCapture(void *, void **graph) {
  *graph = endCapture();
  return record("hipStreamEndCapture");
}
int hipGraphInstantiate(void **exec, void *graph, void **, char *, size_t) {
  *exec = graph;
  return record("hipGraphInstantiate");
}
int hipGraphLaunch(void *exec, void *) {
  executeGraph(exec);
  return record("hipGraphLaunch");
}
int hipGraphDestroy(void *) { return record("hipGraphDestroy"); }
int hipGraphExecDestroy(void *) { return record("hipGraphExecDestroy"); }
const char *hipGetErrorString(int code) {
  return code == 2     ? "out of memory"
         : code == 700 ? "an illegal memory access"
                       : "unknown error";
}

} // extern "C"
