//===- HostFeatures.cpp - The features of this machine's CPU ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A feature counts only if the operating system saves its registers as well.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/HostFeatures.h"

#include <algorithm>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tarpon::runtime {

#if defined(__x86_64__)

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// The registers that the operating system must save, as XCR0 bits.
enum SavedState : uint64_t {
  Always = 0,
  Ymm = 0x6,       // SSE and AVX
  Zmm = 0xe6,      // and opmask, upper ZMM, ZMM16 to ZMM31
  Tiles = 0x60000, // AMX
};

struct FeatureRow {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  SavedState state;
};

} // namespace

/// The names are LLVM's; the bits are in Intel's manual, volume 2, CPUID, and
/// AMD's, volume 3, appendix E.
static constexpr FeatureRow kFeatures[] = {
    {"sse", 1, 0, EDX, 25, Always},
    {"sse2", 1, 0, EDX, 26, Always},
    {"sse3", 1, 0, ECX, 0, Always},
    {"pclmul", 1, 0, ECX, 1, Always},
    {"ssse3", 1, 0, ECX, 9, Always},
    {"fma", 1, 0, ECX, 12, Ymm},
    {"cx16", 1, 0, ECX, 13, Always},
    {"sse4.1", 1, 0, ECX, 19, Always},
    {"sse4.2", 1, 0, ECX, 20, Always},
    {"movbe", 1, 0, ECX, 22, Always},
    {"popcnt", 1, 0, ECX, 23, Always},
    {"avx", 1, 0, ECX, 28, Ymm},
    {"f16c", 1, 0, ECX, 29, Ymm},
    {"bmi", 7, 0, EBX, 3, Always},
    {"avx2", 7, 0, EBX, 5, Ymm},
    {"bmi2", 7, 0, EBX, 8, Always},
    {"avx512f", 7, 0, EBX, 16, Zmm},
    {"avx512dq", 7, 0, EBX, 17, Zmm},
    {"avx512ifma", 7, 0, EBX, 21, Zmm},
    {"avx512cd", 7, 0, EBX, 28, Zmm},
    {"avx512bw", 7, 0, EBX, 30, Zmm},
    {"avx512vl", 7, 0, EBX, 31, Zmm},
    {"avx512vbmi", 7, 0, ECX, 1, Zmm},
    {"avx512vbmi2", 7, 0, ECX, 6, Zmm},
    {"gfni", 7, 0, ECX, 8, Always},
    {"avx512vnni", 7, 0, ECX, 11, Zmm},
    {"avx512bitalg", 7, 0, ECX, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Zmm},
    {"avx512fp16", 7, 0, EDX, 23, Zmm},
    {"amx-bf16", 7, 0, EDX, 22, Tiles},
    {"amx-tile", 7, 0, EDX, 24, Tiles},
    {"amx-int8", 7, 0, EDX, 25, Tiles},
    {"avxvnni", 7, 1, EAX, 4, Ymm},
    {"avx512bf16", 7, 1, EAX, 5, Zmm},
    {"avxifma", 7, 1, EAX, 23, Ymm},
    {"avxvnniint8", 7, 1, EDX, 4, Ymm},
    {"avxneconvert", 7, 1, EDX, 5, Ymm},
    {"lzcnt", 0x80000001, 0, ECX, 5, Always},
};

/// The registers that the operating system saves, as XCR0 bits.
static uint64_t savedState() {
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & kOsxsave))
    return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

/// Linux gives AMX's registers to processes that ask for them
/// (Documentation/arch/x86/xstate.rst): for all threads, and for processes that
/// are forked later. Asking again changes nothing.
static bool requestTiles() {
  constexpr long kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;              // XFEATURE_XTILE_DATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// Returns true if this process may use these registers.
static bool mayUse(SavedState state) {
  if ((savedState() & state) != state)
    return false;
  if (state != Tiles)
    return true;
  static const bool isGranted = requestTiles();
  return isGranted;
}

std::string_view hostArch() { return "x86-64"; }

static const FeatureRow *findFeature(const std::string &feature) {
  const FeatureRow *row = std::find_if(
      std::begin(kFeatures), std::end(kFeatures),
      [&](const FeatureRow &candidate) { return candidate.name == feature; });
  return row == std::end(kFeatures) ? nullptr : row;
}

bool isKnownFeature(const std::string &feature) {
  return findFeature(feature) != nullptr;
}

bool hostHasFeature(const std::string &feature) {
  const FeatureRow *row = findFeature(feature);
  if (!row)
    return false;
  uint32_t registers[4];
  if (!__get_cpuid_count(row->leaf, row->subleaf, &registers[EAX],
                         &registers[EBX], &registers[ECX], &registers[EDX]))
    return false;
  if (!(registers[row->reg] >> row->bit & 1))
    return false;
  return mayUse(row->state);
}

#elif defined(__aarch64__)

namespace {
struct FeatureRow {
  std::string_view name;
  int word;
  int bit;
};
} // namespace

/// The names are LLVM's; the bits are the kernel's HWCAP (word 0) and HWCAP2
/// (word 1).
static constexpr FeatureRow kFeatures[] = {
    {"fp-armv8", 0, 0}, {"neon", 0, 1}, {"fullfp16", 0, 10}, {"dotprod", 0, 20},
    {"sve", 0, 22},     {"sve2", 1, 1}, {"i8mm", 1, 13},     {"bf16", 1, 14},
};

std::string_view hostArch() { return "aarch64"; }

bool isKnownFeature(const std::string &feature) {
  return std::any_of(
      std::begin(kFeatures), std::end(kFeatures),
      [&](const FeatureRow &row) { return row.name == feature; });
}

bool hostHasFeature(const std::string &feature) {
  for (const FeatureRow &row : kFeatures)
    if (row.name == feature)
      return getauxval(row.word ? AT_HWCAP2 : AT_HWCAP) >> row.bit & 1;
  return false;
}

#else

std::string_view hostArch() { return "unknown"; }

bool isKnownFeature(const std::string &) { return false; }

bool hostHasFeature(const std::string &) { return false; }

#endif

} // namespace tarpon::runtime
