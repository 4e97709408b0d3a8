//===- DiagnosticLog.cpp - Diagnostics as text ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/DiagnosticLog.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tarpon {

DiagnosticLog::DiagnosticLog(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        texts.push_back(diagnostic.str());
      }) {}

std::string DiagnosticLog::getFirst() const {
  return texts.empty() ? "" : texts.front();
}

std::string DiagnosticLog::getAll() const { return llvm::join(texts, "; "); }

} // namespace tarpon
