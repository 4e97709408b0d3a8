//===- StreamDevice.cpp - GPUs through a vendor's library -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/StreamDevice.h"

#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Targets/GPU/GpuLaunch.h"

#include <map>
#include <vector>

using namespace tarpon;
using namespace tarpon::stream;
using runtime::Device;
using runtime::DeviceGraph;
using runtime::DeviceKernel;
using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::Error;
using runtime::Result;
using runtime::Status;

using ContextPtr = std::shared_ptr<const Context>;

Context::~Context() = default;

Status Context::check(ErrorCode code, const std::string &call) const {
  if (code == 0)
    return runtime::success();
  return Error{call + " has failed: " + getErrorString(code) + " (" +
               std::to_string(code) + ")"};
}

namespace {

class Memory : public DeviceMemory {
public:
  Memory(ContextPtr context, void *pointer, int64_t bytes)
      : context(std::move(context)), pointer(pointer), bytes(bytes) {}
  ~Memory() override {
    (void)context->select();
    (void)context->free(pointer);
  }
  void *address() const override { return pointer; }
  int64_t size() const override { return bytes; }

private:
  ContextPtr context;
  void *pointer;
  int64_t bytes;
};

class Kernel : public DeviceKernel {
public:
  Kernel(Function function, std::string name, int64_t ldsBytes)
      : function(function), name(std::move(name)), allowedLdsBytes(ldsBytes) {}
  const std::string &symbol() const override { return name; }
  Function get() const { return function; }

  /// Asks for more dynamic LDS than all launches so far have needed.
  Status allowLds(const Context &context, int64_t bytes) const {
    if (bytes <= allowedLdsBytes)
      return runtime::success();
    if (Status status = context.check(
            context.allowLds(function, static_cast<int>(bytes)),
            std::string(context.names().allowLds) + " of '" + name + "' to " +
                std::to_string(bytes) + " bytes of LDS");
        !status)
      return status;
    allowedLdsBytes = bytes;
    return runtime::success();
  }

private:
  Function function;
  std::string name;
  mutable int64_t allowedLdsBytes;
};

class CapturedGraph : public DeviceGraph {
public:
  CapturedGraph(ContextPtr context, GraphExec exec)
      : context(std::move(context)), exec(exec) {}
  ~CapturedGraph() override {
    (void)context->select();
    (void)context->destroyGraphExec(exec);
  }
  GraphExec get() const { return exec; }

private:
  ContextPtr context;
  GraphExec exec;
};

class StreamDevice : public Device {
public:
  StreamDevice(ContextPtr context, StreamDeviceNames gpuNames)
      : context(std::move(context)), gpuNames(std::move(gpuNames)) {}
  ~StreamDevice() override;

  Status open();

  const std::string &target() const override { return gpuNames.target; }
  const std::string &name() const override { return gpuNames.product; }
  std::string identity() const override { return gpuNames.identity; }
  Status checkPackage(const runtime::Package &package) const override {
    return checkGpuPackage(package, gpuNames.target);
  }
  Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) override;
  Status fill(const DeviceMemory &memory, uint8_t value) override;
  Status copyIn(const DeviceMemory &to, int64_t offset,
                std::span<const char> source) override;
  Status copyOut(std::span<char> to, const DeviceMemory &from,
                 int64_t offset) override;
  Status copy(const DeviceMemory &to, const DeviceMemory &from) override;
  Result<std::vector<std::unique_ptr<DeviceKernel>>>
  load(std::span<const char> code,
       std::span<const std::string> symbols) override;
  Status launch(const DeviceKernel &kernel,
                const DeviceLaunch &launch) override;
  Status synchronize() override;
  Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) override;
  Status launch(const DeviceGraph &graph) override;
  Result<double> time(const std::function<Status()> &work) override;

private:
  Result<Module> loadModule(std::span<const char> codeObject);
  /// Makes the GPU current for the calls of this thread, which may not be the
  /// thread of earlier calls.
  Status select() const {
    ErrorCode code = context->select();
    return code == 0 ? runtime::success()
                     : check(code, std::string(names().select) + " of GPU " +
                                       std::to_string(context->index));
  }
  Status check(ErrorCode code, const std::string &call) const {
    return context->check(code, call);
  }
  const CallNames &names() const { return context->names(); }

  ContextPtr context;
  const StreamDeviceNames gpuNames;
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
  /// Loaded modules, by the digest of their bytes.
  std::map<std::string, Module> modules;
};

} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Status StreamDevice::open() {
  if (Status status = select(); !status)
    return status;
  if (Status status =
          check(context->createStream(&stream), names().createStream);
      !status)
    return status;
  for (Event *event : {&begin, &end})
    if (Status status = check(context->createEvent(event), names().createEvent);
        !status)
      return status;
  return runtime::success();
}

