//===- TarponSampleOps.td - Elements between those of images ------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONSAMPLEOPS_TD
#define TARPON_IR_TARPONSAMPLEOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_SampleMode : I32EnumAttr<"SampleMode", "how elements are made up", [
    I32EnumAttrCase<"Nearest", 0, "nearest">,
    I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_SamplePadding : I32EnumAttr<"SamplePadding", "what lies outside of an image", [
    I32EnumAttrCase<"Zeros", 0, "zeros">,
    I32EnumAttrCase<"Border", 1, "border">,
    I32EnumAttrCase<"Reflection", 2, "reflection">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_GridSampleOp : Tarpon_GraphOp<"grid_sample"> {
  let summary = "Images interpolated at places that are computed at run time";
  let description = [{
    The grid has the shape N, places..., D for images of D spatial dimensions;
    its last dimension holds a coordinate for each of them, the last one (x)
    first, in pixels: 0 is the middle of the first pixel. The result has the
    shape N, C, places.... Cubic weights are those of `a = -0.75`.

    Outside of the image lie zeros, the pixel at the border, or the image
    reflected: at the middles of its outermost pixels with `align_corners`, at
    their outer edges without.

    Constraints:
    - (C1) the input has rank 3 to 5.
    - (C2) the grid has rank 2 or more, as many images as the input, and a
      coordinate for each spatial dimension.
    - (C3) the elements of both are floats.
    - (C4) input and grid are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$grid,
                       Tarpon_SampleMode:$mode, Tarpon_SamplePadding:$padding,
                       DefaultValuedAttr<BoolAttr, "false">:$align_corners);
}

def Tarpon_RoiAlignOp : Tarpon_GraphOp<"roi_align"> {
  let summary = "Regions of images, pooled to one size";
  let description = [{
    Region i of image `images[i]` has the corners x1, y1, x2, y2 `corners[i]`,
    which are scaled by `scale`, and moved by half a pixel with `half_pixel`. It
    is cut into the cells `sizes`; each is the mean of the image, interpolated
    linearly at `samples` places in each dimension, or at one per pixel if that
    is 0. With `takes_max` it is the largest weighted pixel (ONNX RoiAlign).
    Images beyond the last are the last.

    Constraints:
    - (C1) the input has rank 4.
    - (C2) the corners have the shape R, 4, and the images the shape R.
    - (C3) the images are of i64.
    - (C4) the elements of input and corners are floats.
    - (C5) sizes has two entries, which are positive; samples is not negative.
    - (C6) the operands are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$corners,
                       Tarpon_Tensor:$images, DenseI64ArrayAttr:$sizes,
                       I64Attr:$samples, F64Attr:$scale, BoolAttr:$half_pixel,
                       BoolAttr:$takes_max);
}

def Tarpon_NonMaxSuppressionOp : Tarpon_GraphOp<"non_max_suppression"> {
  let summary = "The boxes of each class that overlap with no better one";
  let description = [{
    `boxes` has the shape N, B, 4: two corners y, x, y, x, or with
    `center_point` x, y, width and height. `scores` and `order` have the shape
    N, C, B; the order lists the boxes of a class, the best one first. A box is
    selected if its score is more than `least_score` (any score is without
    `has_least`), and if it overlaps with no
    box that was selected before in its class by more than `most_overlap`, the
    ratio of intersection and union; in each class at most `limit`.

    The result is of i64 and has the shape N * C * min(limit, B), 3: image,
    class and box of each selected box, class by class, and -1 behind them.
    `count`, of i64 and shape 1, is the number of selected boxes.

    Constraints:
    - (C1) the shapes are as described.
    - (C2) boxes and scores are floats of one type, and the order is of i64.
    - (C3) limit is positive.
    - (C4) the operands are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$boxes, Tarpon_Tensor:$scores,
                       Tarpon_Tensor:$order, I64Attr:$limit,
                       F64Attr:$most_overlap, F64Attr:$least_score,
                       BoolAttr:$has_least, BoolAttr:$center_point);
  let results = (outs Tarpon_Tensor:$result, Tarpon_Tensor:$count);
}

#endif // TARPON_IR_TARPONSAMPLEOPS_TD
