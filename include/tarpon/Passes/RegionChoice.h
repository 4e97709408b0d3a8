//===- RegionChoice.h - The choice for one fused region ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_REGIONCHOICE_H
#define TARPON_PASSES_REGIONCHOICE_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Passes/Fusion.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstddef>
#include <optional>
#include <string>

namespace tarpon {

/// The precision and the layout that a region computes in, and whether its
/// operations stay together.
struct RegionChoice {
  runtime::Precision dtype = runtime::Precision::F32;
  Layout layout;
  Fusion fusion = Fusion::On;

  auto operator<=>(const RegionChoice &) const = default;
};

/// "int8/nhwc", or "fp32/nhwc/unfused".
std::string printRegionChoice(const RegionChoice &choice);
/// Returns none for any other text.
std::optional<RegionChoice> parseRegionChoice(llvm::StringRef text);

/// Returns the regions of a function that has just been fused, in order, but
/// for those that only convert, which follow their data.
llvm::SmallVector<FusedOp> getChosenRegions(mlir::func::FuncOp function);

/// Marks each of these regions with its choice and its index. The passes of
/// buildChoicePipeline read the marks. Reports an error, and marks nothing, if
/// the numbers of choices and regions differ.
mlir::LogicalResult setRegionChoices(mlir::func::FuncOp function,
                                     llvm::ArrayRef<RegionChoice> choices);

/// The index of a region that was marked, which the parts of a split one share;
/// none for those that passes have added.
std::optional<size_t> getRegionIndex(FusedOp op);

} // namespace tarpon

#endif // TARPON_PASSES_REGIONCHOICE_H
