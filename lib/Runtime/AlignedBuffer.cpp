//===- AlignedBuffer.cpp - Memory that kernels may work on ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/KernelABI.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <utility>

namespace tarpon::runtime {

static constexpr size_t kHugePageBytes = size_t(2) << 20;

/// More bytes than any machine has; keeps the sums below from overflowing.
static constexpr int64_t kMaxBytes = int64_t(1) << 48;

static size_t paddedBytes(int64_t bytes) {
  size_t withTail = static_cast<size_t>(bytes + kBufferTailPadding);
  size_t mask = kBufferAlignment - 1;
  return (withTail + mask) & ~mask;
}

static Error outOfMemory(int64_t bytes) {
  return {"cannot allocate " + std::to_string(bytes) + " bytes of memory"};
}

AlignedBuffer::~AlignedBuffer() {
  if (mapping)
    munmap(mapping, mappingBytes);
  else
    std::free(begin);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer &&other) noexcept
    : begin(std::exchange(other.begin, nullptr)),
      bytes(std::exchange(other.bytes, 0)),
      mapping(std::exchange(other.mapping, nullptr)),
      mappingBytes(std::exchange(other.mappingBytes, 0)) {}

AlignedBuffer &AlignedBuffer::operator=(AlignedBuffer &&other) noexcept {
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  std::swap(mapping, other.mapping);
  std::swap(mappingBytes, other.mappingBytes);
  return *this;
}

Result<AlignedBuffer> AlignedBuffer::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > kMaxBytes)
    return outOfMemory(bytes);
  AlignedBuffer buffer;
  buffer.bytes = bytes;
  size_t total = paddedBytes(bytes);
  if (total < kHugePageBytes) {
    void *memory = nullptr;
    if (posix_memalign(&memory, kBufferAlignment, total) != 0)
      return outOfMemory(bytes);
    std::memset(memory, 0, total);
    buffer.begin = static_cast<char *>(memory);
    return buffer;
  }
  // The mapping is one huge page larger than needed, so that the start can be
  // moved up to a huge page's border; the rest is never touched.
  buffer.mappingBytes = total + kHugePageBytes;
  void *memory = mmap(nullptr, buffer.mappingBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return outOfMemory(bytes);
  buffer.mapping = memory;
  size_t space = buffer.mappingBytes;
  buffer.begin =
      static_cast<char *>(std::align(kHugePageBytes, total, memory, space));
  // Only a hint: without huge pages the buffer works too, but is slower.
  madvise(buffer.begin, total, MADV_HUGEPAGE);
  return buffer;
}

void AlignedBuffer::fill(uint8_t value) {
  if (begin)
    std::memset(begin, value, paddedBytes(bytes));
}

} // namespace tarpon::runtime
