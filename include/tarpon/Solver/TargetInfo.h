//===- TargetInfo.h - The target as solvers see it --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_TARGETINFO_H
#define TARPON_SOLVER_TARGETINFO_H

#include "tarpon/Solver/TargetTraits.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tarpon {

struct GpuTarget;

/// A description of the target. Solvers see only this; they never ask the
/// machine they run on.
struct TargetInfo {
  /// The target's answers to what the fields below do not say.
  const TargetTraits *traits = &getHostTraits();

  /// "x86-64".
  std::string arch = "x86-64";
  /// LLVM's name of the CPU, for example "znver5".
  std::string cpu = "x86-64";
  /// LLVM's names of the features that generated code may use, sorted.
  std::vector<std::string> features;

  /// The width of the vectors to use, in bits: 512, 256 or 128.
  int64_t vectorBits = 128;
  /// The number of architectural vector registers of that width: 32 with
  /// AVX-512, otherwise 16.
  int64_t vectorRegisters = 16;
  bool hasFma = false;
  /// The target converts between f16 and f32 in hardware.
  bool hasF16c = false;
  /// The target has vpdpbusd on 512-bit vectors: u8 x s8, four products added
  /// to an i32.
  bool hasVnni = false;
  /// The target has vdpbf16ps on 512-bit vectors: bf16 x bf16, two products
  /// added to an f32.
  bool hasBf16 = false;
  /// The target, which has the instructions above too, has AMX's tiles for
  /// these products.
  bool hasAmxInt8 = false;
  bool hasAmxBf16 = false;

  /// The sizes of one core's data cache and of the shared last-level cache, in
  /// bytes.
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;
  int64_t l3Bytes = 8 << 20;
  /// The number of threads that a package will run on.
  int64_t threads = 1;

  /// The GPU that code is generated for (GpuTarget.h), which lives forever;
  /// null for others. Only code for GPUs asks for it. With a GPU, only
  /// `traits`, `arch`, `cpu` and `l2Bytes` of the fields above are used.
  const GpuTarget *gpu = nullptr;

  /// The number of f32 (or i32) elements in one vector.
  int64_t lanes() const { return vectorBits / 32; }
  /// See TargetTraits::getName.
  std::string name() const { return traits->getName(*this); }
};

} // namespace tarpon

#endif // TARPON_SOLVER_TARGETINFO_H
