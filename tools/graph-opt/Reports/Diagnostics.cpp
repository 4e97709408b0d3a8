//===- Diagnostics.cpp - MLIR diagnostics as lines on stderr ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "Messages.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace tarpon {

/// Describes a location as far as it is known: "model.onnx: node 'conv1': ".
/// The importer's own messages name file and node already.
static std::string describe(Location loc, StringRef message) {
  std::string file, node;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && node.empty())
      node = name.getName().str();
    if (auto position = dyn_cast<FileLineColLoc>(part);
        position && file.empty())
      file = position.getFilename().str();
    return WalkResult::advance();
  });
  if (file.empty() || message.contains(file))
    return "";
  return node.empty() ? file + ": " : file + ": node '" + node + "': ";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler(&context,
              [this](Diagnostic &diagnostic) { handle(diagnostic); }) {}

DiagnosticCollector::~DiagnosticCollector() {
  if (error.empty())
    for (const std::string &text : remarks)
      remark(text);
}

void DiagnosticCollector::handle(Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  message = describe(diagnostic.getLocation(), message) + message;
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    remarks.push_back(std::move(message));
  else if (error.empty())
    error = std::move(message);
}

std::string DiagnosticCollector::getError(const std::string &otherwise) const {
  return error.empty() ? otherwise : error;
}

} // namespace tarpon
