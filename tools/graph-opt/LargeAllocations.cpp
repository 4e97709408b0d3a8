//===- LargeAllocations.cpp - Weights in huge pages -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiling a network moves its weights through memory several times: from the
// file to constants, folded, packed, into the package. A third of the time of a
// compilation that takes its kernels from the cache went into page faults,
// which are 512 times fewer with huge pages. Linux gives those to who asks
// (madvise(2), MADV_HUGEPAGE), and glibc asks only if the environment says so.
//
// What malloc and aligned_alloc give is freed by the same free, so that only
// the allocation has to be replaced.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <new>
#include <sys/mman.h>

/// Of x86-64.
static constexpr std::size_t kHugePageBytes = 2 << 20;
/// What is smaller gains little and may come from memory that was in use
/// before.
static constexpr std::size_t kLargeBytes = 2 * kHugePageBytes;

static void *allocate(std::size_t size) {
  if (size < kLargeBytes)
    return std::malloc(size == 0 ? 1 : size);
  void *memory = std::aligned_alloc(kHugePageBytes, size);
  // Advice that is not taken costs time only.
  if (memory)
    (void)madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

/// Replaces that of the C++ library in this program and all of its libraries.
void *operator new(std::size_t size) {
  while (true) {
    if (void *memory = allocate(size))
      return memory;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}
