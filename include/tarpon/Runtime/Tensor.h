//===- Tensor.h - Tensors in host memory ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_TENSOR_H
#define TARPON_RUNTIME_TENSOR_H

#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/DType.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tarpon::runtime {

/// A dense, row-major tensor that owns its elements. Move-only.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  AlignedBuffer data;

  /// A tensor of zeros. Fails on a negative or too large shape and when there
  /// is not enough memory.
  static Result<HostTensor> create(DType dtype, std::vector<int64_t> shape);

  /// A copy with elements of its own.
  Result<HostTensor> clone() const;

  int64_t numElements() const { return data.size() / dtypeBytes(dtype); }
};

Result<std::vector<HostTensor>> cloneAll(std::span<const HostTensor> tensors);

/// The elements in their order (see loadAsDouble).
std::vector<double> toDoubles(const HostTensor &tensor);

/// "1x3x224x224", or "scalar" for a tensor without dimensions.
std::string shapeToString(const std::vector<int64_t> &shape);

/// Fills the tensor from `seed`: floats bell-shaped in (-1, 1) with a standard
/// deviation of 0.29, integers uniform over their full range, booleans 0 or 1.
/// The result is the same on every machine.
void fillRandom(HostTensor &tensor, uint64_t seed);

/// One random tensor per input of the model, each from its own seed, which is
/// derived from `seed` and the input's index.
Result<std::vector<HostTensor>> makeRandomInputs(const Package &package,
                                                 uint64_t seed);

/// One zeroed tensor per output of the model.
Result<std::vector<HostTensor>> makeOutputs(const Package &package);

/// Cuts each output whose size depends on data to its size of this run, and
/// leaves the outputs out that hold nothing but sizes.
Result<std::vector<HostTensor>> takeRealSizes(const Package &package,
                                              std::vector<HostTensor> outputs);

/// The distance of a tensor from its expected values. Errors are infinite where
/// either tensor has a NaN, or where one has an infinity and the other does
/// not.
struct TensorComparison {
  /// max |actual - expected|.
  double maxAbsError = 0;
  /// ||actual - expected|| / ||expected||; 0 if both are zero.
  double relativeL2 = 0;
  /// The element with the largest error, row-major; -1 if all are equal.
  int64_t worstIndex = -1;
  /// max |expected| over its finite elements.
  double referenceScale = 0;
};

/// Compares two tensors of one shape; the dtypes may differ. `zeroPoint` is
/// subtracted from both first, so that a quantised tensor is compared in steps
/// of its scale. Fails if the shapes differ.
Result<TensorComparison> compareTensors(const HostTensor &actual,
                                        const HostTensor &expected,
                                        int64_t zeroPoint = 0);

/// Merges the comparisons of several tensors: the worst of each figure, and the
/// largest scale. `worstIndex` is that of the tensor with the largest error.
void mergeComparison(TensorComparison &total, const TensorComparison &next);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_TENSOR_H
