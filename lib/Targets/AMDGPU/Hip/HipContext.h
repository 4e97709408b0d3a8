//===- HipContext.h - A GPU of HIP's ----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_HIP_HIPCONTEXT_H
#define TARPON_LIB_TARGETS_AMDGPU_HIP_HIPCONTEXT_H

#include "HipApi.h"

#include <memory>

namespace tarpon::hip {

/// The calls of a StreamDevice, each of which is one of HIP's functions.
class HipContext final : public stream::Context {
public:
  HipContext(const Api &api, int index) : Context(index), api(api) {}

  const stream::CallNames &names() const override;
  std::string getErrorString(ErrorCode code) const override;

  ErrorCode select() const override { return api.setDevice(index); }

  ErrorCode allocate(void **pointer, size_t bytes) const override {
    return api.malloc(pointer, bytes);
  }
  ErrorCode free(void *pointer) const override { return api.free(pointer); }
  ErrorCode fill(void *pointer, uint8_t value, size_t bytes,
                 Stream stream) const override {
    return api.memsetAsync(pointer, value, bytes, stream);
  }
  ErrorCode copyIn(void *to, const void *from, size_t bytes,
                   Stream stream) const override {
    return api.memcpyAsync(to, from, bytes, kHostToDevice, stream);
  }
  ErrorCode copyOut(void *to, const void *from, size_t bytes,
                    Stream stream) const override {
    return api.memcpyAsync(to, from, bytes, kDeviceToHost, stream);
  }
  ErrorCode copy(void *to, const void *from, size_t bytes,
                 Stream stream) const override {
    return api.memcpyAsync(to, from, bytes, kDeviceToDevice, stream);
  }

  ErrorCode createStream(Stream *stream) const override {
    return api.streamCreate(stream);
  }
  ErrorCode destroyStream(Stream stream) const override {
    return api.streamDestroy(stream);
  }
  ErrorCode synchronizeStream(Stream stream) const override {
    return api.streamSynchronize(stream);
  }
  ErrorCode createEvent(Event *event) const override {
    return api.eventCreate(event);
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
                       std::string & /*log*/) const override {
    return api.moduleLoadData(module, code.data());
  }
  ErrorCode unloadModule(Module module) const override {
    return api.moduleUnload(module);
  }
  ErrorCode getFunction(Function *function, Module module,
                        const char *symbol) const override {
    return api.moduleGetFunction(function, module, symbol);
  }
  /// HIP asks for no permission.
  int64_t getFreeLdsBytes() const override;
  ErrorCode allowLds(Function /*function*/, int /*bytes*/) const override {
    return 0;
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
    return api.graphInstantiate(exec, graph, nullptr, nullptr, 0);
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
};

} // namespace tarpon::hip

#endif // TARPON_LIB_TARGETS_AMDGPU_HIP_HIPCONTEXT_H
