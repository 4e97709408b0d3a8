//===- RegionPrecision.h - The precision of each region ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule by which tarpon-quantize and tarpon-assign-dtype choose the type of
// a value between regions of several precisions.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_REGIONPRECISION_H
#define TARPON_LIB_PASSES_REGIONPRECISION_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Runtime/Precision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tarpon::detail {

/// The precisions that the regions of a function compute in.
class RegionPrecisions {
public:
  using Wish =
      llvm::function_ref<std::optional<runtime::Precision>(FusedOp reader)>;

  /// Regions without a mark have the precision `unmarked`. Fails, with an error
  /// at the region, if a mark is not the name of a precision.
  static mlir::FailureOr<RegionPrecisions> read(mlir::func::FuncOp function,
                                                runtime::Precision unmarked);

  runtime::Precision get(FusedOp op) const;

  /// Returns the precision in which the region's result is best stored, given
  /// the ones in which its readers want it: theirs if they agree; otherwise
  /// the region's own if one of them wants that, and else the first reader's.
  /// None if no reader has a wish. The region stores it so at no cost; a reader
  /// with another wish needs a convert.
  std::optional<runtime::Precision> getStored(FusedOp op, Wish getWish) const;

private:
  explicit RegionPrecisions(runtime::Precision unmarked) : unmarked(unmarked) {}

  runtime::Precision unmarked;
};

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_REGIONPRECISION_H
