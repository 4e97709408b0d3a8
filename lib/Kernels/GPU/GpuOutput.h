//===- GpuOutput.h - Results of GPU kernels ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results are stored as VectorOutput does, but for bytes: a division for each
// of them takes a GPU longer than the rest of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_GPUOUTPUT_H
#define TARPON_LIB_KERNELS_GPU_GPUOUTPUT_H

#include "Common/VectorAccess.h"

namespace tarpon {

/// Drops steps at the end of the epilogue that limit the result to numbers
/// beyond those of its bytes, whose saturation does the same.
Problem dropSaturatedSteps(Problem problem);

/// A vector of the result in an emitted kernel. Create it ahead of branches.
class GpuTensorStore {
public:
  GpuTensorStore(KernelBuilder &b, const BoundFlatTensor &tensor);
  void store(KernelBuilder &b, mlir::Value value, mlir::Value offset) const;

private:
  BoundFlatTensor tensor;
  mlir::Value inverse; ///< of the scale
};

class GpuOutput {
public:
  GpuOutput(KernelBuilder &b, const VectorOutput &output)
      : bound(output.bind(b)), result(b, bound.getResult()) {}

  /// Applies the epilogue to the root's `value` and stores it. Places have no
  /// masks.
  void store(KernelBuilder &b, const VectorPlace &place,
             mlir::Value value) const;
  /// Stores bytes as they are.
  void storeBytes(KernelBuilder &b, const VectorPlace &place,
                  mlir::Value bytes) const;

private:
  VectorOutput::Bound bound;
  GpuTensorStore result;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_GPUOUTPUT_H
