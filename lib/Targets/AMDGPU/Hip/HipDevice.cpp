//===- HipDevice.cpp - AMD GPUs through HIP -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"

#include "HipLibrary.h"
#include "Topology.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Targets/GPU/GpuLaunch.h"

#include <cstdlib>
#include <map>
#include <vector>

using namespace tarpon;
using namespace tarpon::hip;
using runtime::Device;
using runtime::DeviceGraph;
using runtime::DeviceKernel;
using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {

using LibraryPtr = std::shared_ptr<const Library>;

class Memory : public DeviceMemory {
public:
  Memory(LibraryPtr library, void *pointer, int64_t bytes)
      : library(std::move(library)), pointer(pointer), bytes(bytes) {}
  ~Memory() override { (void)library->api().free(pointer); }
  void *address() const override { return pointer; }
  int64_t size() const override { return bytes; }

private:
  LibraryPtr library;
  void *pointer;
  int64_t bytes;
};

class Kernel : public DeviceKernel {
public:
  Kernel(Function function, std::string name)
      : function(function), name(std::move(name)) {}
  const std::string &symbol() const override { return name; }
  Function get() const { return function; }

private:
  Function function;
  std::string name;
};

class CapturedGraph : public DeviceGraph {
public:
  CapturedGraph(LibraryPtr library, GraphExec exec)
      : library(std::move(library)), exec(exec) {}
  ~CapturedGraph() override { (void)library->api().graphExecDestroy(exec); }
  GraphExec get() const { return exec; }

private:
  LibraryPtr library;
  GraphExec exec;
};

class HipDevice : public Device {
public:
  HipDevice(LibraryPtr library, int index)
      : library(std::move(library)), index(index) {}
  ~HipDevice() override;

  Status open(const std::string &topology);

  const std::string &target() const override { return targetName; }
  const std::string &name() const override { return productName; }
  Status checkPackage(const runtime::Package &package) const override {
    return checkGpuPackage(package, targetName);
  }
  Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) override;
  Status fill(const DeviceMemory &memory, uint8_t value) override;
  Status copyIn(const DeviceMemory &to, int64_t offset,
                std::span<const char> source) override;
  Status copyOut(std::span<char> to, const DeviceMemory &from,
                 int64_t offset) override;
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
  Result<int> getAttribute(Attribute attribute, const std::string &what) const;
  Result<Module> loadModule(std::span<const char> codeObject);
  /// Makes the device current for the calls of this thread, which may not be
  /// the thread of earlier calls.
  Status select() const {
    ErrorCode code = api().setDevice(index);
    return code == 0
               ? runtime::success()
               : check(code, "hipSetDevice of GPU " + std::to_string(index));
  }
  Status check(ErrorCode code, const std::string &call) const {
    return library->check(code, call);
  }
  const Api &api() const { return library->api(); }

  LibraryPtr library;
  int index;
  std::string targetName, productName;
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
  /// Loaded modules, by the digest of their bytes.
  std::map<std::string, Module> modules;
};

} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Result<int> HipDevice::getAttribute(Attribute attribute,
                                    const std::string &what) const {
  int value = 0;
  if (Status status = check(api().deviceGetAttribute(&value, attribute, index),
                            "hipDeviceGetAttribute of the " + what);
      !status)
    return status.error();
  return value;
}

Status HipDevice::open(const std::string &topology) {
  if (Status status = select(); !status)
    return status;
  Result<int> domain = getAttribute(kPciDomainId, "PCI domain");
  Result<int> bus = getAttribute(kPciBusId, "PCI bus");
  Result<int> device = getAttribute(kPciDeviceId, "PCI device");
  Result<int> units = getAttribute(kMultiprocessorCount, "compute units");
  for (const Result<int> *value : {&domain, &bus, &device, &units})
    if (!*value)
      return value->error();
  Result<std::string> chip = findChip(topology, {*domain, *bus, *device});
  if (!chip)
    return chip.error();
  targetName = *chip + ":cu=" + std::to_string(*units);
  char text[256] = "";
  if (Status status = check(api().deviceGetName(text, sizeof text, index),
                            "hipDeviceGetName");
      !status)
    return status;
  productName = text;
  if (Status status = check(api().streamCreate(&stream), "hipStreamCreate");
      !status)
    return status;
  for (Event *event : {&begin, &end})
    if (Status status = check(api().eventCreate(event), "hipEventCreate");
        !status)
      return status;
  return runtime::success();
}

