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
// (madvise(2), MADV_HUGEPAGE), and glibc asks only if the environment says so
// before a program starts. So the main thread's heap is made large at once, and
// asked for as a whole; pages of it that are never used cost nothing. What does
// not fit into it is in small pages, unless it is large itself.
//
// Memory that was freed is kept for what comes next, as the system would have
// to clear other pages: layer after layer is packed in the same ones.
//
// What is larger than glibc's heap takes is asked for when it is allocated.
// What malloc and aligned_alloc give is freed by the same free, so that only
// the allocation has to be replaced.
//
//===----------------------------------------------------------------------===//

#include "LargeAllocations.h"

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

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

/// Sees to it that the heap ends `bytes` later than it must; not where the
/// system does not give as much. The allocation is volatile, since compilers
/// leave out those that nobody uses.
static void extendHeap(int bytes) {
  constexpr int kDefaultPad = 128 << 10;
  constexpr std::size_t kMoreThanIsThere = 1 << 20;
  (void)mallopt(M_TOP_PAD, bytes);
  void *volatile memory = std::malloc(kMoreThanIsThere);
  std::free(memory);
  (void)mallopt(M_TOP_PAD, kDefaultPad);
}

void tarpon::useHugePages() {
  // The most that glibc takes; larger ones are mapped one by one.
  constexpr int kMaxHeapAllocation = 32 << 20;
  constexpr int kHeapBytes = 1 << 29, kKeptBytes = 1 << 30;
  (void)mallopt(M_MMAP_THRESHOLD, kMaxHeapAllocation);
  (void)mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  auto *begin = static_cast<char *>(sbrk(0));
  extendHeap(kHeapBytes);
  auto *end = static_cast<char *>(sbrk(0));
  begin += -reinterpret_cast<uintptr_t>(begin) & (kHugePageBytes - 1);
  if (begin < end)
    (void)madvise(begin, end - begin, MADV_HUGEPAGE);
}
