//===- HostTarget.cpp - The CPU that this process runs on -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Features come from CPUID, restricted to those that the runtime can check for
// when it loads a package: code never needs more than its package says.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Host/HostTarget.h"

#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Runtime/ThreadPool.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <unistd.h>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// LLVM's table of all CPUs, or null if this LLVM lacks the native target.
static std::unique_ptr<llvm::MCSubtargetInfo>
makeSubtarget(llvm::StringRef cpu) {
  llvm::InitializeNativeTarget();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(triple, cpu, ""));
}

/// Asking LLVM for an unknown CPU would print a warning, so that the name is
/// looked up in the table of the baseline.
bool tarpon::isCpuName(llvm::StringRef name) {
  std::unique_ptr<llvm::MCSubtargetInfo> table = makeSubtarget("x86-64");
  return table && table->isCPUStringValid(name);
}

/// The features of a CPU of LLVM's list.
static Result<llvm::StringSet<>> getCpuFeatures(llvm::StringRef cpu) {
  if (!isCpuName(cpu))
    return Error{"unknown CPU '" + cpu.str() + "'"};
  std::unique_ptr<llvm::MCSubtargetInfo> table = makeSubtarget(cpu);
  llvm::StringSet<> features;
  for (const llvm::SubtargetFeatureKV &feature :
       table->getAllProcessorFeatures())
    if (table->hasFeature(feature.Value))
      features.insert(feature.Key);
  if (!features.contains("64bit"))
    return Error{"CPU '" + cpu.str() + "' is not a 64-bit CPU"};
  return features;
}

/// The features of this machine that packages can be checked for.
static std::vector<std::string> getMachineFeatures() {
  std::vector<std::string> features;
  for (const auto &entry : llvm::sys::getHostCPUFeatures()) {
    std::string name = entry.getKey().str();
    if (entry.getValue() && runtime::hostHasFeature(name))
      features.push_back(name);
  }
  llvm::sort(features);
  return features;
}

