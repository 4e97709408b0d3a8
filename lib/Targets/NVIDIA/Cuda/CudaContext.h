//===- CudaContext.h - A GPU of the CUDA driver -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDACONTEXT_H
#define TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDACONTEXT_H

#include "CudaApi.h"

#include <memory>

namespace tarpon::cuda {

/// The address in an integer of the driver's.
inline DevicePointer toDevice(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// The calls of a StreamDevice, each of which is one of the driver's functions,
/// in the GPU's primary context: other users of CUDA in this process share it.
/// A fault of a kernel ends the context, and with it everything on the GPU that
/// belongs to this process.
class CudaContext final : public stream::Context {
public:
  CudaContext(const Api &api, int index) : Context(index), api(api) {}
  ~CudaContext() override {
    if (primary)
      (void)api.primaryContextRelease(device);
  }

  /// Finds the GPU, whose attributes can be asked for from then on.
  runtime::Status find();
  /// Makes the context, if no other user has made it.
  runtime::Status retain();

  const stream::CallNames &names() const override;
  std::string getErrorString(ErrorCode code) const override;

  ErrorCode select() const override { return api.setCurrent(primary); }

  ErrorCode allocate(void **pointer, size_t bytes) const override;
  ErrorCode free(void *pointer) const override {
    return api.memFree(toDevice(pointer));
  }
  ErrorCode fill(void *pointer, uint8_t value, size_t bytes,
                 Stream stream) const override {
    return api.memsetD8Async(toDevice(pointer), value, bytes, stream);
  }
  ErrorCode copyIn(void *to, const void *from, size_t bytes,
                   Stream stream) const override {
    return api.memcpyHtoDAsync(toDevice(to), from, bytes, stream);
  }
  ErrorCode copyOut(void *to, const void *from, size_t bytes,
                    Stream stream) const override {
    return api.memcpyDtoHAsync(to, toDevice(from), bytes, stream);
  }
  ErrorCode copy(void *to, const void *from, size_t bytes,
                 Stream stream) const override {
    return api.memcpyDtoDAsync(toDevice(to), toDevice(from), bytes, stream);
  }

  ErrorCode createStream(Stream *stream) const override {
    return api.streamCreate(stream, kNonBlocking);
  }
  ErrorCode destroyStream(Stream stream) const override {
    return api.streamDestroy(stream);
  }
  ErrorCode synchronizeStream(Stream stream) const override {
    return api.streamSynchronize(stream);
  }
  ErrorCode createEvent(Event *event) const override {
    return api.eventCreate(event, /*Flags=*/0);
  }
  ErrorCode destroyEvent(Event event) const override {
    return api.eventDestroy(event);
  }
  ErrorCode recordEvent(Event event, Stream stream) const override {
    return api.eventRecord(event, stream);
  }
  ErrorCode synchronizeEvent(Event event) const override {
    return api.eventSynchronize(event);
  }
  ErrorCode getElapsedTime(float *milliseconds, Event begin,
                           Event end) const override {
    return api.eventElapsedTime(milliseconds, begin, end);
  }

  runtime::Status checkCode(std::span<const char> code) const override;
  ErrorCode loadModule(Module *module, std::span<const char> code,
                       std::string &log) const override;
  ErrorCode unloadModule(Module module) const override {
    return api.moduleUnload(module);
  }
  ErrorCode getFunction(Function *function, Module module,
                        const char *symbol) const override {
    return api.moduleGetFunction(function, module, symbol);
  }
  int64_t getFreeLdsBytes() const override { return kFreeSharedBytes; }
  ErrorCode allowLds(Function function, int bytes) const override {
    return api.funcSetAttribute(function, kMaxDynamicShared, bytes);
  }
  ErrorCode launchKernel(const stream::KernelCall &call,
                         Stream stream) const override;

  ErrorCode beginCapture(Stream stream) const override {
    return api.streamBeginCapture(stream, kCaptureThreadLocal);
  }
  ErrorCode endCapture(Stream stream, Graph *graph) const override {
    return api.streamEndCapture(stream, graph);
  }
  ErrorCode instantiateGraph(GraphExec *exec, Graph graph) const override {
    return api.graphInstantiate(exec, graph, /*flags=*/0);
  }
  ErrorCode launchGraph(GraphExec exec, Stream stream) const override {
    return api.graphLaunch(exec, stream);
  }
  ErrorCode destroyGraph(Graph graph) const override {
    return api.graphDestroy(graph);
  }
  ErrorCode destroyGraphExec(GraphExec exec) const override {
    return api.graphExecDestroy(exec);
  }

  const Api api;
  DeviceNumber device = 0;

private:
  PrimaryContext primary = nullptr;
};

} // namespace tarpon::cuda

#endif // TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDACONTEXT_H
