//===- TargetCheck.h - Checks the names of targets --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARGETCHECK_H
#define TARPON_IR_TARGETCHECK_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectInterface.h"

#include <string>

namespace tarpon {

/// The dialect knows no targets. A library that knows them attaches this
/// interface to it, so that a wrong name is an error where it is parsed.
class TargetCheck : public mlir::DialectInterface::Base<TargetCheck> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TargetCheck)

  explicit TargetCheck(mlir::Dialect *dialect) : Base(dialect) {}

  /// Explains why there is no such target; "" if there is one. `options` may be
  /// null.
  virtual std::string findFault(llvm::StringRef name,
                                mlir::DictionaryAttr options) const = 0;
};

} // namespace tarpon

#endif // TARPON_IR_TARGETCHECK_H
