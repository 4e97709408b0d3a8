//===- ElementChunks.h - Loops over large tensors ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_ELEMENTCHUNKS_H
#define TARPON_LIB_RUNTIME_ELEMENTCHUNKS_H

#include "tarpon/Runtime/ThreadPool.h"

#include <algorithm>
#include <cstdint>

namespace tarpon::runtime {

/// The elements of a chunk. It does not depend on the machine, so that sums
/// over chunks are the same everywhere.
inline constexpr int64_t kChunkElements = 1 << 16;

inline int64_t countChunks(int64_t elements) {
  return (elements + kChunkElements - 1) / kChunkElements;
}

/// Calls `body(chunk, begin, end)` for each chunk of so many elements, on all
/// cores if there are many chunks.
template <typename Body>
void forEachChunk(int64_t elements, Body body) {
  // Starting threads takes as long as a few chunks.
  constexpr int64_t kFew = 8;
  auto doChunks = [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk)
      body(chunk, chunk * kChunkElements,
           std::min(elements, (chunk + 1) * kChunkElements));
  };
  int64_t chunks = countChunks(elements);
  if (chunks <= kFew)
    return doChunks(0, chunks);
  ThreadPool pool(availableCores());
  auto call = [](void *context, int, int64_t first, int64_t last) {
    (*static_cast<decltype(doChunks) *>(context))(first, last);
  };
  pool.parallelFor(chunks, call, &doChunks);
}

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_ELEMENTCHUNKS_H
