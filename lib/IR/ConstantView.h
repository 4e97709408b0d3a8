//===- ConstantView.h - Reading constants without copying them --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IR_CONSTANTVIEW_H
#define TARPON_LIB_IR_CONSTANTVIEW_H

#include "Scalars.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace tarpon::detail {

/// The elements of a constant where they lie, row-major. A splat stores one.
class ConstantView {
public:
  /// None for null, and for attributes that tarpon.constant rejects.
  static std::optional<ConstantView> get(mlir::Attribute attr);

  mlir::RankedTensorType getType() const { return type; }
  const ScalarAccess &getAccess() const { return *access; }
  bool isSplat() const { return splat; }
  /// Whether the stored elements are this view's own.
  bool isUnpacked() const { return unpacked.has_value(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  int64_t getNumStored() const { return splat ? 1 : getNumElements(); }
  /// The stored elements; i1 takes one byte each.
  llvm::ArrayRef<char> getStored() const {
    return unpacked ? llvm::ArrayRef<char>(*unpacked) : data;
  }

private:
  mlir::RankedTensorType type;
  const ScalarAccess *access = nullptr;
  bool splat = false;
  llvm::ArrayRef<char> data;
  /// Dense attributes of i1 are bit fields.
  std::optional<std::vector<char>> unpacked;
};

/// A dense attribute whose elements all are the one in `element`.
mlir::ElementsAttr makeSplatAttr(mlir::RankedTensorType type,
                                 llvm::ArrayRef<char> element);

} // namespace tarpon::detail

#endif // TARPON_LIB_IR_CONSTANTVIEW_H
