//===- Emulator.h - Runs and checks GPU kernels on the CPU ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulated device: executes a kernel as MLIR (gpu, scf, arith, math, vector
// and llvm dialects, and the instructions of one vendor) with workgroups,
// waves, lanes, LDS, barriers, cross-lane operations and matrix instructions,
// before it is lowered to LLVM. It reports, as errors:
// - accesses outside of the buffer that a pointer was made from, and accesses
//   less aligned than the op says;
// - races on LDS and global memory: two waves of a workgroup access the same
//   bytes with no barrier between, or two workgroups do and no lane has handed
//   its writes over to another one (Memory.h), and one of them writes, and not
//   both are atomic; lanes of one store that write different values to one
//   place;
// - reads of LDS, or of a buffer declared uninitialised, never written;
// - barriers that not all waves, or not all lanes of a wave, reach;
// - lanes that read lanes which are inactive, matrix instructions in divergent
//   code, divisions of integers by zero, and ops that it does not know.
// It models neither time nor the backend: a missing s_waitcnt, a hazard or a
// register spill cannot be seen here, except that data of asynchronous loads to
// LDS must have been waited for.
//
// gpu.barrier orders LDS, and global memory within the workgroup. The waves of
// a workgroup run one after another from barrier to barrier, in an order that
// the seed decides. Arithmetic rounds to nearest even and keeps subnormal
// numbers. f32 fma is computed in f64 and then rounded, which in rare cases
// rounds twice.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_EMULATOR_H
#define TARPON_TARGETS_GPU_EMULATOR_EMULATOR_H

#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace mlir {
class DialectRegistry;
namespace gpu {
class GPUFuncOp;
} // namespace gpu
} // namespace mlir

namespace tarpon {

namespace emulator {
struct Program;
class VendorInstructions;
} // namespace emulator

/// The properties of the emulated GPU, and the options of the emulation.
struct EmulatorOptions {
  /// Lanes of a wave: 64 or 32.
  unsigned waveSize = 64;
  /// Bytes of LDS that a workgroup may have.
  int64_t ldsBytes = 65536;
  /// The instructions beside those that all GPUs have in common; null for none.
  const emulator::VendorInstructions *instructions = nullptr;
  /// The set of the vendor's families whose matrix instructions the target has.
  unsigned matrixFamilies = ~0u;
  /// The widest load of a lane to LDS (GpuTarget::directToLdsBytes).
  int64_t directToLdsBytes = 16;
  /// Detects races, and reads of memory never written. Without it, kernels run
  /// several times as fast; bounds, alignment and barriers are still checked.
  bool checkMemory = true;
  /// 0 runs waves and workgroups in their order; any other value shuffles both.
  uint64_t seed = 0;
  /// The largest number of instructions of a wave: beyond it, the kernel is
  /// taken to loop forever.
  uint64_t maxInstructions = uint64_t(1) << 32;
};

/// Memory that a pointer argument points into. Arguments with the same data and
/// bytes are one buffer; other overlaps are refused.
struct EmulatedBuffer {
  void *data = nullptr;
  int64_t bytes = 0;
  /// The offset of the argument in the buffer, in bytes.
  int64_t offset = 0;
  /// Reading bytes that the kernel has not written is an error.
  bool uninitialized = false;
};

/// One argument: a pointer, or an i32, i64 or f32.
using EmulatedArgument = std::variant<EmulatedBuffer, int32_t, int64_t, float>;

/// A launch. Buffers are read and written in place; the emulator takes their
/// start as aligned to 256 bytes, like HIP's allocations, whatever its address
/// is.
struct EmulatedLaunch {
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {1, 1, 1};
  std::vector<EmulatedArgument> arguments;
};

/// Counters of the execution, over all waves.
struct EmulationReport {
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  /// Ops executed, once per wave.
  uint64_t instructions = 0;
  uint64_t matrixInstructions = 0;
  /// Barriers, once per workgroup.
  uint64_t barriers = 0;
};

/// A kernel translated to the emulator's own code, which can be launched many
/// times. Independent of the module and the context that it came from. Launches
/// change only the memory that they are given: several threads may launch one
/// kernel at the same time, on different buffers.
class EmulatedKernel {
public:
  /// Fails with a sentence that names the op if the kernel has an op or a type
  /// that the emulator does not know, or needs more LDS than there is.
  static runtime::Result<EmulatedKernel>
  translate(mlir::gpu::GPUFuncOp kernel, const EmulatorOptions &options = {});

  /// Runs the whole grid. The error is one sentence about the first fault, such
  /// as "kernel conv: workgroup 3, wave 1, lane 17: 'llvm.store' at
  /// conv.mlir:12:5 writes 4 bytes at 1024 of argument 2, which has 1024"; a
  /// workgroup is given by its x, or by x, y and z if the grid has those. After
  /// an error the contents of the buffers are undefined.
  runtime::Result<EmulationReport> launch(const EmulatedLaunch &launch) const;

private:
  explicit EmulatedKernel(std::shared_ptr<const emulator::Program> program)
      : program(std::move(program)) {}

  std::shared_ptr<const emulator::Program> program;
};

/// Translates a kernel and launches it.
runtime::Result<EmulationReport> emulate(mlir::gpu::GPUFuncOp kernel,
                                         const EmulatedLaunch &launch,
                                         const EmulatorOptions &options = {});

/// Registers the dialects of the kernels that the emulator runs, with those of
/// the vendor's instructions if there are any.
void registerEmulatedDialects(mlir::DialectRegistry &registry,
                              const emulator::VendorInstructions *instructions);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_EMULATOR_EMULATOR_H
