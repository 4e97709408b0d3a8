//===- StreamContext.h - A GPU as its vendor's library has it ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HIP and the CUDA driver have the same functions under other names: memory,
// streams, events, modules and graphs. A vendor implements these calls, and a
// StreamDevice does everything else.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_STREAMCONTEXT_H
#define TARPON_TARGETS_GPU_STREAMCONTEXT_H

#include "tarpon/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tarpon::stream {

/// hipError_t or CUresult; 0 is success.
using ErrorCode = int;

using Stream = struct StreamHandle *;
using Event = struct EventHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Graph = struct GraphHandle *;
using GraphExec = struct GraphExecHandle *;

/// The library's names of the calls of a StreamContext, for messages.
struct CallNames {
  const char *select, *allocate, *fill, *copyIn, *copyOut, *copy, *createStream,
      *synchronizeStream, *createEvent, *recordEvent, *synchronizeEvent,
      *getElapsedTime, *loadModule, *getFunction, *allowLds, *launchKernel,
      *beginCapture, *endCapture, *instantiateGraph, *launchGraph;
};

/// The sizes and arguments of a launch.
struct KernelCall {
  Function function = nullptr;
  unsigned groups = 1, workgroup = 1;
  /// Dynamic LDS per workgroup; see DeviceLaunch.
  unsigned ldsBytes = 0;
  std::span<char> arguments;
};

/// One GPU. Calls need `select` to have been called by the same thread.
/// Thread-safe as far as the library is.
class Context {
public:
  explicit Context(int index) : index(index) {}
  virtual ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  virtual const CallNames &names() const = 0;
  virtual std::string getErrorString(ErrorCode code) const = 0;
  /// Returns an error of `call` unless the code is success: "hipMalloc of 64
  /// bytes has failed: out of memory (2)".
  runtime::Status check(ErrorCode code, const std::string &call) const;

  /// Makes the GPU current for the calls of this thread.
  virtual ErrorCode select() const = 0;

  virtual ErrorCode allocate(void **pointer, size_t bytes) const = 0;
  virtual ErrorCode free(void *pointer) const = 0;
  virtual ErrorCode fill(void *pointer, uint8_t value, size_t bytes,
                         Stream stream) const = 0;
  virtual ErrorCode copyIn(void *to, const void *from, size_t bytes,
                           Stream stream) const = 0;
  virtual ErrorCode copyOut(void *to, const void *from, size_t bytes,
                            Stream stream) const = 0;
  virtual ErrorCode copy(void *to, const void *from, size_t bytes,
                         Stream stream) const = 0;

  virtual ErrorCode createStream(Stream *stream) const = 0;
  virtual ErrorCode destroyStream(Stream stream) const = 0;
  virtual ErrorCode synchronizeStream(Stream stream) const = 0;
  virtual ErrorCode createEvent(Event *event) const = 0;
  virtual ErrorCode destroyEvent(Event event) const = 0;
  virtual ErrorCode recordEvent(Event event, Stream stream) const = 0;
  virtual ErrorCode synchronizeEvent(Event event) const = 0;
  virtual ErrorCode getElapsedTime(float *milliseconds, Event begin,
                                   Event end) const = 0;

  /// Checks that the library can be given these bytes: it may crash on others.
  virtual runtime::Status checkCode(std::span<const char> code) const = 0;
  /// `log` takes the library's explanation of an error, if it has one.
  virtual ErrorCode loadModule(Module *module, std::span<const char> code,
                               std::string &log) const = 0;
  virtual ErrorCode unloadModule(Module module) const = 0;
  virtual ErrorCode getFunction(Function *function, Module module,
                                const char *symbol) const = 0;
  /// The dynamic LDS that every kernel may have without allowLds.
  virtual int64_t getFreeLdsBytes() const = 0;
  virtual ErrorCode allowLds(Function function, int bytes) const = 0;
  virtual ErrorCode launchKernel(const KernelCall &call,
                                 Stream stream) const = 0;

  /// Other threads may continue to call the library.
  virtual ErrorCode beginCapture(Stream stream) const = 0;
  virtual ErrorCode endCapture(Stream stream, Graph *graph) const = 0;
  virtual ErrorCode instantiateGraph(GraphExec *exec, Graph graph) const = 0;
  virtual ErrorCode launchGraph(GraphExec exec, Stream stream) const = 0;
  virtual ErrorCode destroyGraph(Graph graph) const = 0;
  virtual ErrorCode destroyGraphExec(GraphExec exec) const = 0;

  /// The GPU's number in the library.
  const int index;
};

/// The list of "extra" options that passes a launch's arguments as one buffer:
/// CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE, whose numbers HIP shares, and
/// `end`, which is another one in each library.
class ExtraOptions {
public:
  ExtraOptions(std::span<char> arguments, void *end)
      : bytes(arguments.size()),
        list{reinterpret_cast<void *>(1), arguments.data(),
             reinterpret_cast<void *>(2), &bytes, end} {}
  ExtraOptions(const ExtraOptions &) = delete;
  ExtraOptions &operator=(const ExtraOptions &) = delete;
  void **get() { return list; }

private:
  size_t bytes;
  void *list[5];
};

} // namespace tarpon::stream

#endif // TARPON_TARGETS_GPU_STREAMCONTEXT_H
