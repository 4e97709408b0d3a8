//===- Inference.h - Checks shared by the ops' type inference ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops check their constraints in type inference, which builders, the parser and
// the verifier all call. These helpers report to a location if there is one, as
// InferTypeOpInterface requires.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IR_INFERENCE_H
#define TARPON_LIB_IR_INFERENCE_H

#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Problem/Shapes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ValueRange.h"

#include <optional>

namespace tarpon::detail {

/// Reports a violated constraint of the op with that name.
struct Reporter {
  std::optional<mlir::Location> location;
  llvm::StringRef opName;

  template <typename... Args>
  llvm::LogicalResult operator()(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", opName, "' op ",
                                   std::forward<Args>(args)...);
  }
};

using Types = llvm::SmallVectorImpl<mlir::Type>;

/// The type of an operand. Only ranked tensors are operands of our ops.
mlir::RankedTensorType getTensorType(mlir::Value operand);

/// Fails unless all operands have a static shape. Verified operands do;
/// builders also infer from types that are not verified yet.
llvm::LogicalResult checkStatic(const Reporter &report,
                                mlir::ValueRange operands);

/// Fails unless the operand called `name` has no layout.
llvm::LogicalResult checkRowMajor(const Reporter &report, llvm::StringRef name,
                                  mlir::RankedTensorType type);

/// Fails unless the operand called `name` holds floats.
llvm::LogicalResult checkFloat(const Reporter &report, llvm::StringRef name,
                               mlir::RankedTensorType type);

/// Fails unless the two operands of a multiplication both hold floats of one
/// type, or both quantised elements.
llvm::LogicalResult checkMultiplied(const Reporter &report,
                                    mlir::Type lhsElement,
                                    mlir::Type rhsElement);

/// Fails if elements of the type have several zero points along a dimension:
/// kernels support one for all.
llvm::LogicalResult checkSymmetric(const Reporter &report,
                                   mlir::Type elementType);

/// Fails unless the left operand has one scale, and the filter one or one per
/// index of `axis` with zero points of 0.
llvm::LogicalResult checkScales(const Reporter &report, mlir::Type lhsElement,
                                mlir::Type filterElement, int64_t axis);

/// The type in which products of such elements are summed and returned.
mlir::Type getAccumulatedType(mlir::Type elementType);

/// Fails unless the attribute has `count` entries, none below the minimum.
llvm::LogicalResult checkEntries(const Reporter &report, llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> entries,
                                 size_t expected, int64_t minimum);

/// Fails unless the window has the right number of entries for a tensor of that
/// rank, with the right signs.
llvm::LogicalResult checkWindow(const Reporter &report, int64_t rank,
                                const SlidingWindow &window);

/// The number of places of a checked window in each spatial dimension; fails if
/// it has none.
llvm::FailureOr<llvm::SmallVector<int64_t>>
inferSpatialShape(const Reporter &report, llvm::ArrayRef<int64_t> inputSpatial,
                  const SlidingWindow &window);

/// Infers the types of all unary and all binary elementwise ops; "real" ones
/// are defined on floats only, "integer" ones on integers.
llvm::LogicalResult inferReal(const Reporter &report, mlir::ValueRange operands,
                              Types &types);
llvm::LogicalResult inferRealBinary(const Reporter &report,
                                    mlir::ValueRange operands, Types &types);
llvm::LogicalResult inferIntegerBinary(const Reporter &report,
                                       mlir::ValueRange operands, Types &types);
llvm::LogicalResult inferUnary(const Reporter &report,
                               mlir::ValueRange operands, Types &types);
llvm::LogicalResult inferBinary(const Reporter &report,
                                mlir::ValueRange operands, Types &types);

/// Returns true if an operand of a binary op whose result has that rank is one
/// value for all elements, or one per channel.
bool isParameter(mlir::RankedTensorType operand, int64_t resultRank);

} // namespace tarpon::detail

#endif // TARPON_LIB_IR_INFERENCE_H
