//===- TargetInfo.h - What solvers know of a target -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_TARGETINFO_H
#define TARPON_SOLVER_TARGETINFO_H

#include <cstdint>
#include <string>
#include <vector>

namespace tarpon {

struct GpuTarget;

/// A description of what code is generated for. Solvers see only this; they
/// never ask the machine they run on.
struct TargetInfo {
  /// "x86-64".
  std::string arch = "x86-64";
  /// LLVM's name of the CPU, for example "znver5".
  std::string cpu = "x86-64";
  /// LLVM's names of the features that generated code may use, sorted.
  std::vector<std::string> features;

  /// Width of the vectors to use, in bits: 512, 256 or 128.
  int64_t vectorBits = 128;
  /// Architectural vector registers of that width: 32 with AVX-512, else 16.
  int64_t vectorRegisters = 16;
  bool hasFma = false;
  /// Conversion between f16 and f32 in hardware.
  bool hasF16c = false;
  /// vpdpbusd on 512-bit vectors: u8 x s8, four products added to an i32.
  bool hasVnni = false;
  /// vdpbf16ps on 512-bit vectors: bf16 x bf16, two products added to an f32.
  bool hasBf16 = false;

  /// Data cache of one core and last-level cache of all, in bytes.
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;
  int64_t l3Bytes = 8 << 20;
  /// Threads that a package will run on.
  int64_t threads = 1;

  /// The GPU that code is for (GpuTarget.h), which lives forever; null for the
  /// host. Only `arch`, `cpu` and `l2Bytes` of the fields above count then.
  const GpuTarget *gpu = nullptr;

  /// f32 (i32) elements in one vector.
  int64_t lanes() const { return vectorBits / 32; }
  /// "x86-64/znver5/512" or "gfx942:cu=304": what a record in a database is
  /// valid for, beside the number of threads.
  std::string name() const;
};

} // namespace tarpon

#endif // TARPON_SOLVER_TARGETINFO_H
