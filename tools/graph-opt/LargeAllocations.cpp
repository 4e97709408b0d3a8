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
// which are 512 times fewer with huge pages. Linux provides them on request
// (madvise(2), MADV_HUGEPAGE), which glibc makes only if the environment says
// so before a program starts. Therefore the main thread's heap is made large at
// once, with one request for all of it; unused pages of it cost nothing.
// Allocations that do not fit into it use small pages, unless they are large
// themselves.
//
// Freed memory is kept for the next allocations, since the system would have to
// clear other pages: layer after layer is packed in the same ones.
//
// Memory larger than glibc's heap is requested when it is allocated. One free
// serves malloc and aligned_alloc, so that only the allocation has to be
// replaced.
//
//===----------------------------------------------------------------------===//

#include "LargeAllocations.h"

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

/// The size of a huge page of x86-64.
static constexpr std::size_t kHugePageBytes = 2 << 20;
/// Smaller allocations gain little and may reuse old memory.
static constexpr std::size_t kLargeBytes = 2 * kHugePageBytes;

static void *allocate(std::size_t size) {
  if (size < kLargeBytes)
    return std::malloc(size == 0 ? 1 : size);
  void *memory = std::aligned_alloc(kHugePageBytes, size);
  // If the advice is ignored, that costs only time.
  if (memory)
    (void)madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

/// Replaces the C++ library's operator in this program and all of its
/// libraries.
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

/// Makes the heap end `bytes` later than necessary, if the system allows it.
/// The allocation is volatile, since compilers remove unused ones.
static void extendHeap(int bytes) {
  constexpr int kDefaultPad = 128 << 10;
  constexpr std::size_t kMoreThanIsThere = 1 << 20;
  (void)mallopt(M_TOP_PAD, bytes);
  void *volatile memory = std::malloc(kMoreThanIsThere);
  std::free(memory);
  (void)mallopt(M_TOP_PAD, kDefaultPad);
}

void tarpon::useHugePages() {
  // The largest value that glibc accepts; larger allocations are mapped one by
  // one.
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
