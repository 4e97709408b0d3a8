//===- Passes.td - The passes of Tarpon --------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_PASSES_TD
#define TARPON_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // TARPON_PASSES_PASSES_TD
