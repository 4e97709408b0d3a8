//===- AlignedBytes.h - Bytes that kernels may read -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_ALIGNEDBYTES_H
#define TARPON_RUNTIME_ALIGNEDBYTES_H

#include <cstddef>
#include <vector>

namespace tarpon::runtime {

/// Allocates `bytes` bytes as the kernel ABI requires, see AlignedBuffer.
/// Aborts if there is no memory left, as operator new does without exceptions.
/// Thread-safe.
void *allocateAligned(std::size_t bytes);
/// Frees memory of allocateAligned.
void freeAligned(void *memory) noexcept;

/// An allocator for std::vector on top of these.
template <typename T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U> &) {}

  T *allocate(std::size_t count) {
    return static_cast<T *>(allocateAligned(count * sizeof(T)));
  }
  void deallocate(T *memory, std::size_t) noexcept { freeAligned(memory); }

  friend bool operator==(const AlignedAllocator &, const AlignedAllocator &) {
    return true;
  }
};

/// Bytes that grow as a std::vector's do, and that kernels may read where they
/// are: aligned to kBufferAlignment, and readable for kBufferTailPadding bytes
/// behind their end, whose values are unspecified. An empty one that never held
/// anything has no memory.
using AlignedBytes = std::vector<char, AlignedAllocator<char>>;

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_ALIGNEDBYTES_H
