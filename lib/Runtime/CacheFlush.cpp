//===- CacheFlush.cpp - Evicts memory from the caches ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheFlush.h"

#include <cstddef>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tarpon::runtime {

/// The shortest cache line of the supported CPUs.
static constexpr size_t kLineBytes = 64;

#if defined(__x86_64__)

/// Flushes lines in parallel; the other instruction, which every x86-64 has,
/// flushes them one after the other.
__attribute__((target("clflushopt"))) static void
flushInParallel(std::span<const char> bytes) {
  for (size_t i = 0; i < bytes.size(); i += kLineBytes)
    _mm_clflushopt(const_cast<char *>(bytes.data() + i));
}

static void flushInOrder(std::span<const char> bytes) {
  for (size_t i = 0; i < bytes.size(); i += kLineBytes)
    _mm_clflush(bytes.data() + i);
}

static bool hasParallelFlush() {
  // CPUID leaf 7, EBX bit 23; __builtin_cpu_supports does not know it.
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx >> 23 & 1);
}

void flushFromCaches(std::span<const char> bytes) {
  static const bool isParallel = hasParallelFlush();
  (isParallel ? flushInParallel : flushInOrder)(bytes);
  _mm_mfence();
}

#elif defined(__aarch64__)

void flushFromCaches(std::span<const char> bytes) {
  for (size_t i = 0; i < bytes.size(); i += kLineBytes)
    asm volatile("dc civac, %0" : : "r"(bytes.data() + i) : "memory");
  asm volatile("dsb ish" : : : "memory");
}

#else
#error "how does this CPU flush its caches?"
#endif

} // namespace tarpon::runtime
