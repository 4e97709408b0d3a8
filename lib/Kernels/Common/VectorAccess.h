//===- VectorAccess.h - Vectors of elements, computed in f32 ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base of the vectorised solvers: tensors of consecutive elements that are
// read and written as vectors of f32, whatever their dtype; the result of a
// problem with its epilogue; and loops over all elements in memory order.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_VECTORACCESS_H
#define TARPON_LIB_KERNELS_COMMON_VECTORACCESS_H

#include "LaunchBuilder.h"

#include <optional>

namespace tarpon {

//===----------------------------------------------------------------------===//
// Consecutive elements
//===----------------------------------------------------------------------===//

/// Returns true if the tensor can be used as FlatTensor: a float that fits f32,
/// or quantised with one scale.
bool isVectorizable(const TensorDesc &desc);
/// Refuses a tensor that is not vectorizable. `subject` is "the operand", or
/// "the layouts differ, or the operand" if that was checked, too.
Applicability notVectorizable(llvm::StringRef subject);
/// Lists the supported floats for messages: "f32, f16 or bf16".
std::string listFloats();
/// Returns true if it can in a loop that computes in `kind`.
bool isVectorizable(const TensorDesc &desc, ComputeKind kind);

/// The elements of the result that a vector holds.
struct VectorPlace {
  mlir::Value offset; ///< of the first element
  /// The channel of the first element, if operands follow channels.
  mlir::Value channel;
  /// In nhwc, the pixel, counted over all images, and the element in it.
  mlir::Value pixel, element;
  /// True if the lanes are consecutive channels, false if all have one channel.
  bool lanesAreChannels = false;
  int64_t lanes = 1;
  mlir::Value mask;        ///< lanes that exist, or null for all
  mlir::Value channelMask; ///< channels that exist, or null for those in mask
};

/// A tensor in an emitted kernel, addressed by element offsets.
struct BoundFlatTensor {
  DType dtype;
  bool quantized;
  mlir::Value base, scale, zeroPoint;
  mlir::Value pitch; ///< of a slice, else null
  ComputeKind kind = ComputeKind::F32;

  /// The offset of a place, which was computed for a tensor of this shape
  /// without slices.
  mlir::Value offsetOf(KernelBuilder &b, const VectorPlace &place) const;
  /// Loads `lanes` elements from `offset` as `kind`, dequantised. `mask` may be
  /// null.
  mlir::Value load(KernelBuilder &b, mlir::Value offset, int64_t lanes,
                   mlir::Value mask = nullptr) const;
  /// Loads them without scale and zero point.
  mlir::Value loadRaw(KernelBuilder &b, mlir::Value offset, int64_t lanes,
                      mlir::Value mask = nullptr) const;
  /// scale * (raw - zero point), or `raw` if the tensor is not quantised.
  mlir::Value dequantize(KernelBuilder &b, mlir::Value raw) const;
  void store(KernelBuilder &b, mlir::Value value, mlir::Value offset,
             mlir::Value mask = nullptr) const;
  mlir::Value pointerTo(KernelBuilder &b, mlir::Value offset) const;
};

/// The properties of such a tensor that a plan knows; integers of up to 16 bits
/// that are not quantised are allowed too. A slice can only be accessed by
/// places that know their pixel. Captured by value.
class FlatTensor {
public:
  FlatTensor(LaunchBuilder &launch, BufferSlot slot, const TensorDesc &desc,
             ComputeKind kind = ComputeKind::F32);
  BoundFlatTensor bind(KernelBuilder &b) const;
  /// "f16", "u8q", for slices "f32p", and "i32i" if computed with as i64.
  std::string symbolPart() const;

private:
  DType dtype;
  bool quantized, isSlice;
  ComputeKind kind;
  int64_t buffer, scaleParam = 0, zeroPointParam = 0, pitchParam = 0;
};

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The relation of an operand's elements to the result's.
enum class Follows : uint8_t {
  Elements, ///< one element for each, in the same order in memory
  Nothing,  ///< one element for all
  Channels, ///< one element for each channel
};

/// Returns none if the operand is broadcast differently or has another layout.
std::optional<Follows> classifyOperand(const TensorDesc &operand,
                                       const TensorDesc &result);

/// Returns true if a kernel of the problem's elements has to know the channel
/// of each place: for an operand that follows channels, and for slices.
bool needsChannels(const Problem &problem);

/// An operand read as vectors at places of the result.
class PlacedOperand {
public:
  PlacedOperand(LaunchBuilder &launch, BufferSlot slot, const TensorDesc &desc,
                Follows follows, ComputeKind kind = ComputeKind::F32)
      : tensor(launch, slot, desc, kind), follows(follows) {}
  Follows getFollows() const { return follows; }
  std::string symbolPart() const;
  BoundFlatTensor bind(KernelBuilder &b) const { return tensor.bind(b); }
  mlir::Value load(KernelBuilder &b, const BoundFlatTensor &bound,
                   const VectorPlace &place) const;

private:
  FlatTensor tensor;
  Follows follows;
};

/// The result of a problem and the operands of its epilogue.
class VectorOutput {
public:
  VectorOutput(LaunchBuilder &launch, const Problem &problem);