HipDevice::~HipDevice() {
  (void)select();
  for (auto &[digest, module] : modules)
    (void)api().moduleUnload(module);
  for (Event event : {begin, end})
    if (event)
      (void)api().eventDestroy(event);
  if (stream)
    (void)api().streamDestroy(stream);
}

static std::string getTopology(const HipOptions &options) {
  if (!options.topology.empty())
    return options.topology;
  const char *named = std::getenv("TARPON_HIP_TOPOLOGY");
  return named && *named ? named : "/sys/class/kfd/kfd/topology/nodes";
}

Result<std::vector<std::unique_ptr<Device>>>
tarpon::openHipDevices(const HipOptions &options) {
  Result<LibraryPtr> library = Library::load(options.library);
  if (!library)
    return library.error();
  const Api &api = (*library)->api();
  ErrorCode code = api.init(0);
  int count = 0;
  if (code == 0)
    code = api.getDeviceCount(&count);
  if (code == kErrorNoDevice || code == kErrorInvalidDevice ||
      (code == 0 && count == 0))
    return Error{"HIP finds no GPU on this machine; models can be compiled for "
                 "AMD GPUs, but not run on one"};
  if (Status status = (*library)->check(code, "hipGetDeviceCount"); !status)
    return status.error();
  std::vector<std::unique_ptr<Device>> devices;
  for (int index = 0; index < count; ++index) {
    auto device = std::make_unique<HipDevice>(*library, index);
    if (Status status = device->open(getTopology(options)); !status)
      return Error{"GPU " + std::to_string(index) + ": " + status.message()};
    devices.push_back(std::move(device));
  }
  return devices;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<DeviceMemory>> HipDevice::allocate(int64_t bytes) {
  if (Status status = select(); !status)
    return status.error();
  void *pointer = nullptr;
  size_t padded = static_cast<size_t>(bytes + runtime::kBufferTailPadding);
  if (Status status = check(api().malloc(&pointer, padded),
                            "hipMalloc of " + std::to_string(bytes) + " bytes");
      !status)
    return status.error();
  return std::unique_ptr<DeviceMemory>(new Memory(library, pointer, bytes));
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

Status HipDevice::fill(const DeviceMemory &memory, uint8_t value) {
  if (Status status = select(); !status)
    return status;
  return check(api().memsetAsync(memory.address(), value,
                                 static_cast<size_t>(memory.size()), stream),
               "hipMemsetAsync of " + std::to_string(memory.size()) + " bytes");
}

Status HipDevice::copyIn(const DeviceMemory &to, int64_t offset,
                         std::span<const char> source) {
  if (Status status = select(); !status)
    return status;
  if (Status status = checkRange(to, offset, source.size(), "to"); !status)
    return status;
  return check(api().memcpyAsync(static_cast<char *>(to.address()) + offset,
                                 source.data(), source.size(), kHostToDevice,
                                 stream),
               "hipMemcpyAsync of " + std::to_string(source.size()) +
                   " bytes to the GPU");
}

Status HipDevice::copyOut(std::span<char> to, const DeviceMemory &from,
                          int64_t offset) {
  if (Status status = select(); !status)
    return status;
  if (Status status = checkRange(from, offset, to.size(), "from"); !status)
    return status;
  if (Status status =
          check(api().memcpyAsync(to.data(),
                                  static_cast<char *>(from.address()) + offset,
                                  to.size(), kDeviceToHost, stream),
                "hipMemcpyAsync of " + std::to_string(to.size()) +
                    " bytes from the GPU");
      !status)
    return status;
  return synchronize();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Result<Module> HipDevice::loadModule(std::span<const char> codeObject) {
  std::string digest = runtime::Sha256()
                           .update({codeObject.data(), codeObject.size()})
                           .finishHex();
  auto [entry, isNew] = modules.try_emplace(digest, nullptr);
  if (!isNew)
    return entry->second;
  if (Status status =
          check(api().moduleLoadData(&entry->second, codeObject.data()),
                "hipModuleLoadData of " + std::to_string(codeObject.size()) +
                    " bytes for " + targetName);
      !status) {
    modules.erase(entry);
    return status.error();
  }
  return entry->second;
}

Result<std::vector<std::unique_ptr<DeviceKernel>>>
HipDevice::load(std::span<const char> code,
                std::span<const std::string> symbols) {
  // HIP may crash on other bytes.
  if (!runtime::isElf(code))
    return Error{"a code object is not an ELF shared object"};
  if (Status status = select(); !status)
    return status.error();
  Result<Module> module = loadModule(code);
  if (!module)
    return module.error();
  std::vector<std::unique_ptr<DeviceKernel>> kernels;
  for (const std::string &symbol : symbols) {
    Function function = nullptr;
    if (Status status =
            check(api().moduleGetFunction(&function, *module, symbol.c_str()),
                  "hipModuleGetFunction of '" + symbol + "'");
        !status)
      return status.error();
    kernels.push_back(std::make_unique<Kernel>(function, symbol));
  }
  return kernels;
}

Status HipDevice::launch(const DeviceKernel &kernel,
                         const DeviceLaunch &launch) {
  if (Status status = select(); !status)
    return status;
  std::vector<char> arguments = packArguments(launch);
  // hip_runtime_api.h: HIP_LAUNCH_PARAM_BUFFER_POINTER, _SIZE and _END.
  size_t bytes = arguments.size();
  void *extra[] = {reinterpret_cast<void *>(1), arguments.data(),
                   reinterpret_cast<void *>(2), &bytes,
                   reinterpret_cast<void *>(3)};
  ErrorCode code =
      api().moduleLaunchKernel(static_cast<const Kernel &>(kernel).get(),
                               static_cast<unsigned>(launch.tasks), 1, 1,
                               static_cast<unsigned>(launch.workgroup), 1, 1,
                               /*sharedMemBytes=*/0, stream, nullptr, extra);
  if (code == 0)
    return runtime::success();
  return check(code, "hipModuleLaunchKernel of '" + kernel.symbol() + "' (" +
                         std::to_string(launch.tasks) + " workgroups of " +
                         std::to_string(launch.workgroup) + ", " +
                         std::to_string(bytes) + " bytes of arguments)");
}

Status HipDevice::synchronize() {
  if (Status status = select(); !status)
    return status;
  return check(api().streamSynchronize(stream), "hipStreamSynchronize");
}

//===----------------------------------------------------------------------===//
// Graphs and times
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<DeviceGraph>>
HipDevice::capture(const std::function<Status()> &work) {
  if (Status status = select(); !status)
    return status.error();
  if (Status status =
          check(api().streamBeginCapture(stream, kCaptureThreadLocal),
                "hipStreamBeginCapture");
      !status)
    return status.error();
  Status done = work();
  Graph graph = nullptr;
  // The capture is ended in any case, or the stream would be unusable.
  Status ended =
      check(api().streamEndCapture(stream, &graph), "hipStreamEndCapture");
  for (const Status *status : {&done, &ended})
    if (!*status) {
      if (graph)
        (void)api().graphDestroy(graph);
      return status->error();
    }
  GraphExec exec = nullptr;
  Status made = check(api().graphInstantiate(&exec, graph, nullptr, nullptr, 0),
                      "hipGraphInstantiate");
  (void)api().graphDestroy(graph);
  if (!made)
    return made.error();
  return std::unique_ptr<DeviceGraph>(new CapturedGraph(library, exec));
}

Status HipDevice::launch(const DeviceGraph &graph) {
  if (Status status = select(); !status)
    return status;
  return check(api().graphLaunch(
                   static_cast<const CapturedGraph &>(graph).get(), stream),
               "hipGraphLaunch");
}

Result<double> HipDevice::time(const std::function<Status()> &work) {
  if (Status status = select(); !status)
    return status.error();
  if (Status status = check(api().eventRecord(begin, stream), "hipEventRecord");
      !status)
    return status.error();
  if (Status status = work(); !status)
    return status.error();
  float milliseconds = 0;
  for (const Status &status :
       {check(api().eventRecord(end, stream), "hipEventRecord"),
        check(api().eventSynchronize(end), "hipEventSynchronize"),
        check(api().eventElapsedTime(&milliseconds, begin, end),
              "hipEventElapsedTime")})
    if (!status)
      return status.error();
  return static_cast<double>(milliseconds);
}
