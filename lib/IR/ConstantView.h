//===- ConstantView.h - Reads constants without copying ---------*- C++ -*-===//
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

/// The elements of a constant in place, row-major. A splat stores one element.
class ConstantView {
public:
  /// Returns none for null, and for attributes that tarpon.constant rejects.
  static std::optional<ConstantView> get(mlir::Attribute attr);

  mlir::RankedTensorType getType() const { return type; }
  const ScalarAccess &getAccess() const { return *access; }
  bool isSplat() const { return splat; }
  /// Returns true if the view owns a copy of the stored elements.
  bool isUnpacked() const { return unpacked.has_value(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  int64_t getNumStored() const { return splat ? 1 : getNumElements(); }
  /// The stored elements; those of less than 8 bits take one byte each.
  llvm::ArrayRef<char> getStored() const {
    return unpacked ? llvm::ArrayRef<char>(*unpacked) : data;
  }

private:
  mlir::RankedTensorType type;
  const ScalarAccess *access = nullptr;
  bool splat = false;
  llvm::ArrayRef<char> data;
  /// Dense attributes of i1 are bit fields, and those of i2 and i4 have no
  /// signs in their bytes.
  std::optional<std::vector<char>> unpacked;
};

/// Makes a dense attribute all of whose elements equal `element`.
mlir::ElementsAttr makeSplatAttr(mlir::RankedTensorType type,
                                 llvm::ArrayRef<char> element);

} // namespace tarpon::detail

#endif // TARPON_LIB_IR_CONSTANTVIEW_H