  /// Checks that result and epilogue can be computed as vectors of f32.
  static Applicability check(const Problem &problem);
  /// Checks that they can be computed as vectors of the problem's compute type.
  static Applicability checkAnyKind(const Problem &problem);
  /// Returns true if an operand of the epilogue follows channels.
  static bool followsChannels(const Problem &problem);

  std::string symbolPart() const;

  class Bound {
  public:
    /// Applies the epilogue to the root's `value`.
    mlir::Value apply(KernelBuilder &b, const VectorPlace &place,
                      mlir::Value value) const;
    /// Applies it and stores the result.
    void store(KernelBuilder &b, const VectorPlace &place,
               mlir::Value value) const;
    const BoundFlatTensor &getResult() const { return result; }

  private:
    friend class VectorOutput;
    const VectorOutput *output;
    llvm::SmallVector<BoundFlatTensor> operands;
    llvm::SmallVector<mlir::Value> epilogueParams;
    BoundFlatTensor result;
  };
  /// The result refers to this object.
  Bound bind(KernelBuilder &b) const;

private:
  int firstOperand;
  std::vector<PlacedOperand> operands;
  FlatTensor result;
  EpilogueEmitter epilogue;
};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Runs `body` for vectors that cover the elements from begin to end. The mask
/// is null except for an incomplete vector. Elements may be covered twice.
void forVectors(KernelBuilder &b, mlir::Value begin, mlir::Value end,
                int64_t lanes,
                llvm::function_ref<void(mlir::Value i, mlir::Value mask)> body);

/// A loop over all elements of a tensor in memory order, in vectors.
class VectorLoop {
public:
  /// `needsChannels`: the body uses the channel of a place, or accesses slices.
  VectorLoop(LaunchBuilder &launch, const TensorDesc &desc, bool needsChannels);

  /// Returns true if no element is covered twice, so that the result may
  /// overwrite an operand that follows its elements.
  static bool coversOnce(const TensorDesc &desc, bool needsChannels,
                         const TargetInfo &target);

  int64_t tasks() const { return numTasks; }
  /// "flat", "planes", ...
  std::string symbolPart() const;
  /// `row` is null in flat loops; it is the index of an image's channel for
  /// nchw, of a pixel for nhwc.
  void emit(KernelBuilder &b,
            llvm::function_ref<void(const VectorPlace &, mlir::Value row)> body)
      const;

private:
  void emitFlat(
      KernelBuilder &b, mlir::Value first, mlir::Value last,
      llvm::function_ref<void(const VectorPlace &, mlir::Value)> body) const;
  void emitRow(
      KernelBuilder &b, mlir::Value row,
      llvm::function_ref<void(const VectorPlace &, mlir::Value)> body) const;
  void emitBlockedRow(
      KernelBuilder &b, mlir::Value row,
      llvm::function_ref<void(const VectorPlace &, mlir::Value)> body) const;

  enum class Order : uint8_t { Flat, Planes, Pixels, Blocked } order;
  static Order chooseOrder(const TensorDesc &desc, bool needsChannels);
  int64_t block = 1;
  int64_t rows, inner, rowsPerTask; ///< parameters
  int64_t channels;                 ///< parameter: C, or blocks of channels
  int64_t numChannels;              ///< parameter: C
  int64_t numTasks;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_VECTORACCESS_H
