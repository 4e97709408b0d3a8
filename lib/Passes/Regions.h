//===- Regions.h - Working on fused regions ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts that the passes that fuse regions and change their types share.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_REGIONS_H
#define TARPON_LIB_PASSES_REGIONS_H

#include "tarpon/IR/TarponOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/DenseMap.h"

namespace tarpon::detail {

inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

inline bool isF32(mlir::Value value) {
  return getTensorType(value).getElementType().isF32();
}

/// Whether the region does nothing but convert.
bool isConvertRegion(FusedOp op);

/// The ops that read a value, directly or through reshapes.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value);

/// Whether the function returns the value or a reshape of it.
bool leavesFunction(mlir::Value value);

/// Clones `op` with mapped operands and infers the types of its results from
/// them; for a convert, keeps the element type and takes the layout over.
/// Reports and fails if the op does not take such operands.
mlir::FailureOr<mlir::Operation *> cloneRetyped(mlir::OpBuilder &builder,
                                                mlir::Operation *op,
                                                mlir::IRMapping &mapping);

/// A copy of the op on other operands, with an empty region (that has its
/// arguments) and without a solution.
FusedOp createRegionLike(mlir::OpBuilder &builder, FusedOp op,
                         mlir::ValueRange operands,
                         mlir::TypeRange resultTypes);

/// How a region's element types are to change.
struct RegionTypes {
  llvm::ArrayRef<mlir::Value> operands;
  /// The type in which the first result is stored; the others stay as they are.
  mlir::Type resultElement;
  /// The root works on its operands as they are stored. Where they differ and
  /// the root does not accumulate, they are converted to the result's type.
  bool rootReadsStored = false;
};

/// A copy of the region with other element types; what does not read the stored
/// types works in the types it had, between converts.
mlir::FailureOr<FusedOp> retypeRegion(mlir::OpBuilder &builder, FusedOp op,
                                      const RegionTypes &types);

/// The values of a function while a pass changes their types: what each one has
/// become, and converts of it that were needed.
class StoredValues {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using RetypeFn = llvm::function_ref<mlir::FailureOr<Values>(FusedOp)>;

  /// Replaces the results of each region of a function by what `retype` makes
  /// of it, in order. Reshapes follow their operand; all other ops keep their
  /// types.
  mlir::LogicalResult retypeFunction(mlir::func::FuncOp function,
                                     RetypeFn retype);

  /// The value that stands for an original one.
  mlir::Value get(mlir::Value original) const;

  /// The same, converted to another type. Constants are converted at
  /// once.
  mlir::Value getAs(mlir::Value original, mlir::RankedTensorType type);
  mlir::Value getAs(mlir::Value original, mlir::Type elementType);

  /// Whether getAs of that type has, or needs no, convert already.
  bool has(mlir::Value original, mlir::RankedTensorType type) const;

private:
  mlir::Value retypeReshape(ReshapeOp op);

  llvm::DenseMap<mlir::Value, mlir::Value> stored;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> converts;
};

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_REGIONS_H
