//===- AlignedBuffer.h - Memory that kernels may work on --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_ALIGNEDBUFFER_H
#define TARPON_RUNTIME_ALIGNEDBUFFER_H

#include "tarpon/Runtime/Result.h"

#include <cstddef>
#include <cstdint>

namespace tarpon::runtime {

/// Owned memory as the kernel ABI requires it: aligned to kBufferAlignment and
/// readable for kBufferTailPadding bytes behind its end. Zeroed when allocated,
/// the padding included. Large buffers ask the kernel for huge pages.
/// Move-only.
class AlignedBuffer {
public:
  /// An empty buffer: no data, no size.
  AlignedBuffer() = default;
  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer &&other) noexcept;
  AlignedBuffer &operator=(AlignedBuffer &&other) noexcept;

  /// `bytes` bytes, plus the padding. Fails on a negative size and when the
  /// system has no memory left. A buffer of 0 bytes still has its padding.
  static Result<AlignedBuffer> allocate(int64_t bytes);

  char *data() { return begin; }
  const char *data() const { return begin; }

  /// The requested bytes, without the padding.
  int64_t size() const { return bytes; }

  /// Sets all bytes, the padding included, to `value`.
  void fill(uint8_t value);

private:
  char *begin = nullptr;
  int64_t bytes = 0;
  /// The start of the mapping for munmap; null if `begin` is on the heap.
  void *mapping = nullptr;
  size_t mappingBytes = 0;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_ALIGNEDBUFFER_H