static void deriveCapabilities(TargetInfo &target) {
  auto has = [&](std::initializer_list<const char *> names) {
    return llvm::all_of(names, [&](const char *name) {
      return llvm::is_contained(target.features, name);
    });
  };
  bool wide = has({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  target.vectorBits = wide ? 512 : has({"avx2", "fma"}) ? 256 : 128;
  target.vectorRegisters = wide ? 32 : 16;
  target.hasFma = has({"fma"});
  target.hasF16c = has({"f16c"});
  target.hasVnni = wide && has({"avx512vnni"});
  target.hasBf16 = wide && has({"avx512bf16"});
  target.hasAmxInt8 = target.hasVnni && has({"amx-tile", "amx-int8"});
  target.hasAmxBf16 = target.hasBf16 && has({"amx-tile", "amx-bf16"});
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// Reads the first word of a file.
static std::string readWord(const std::string &path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Parses "48K" or "32M" as bytes; 0 for other texts.
static int64_t parseCacheSize(llvm::StringRef text) {
  int64_t size = 0;
  if (text.consumeInteger(10, size))
    return 0;
  if (text == "K")
    return size << 10;
  return text == "M" ? size << 20 : size;
}

/// Returns the size of the data cache of that level from sysfs, or 0.
static int64_t readSysfsCache(int level) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" +
                         std::to_string(index) + "/";
    if (readWord(folder + "level") != std::to_string(level) ||
        readWord(folder + "type") == "Instruction")
      continue;
    return parseCacheSize(readWord(folder + "size"));
  }
  return 0;
}

/// Returns `fallback` if neither the C library nor the kernel knows the size:
/// containers and virtual machines often hide the caches.
static int64_t getCacheBytes(int name, int level, int64_t fallback) {
  if (int64_t bytes = sysconf(name); bytes > 0)
    return bytes;
  if (int64_t bytes = readSysfsCache(level); bytes > 0)
    return bytes;
  return fallback;
}

static void readCaches(TargetInfo &target) {
  target.l1Bytes = getCacheBytes(_SC_LEVEL1_DCACHE_SIZE, 1, target.l1Bytes);
  target.l2Bytes = getCacheBytes(_SC_LEVEL2_CACHE_SIZE, 2, target.l2Bytes);
  target.l3Bytes = getCacheBytes(_SC_LEVEL3_CACHE_SIZE, 3, target.l3Bytes);
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

static std::string getNativeCpu() {
  llvm::StringRef name = llvm::sys::getHostCPUName();
  return name.empty() || name == "generic" ? "x86-64" : name.str();
}

/// The number of threads that the user means: 0 stands for one per core.
static Result<int64_t> resolveThreads(int64_t threads) {
  if (threads < 0)
    return Error{"cannot compile for " + std::to_string(threads) + " threads"};
  return threads > 0 ? threads : int64_t{runtime::availableCores()};
}

Result<TargetInfo> tarpon::getHostTarget(int64_t threads, llvm::StringRef cpu) {
  std::string origin;
  if (const char *named = std::getenv("TARPON_CPU");
      cpu == "native" && named && *named) {
    cpu = named;
    origin = "TARPON_CPU: ";
  }
  Result<int64_t> resolved = resolveThreads(threads);
  if (!resolved)
    return resolved.error();
  if (!llvm::Triple(llvm::sys::getProcessTriple()).isX86_64())
    return Error{"the host target supports x86-64 CPUs only"};
  TargetInfo target;
  target.features = getMachineFeatures();
  target.cpu = cpu.str();
  if (cpu == "native") {
    target.cpu = getNativeCpu();
  } else {
    Result<llvm::StringSet<>> known = getCpuFeatures(cpu);
    if (!known)
      return Error{origin + known.message()};
    llvm::erase_if(target.features, [&](const std::string &name) {
      return !known->contains(name);
    });
  }
  deriveCapabilities(target);
  readCaches(target);
  target.threads = *resolved;
  return target;
}

Result<TargetInfo> tarpon::getCpuTarget(llvm::StringRef cpu, int64_t threads) {
  Result<int64_t> resolved = resolveThreads(threads);
  if (!resolved)
    return resolved.error();
  Result<llvm::StringSet<>> features = getCpuFeatures(cpu);
  if (!features)
    return features.error();
  TargetInfo target;
  target.cpu = cpu.str();
  for (const auto &feature : *features)
    if (runtime::isKnownFeature(feature.getKey().str()))
      target.features.push_back(feature.getKey().str());
  llvm::sort(target.features);
  deriveCapabilities(target);
  target.threads = *resolved;
  return target;
}

Result<TargetInfo> tarpon::getNamedCpu(llvm::StringRef name, int64_t threads) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  name.split(parts, '/');
  int64_t bits = 0;
  TargetInfo target;
  if (parts.size() < 3 || parts[0] != target.arch ||
      parts[2].getAsInteger(10, bits))
    return Error{"'" + name.str() + "' is not the name of a CPU's records"};
  Result<TargetInfo> known = getCpuTarget(parts[1], threads);
  if (!known)
    return known;
  if (known->vectorBits != bits)
    return Error{"records of " + name.str() + " have vectors of " +
                 std::to_string(bits) + " bits, and " + parts[1].str() +
                 " has " + std::to_string(known->vectorBits)};
  return known;
}

void tarpon::readCacheSizes(llvm::StringRef text, TargetInfo &target) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, '/');
  if (parts.size() != 3)
    return;
  for (auto [part, size] : {std::pair(parts[0], &target.l1Bytes),
                            {parts[1], &target.l2Bytes},
                            {parts[2], &target.l3Bytes}})
    if (int64_t bytes = parseCacheSize(part); bytes > 0)
      *size = bytes;
}

Result<TargetInfo> tarpon::getPackageCpu(const runtime::Package &package) {
  Result<TargetInfo> target = getHostTarget();
  if (!target)
    return target.error();
  target->features = package.cpuFeatures;
  deriveCapabilities(*target);
  return target;
}
