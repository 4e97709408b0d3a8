//===- ImportCommand.cpp - graph-opt import ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Messages.h"
#include "Reports/Diagnostics.h"

#include "tarpon/Import/OnnxImport.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace tarpon {

int runImport(const ImportArguments &arguments) {
  MLIRContext context;
  DiagnosticCollector diagnostics(context);
  ImportOptions options;
  options.batch = arguments.batch;
  OwningOpRef<ModuleOp> module = importOnnx(context, arguments.model, options);
  if (!module)
    return fail(
        diagnostics.getError("cannot import '" + arguments.model + "'"));
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(arguments.elide);
  flags.elideLargeResourceString(arguments.elide);
  module->print(llvm::outs(), flags);
  llvm::outs().flush();
  return kSuccess;
}

} // namespace tarpon
