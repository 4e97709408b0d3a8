//===- Diagnostics.h - MLIR diagnostics as lines on stderr ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_DIAGNOSTICS_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace tarpon {

/// Collects the diagnostics that are reported on a context during its lifetime.
/// The first error causes the following ones, and is the only one that users
/// see; warnings and remarks are printed only if there is no error.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);
  /// Prints the remarks.
  ~DiagnosticCollector();

  /// Returns the first error, or `otherwise` if there is none.
  std::string getError(const std::string &otherwise) const;

private:
  void handle(mlir::Diagnostic &diagnostic);

  std::string error;
  std::vector<std::string> remarks;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_DIAGNOSTICS_H
