//===- TarponNormOps.td - Norms with their own statistics --*- tablegen -*-===//
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
    Mean and variance are computed over the dimensions from `axis` on.
    `parameters` are the scale and the bias, both optional; they broadcast to
    those dimensions. With `statistics` there are two more results: the mean and
    1 / sqrt(variance + epsilon), of size 1 in the dimensions from `axis` on, as
    f32, or f64 if the input is.

    Constraints:
    - (C1) 0 <= axis < rank.
    - (C2) there are at most two parameters, which broadcast to the dimensions
      from axis on.
    - (C3) epsilon is not negative.
    - (C4) the elements of all operands are floats.
    - (C5) the input is row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Variadic<Tarpon_Tensor>:$parameters,
                       I64Attr:$axis, F32Attr:$epsilon, UnitAttr:$statistics);
  let results = (outs Variadic<Tarpon_Tensor>:$results);
}

def Tarpon_BatchNormTrainingOp : Tarpon_GraphOp<"batch_norm_training", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface,
        ["supportsLayout", "isParameterOperand"]>]> {
  let summary = "Batch normalisation by the statistics of the batch";
  let description = [{
    (x - m) / sqrt(v + epsilon) * scale + bias, with the mean m and the variance
    v over all images: with `spatial` per channel over all pixels, otherwise per
    place in an image. The other results are m, 1 / sqrt(v + epsilon), and the
    running statistics (1 - factor) * mean + factor * m and (1 - factor) *
    variance + factor * v; with `unbiased`, that v divides by one less than the
    number of elements. They are f32, or f64 if the input is.

    Constraints:
    - (C1) the input has rank 2 or more.
    - (C2) scale, bias, mean and variance are vectors of C elements, or without
      `spatial` have the shape of one image: the input's, with one for N.
    - (C3) epsilon is not negative.
    - (C4) the elements of all operands are floats.
    - (C5) without `spatial` the input is row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$scale,
                       Tarpon_Tensor:$bias, Tarpon_Tensor:$mean,
                       Tarpon_Tensor:$variance, F32Attr:$epsilon,
                       F32Attr:$factor,
                       DefaultValuedAttr<BoolAttr, "false">:$unbiased,
                       DefaultValuedAttr<BoolAttr, "true">:$spatial);
  let results = (outs Tarpon_Tensor:$result, Tarpon_Tensor:$batch_mean,
                      Tarpon_Tensor:$inverse_deviation,
                      Tarpon_Tensor:$running_mean,
                      Tarpon_Tensor:$running_variance);
}

def Tarpon_GroupNormOp : Tarpon_GraphOp<"group_norm", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface,
        ["supportsLayout", "isParameterOperand"]>]> {
  let summary = "Normalisation of groups of channels, each image by itself";
  let description = [{
    (x - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance
    over the C/groups channels of a group and all spatial dimensions.
    `parameters` are the scale and the bias, both optional. With as many groups
    as channels this is instance normalisation.

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
