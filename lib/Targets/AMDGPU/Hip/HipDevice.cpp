//===- HipDevice.cpp - AMD GPUs through HIP -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"

#include "HipContext.h"
#include "HipLibrary.h"
#include "Topology.h"
#include "tarpon/Targets/GPU/StreamDevice.h"

#include <cstdlib>

using namespace tarpon;
using namespace tarpon::hip;
using runtime::Device;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static Result<int> getAttribute(const HipContext &context, Attribute attribute,
                                const std::string &what) {
  int value = 0;
  if (Status status = context.check(
          context.api.deviceGetAttribute(&value, attribute, context.index),
          "hipDeviceGetAttribute of the " + what);
      !status)
    return status.error();
  return value;
}

/// The target of a GPU: "gfx942:cu=304".
static Result<std::string> getTarget(const HipContext &context,
                                     const std::string &topology) {
  Result<int> domain = getAttribute(context, kPciDomainId, "PCI domain");
  Result<int> bus = getAttribute(context, kPciBusId, "PCI bus");
  Result<int> device = getAttribute(context, kPciDeviceId, "PCI device");
  Result<int> units =
      getAttribute(context, kMultiprocessorCount, "compute units");
  for (const Result<int> *value : {&domain, &bus, &device, &units})
    if (!*value)
      return value->error();
  Result<std::string> chip = findChip(topology, {*domain, *bus, *device});
  if (!chip)
    return chip.error();
  return *chip + ":cu=" + std::to_string(*units);
}

namespace {

class HipGpus final : public GpuList {
public:
  HipGpus(const Api &api, int number, std::string topology)
      : api(api), number(number), topology(std::move(topology)) {}

  int count() const override { return number; }

  Result<std::string> getTarget(int index) const override {
    return ::getTarget(HipContext(api, index), topology);
  }

  Result<std::unique_ptr<Device>> open(int index) const override;

private:
  const Api &api;
  int number;
  std::string topology;
};

} // namespace

Result<std::unique_ptr<Device>> HipGpus::open(int index) const {
  auto context = std::make_shared<HipContext>(api, index);
  if (Status status = context->check(context->select(), "hipSetDevice");
      !status)
    return status.error();
  Result<std::string> target = getTarget(index);
  if (!target)
    return target.error();
  char name[256] = "";
  if (Status status = context->check(
          context->api.deviceGetName(name, sizeof name, context->index),
          "hipDeviceGetName");
      !status)
    return status.error();
  // Its UUID is in beta.
  char place[64] = "";
  if (Status status = context->check(
          context->api.deviceGetPciBusId(place, sizeof place, context->index),
          "hipDeviceGetPCIBusId");
      !status)
    return status.error();
  return openStreamDevice(std::move(context),
                          {std::move(*target), name, place});
}

static std::string getTopology(const HipOptions &options) {
  if (!options.topology.empty())
    return options.topology;
  const char *named = std::getenv("TARPON_HIP_TOPOLOGY");
  return named && *named ? named : "/sys/class/kfd/kfd/topology/nodes";
}

/// Calls `use` with the GPUs of this machine.
template <typename Value>
static Result<Value> useGpus(const HipOptions &options,
                             Result<Value> (*use)(const GpuList &gpus,
                                                  const GpuRequest &request),
                             const GpuRequest &request) {
  Result<Api> api = loadApi(options.library);
  if (!api)
    return api.error();
  ErrorCode code = api->init(0);
  int count = 0;
  if (code == 0)
    code = api->getDeviceCount(&count);
  if (code == kErrorNoDevice || code == kErrorInvalidDevice ||
      (code == 0 && count == 0))
    return Error{"HIP finds no GPU on this machine; " +
                 describeCompileOnly(getDescription())};
  if (Status status = HipContext(*api, 0).check(code, "hipGetDeviceCount");
      !status)
    return status.error();
  return use(HipGpus(*api, count, getTopology(options)), request);
}

Result<std::unique_ptr<Device>>
tarpon::openHipDevice(const GpuRequest &request, const HipOptions &options) {
  return useGpus(options, openGpu, request);
}

Result<std::string> tarpon::findHipDevice(const GpuRequest &request,
                                          const HipOptions &options) {
  return useGpus(options, findGpu, request);
}
