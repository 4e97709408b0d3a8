//===- GpuTarget.h - The GPUs that Tarpon knows -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that kernels, the static model and the emulated device know about
// a GPU. No kernel names an architecture: another GPU is another row of the
// table in AmdGpus.cpp or NvidiaGpus.cpp, where each figure has its source.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_GPUTARGET_H
#define TARPON_SOLVER_GPUTARGET_H

#include "tarpon/Runtime/DType.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/MatrixLayout.h"
#include "tarpon/Solver/TargetInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tarpon {

/// The architectures (TargetInfo::arch) of targets with code objects.
inline constexpr llvm::StringLiteral kAmdGpuArch = "amdgcn";
inline constexpr llvm::StringLiteral kNvidiaGpuArch = "nvptx64";

/// Whose instructions, code objects and drivers a GPU has.
enum class GpuVendor : uint8_t { AMD, NVIDIA };

/// The instructions by which a wave multiplies small matrices.
enum class MatrixUnit : uint8_t {
  Mfma,    ///< CDNA: amdgpu.mfma
  Wmma,    ///< RDNA: amdgpu.wmma
  MmaSync, ///< NVIDIA from Ampere on: nvvm.mma.sync
};

/// One matrix instruction: D (m x n) = A (m x k) * B (k x n) + C, by all lanes
/// of one wave. f16, bf16 and f32 accumulate in f32, i8 in i32.
struct MatrixInstruction {
  runtime::DType dtype;
  int64_t m, n, k;
  /// The clocks for which the instruction occupies one SIMD's matrix unit.
  int64_t cycles;
  /// True if it takes factors of f32 for TF32, which have the range of f32 and
  /// 10 bits of mantissa, as those of f16 do. Only where a user allows it.
  bool isTf32 = false;

  /// The number of multiplications and additions.
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

/// One GPU, or one die of it where HIP presents each die as a device. In
/// NVIDIA's words, a wave is a warp, a compute unit a multiprocessor, a SIMD
/// one of its partitions, LDS shared memory, and a workgroup a block.
struct GpuTarget {
  GpuVendor vendor = GpuVendor::AMD;
  /// LLVM's name of the processor: "gfx942", "sm_90a".
  std::string chip;
  /// NVIDIA: the version of PTX that its kernels are written in, times ten.
  int64_t ptxVersion = 0;
  int64_t waveSize = 64;
  /// The number of compute units (in RDNA, halves of workgroup processors), and
  /// of SIMDs in each.
  int64_t computeUnits = 0;
  int64_t simdsPerUnit = 4;
  /// The boost clock in GHz, at which peaks are quoted.
  double clockGhz = 0;

  /// The LDS bytes that one workgroup may have, and those of a compute unit.
  int64_t ldsBytes = 64 << 10;
  int64_t ldsBytesPerUnit = 64 << 10;
  /// The LDS bytes that the system takes for each workgroup, and the largest
  /// number of workgroups on a compute unit (0: as many as fit).
  int64_t ldsReservedPerGroup = 0;
  int64_t maxGroupsPerUnit = 0;
  /// LDS bytes per clock and compute unit, read and written.
  int64_t ldsReadBytesPerClock = 128;
  int64_t ldsWriteBytesPerClock = 128;
  int64_t maxWorkgroup = 1024;
  /// The largest workgroup whose lanes have registers for a few vectors each.
  int64_t maxVectorWorkgroup = 1024;

  /// The 32-bit registers per lane of one SIMD that its waves share, allocated
  /// in multiples of the granule (ArchVGPRs and AccVGPRs alike where they are
  /// unified); the number that one wave can address; and the largest number of
  /// waves.
  int64_t vectorRegisters = 512;
  int64_t vectorGranule = 8;
  int64_t maxVectorRegisters = 512;
  int64_t maxWaves = 8;

  MatrixUnit matrixUnit = MatrixUnit::Mfma;
  /// The rows of kMatrixLayouts (MatrixLayout.h) that the GPU has.
  MatrixFamily matrixFamily = MatrixFamily::None;
  llvm::ArrayRef<MatrixInstruction> matrixInstructions;
  /// The user allows products of f32 by the instructions that are isTf32. A
  /// part of the name, so that no record, kernel or file is taken for one of
  /// true f32.
  bool allowsTf32 = false;
  /// Fused multiply-adds of f32 per clock and compute unit, by vectors.
  int64_t vectorFmasPerClock = 128;

  /// The memory's bandwidth in GB per second; the bytes of the second-level
  /// cache and of the memory-side cache behind it (0: none).
  double memoryGbps = 0;
  int64_t l2Bytes = 0;
  int64_t memoryCacheBytes = 0;

  /// An access of n bytes starts at a multiple of n, if that is at most this;
  /// otherwise hardware faults. 1: accesses may start anywhere.
  int64_t accessAlignment = 1;

  /// AMD: the fourth word of a raw buffer's resource: bytes outside of the
  /// range in the third word read as zero.
  uint32_t bufferFlags = 0;

  /// The widest global_load_lds or buffer_load ... lds in bytes; 0 if there is
  /// none.
  int64_t directToLdsBytes = 0;

  /// The architecture of packages with code objects.
  llvm::StringRef arch() const;

  /// "gfx942:cu=304", which names the record's target in a database.
  std::string name() const;

  /// Returns true if products of f32 can be made in TF32, allowed or not.
  bool hasTf32() const;

  /// The peak for the dtype in 10^9 multiplications and additions per second:
  /// that of matrix instructions, or that of vector instructions if there are
  /// none.
  double peakGflops(runtime::DType dtype) const;

  /// The number of waves that one SIMD holds at a time, if each has that many
  /// vector registers and its workgroup (of `workgroup` lanes) that many bytes
  /// of LDS. 0 if not even one workgroup fits.
  int64_t getOccupancy(int64_t vectorRegisters, int64_t ldsBytes,
                       int64_t workgroup) const;

  /// The matrix instructions of a dtype that may be used, the largest k first;
  /// empty if there are none.
  std::vector<MatrixInstruction>
  getMatrixInstructions(runtime::DType dtype) const;
};

/// "gfx942" or "gfx942:cu=228": the chip with its usual or that number of
/// compute units; "sm_90a:tf32" allows TF32. For an unknown chip, the error
/// lists the known ones.
runtime::Result<GpuTarget> parseGpuTarget(llvm::StringRef text);

/// The description of a GPU for solvers. Descriptions are kept, one per name.
TargetInfo makeGpuTargetInfo(const GpuTarget &gpu);

/// The answers of GPUs about themselves.
const TargetTraits &getGpuTraits();

/// The known chips of a vendor, in the table's order.
std::vector<std::string> getGpuChips(GpuVendor vendor);

} // namespace tarpon

#endif // TARPON_SOLVER_GPUTARGET_H
