//===- PassBase.td - The base of the passes ----------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_PASSBASE_TD
#define TARPON_PASSES_PASSBASE_TD

include "mlir/Pass/PassBase.td"

class Tarpon_FuncPass<string argument> : Pass<argument, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::tarpon::TarponDialect"];
}

#endif // TARPON_PASSES_PASSBASE_TD