StreamDevice::~StreamDevice() {
  (void)context->select();
  for (auto &[digest, module] : modules)
    (void)context->unloadModule(module);
  for (Event event : {begin, end})
    if (event)
      (void)context->destroyEvent(event);
  if (stream)
    (void)context->destroyStream(stream);
}

Result<std::unique_ptr<Device>>
tarpon::openStreamDevice(ContextPtr context, StreamDeviceNames names) {
  auto device =
      std::make_unique<StreamDevice>(std::move(context), std::move(names));
  if (Status status = device->open(); !status)
    return status.error();
  return std::unique_ptr<Device>(std::move(device));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// "hipMalloc of 64 bytes".
static std::string describe(const char *call, size_t bytes) {
  return std::string(call) + " of " + std::to_string(bytes) + " bytes";
}

Result<std::unique_ptr<DeviceMemory>> StreamDevice::allocate(int64_t bytes) {
  if (Status status = select(); !status)
    return status.error();
  void *pointer = nullptr;
  size_t padded = static_cast<size_t>(bytes + runtime::kBufferTailPadding);
  if (Status status =
          check(context->allocate(&pointer, padded),
                describe(names().allocate, static_cast<size_t>(bytes)));
      !status)
    return status.error();
  return std::unique_ptr<DeviceMemory>(new Memory(context, pointer, bytes));
}

/// Checks that the range lies in the memory.
static Status checkRange(const DeviceMemory &memory, int64_t offset,
                         size_t bytes, const char *what) {
  if (offset >= 0 && offset <= memory.size() &&
      bytes <= static_cast<size_t>(memory.size() - offset))
    return runtime::success();
  return Error{std::string("a copy ") + what + " a GPU takes " +
               std::to_string(bytes) + " bytes at " + std::to_string(offset) +
               " of a buffer of " + std::to_string(memory.size())};
}

Status StreamDevice::fill(const DeviceMemory &memory, uint8_t value) {
  if (memory.size() == 0)
    return runtime::success();
  if (Status status = select(); !status)
    return status;
  auto bytes = static_cast<size_t>(memory.size());
  return check(context->fill(memory.address(), value, bytes, stream),
               describe(names().fill, bytes));
}

Status StreamDevice::copyIn(const DeviceMemory &to, int64_t offset,
                            std::span<const char> source) {
  if (Status status = checkRange(to, offset, source.size(), "to");
      !status || source.empty())
    return status;
  if (Status status = select(); !status)
    return status;
  return check(context->copyIn(static_cast<char *>(to.address()) + offset,
                               source.data(), source.size(), stream),
               describe(names().copyIn, source.size()) + " to the GPU");
}

Status StreamDevice::copyOut(std::span<char> to, const DeviceMemory &from,
                             int64_t offset) {
  if (Status status = checkRange(from, offset, to.size(), "from"); !status)
    return status;
  if (Status status = select(); !status)
    return status;
  if (Status status =
          to.empty()
              ? runtime::success()
              : check(context->copyOut(to.data(),
                                       static_cast<char *>(from.address()) +
                                           offset,
                                       to.size(), stream),
                      describe(names().copyOut, to.size()) + " from the GPU");
      !status)
    return status;
  return synchronize();
}

Status StreamDevice::copy(const DeviceMemory &to, const DeviceMemory &from) {
  auto bytes = static_cast<size_t>(from.size());
  if (Status status = checkRange(to, 0, bytes, "on"); !status || bytes == 0)
    return status;
  if (Status status = select(); !status)
    return status;
  return check(context->copy(to.address(), from.address(), bytes, stream),
               describe(names().copy, bytes) + " on the GPU");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Result<Module> StreamDevice::loadModule(std::span<const char> codeObject) {
  std::string digest = runtime::Sha256()
                           .update({codeObject.data(), codeObject.size()})
                           .finishHex();
  auto [entry, isNew] = modules.try_emplace(digest, nullptr);
  if (!isNew)
    return entry->second;
  std::string log;
  ErrorCode code = context->loadModule(&entry->second, codeObject, log);
  if (Status status =
          check(code, describe(names().loadModule, codeObject.size()) +
                          " for " + gpuNames.target);
      !status) {
    modules.erase(entry);
    return Error{status.message() + (log.empty() ? "" : ": " + log)};
  }
  return entry->second;
}

Result<std::vector<std::unique_ptr<DeviceKernel>>>
StreamDevice::load(std::span<const char> code,
                   std::span<const std::string> symbols) {
  if (Status status = context->checkCode(code); !status)
    return status.error();
  if (Status status = select(); !status)
    return status.error();
  Result<Module> module = loadModule(code);
  if (!module)
    return module.error();
  std::vector<std::unique_ptr<DeviceKernel>> kernels;
  for (const std::string &symbol : symbols) {
    Function function = nullptr;
    if (Status status =
            check(context->getFunction(&function, *module, symbol.c_str()),
                  std::string(names().getFunction) + " of '" + symbol + "'");
        !status)
      return status.error();
    kernels.push_back(
        std::make_unique<Kernel>(function, symbol, context->getFreeLdsBytes()));
  }
  return kernels;
}

/// "hipModuleLaunchKernel of 'conv' (3 workgroups of 64, 0 bytes of
/// arguments)".
static std::string describe(const char *call, const std::string &symbol,
                            const KernelCall &kernel) {
  std::string lds = kernel.ldsBytes ? ", " + std::to_string(kernel.ldsBytes) +
                                          " bytes of dynamic LDS"
                                    : "";
  return std::string(call) + " of '" + symbol + "' (" +
         std::to_string(kernel.groups) + " workgroups of " +
         std::to_string(kernel.workgroup) + ", " +
         std::to_string(kernel.arguments.size()) + " bytes of arguments" + lds +
         ")";
}

Status StreamDevice::launch(const DeviceKernel &kernel,
                            const DeviceLaunch &launch) {
  if (Status status = select(); !status)
    return status;
  const auto &loaded = static_cast<const Kernel &>(kernel);
  if (Status status = loaded.allowLds(*context, launch.ldsBytes); !status)
    return status;
  std::vector<char> arguments = packArguments(launch);
  KernelCall call = {loaded.get(), static_cast<unsigned>(launch.tasks),
                     static_cast<unsigned>(launch.workgroup),
                     static_cast<unsigned>(launch.ldsBytes), arguments};
  ErrorCode code = context->launchKernel(call, stream);
  if (code == 0)
    return runtime::success();
  return check(code, describe(names().launchKernel, kernel.symbol(), call));
}

Status StreamDevice::synchronize() {
  if (Status status = select(); !status)
    return status;
  return check(context->synchronizeStream(stream), names().synchronizeStream);
}

//===----------------------------------------------------------------------===//
// Graphs and times
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<DeviceGraph>>
StreamDevice::capture(const std::function<Status()> &work) {
  if (Status status = select(); !status)
    return status.error();
  if (Status status =
          check(context->beginCapture(stream), names().beginCapture);
      !status)
    return status.error();
  Status done = work();
  Graph graph = nullptr;
  // The capture is ended in any case, or the stream would be unusable.
  Status ended = check(context->endCapture(stream, &graph), names().endCapture);
  for (const Status *status : {&done, &ended})
    if (!*status) {
      if (graph)
        (void)context->destroyGraph(graph);
      return status->error();
    }
  GraphExec exec = nullptr;
  Status made =
      check(context->instantiateGraph(&exec, graph), names().instantiateGraph);
  (void)context->destroyGraph(graph);
  if (!made)
    return made.error();
  return std::unique_ptr<DeviceGraph>(new CapturedGraph(context, exec));
}

Status StreamDevice::launch(const DeviceGraph &graph) {
  if (Status status = select(); !status)
    return status;
  return check(context->launchGraph(
                   static_cast<const CapturedGraph &>(graph).get(), stream),
               names().launchGraph);
}

Result<double> StreamDevice::time(const std::function<Status()> &work) {
  if (Status status = select(); !status)
    return status.error();
  if (Status status =
          check(context->recordEvent(begin, stream), names().recordEvent);
      !status)
    return status.error();
  if (Status status = work(); !status)
    return status.error();
  float milliseconds = 0;
  for (const Status &status :
       {check(context->recordEvent(end, stream), names().recordEvent),
        check(context->synchronizeEvent(end), names().synchronizeEvent),
        check(context->getElapsedTime(&milliseconds, begin, end),
              names().getElapsedTime)})
    if (!status)
      return status.error();
  return static_cast<double>(milliseconds);
}
