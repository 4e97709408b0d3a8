//===- RegionLayout.h - The layout that a region computes in ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_REGIONLAYOUT_H
#define TARPON_LIB_PASSES_REGIONLAYOUT_H

#include "tarpon/IR/TarponOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tarpon::detail {

/// Returns true if a convert makes the value of one in the layout.
bool isConvertedFrom(mlir::Value value, LayoutAttr layout);

/// Returns true if all ops that read a region's argument, perhaps through a
/// convert, read it as a parameter, whose layout is not chosen.
bool isParameter(mlir::Value argument);

/// The layouts that the regions of a function are to compute in.
class RegionLayouts {
public:
  /// Regions without a mark are to compute in the layout called `unmarked`.
  /// Fails, with an error, if that or a mark is not the name of a layout.
  static mlir::FailureOr<RegionLayouts> read(mlir::func::FuncOp function,
                                             llvm::StringRef unmarked);

  /// Returns the layout that a region is to compute in, if it can.
  LayoutAttr getWanted(FusedOp op) const;

  /// Returns true if regions are to compute in a layout of that kind.
  bool areWanted(LayoutKind kind) const;
  bool areAllRowMajor() const;

  /// Returns true if the region computes in the layout, which is not row-major:
  /// it is to, and all its ops support it. Without a mark, one of them has to
  /// prefer it, too, or `isInLayout` is true of an operand of the region that
  /// is no parameter: a layout for a region that gains nothing from it costs
  /// conversions. A region that converts takes any layout and prefers none.
  bool
  computesIn(LayoutAttr layout, FusedOp op,
             llvm::function_ref<bool(mlir::Value operand)> isInLayout) const;

private:
  RegionLayouts(LayoutAttr unmarked) : unmarked(unmarked), wanted({unmarked}) {}

  LayoutAttr unmarked;
  /// All layouts that some region is to compute in.
  llvm::SmallVector<LayoutAttr> wanted;
};

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_REGIONLAYOUT_H
