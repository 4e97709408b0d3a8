//===- CacheLimiter.h - Keeps a kernel cache below its limit ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small file in the folder holds its size; each process adds the bytes that
// it writes, under a lock. The folder is listed only when that number exceeds
// the limit. The number is an upper bound (a file that is written twice counts
// twice), which listing corrects.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_CACHE_CACHELIMITER_H
#define TARPON_LIB_TARGETS_CACHE_CACHELIMITER_H

#include <cstdint>
#include <string>

namespace tarpon {

/// Safe for many threads and processes.
class CacheLimiter {
public:
  CacheLimiter(std::string root, int64_t limitBytes)
      : root(std::move(root)), limitBytes(limitBytes) {}

  /// Counts a file that was written, and evicts files if the limit is exceeded.
  /// A folder that cannot be written to is left as it is.
  void add(int64_t bytes) const;

private:
  int64_t evict(int64_t target) const;

  std::string root;
  int64_t limitBytes;
};

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_CACHE_CACHELIMITER_H
