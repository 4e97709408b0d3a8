//===- CacheFlush.h - Evicts memory from the caches -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_CACHEFLUSH_H
#define TARPON_LIB_RUNTIME_CACHEFLUSH_H

#include <span>

namespace tarpon::runtime {

/// Evicts these bytes from the caches of all cores, so that the next reader
/// reads them from memory. Takes about 10 ns per line of 64 bytes.
void flushFromCaches(std::span<const char> bytes);

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_CACHEFLUSH_H
