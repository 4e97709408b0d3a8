//===- AxisLoop.h - Vectors along or across one dimension -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax and similar operations work on lines of elements along one dimension.
// If a line is contiguous, its elements become the lanes of vectors; otherwise
// lanes are neighbouring lines, and several vectors of lines are processed
// together, so that longer pieces of memory are read. One kernel body serves
// both.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_NORM_AXISLOOP_H
#define TARPON_LIB_KERNELS_HOST_NORM_AXISLOOP_H

#include "Common/VectorFold.h"

namespace tarpon {

/// The operation that combines folded values.
enum class FoldKind : uint8_t { Sum, Max };

/// A vector of elements on their lines, and its place.
struct AxisVector {
  VectorPlace place;
  /// The offset in the scratch at which a vector of f32 for these elements may
  /// be stored.
  mlir::Value scratchAt;
  /// The index of the folded value that belongs to it.
  int64_t group = 0;
};

class AxisLoop {
public:
  using Value = mlir::Value;
  /// A value for each group of lines: the same in all lanes if lanes are
  /// elements, one per lane if they are lines.
  using Groups = llvm::SmallVector<Value>;
  using Term = llvm::function_ref<Value(const AxisVector &, Value soFar)>;

  AxisLoop(LaunchBuilder &launch, const TensorDesc &desc, int64_t axis,
           const TargetInfo &target);
  int64_t tasks() const { return numTasks; }
  /// The scratch for one f32 per element that is processed together.
  int64_t scratchBytes() const { return scratch; }
  std::string symbolPart() const { return isRow ? "row" : "column"; }

  /// Checks that loops can run along the dimension of a tensor: in all layouts
  /// except the blocked ones.
  static Applicability check(const TensorDesc &desc, int64_t axis);

  /// The lines of one body, while it is emitted.
  class Lines {
  public:
    /// Folds all elements of the lines; `term` returns the new value of the
    /// accumulator. Lanes that do not exist are ignored.
    Groups fold(FoldKind kind, Term term) const;
    /// Visits all elements, some of them possibly twice.
    void forEach(llvm::function_ref<void(const AxisVector &)> body) const;

  private:
    friend class AxisLoop;
    Lines(KernelBuilder &b, const AxisLoop &loop, Value start, int64_t vectors,
          Value mask)
        : b(b), loop(loop), start(start), vectors(vectors), mask(mask) {}
    AxisVector getRowVector(Value i, Value tail) const;
    AxisVector getColumnVector(Value j, int64_t vector) const;

    KernelBuilder &b;
    const AxisLoop &loop;
    Value start;
    int64_t vectors;
    Value mask; ///< of lines
  };

  void emit(KernelBuilder &b,
            llvm::function_ref<void(const Lines &)> body) const;

private:
  bool isRow;
  int64_t size, inner, blocks, items, perTask; ///< parameters
  int64_t numTasks, scratch;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_NORM_AXISLOOP_H
