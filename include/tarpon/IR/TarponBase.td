//===- TarponBase.td - The dialect and its types ------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONBASE_TD
#define TARPON_IR_TARPONBASE_TD

include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpBase.td"

def Tarpon_Dialect : Dialect {
  let name = "tarpon";
  let cppNamespace = "::tarpon";
  let summary = "Neural network graphs whose dtype, layout and fusion are being chosen";
  let description = [{
    Tensors keep their logical shape (N, C, spatial...). How a tensor lies in
    memory is the encoding of its type (`#tarpon.layout<nhwc>`; none means
    nchw, that is row-major); its precision is the element type. A choice of
    layout or dtype changes types and inserts `tarpon.convert`, never shapes or
    attributes.
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

/// Fails on tensors of elements that kernels do not know (see isElementType).
def Tarpon_HoldsKnownElements : NativeOpTrait<"HoldsKnownElements"> {
  let cppNamespace = "::tarpon";
}

class Tarpon_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tarpon_Dialect, mnemonic, !listconcat(traits, [Tarpon_HoldsKnownElements])>;

/// Which elements a graph may hold is verified by a trait of all ops, and each op
/// narrows it in its verifier.
def Tarpon_Tensor : StaticShapeTensorOf<[AnyType]>;

#endif // TARPON_IR_TARPONBASE_TD
