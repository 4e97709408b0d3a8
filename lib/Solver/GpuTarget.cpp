//===- GpuTarget.cpp - The GPUs that Tarpon knows -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/GpuTarget.h"

#include "GpuTables.h"
#include "tarpon/Solver/GpuName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

using namespace tarpon;
using runtime::DType;
using runtime::Error;
using runtime::Result;

static const std::vector<GpuTarget> &getTable() {
  static const std::vector<GpuTarget> table = [] {
    std::vector<GpuTarget> gpus = getAmdGpus();
    llvm::append_range(gpus, getNvidiaGpus());
    return gpus;
  }();
  return table;
}

/// The chips of this vendor, or all.
static std::vector<std::string> listChips(std::optional<GpuVendor> vendor) {
  std::vector<std::string> chips;
  for (const GpuTarget &target : getTable())
    if (!vendor || target.vendor == *vendor)
      chips.push_back(target.chip);
  return chips;
}

std::vector<std::string> tarpon::getGpuChips(GpuVendor vendor) {
  return listChips(vendor);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

/// The features behind a chip's name.
struct NamedFeatures {
  std::optional<int64_t> computeUnits, memoryGbps;
  bool allowsTf32 = false;
};

} // namespace

/// Returns true if products with the same chip and number of compute units
/// differ in their memories, so that names tell the bandwidth.
static bool tellsBandwidth(const GpuTarget &gpu) {
  return gpu.vendor == GpuVendor::NVIDIA;
}

/// Parses ":cu=132:bw=4800:tf32", in any order. None if a feature is unknown,
/// occurs twice or has an impossible value.
static std::optional<NamedFeatures> parseFeatures(llvm::StringRef text) {
  constexpr int64_t kMostUnits = 4096, kMostGbps = 1'000'000;
  NamedFeatures features;
  auto read = [](llvm::StringRef number, int64_t most,
                 std::optional<int64_t> &value) {
    int64_t read = 0;
    if (value || number.getAsInteger(10, read) || read < 1 || read > most)
      return false;
    value = read;
    return true;
  };
  while (text.consume_front(":")) {
    llvm::StringRef feature = text.take_until([](char c) { return c == ':'; });
    text = text.drop_front(feature.size());
    bool isFirstTf32 = feature == kTf32Permission && !features.allowsTf32;
    features.allowsTf32 |= isFirstTf32;
    bool isRead = feature.consume_front("cu=")
                      ? read(feature, kMostUnits, features.computeUnits)
                  : feature.consume_front("bw=")
                      ? read(feature, kMostGbps, features.memoryGbps)
                      : isFirstTf32;
    if (!isRead)
      return std::nullopt;
  }
  return features;
}

/// The bandwidth of the first product with the target's chip and units: the
/// described one goes first.
static double getUsualGbps(const GpuTarget &described, int64_t computeUnits) {
  if (described.computeUnits != computeUnits)
    for (const GpuProduct &product : getNvidiaProducts())
      if (product.chip == described.chip &&
          product.computeUnits == computeUnits)
        return product.memoryGbps;
  return described.memoryGbps;
}

/// The bandwidth in the data sheet of a product with that chip, if one is close
/// to the given one.
static double roundGbps(const GpuTarget &described, double gbps) {
  constexpr double kClose = 0.03;
  double best = described.memoryGbps;
  for (const GpuProduct &product : getNvidiaProducts())
    if (product.chip == described.chip &&
        std::abs(product.memoryGbps - gbps) < std::abs(best - gbps))
      best = product.memoryGbps;
  return std::abs(best - gbps) <= kClose * best ? best : gbps;
}

Result<GpuTarget> tarpon::parseGpuTarget(llvm::StringRef text) {
  llvm::StringRef chip = text.split(':').first;
  auto known = llvm::find_if(
      getTable(), [&](const GpuTarget &target) { return target.chip == chip; });
  if (known == getTable().end())
    return Error{"unknown GPU '" + chip.str() + "', expected " +
                 llvm::join(listChips(std::nullopt), ", ")};
  bool hasBandwidth = tellsBandwidth(*known);
  auto features = parseFeatures(text.drop_front(chip.size()));
  if (!features || (features->memoryGbps && !hasBandwidth))
    return Error{"'" + text.str() + "' is not a GPU target, expected " +
                 chip.str() +
                 (hasBandwidth ? ":cu=N:bw=G with N compute units and G GB/s "
                                 "of memory"
                               : ":cu=N with N compute units")};
  if (features->allowsTf32 && !known->hasTf32())
    return Error{"'" + text.str() + "' allows TF32, and " + chip.str() +
                 " has no instructions for it"};
  GpuTarget target = *known;
  target.allowsTf32 = features->allowsTf32;
  target.computeUnits = features->computeUnits.value_or(known->computeUnits);
  target.memoryGbps =
      features->memoryGbps
          ? roundGbps(*known, static_cast<double>(*features->memoryGbps))
          : getUsualGbps(*known, target.computeUnits);
  return target;
}

