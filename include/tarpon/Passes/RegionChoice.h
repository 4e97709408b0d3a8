//===- RegionChoice.h - The precision and layout of a region ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_REGIONCHOICE_H
#define TARPON_PASSES_REGIONCHOICE_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <compare>
#include <optional>
#include <string>

namespace tarpon {

struct RegionChoice {
  runtime::Precision dtype = runtime::Precision::F32;
  Layout layout;

  auto operator<=>(const RegionChoice &) const = default;
};

/// "int8/nhwc".
std::string printRegionChoice(const RegionChoice &choice);
/// Returns none for any other text.
std::optional<RegionChoice> parseRegionChoice(llvm::StringRef text);

llvm::SmallVector<FusedOp> getChosenRegions(mlir::func::FuncOp function);

/// The index of a region of a function whose regions were marked; none for
/// those that passes have added.
std::optional<size_t> getRegionIndex(FusedOp op);

mlir::LogicalResult setRegionChoices(mlir::func::FuncOp function,
                                     llvm::ArrayRef<RegionChoice> choices);

} // namespace tarpon

#endif // TARPON_PASSES_REGIONCHOICE_H
