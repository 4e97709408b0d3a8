//===- ConstantPool.h - The distinct constants of a package -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_PACKAGE_CONSTANTPOOL_H
#define TARPON_LIB_TARGETS_PACKAGE_CONSTANTPOOL_H

#include "tarpon/Runtime/AlignedBytes.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace tarpon {

class ConstantPool {
public:
  /// Reserves memory, so that adding a constant copies only that one.
  void reserve(int64_t numBytes) { bytes.reserve(numBytes); }

  bool isEmpty() const { return bytes.empty(); }

  /// Returns the offset of these bytes, aligned for kernels; equal bytes share
  /// one, and so do the first bytes of a constant that was added before.
  int64_t add(llvm::ArrayRef<char> constant);

  runtime::AlignedBytes take() { return std::move(bytes); }

private:
  struct Range {
    int64_t offset;
    size_t size;
  };

  runtime::AlignedBytes bytes;
  /// By the digest of their first bytes.
  std::unordered_multimap<uint64_t, Range> ranges;
};

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_PACKAGE_CONSTANTPOOL_H