std::string GpuTarget::name() const {
  std::string name = chip + ":cu=" + std::to_string(computeUnits);
  if (tellsBandwidth(*this))
    name += ":bw=" + std::to_string(std::llround(memoryGbps));
  if (allowsTf32)
    name += (":" + kTf32Permission).str();
  return name;
}

std::string tarpon::completeGpuName(llvm::StringRef name,
                                    llvm::StringRef other) {
  llvm::StringRef chip = name.split(':').first;
  if (other.split(':').first != chip)
    return name.str();
  auto features = parseFeatures(name.drop_front(chip.size()));
  auto others = parseFeatures(other.drop_front(chip.size()));
  if (!features || !others)
    return name.str();
  std::string completed = name.str();
  auto take = [&](const char *key, std::optional<int64_t> own,
                  std::optional<int64_t> theirs) {
    if (!own && theirs)
      completed += key + std::to_string(*theirs);
    return !own || !theirs || own == theirs;
  };
  bool isSame = take(":cu=", features->computeUnits, others->computeUnits) &&
                take(":bw=", features->memoryGbps, others->memoryGbps);
  return isSame ? completed : name.str();
}

std::string tarpon::normaliseGpuName(const std::string &name) {
  Result<GpuTarget> gpu = parseGpuTarget(name);
  return gpu ? gpu->name() : name;
}

std::string tarpon::takePermissions(const std::string &name,
                                    llvm::StringRef request) {
  Result<GpuTarget> gpu = parseGpuTarget(name), asked = parseGpuTarget(request);
  if (!gpu || !asked || !asked->allowsTf32)
    return name;
  gpu->allowsTf32 = gpu->hasTf32();
  return gpu->name();
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

TargetInfo tarpon::makeGpuTargetInfo(const GpuTarget &gpu) {
  static std::mutex mutex;
  static std::map<std::string, GpuTarget> kept;
  std::lock_guard<std::mutex> lock(mutex);
  TargetInfo target;
  target.traits = &getGpuTraits();
  target.arch = gpu.arch().str();
  target.cpu = gpu.chip;
  target.l2Bytes = gpu.l2Bytes;
  target.gpu = &kept.try_emplace(gpu.name(), gpu).first->second;
  return target;
}

//===----------------------------------------------------------------------===//
// Derived limits
//===----------------------------------------------------------------------===//

llvm::StringRef GpuTarget::arch() const {
  return vendor == GpuVendor::AMD ? kAmdGpuArch : kNvidiaGpuArch;
}

bool GpuTarget::hasTf32() const {
  return llvm::any_of(matrixInstructions,
                      [](const auto &each) { return each.isTf32; });
}

std::vector<MatrixInstruction>
GpuTarget::getMatrixInstructions(DType dtype) const {
  std::vector<MatrixInstruction> chosen;
  for (const MatrixInstruction &instruction : matrixInstructions)
    if (instruction.dtype == dtype && (allowsTf32 || !instruction.isTf32))
      chosen.push_back(instruction);
  llvm::stable_sort(chosen, [](const auto &a, const auto &b) {
    return a.k * a.m * a.n > b.k * b.m * b.n;
  });
  return chosen;
}

double GpuTarget::peakGflops(DType dtype) const {
  double perClock = 2.0 * static_cast<double>(vectorFmasPerClock);
  for (const MatrixInstruction &instruction : getMatrixInstructions(dtype))
    perClock = std::max(perClock, static_cast<double>(simdsPerUnit) *
                                      instruction.flops() /
                                      static_cast<double>(instruction.cycles));
  return perClock * static_cast<double>(computeUnits) * clockGhz;
}

int64_t GpuTarget::getOccupancy(int64_t registers, int64_t lds,
                                int64_t workgroup) const {
  if (registers > maxVectorRegisters || lds > ldsBytes ||
      workgroup > maxWorkgroup || workgroup < 1)
    return 0;
  int64_t allocated =
      std::max<int64_t>(llvm::alignTo(registers, vectorGranule), vectorGranule);
  int64_t waves = std::min(maxWaves, vectorRegisters / allocated);
  int64_t wavesPerGroup = llvm::divideCeil(workgroup, waveSize);
  // Workgroups are placed as a whole, with their waves distributed over the
  // SIMDs.
  int64_t groups = waves * simdsPerUnit / wavesPerGroup;
  if (int64_t each = lds + ldsReservedPerGroup; each > 0)
    groups = std::min(groups, ldsBytesPerUnit / each);
  if (maxGroupsPerUnit > 0)
    groups = std::min(groups, maxGroupsPerUnit);
  return groups * wavesPerGroup / simdsPerUnit > 0
             ? std::min(waves, groups * wavesPerGroup / simdsPerUnit)
             : std::min<int64_t>(groups, 1);
}
