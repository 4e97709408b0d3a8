//===- TestModule.h - IR for unit tests of passes ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_PASSES_TESTMODULE_H
#define TARPON_TEST_UNIT_PASSES_TESTMODULE_H

#include "tarpon/Passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>

namespace tarpon::test {

/// A module with a context that keeps its diagnostics.
class TestModule {
public:
  explicit TestModule(llvm::StringRef text) {
    context.loadDialect<TarponDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  mlir::func::FuncOp getFunction() {
    return *module->getOps<mlir::func::FuncOp>().begin();
  }

  mlir::LogicalResult run(std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager pm(&context);
    pm.addNestedPass<mlir::func::FuncOp>(std::move(pass));
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          diagnostics += diagnostic.str() + "\n";
        });
    return pm.run(*module);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string diagnostics;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_PASSES_TESTMODULE_H
