//===- FloatControl.h - How a thread rounds ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_FLOATCONTROL_H
#define TARPON_LIB_RUNTIME_FLOATCONTROL_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tarpon::runtime {

/// The register of a thread by which it rounds, and treats denormal numbers.
/// Reading it takes a few cycles; writing takes more, and is done only where
/// the value differs.
class FloatControl {
public:
  /// Reads that of this thread.
  static FloatControl get() { return FloatControl(read()); }

  /// Gives this thread the value.
  void apply() const {
    if (read() != bits)
      write(bits);
  }

private:
  explicit FloatControl(uint64_t bits) : bits(bits) {}

#if defined(__x86_64__)
  // The lowest six bits report what has happened, and control nothing.
  static uint64_t read() { return _mm_getcsr() & ~0x3fu; }
  static void write(uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }
#elif defined(__aarch64__)
  static uint64_t read() {
    uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void write(uint64_t bits) { asm volatile("msr fpcr, %0" ::"r"(bits)); }
#else
  static uint64_t read() { return 0; }
  static void write(uint64_t) {}
#endif

  uint64_t bits;
};

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_FLOATCONTROL_H
