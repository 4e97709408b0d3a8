//===- TarponOpBase.td - Includes and classes shared by the op files --*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONOPBASE_TD
#define TARPON_IR_TARPONOPBASE_TD

include "tarpon/IR/TarponAttrs.td"
include "tarpon/IR/TarponInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Verifies an op by its inference only, so that a violated constraint is one
/// error. (InferTypeOpInterface verifies too, but adds a second one.)
def Tarpon_VerifiedByInference : NativeOpTrait<"VerifiedByInference"> {
  let cppNamespace = "::tarpon";
}

/// A pure op with one result whose type follows from operands and attributes.
class Tarpon_GraphOp<string mnemonic, list<Trait> traits = []>
    : Tarpon_Op<mnemonic, !listconcat(
          [Pure, InferTypeOpAdaptor, Tarpon_VerifiedByInference], traits)> {
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // TARPON_IR_TARPONOPBASE_TD
