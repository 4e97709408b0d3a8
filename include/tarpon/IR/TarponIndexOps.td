//===- TarponIndexOps.td - Elements selected at run time ----------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONINDEXOPS_TD
#define TARPON_IR_TARPONINDEXOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_WhereOp : Tarpon_GraphOp<"where"> {
  let summary = "condition ? lhs : rhs";
  let description = [{
    All operands are broadcast as in NumPy.

    Constraints:
    - (C1) the condition is of i1.
    - (C2) lhs and rhs have the same element type.
    - (C3) the shapes broadcast.
    - (C4) the operands are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$condition, Tarpon_Tensor:$lhs, Tarpon_Tensor:$rhs);
  let hasFolder = 1;
}

def Tarpon_GatherOp : Tarpon_GraphOp<"gather"> {
  let summary = "Slices of the input at indices along one dimension";
  let description = [{
    The shape of the indices replaces dimension `axis` of the input. An index
    below 0 counts from the end; one that is out of range is moved to the nearest
    end.

    Constraints:
    - (C1) 0 <= axis < rank of the input.
    - (C2) the dimension is not empty.
    - (C3) the indices are of i64.
    - (C4) input and indices are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$indices, I64Attr:$axis);
  let hasFolder = 1;
}

def Tarpon_ScatterMode : I32EnumAttr<"ScatterMode", "what becomes of the element that was there", [
    I32EnumAttrCase<"Replace", 0, "replace">,
    I32EnumAttrCase<"Add", 1, "add">,
    I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">,
    I32EnumAttrCase<"Min", 4, "min">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_ScatterOp : Tarpon_GraphOp<"scatter"> {
  let summary = "The input with some slices replaced, or combined with updates";
  let description = [{
    Slice `indices[i]` of the input's first dimension is combined with slice i of
    the updates, in their order. An index below 0 counts from the end; one that
    is out of range is ignored.

    Constraints:
    - (C1) the input has a rank of 1 or more.
    - (C2) the indices are of i64 and rank 1.
    - (C3) the updates have the input's element type and shape, but for the first
      dimension, which is that of the indices.
    - (C4) the elements are floats or integers of 8 bits or more, unless the mode
      is replace.
    - (C5) the operands are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$indices, Tarpon_Tensor:$updates,
                       Tarpon_ScatterMode:$mode);
}

def Tarpon_TopKOp : Tarpon_GraphOp<"top_k"> {
  let summary = "Indices of the k largest or smallest elements along one dimension";
  let description = [{
    The result is of i64, has k places in dimension `axis`, and begins with the
    index of the largest element, or of the smallest one without `largest`. Of
    equal elements the first one comes first; NaN counts as larger than numbers.

    Constraints:
    - (C1) 0 <= axis < rank.
    - (C2) k is from 1 to the size of the dimension.
    - (C3) the elements are floats or integers of 8 bits or more.
    - (C4) the input is row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$axis, I64Attr:$k,
                       DefaultValuedAttr<BoolAttr, "true">:$largest);
}

#endif // TARPON_IR_TARPONINDEXOPS_TD
