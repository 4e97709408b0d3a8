//===- KernelABI.h - How the runtime calls a compiled kernel ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between emitted kernels (lib/Kernels) and the executor. A launch
// is `tasks` independent tasks; a thread calls the kernel with half-open ranges
// of them. Shapes arrive as run-time parameters, so that one kernel serves many
// problems.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_KERNELABI_H
#define TARPON_RUNTIME_KERNELABI_H

#include <bit>
#include <cstdint>

namespace tarpon::runtime {

/// A compiled kernel. `buffers` holds one pointer per buffer of the launch,
/// each aligned to kBufferAlignment where it is the start of a planned buffer;
/// `params` holds the launch's parameters; the call does tasks [begin, end);
/// `scratch` is this thread's own memory, kBufferAlignment-aligned and of the
/// launch's `scratchBytes`. In a thread's first call of a launch its first
/// kScratchNoteBytes are zero and the rest is unspecified; every later call
/// finds the contents that the previous one left, which need not be made again.
/// Tasks of one launch may run in any order and at the same time, and must
/// write disjoint bytes.
using KernelFn = void (*)(void *const *buffers, const int64_t *params,
                          int64_t begin, int64_t end, void *scratch);

/// Alignment of planned buffers, constants and scratch, in bytes: one AVX-512
/// vector and one cache line.
inline constexpr int64_t kBufferAlignment = 64;

/// The number of bytes at the start of a scratch that are zero when a thread
/// begins a launch; kernels note there what the rest holds.
inline constexpr int64_t kScratchNoteBytes = 8;

/// The number of bytes that may be read, but never written, behind the end of
/// any buffer, so that a kernel may load the last full vector without a mask.
inline constexpr int64_t kBufferTailPadding = 64;

/// Encodes a floating-point parameter: its f32 bits, zero-extended to int64_t.
inline int64_t floatParam(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline float paramAsFloat(int64_t slot) {
  return std::bit_cast<float>(static_cast<uint32_t>(slot));
}

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_KERNELABI_H
