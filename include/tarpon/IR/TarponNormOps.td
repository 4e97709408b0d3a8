//===- TarponNormOps.td - Normalisations by own statistics --------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONNORMOPS_TD
#define TARPON_IR_TARPONNORMOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_LayerNormOp : Tarpon_GraphOp<"layer_norm"> {
  let summary = "Layer normalisation: (x - mean) / sqrt(variance + epsilon) * scale + bias";
  let description = [{
    Mean and variance are taken over the dimensions from `axis` on. `parameters`
    are the scale, and behind it the bias, as far as there are; they broadcast to
    those dimensions.

    Constraints:
    - (C1) 0 <= axis < rank.
    - (C2) there are at most two parameters, which broadcast to the dimensions
      from axis on.
    - (C3) epsilon is not negative.
    - (C4) the elements of all operands are floats.
    - (C5) the input is row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Variadic<Tarpon_Tensor>:$parameters,
                       I64Attr:$axis, F32Attr:$epsilon);
}

def Tarpon_GroupNormOp : Tarpon_GraphOp<"group_norm", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface,
        ["supportsLayout", "isParameterOperand"]>]> {
  let summary = "Normalisation of groups of channels, each image by itself";
  let description = [{
    (x - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance
    over the C/groups channels of a group and all spatial dimensions. `parameters`
    are the scale, and behind it the bias, as far as there are. With as many
    groups as channels this is instance normalisation.

    Constraints:
    - (C1) the input has rank 2 or more.
    - (C2) groups is positive and divides C.
    - (C3) there are at most two parameters, vectors of C elements.
    - (C4) epsilon is not negative.
    - (C5) the elements of all operands are floats.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Variadic<Tarpon_Tensor>:$parameters,
                       I64Attr:$groups, F32Attr:$epsilon);
}

def Tarpon_LogSoftmaxOp : Tarpon_GraphOp<"log_softmax"> {
  let summary = "x - max - log(sum of exp(x - max)), along one dimension";
  let description = [{
    Constraints: (C1) 0 <= axis < rank. (C2) the elements are floats. (C3) the
    input is row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$axis);
}

#endif // TARPON_IR_TARPONNORMOPS_TD
