//===- CudaDevice.cpp - NVIDIA GPUs through the CUDA driver ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include "CudaContext.h"
#include "CudaLibrary.h"
#include "tarpon/Targets/GPU/StreamDevice.h"

#include <algorithm>
#include <cctype>
#include <cmath>

using namespace tarpon;
using namespace tarpon::cuda;
using runtime::Device;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static Result<int> getAttribute(const CudaContext &context, Attribute attribute,
                                const std::string &what) {
  int value = 0;
  if (Status status = context.check(
          context.api.deviceGetAttribute(&value, attribute, context.device),
          "cuDeviceGetAttribute of the " + what);
      !status)
    return status.error();
  return value;
}

/// Finds the chip of "sm_90": "sm_90a".
static std::string findChip(const std::string &capability,
                            const std::vector<std::string> &chips) {
  auto isOf = [&](const std::string &chip) {
    return chip.starts_with(capability) &&
           std::none_of(
               chip.begin() + static_cast<ptrdiff_t>(capability.size()),
               chip.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  auto found = std::ranges::find_if(chips, isOf);
  return found == chips.end() ? capability : *found;
}

/// The GB per second of a memory that transfers twice per clock; 0 if the
/// driver does not tell.
static long getBandwidth(int kilohertz, int busBits) {
  constexpr double kTransfers = 2, kByteBits = 8, kMegahertz = 1e6;
  return std::lround(kTransfers * kilohertz * (busBits / kByteBits) /
                     kMegahertz);
}

/// The target of a GPU: "sm_90a:cu=132:bw=4917".
static Result<std::string> getTarget(const CudaContext &context,
                                     const CudaOptions &options) {
  Result<int> major =
      getAttribute(context, kCapabilityMajor, "compute capability");
  Result<int> minor =
      getAttribute(context, kCapabilityMinor, "compute capability");
  Result<int> units =
      getAttribute(context, kMultiprocessorCount, "multiprocessors");
  Result<int> clock =
      getAttribute(context, kMemoryClockKilohertz, "memory's clock");
  Result<int> bus = getAttribute(context, kMemoryBusBits, "memory's bus");
  for (const Result<int> *value : {&major, &minor, &units, &clock, &bus})
    if (!*value)
      return value->error();
  std::string capability =
      "sm_" + std::to_string(*major) + std::to_string(*minor);
  std::string name =
      findChip(capability, options.chips) + ":cu=" + std::to_string(*units);
  if (long bandwidth = getBandwidth(*clock, *bus))
    name += ":bw=" + std::to_string(bandwidth);
  return options.normalise ? options.normalise(name) : name;
}

/// The UUID of the GPU, or of the part of one that MIG makes, in hexadecimal.
static Result<std::string> getUuid(const CudaContext &context) {
  Uuid uuid = {};
  if (Status status = context.check(
          context.api.deviceGetUuid(&uuid, context.device), "cuDeviceGetUuid");
      !status)
    return status.error();
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (unsigned char byte : uuid.bytes)
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

namespace {

class CudaGpus final : public GpuList {
public:
  CudaGpus(const Api &api, int number, const CudaOptions &options)
      : api(api), number(number), options(options) {}

  int count() const override { return number; }

  Result<std::string> getTarget(int index) const override {
    CudaContext context(api, index);
    if (Status status = context.find(); !status)
      return status.error();
    return ::getTarget(context, options);
  }

  Result<std::unique_ptr<Device>> open(int index) const override;

private:
  const Api &api;
  int number;
  const CudaOptions &options;
};

} // namespace

Result<std::unique_ptr<Device>> CudaGpus::open(int index) const {
  auto context = std::make_shared<CudaContext>(api, index);
  if (Status status = context->find(); !status)
    return status.error();
  Result<std::string> target = ::getTarget(*context, options);
  if (!target)
    return target.error();
  if (Status status = context->retain(); !status)
    return status.error();
  char name[256] = "";
  if (Status status = context->check(
          context->api.deviceGetName(name, sizeof name, context->device),
          "cuDeviceGetName");
      !status)
    return status.error();
  Result<std::string> uuid = getUuid(*context);
  if (!uuid)
    return uuid.error();
  return openStreamDevice(std::move(context),
                          {std::move(*target), name, std::move(*uuid)});
}

/// Calls `use` with the GPUs of this machine.
template <typename Value>
static Result<Value> useGpus(const CudaOptions &options,
                             Result<Value> (*use)(const GpuList &gpus,
                                                  const GpuRequest &request),
                             const GpuRequest &request) {
  Result<Api> api = loadApi(options.library);
  if (!api)
    return api.error();
  ErrorCode code = api->init(0);
  int count = 0;
  if (code == 0)
    code = api->deviceGetCount(&count);
  if (code == kErrorNoDevice || (code == 0 && count == 0))
    return Error{"CUDA finds no GPU on this machine; " +
                 describeCompileOnly(getDescription())};
  if (Status status =
          CudaContext(*api, 0).check(code, "cuInit or cuDeviceGetCount");
      !status)
    return status.error();
  return use(CudaGpus(*api, count, options), request);
}

Result<std::unique_ptr<Device>>
tarpon::openCudaDevice(const GpuRequest &request, const CudaOptions &options) {
  return useGpus(options, openGpu, request);
}

Result<std::string> tarpon::findCudaDevice(const GpuRequest &request,
                                           const CudaOptions &options) {
  return useGpus(options, findGpu, request);
}
