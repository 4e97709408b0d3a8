//===- TarponResizeOps.td - Interpolation -------------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONRESIZEOPS_TD
#define TARPON_IR_TARPONRESIZEOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_ResizeMode : I32EnumAttr<"ResizeMode", "how elements are made up", [
    I32EnumAttrCase<"Nearest", 0, "nearest">,
    I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_ResizeCoordinates : I32EnumAttr<"ResizeCoordinates",
    "which place of the input a place of the result is", [
    I32EnumAttrCase<"HalfPixel", 0, "half_pixel">,
    I32EnumAttrCase<"PytorchHalfPixel", 1, "pytorch_half_pixel">,
    I32EnumAttrCase<"AlignCorners", 2, "align_corners">,
    I32EnumAttrCase<"Asymmetric", 3, "asymmetric">,
    I32EnumAttrCase<"TfHalfPixelForNn", 4, "tf_half_pixel_for_nn">,
    I32EnumAttrCase<"TfCropAndResize", 5, "tf_crop_and_resize">,
    I32EnumAttrCase<"HalfPixelSymmetric", 6, "half_pixel_symmetric">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_ResizeRounding : I32EnumAttr<"ResizeRounding",
    "which element is the nearest", [
    I32EnumAttrCase<"RoundPreferFloor", 0, "round_prefer_floor">,
    I32EnumAttrCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
    I32EnumAttrCase<"Floor", 2, "floor">,
    I32EnumAttrCase<"Ceil", 3, "ceil">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_ResizeOp : Tarpon_GraphOp<"resize", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["supportsLayout", "prefersLayout"]>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface>]> {
  let summary = "Interpolation at other places, dimension by dimension (ONNX Resize)";
  let description = [{
    The result has the shape `sizes`. Place x of a result dimension lies at a
    place of the input that follows from `coordinates`, the dimension's entry in
    `scales` and, for tf_crop_and_resize, `roi` (begins, then ends, in units of
    the dimension). The result is interpolated from the elements around it by
    `mode`; elements outside of the input equal those at its border, or with
    `exclude_outside` have no weight. With tf_crop_and_resize, places outside of
    the input give `extrapolation`.

    Constraints:
    - (C1) sizes and scales have one entry per dimension, all positive.
    - (C2) roi is empty, or has two entries per dimension.
    - (C3) in the modes linear and cubic, and with tf_crop_and_resize, the
      elements are floats or quantised.
    - (C4) in nhwc and blocked layouts batch and channels keep their sizes, with
      scales of 1, and there is no roi.
  }];
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$sizes,
                       DenseF64ArrayAttr:$scales, DenseF64ArrayAttr:$roi,
                       Tarpon_ResizeMode:$mode,
                       Tarpon_ResizeCoordinates:$coordinates,
                       DefaultValuedAttr<Tarpon_ResizeRounding, "::tarpon::ResizeRounding::RoundPreferFloor">:$rounding,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubic_a,
                       DefaultValuedAttr<BoolAttr, "false">:$exclude_outside,
                       DefaultValuedAttr<F64Attr, "0.0">:$extrapolation);
  let hasFolder = 1;
}

#endif // TARPON_IR_TARPONRESIZEOPS_TD
