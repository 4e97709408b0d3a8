//===- GpuInstructions.h - Instructions of one vendor's GPUs ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions of kernels that vendors do not have in common. No other file
// of kernels creates ops of a vendor's dialect.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_GPUINSTRUCTIONS_H
#define TARPON_LIB_KERNELS_GPU_GPUINSTRUCTIONS_H

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

namespace tarpon {

/// A part of global memory outside of which loads read as zero.
struct BoundedBuffer {
  mlir::Value start; ///< in a form that only the instructions know
  mlir::Value bytes; ///< i32
};

/// The asynchronous copies of a GPU from global memory to LDS.
struct CopyForm {
  int64_t bytes = 0; ///< that a lane copies at a time; 0: there are no copies
  int64_t mostGroups = 0; ///< that may be under way at a time
  /// True if the lanes of a wave copy to places side by side, in their order;
  /// otherwise each lane copies to a place of its own.
  bool inRow = false;
};

/// The sides of a product of a wave, D (m x n) = A (m x k) * B (k x n) + C.
struct MatrixShape {
  int64_t m, n, k;
  /// True if B has unsigned bytes; only where MatrixUnit is MmaSync.
  bool unsignedB = false;
};

/// Stateless; lives forever.
class GpuInstructions {
public:
  using Value = mlir::Value;

  virtual ~GpuInstructions() = default;

  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  virtual void barrier(GpuKernelBuilder &b) const = 0;
  /// LLVM's name of the scope in which all workgroups are.
  virtual llvm::StringRef getDeviceScope() const = 0;
  /// Has the compiler limit the registers, so that this many waves run on a
  /// SIMD at a time.
  virtual void setWavesPerEu(GpuKernelBuilder &b, mlir::gpu::GPUFuncOp kernel,
                             int64_t waves) const = 0;
  /// Keeps the compiler from moving instructions across this point, where it
  /// would undo the kernel's order.
  virtual void fenceSchedule(GpuKernelBuilder &b) const = 0;

  /// Bounds the bytes (i32) from a pointer to global memory.
  virtual BoundedBuffer bound(GpuKernelBuilder &b, Value pointer,
                              Value bytes) const = 0;
  /// Loads 16 bytes as four i32 at the sum of two offsets (i32), the second of
  /// which is the same in all lanes. The bytes are all inside or all outside,
  /// where the sum is negative or at least the number of bytes.
  virtual Value loadBounded(GpuKernelBuilder &b, const BoundedBuffer &buffer,
                            Value offset, Value uniformOffset) const = 0;

  virtual CopyForm getCopyForm(const GpuTarget &gpu) const = 0;
  /// Starts to copy to the places of a row, of which `lds` is that of the
  /// wave's first lane, the bytes that loadBounded would load. `further`, up to
  /// kMostFurther, is added on both sides. Only where the copies are in rows.
  virtual void copyRow(GpuKernelBuilder &b, Value lds,
                       const BoundedBuffer &buffer, Value offset,
                       Value uniformOffset, int64_t further) const = 0;
  static constexpr int64_t kMostFurther = 4095;
  /// The value (i32) of the wave's first lane. Only where copies are in rows.
  virtual Value takeFirstLane(GpuKernelBuilder &b, Value value) const = 0;
  /// Starts to copy 16 bytes from global memory to LDS, or zeros where `exists`
  /// (i1) is false: the pointer to global memory may be any there. `isShared`
  /// if further copies of the workgroup read the same bytes. Only where the
  /// copies are not in rows.
  virtual void copyToLds(GpuKernelBuilder &b, Value lds, Value pointer,
                         Value exists, bool isShared) const = 0;
  /// Makes a group of the copies since the last commit.
  virtual void commitCopies(GpuKernelBuilder &b) const = 0;
  /// Waits for this lane's groups, of `copies` each, but the latest `left`
  /// ones. Other lanes may read the data after a barrier.
  virtual void waitForCopies(GpuKernelBuilder &b, int64_t left,
                             int64_t copies) const = 0;

  /// Loads 16 bytes, four i32, of a stage of LDS that no copy under way writes.
  virtual Value loadStage(GpuKernelBuilder &b, Value pointer) const = 0;

  /// Loads 16 bytes per lane, four i32, of matrices of eight rows of 16 bytes:
  /// each eight lanes give the addresses of the rows of one matrix in LDS. Of a
  /// transposed one, a lane gets two elements of a column instead of two of a
  /// row. Only where MatrixUnit is MmaSync.
  virtual Value loadFragment(GpuKernelBuilder &b, Value pointer,
                             bool transposed) const = 0;
  /// Makes the wave's copies to LDS, which it has waited for, visible to
  /// products of a warpgroup, which read LDS by another path.
  virtual void fenceCopies(GpuKernelBuilder &b) const = 0;
  /// Products of a warpgroup, whose A and B are matrices in LDS of rows of 128
  /// swizzled bytes, and whose sums are structures. They run asynchronously:
  /// fence their registers before the first one, and wait after the last.
  virtual void beginProducts(GpuKernelBuilder &b) const = 0;
  virtual void commitProducts(GpuKernelBuilder &b) const = 0;
  /// Waits for the committed products but the latest `left` groups.
  virtual void waitForProducts(GpuKernelBuilder &b, int64_t left) const = 0;
  /// The sums after a product of the matrices from the bytes of LDS (i32).
  virtual Value multiplyGroup(GpuKernelBuilder &b, const MatrixShape &shape,
                              mlir::Type input, Value left, Value right,
                              Value sums) const = 0;

  /// The vector of f32 with each element rounded to the nearest TF32, halves
  /// away from zero. Only where MatrixUnit is MmaSync.
  virtual Value roundToTf32(GpuKernelBuilder &b, Value fragment) const = 0;

  /// D of a matrix instruction, or of a pair of them where it is MmaSync, from
  /// operands in the lanes.
  virtual Value multiply(GpuKernelBuilder &b, const MatrixShape &shape,
                         Value left, Value right, Value sum) const = 0;
};

const GpuInstructions &getGpuInstructions(GpuVendor vendor);

/// AmdInstructions.cpp and NvidiaInstructions.cpp
const GpuInstructions &getAmdGpuInstructions();
const GpuInstructions &getNvidiaGpuInstructions();

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_GPUINSTRUCTIONS_H
