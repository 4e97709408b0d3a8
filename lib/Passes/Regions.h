//===- Regions.h - Clones and retypes fused regions -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common parts of the passes that fuse regions and change their types.
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

/// Returns true if the region only converts.
bool isConvertRegion(FusedOp op);

/// Returns true if the region's root reads the operand itself, not through a
/// convert.
bool isRootOperand(FusedOp op, unsigned index);

/// Returns true if the root reads low-precision operands in their stored type.
bool readsStored(mlir::Operation *root);

/// Returns the ops that read a value, directly or through reshapes.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value);

/// Returns true if the function returns the value or a reshape of it.
bool leavesFunction(mlir::Value value);

/// Clones `op` with mapped operands and infers the types of its results from
/// them; for a convert, keeps the element type and takes the operand's layout.
/// Reports an error if the op does not take such operands.
mlir::FailureOr<mlir::Operation *> cloneRetyped(mlir::OpBuilder &builder,
                                                mlir::Operation *op,
                                                mlir::IRMapping &mapping);

/// Creates a copy of the op on other operands, with an empty region (which has
/// its arguments) and without a solution.
FusedOp createRegionLike(mlir::OpBuilder &builder, FusedOp op,
                         mlir::ValueRange operands,
                         mlir::TypeRange resultTypes);

/// The new element types of a region.
struct RegionTypes {
  llvm::ArrayRef<mlir::Value> operands;
  /// The type in which the first result is stored; the types of the others do
  /// not change.
  mlir::Type resultElement;
  /// True if the root reads its operands as stored. If they differ and the root
  /// does not accumulate, they are converted to the result's type.
  bool rootReadsStored = false;
};

/// Creates a copy of the region with other element types; ops that do not read
/// the stored types keep their types, between converts.
mlir::FailureOr<FusedOp> retypeRegion(mlir::OpBuilder &builder, FusedOp op,
                                      const RegionTypes &types);

/// The values of a function while a pass changes their types: the replacement
/// of each one, and the converts of it that were needed.
class StoredValues {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using RetypeFn = llvm::function_ref<mlir::FailureOr<Values>(FusedOp)>;

  /// Replaces the results of each region of a function by those of `retype`, in
  /// order. Reshapes follow their operand; all other ops keep their types.
  mlir::LogicalResult retypeFunction(mlir::func::FuncOp function,
                                     RetypeFn retype);

  /// Returns the replacement of an original value.
  mlir::Value get(mlir::Value original) const;

  /// Returns the replacement, converted to another type. Constants are
  /// converted at once.
  mlir::Value getAs(mlir::Value original, mlir::RankedTensorType type);
  mlir::Value getAs(mlir::Value original, mlir::Type elementType);

  /// Returns true if getAs of that type has a convert already, or needs none.
  bool has(mlir::Value original, mlir::RankedTensorType type) const;

private:
  mlir::Value retypeReshape(ReshapeOp op);

  llvm::DenseMap<mlir::Value, mlir::Value> stored;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> converts;
};

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_REGIONS_H
