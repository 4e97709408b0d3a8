//===- HipApi.h - The part of HIP that is used ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tarpon needs neither HIP's header to be built nor its library to run. It uses
// only functions whose signatures and numbers have not changed from ROCm 5 to 7
// (checked against hip_runtime_api.h of Debian's libamdhip64-dev 5.2.3, and the
// numbers of hipDeviceAttribute_t against bindings made from ROCm 6's).
// hipGetDeviceProperties is left out: its struct has changed.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_HIP_HIPAPI_H
#define TARPON_LIB_TARGETS_AMDGPU_HIP_HIPAPI_H

#include "tarpon/Targets/GPU/StreamContext.h"

#include <cstddef>

namespace tarpon::hip {

using stream::ErrorCode;
using stream::Event;
using stream::Function;
using stream::Graph;
using stream::GraphExec;
using stream::Module;
using stream::Stream;

inline constexpr ErrorCode kErrorNoDevice = 100;
/// The error of ROCm 5.2's hipInit if there is no GPU.
inline constexpr ErrorCode kErrorInvalidDevice = 101;

/// hipMemcpyKind.
enum CopyKind : int {
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3
};

/// hipDeviceAttribute_t.
enum Attribute : int {
  kMultiprocessorCount = 63,
  kPciBusId = 67,
  kPciDeviceId = 68,
  kPciDomainId = 69
};

/// hipStreamCaptureModeThreadLocal: other threads may continue to call HIP.
inline constexpr int kCaptureThreadLocal = 1;

/// X(member, symbol, parameters) for every function.
#define TARPON_HIP_FUNCTIONS(X)                                                \
  X(init, hipInit, (unsigned))                                                 \
  X(getDeviceCount, hipGetDeviceCount, (int *))                                \
  X(setDevice, hipSetDevice, (int))                                            \
  X(deviceGetAttribute, hipDeviceGetAttribute, (int *, int, int))              \
  X(deviceGetName, hipDeviceGetName, (char *, int, int))                       \
  X(deviceGetPciBusId, hipDeviceGetPCIBusId, (char *, int, int))               \
  X(malloc, hipMalloc, (void **, size_t))                                      \
  X(free, hipFree, (void *))                                                   \
  X(memcpyAsync, hipMemcpyAsync, (void *, const void *, size_t, int, Stream))  \
  X(memsetAsync, hipMemsetAsync, (void *, int, size_t, Stream))                \
  X(streamCreate, hipStreamCreate, (Stream *))                                 \
  X(streamDestroy, hipStreamDestroy, (Stream))                                 \
  X(streamSynchronize, hipStreamSynchronize, (Stream))                         \
  X(eventCreate, hipEventCreate, (Event *))                                    \
  X(eventDestroy, hipEventDestroy, (Event))                                    \
  X(eventRecord, hipEventRecord, (Event, Stream))                              \
  X(eventSynchronize, hipEventSynchronize, (Event))                            \
  X(eventElapsedTime, hipEventElapsedTime, (float *, Event, Event))            \
  X(moduleLoadData, hipModuleLoadData, (Module *, const void *))               \
  X(moduleUnload, hipModuleUnload, (Module))                                   \
  X(moduleGetFunction, hipModuleGetFunction,                                   \
    (Function *, Module, const char *))                                        \
  X(moduleLaunchKernel, hipModuleLaunchKernel,                                 \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(streamBeginCapture, hipStreamBeginCapture, (Stream, int))                  \
  X(streamEndCapture, hipStreamEndCapture, (Stream, Graph *))                  \
  X(graphInstantiate, hipGraphInstantiate,                                     \
    (GraphExec *, Graph, void **, char *, size_t))                             \
  X(graphLaunch, hipGraphLaunch, (GraphExec, Stream))                          \
  X(graphDestroy, hipGraphDestroy, (Graph))                                    \
  X(graphExecDestroy, hipGraphExecDestroy, (GraphExec))

/// The functions of one loaded library.
struct Api {
// NOLINTBEGIN(bugprone-macro-parentheses): a list of parameters takes no more.
#define TARPON_HIP_MEMBER(member, symbol, parameters)                          \
  ErrorCode(*member) parameters = nullptr;
  TARPON_HIP_FUNCTIONS(TARPON_HIP_MEMBER)
#undef TARPON_HIP_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
  const char *(*getErrorString)(ErrorCode) = nullptr;
};

} // namespace tarpon::hip

#endif // TARPON_LIB_TARGETS_AMDGPU_HIP_HIPAPI_H
