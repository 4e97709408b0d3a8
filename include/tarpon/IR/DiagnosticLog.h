//===- DiagnosticLog.h - Diagnostics as text --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_DIAGNOSTICLOG_H
#define TARPON_IR_DIAGNOSTICLOG_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace tarpon {

/// While it lives, collects the diagnostics that are emitted in a context
/// instead of printing them, so that they become an error's text. Not
/// thread-safe.
class DiagnosticLog {
public:
  explicit DiagnosticLog(mlir::MLIRContext *context);

  /// The first diagnostic, or "".
  std::string getFirst() const;
  /// All diagnostics, separated by "; ".
  std::string getAll() const;

private:
  std::vector<std::string> texts;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tarpon

#endif // TARPON_IR_DIAGNOSTICLOG_H
