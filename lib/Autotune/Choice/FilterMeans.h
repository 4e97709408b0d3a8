//===- FilterMeans.h - The means of what filters read -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_FILTERMEANS_H
#define TARPON_LIB_AUTOTUNE_CHOICE_FILTERMEANS_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/IR/TarponOps.h"
#include "tarpon/Runtime/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace tarpon {

/// Returns the fused ops in their order. Their results, behind the arguments,
/// are the tensors that have ranges.
std::vector<FusedOp> getFusedOps(mlir::func::FuncOp function);

/// Sums up, for each constant filter of a fused function, the channels that it
/// reads, before and after they are stored in 8 bits.
class FilterMeans {
public:
  /// `quantized` is the function after tarpon-quantize.
  FilterMeans(mlir::func::FuncOp function, mlir::func::FuncOp quantized);

  /// Adds a sample of a tensor.
  void add(size_t tensor, const runtime::HostTensor &values);

  /// Sets the means of the tensors that are results of filters.
  void finish(std::vector<TensorRange> &ranges) const;

private:
  struct Filter {
    /// The indices of the tensor that is read, and of the result.
    size_t tensor = 0, result = 0;
    /// From an element to the next channel.
    int64_t inner = 1;
    /// The type in which the tensor is stored.
    float scale = 1, zeroPoint = 0;
    /// The sums of each channel.
    std::vector<double> exact, stored;
    int64_t count = 0;
  };

  std::vector<Filter> filters;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_FILTERMEANS_H
