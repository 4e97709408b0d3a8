//===- CudaApi.h - The part of the CUDA driver that is used -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tarpon needs neither CUDA's header nor a toolkit. Symbols, signatures and
// numbers were compared with cuda.h of CUDA 13.0. A name without its _v2 is
// often an older function, with sizes of 32 bits: cuda.h redefines it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDAAPI_H
#define TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDAAPI_H

#include "tarpon/Targets/GPU/StreamContext.h"

#include <cstddef>
#include <cstdint>

namespace tarpon::cuda {

using stream::ErrorCode;
using stream::Event;
using stream::Function;
using stream::Graph;
using stream::GraphExec;
using stream::Module;
using stream::Stream;

inline constexpr ErrorCode kErrorNoDevice = 100;

/// CUdevice, whose numbers begin at 0.
using DeviceNumber = int;
using PrimaryContext = struct PrimaryContextHandle *;
/// CUdeviceptr is an integer.
using DevicePointer = uint64_t;

/// CUuuid.
struct Uuid {
  unsigned char bytes[16];
};

/// CUdevice_attribute.
enum Attribute : int {
  kMultiprocessorCount = 16,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76
};

/// CU_STREAM_NON_BLOCKING: the stream does not wait for the default one.
inline constexpr unsigned kNonBlocking = 1;
/// CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.
inline constexpr int kCaptureThreadLocal = 1;
/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
inline constexpr int kMaxDynamicShared = 8;
/// The shared memory of a block that needs no permission.
inline constexpr int64_t kFreeSharedBytes = 48 << 10;

/// CUjit_option.
enum JitOption : int { kErrorLogBuffer = 5, kErrorLogBufferBytes = 6 };

/// X(member, symbol, parameters) for every function.
#define TARPON_CUDA_FUNCTIONS(X)                                               \
  X(init, cuInit, (unsigned))                                                  \
  X(getErrorString, cuGetErrorString, (ErrorCode, const char **))              \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (DeviceNumber *, int))                             \
  X(deviceGetName, cuDeviceGetName, (char *, int, DeviceNumber))               \
  X(deviceGetUuid, cuDeviceGetUuid_v2, (Uuid *, DeviceNumber))                 \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *, int, DeviceNumber))      \
  X(primaryContextRetain, cuDevicePrimaryCtxRetain,                            \
    (PrimaryContext *, DeviceNumber))                                          \
  X(primaryContextRelease, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))       \
  X(setCurrent, cuCtxSetCurrent, (PrimaryContext))                             \
  X(memAlloc, cuMemAlloc_v2, (DevicePointer *, size_t))                        \
  X(memFree, cuMemFree_v2, (DevicePointer))                                    \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (DevicePointer, const void *, size_t, Stream))                             \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *, DevicePointer, size_t, Stream))                                   \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                     \
    (DevicePointer, DevicePointer, size_t, Stream))                            \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (DevicePointer, unsigned char, size_t, Stream))                            \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned))                        \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                               \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                          \
  X(eventCreate, cuEventCreate, (Event *, unsigned))                           \
  X(eventDestroy, cuEventDestroy_v2, (Event))                                  \
  X(eventRecord, cuEventRecord, (Event, Stream))                               \
  X(eventSynchronize, cuEventSynchronize, (Event))                             \
  X(eventElapsedTime, cuEventElapsedTime, (float *, Event, Event))             \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(moduleUnload, cuModuleUnload, (Module))                                    \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function *, Module, const char *))                                        \
  X(funcSetAttribute, cuFuncSetAttribute, (Function, int, int))                \
  X(launchKernel, cuLaunchKernel,                                              \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (Stream, int))                \
  X(streamEndCapture, cuStreamEndCapture, (Stream, Graph *))                   \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec *, Graph, unsigned long long))                                  \
  X(graphLaunch, cuGraphLaunch, (GraphExec, Stream))                           \
  X(graphDestroy, cuGraphDestroy, (Graph))                                     \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))

/// The functions of one loaded library.
struct Api {
// NOLINTBEGIN(bugprone-macro-parentheses): a list of parameters takes no more.
#define TARPON_CUDA_MEMBER(member, symbol, parameters)                         \
  ErrorCode(*member) parameters = nullptr;
  TARPON_CUDA_FUNCTIONS(TARPON_CUDA_MEMBER)
#undef TARPON_CUDA_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

} // namespace tarpon::cuda

#endif // TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDAAPI_H
