//===- TensorAccess.h - Elements of a tensor in any layout ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds, reads and writes elements by logical index. Layouts and NumPy
// broadcasting become strides, which are launch parameters: one kernel serves
// nchw and nhwc, and operands that are broadcast or not.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_TENSORACCESS_H
#define TARPON_LIB_KERNELS_COMMON_TENSORACCESS_H

#include "LaunchBuilder.h"

#include <optional>

namespace tarpon {

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Loads a scalar or vector of `dtype` in the compute type of `kind`. Quantised
/// elements are not scaled. With 1 lane the result is a scalar; `mask` may be
/// null.
mlir::Value emitLoad(KernelBuilder &b, DType dtype, ComputeKind kind,
                     mlir::Value pointer, int64_t lanes = 1,
                     mlir::Value mask = nullptr);

/// Stores a scalar or vector by the rules of tarpon.convert: floats truncate
/// towards zero to integers (and saturate), integers wrap around.
void emitStore(KernelBuilder &b, DType dtype, ComputeKind kind,
               mlir::Value value, mlir::Value pointer,
               mlir::Value mask = nullptr);

/// scale * (stored - zeroPoint) on f32 scalars or vectors of one type.
mlir::Value emitDequantize(KernelBuilder &b, mlir::Value stored,
                           mlir::Value scale, mlir::Value zeroPoint);
/// round(value / scale) + zeroPoint; storeConverted saturates it.
mlir::Value emitQuantize(KernelBuilder &b, mlir::Value value, mlir::Value scale,
                         mlir::Value zeroPoint);

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

/// The strides, in elements, of the logical dimensions of `desc`. In a blocked
/// layout the stride of dimension 1 is that from one block of channels to the
/// next.
std::vector<int64_t> getStrides(const TensorDesc &desc);

/// A tensor in an emitted kernel; made by TensorAccess::bind.
class BoundTensor {
public:
  using Value = mlir::Value;

  /// The element offset of logical indices; a null index counts as zero.
  Value offsetOf(KernelBuilder &b, llvm::ArrayRef<Value> indices) const;
  /// The part of the offset that index `value` of dimension `dim` contributes.
  Value dimOffset(KernelBuilder &b, int64_t dim, Value value) const;

  Value pointerTo(KernelBuilder &b, Value elementOffset) const;

  /// Loads the dequantised element in the compute type. The indices select the
  /// scale of a tensor that is quantised per channel.
  Value load(KernelBuilder &b, llvm::ArrayRef<Value> indices) const;
  /// The stored integer minus its zero point, as i64.
  Value loadInteger(KernelBuilder &b, Value elementOffset) const;
  Value loadAt(KernelBuilder &b, Value elementOffset) const;
  void store(KernelBuilder &b, llvm::ArrayRef<Value> indices,
             Value value) const;

  /// The f32 scale at these indices.
  Value scaleAt(KernelBuilder &b, llvm::ArrayRef<Value> indices) const;
  Value getBase() const { return base; }

private:
  friend class TensorAccess;
  DType dtype;
  bool quantized;
  ComputeKind kind;
  int64_t block, channelDim, scaleDim;
  Value base, scale, scaleBuffer, zeroPoint, laneStride;
  llvm::SmallVector<Value> strides;
};

/// The properties of a tensor that a plan knows and a kernel uses. Captured by
/// value in KernelSource::emit.
class TensorAccess {
public:
  /// `desc`, bound to `slot`, is indexed by places in a tensor of `indexShape`,
  /// to which it broadcasts.
  TensorAccess(LaunchBuilder &launch, BufferSlot slot, const TensorDesc &desc,
               llvm::ArrayRef<int64_t> indexShape, ComputeKind kind);
  /// Index i is that of dimension dims[i] of `desc`.
  static TensorAccess permuted(LaunchBuilder &launch, BufferSlot slot,
                               const TensorDesc &desc,
                               llvm::ArrayRef<int64_t> dims, ComputeKind kind);

  /// "u8qr4": dtype, quantisation, number of indices, block.
  std::string symbolPart() const;

  BoundTensor bind(KernelBuilder &b) const;

private:
  TensorAccess(const TensorDesc &desc, ComputeKind kind);
  void addQuantization(LaunchBuilder &launch, const TensorDesc &desc);

  DType dtype;
  bool quantized;
  ComputeKind kind;
  int64_t block;
  int64_t rank = 0;
  /// The index of channels (blocked layouts) or of scales (per channel).
  int64_t channelDim = -1, scaleDim = -1;
  int64_t buffer = 0, firstStride = 0, laneStride = 0;
  int64_t scaleParam = 0, scaleBuffer = 0, zeroPointParam = 0;
};

//===----------------------------------------------------------------------===//
// All operands and the result of a problem
//===----------------------------------------------------------------------===//

/// The epilogue's operands and the result, indexed by places in the result.
class OutputAccess {
public:
  OutputAccess(LaunchBuilder &launch, const Problem &problem);

  /// Names the epilogue and the storage of its operands and of the result.
  std::string symbolPart() const;

  class Bound {
  public:
    /// Applies the epilogue to the root's value at `indices`, and stores it.
    void store(KernelBuilder &b, llvm::ArrayRef<mlir::Value> indices,
               mlir::Value value) const;

  private:
    friend class OutputAccess;
    const OutputAccess *access;
    llvm::SmallVector<BoundTensor> operands;
    llvm::SmallVector<mlir::Value> epilogueParams;
    std::optional<BoundTensor> result;
  };
  /// The result refers to this object.
  Bound bind(KernelBuilder &b) const;

private:
  int firstOperand;
  std::vector<TensorAccess> operands;
  TensorAccess result;
  EpilogueEmitter epilogue;
};

/// A loop over the places of a tensor, row by row of its last dimension.
class ElementLoop {
public:
  /// `costPerElement` (roughly in operations) decides into how many tasks the
  /// loop is split.
  ElementLoop(LaunchBuilder &launch, llvm::ArrayRef<int64_t> shape,
              double costPerElement);

  int64_t tasks() const { return numTasks; }
  void emit(
      KernelBuilder &b,
      llvm::function_ref<void(llvm::ArrayRef<mlir::Value> indices)> body) const;

private:
  void emitSpread(
      KernelBuilder &b, llvm::ArrayRef<mlir::Value> dims, mlir::Value first,
      mlir::Value last,
      llvm::function_ref<void(llvm::ArrayRef<mlir::Value> indices)> body) const;

  int64_t rank, firstDim, rowsParam, rowsPerTaskParam;
  int64_t numTasks;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_TENSORACCESS_H
