//===- AlignedBytes.cpp - Bytes that kernels may read -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBytes.h"
#include "tarpon/Runtime/KernelABI.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

namespace tarpon::runtime {

static constexpr size_t kHugePageBytes = size_t(2) << 20;

[[noreturn]] static void failAllocation(size_t bytes) {
  std::fprintf(stderr, "error: cannot allocate %zu bytes of memory\n", bytes);
  std::abort();
}

void *allocateAligned(size_t bytes) {
  size_t withTail = bytes + kBufferTailPadding;
  if (withTail < bytes)
    failAllocation(bytes);
  bool isLarge = withTail >= kHugePageBytes;
  size_t alignment = isLarge ? kHugePageBytes : kBufferAlignment;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, withTail) != 0)
    failAllocation(bytes);
  // Only a hint: without huge pages the memory works too, but is slower.
  if (isLarge)
    (void)madvise(memory, withTail, MADV_HUGEPAGE);
  return memory;
}

void freeAligned(void *memory) noexcept { std::free(memory); }

} // namespace tarpon::runtime
