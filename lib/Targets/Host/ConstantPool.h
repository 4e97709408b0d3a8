//===- ConstantPool.h - The constants of a package, each once ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_HOST_CONSTANTPOOL_H
#define TARPON_LIB_TARGETS_HOST_CONSTANTPOOL_H

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tarpon {

class ConstantPool {
public:
  /// Makes room, so that adding copies each byte once.
  void reserve(size_t constants, size_t numBytes);

  /// The offset of these bytes, aligned for kernels; equal bytes share one.
  int64_t add(const std::vector<char> &constant);

  std::vector<char> take() { return std::move(bytes); }

private:
  struct Range {
    int64_t offset;
    size_t size;
  };

  std::vector<char> bytes;
  std::unordered_multimap<uint64_t, Range> ranges;
};

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_HOST_CONSTANTPOOL_H
