//===- GpuTarget.cpp - The GPUs that Tarpon knows -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/GpuTarget.h"

#include "GpuTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
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

Result<GpuTarget> tarpon::parseGpuTarget(llvm::StringRef text) {
  auto [chip, variant] = text.split(':');
  auto known = llvm::find_if(getTable(), [&, name = chip](const GpuTarget &t) {
    return t.chip == name;
  });
  if (known == getTable().end())
    return Error{"unknown GPU '" + chip.str() + "', expected " +
                 llvm::join(listChips(std::nullopt), ", ")};
  GpuTarget target = *known;
  if (variant.empty() && !text.contains(':'))
    return target;
  int64_t units = 0;
  if (!variant.consume_front("cu=") || variant.getAsInteger(10, units) ||
      units < 1 || units > 4096)
    return Error{"'" + text.str() + "' is not a GPU target, expected " +
                 chip.str() + ":cu=N with N compute units"};
  target.computeUnits = units;
  return target;
}

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

std::string GpuTarget::name() const {
  return chip + ":cu=" + std::to_string(computeUnits);
}

std::vector<MatrixInstruction>
GpuTarget::getMatrixInstructions(DType dtype) const {
  std::vector<MatrixInstruction> chosen;
  for (const MatrixInstruction &instruction : matrixInstructions)
    if (instruction.dtype == dtype)
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
