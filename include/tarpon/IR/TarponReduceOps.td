//===- TarponReduceOps.td - Reductions ----------------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONREDUCEOPS_TD
#define TARPON_IR_TARPONREDUCEOPS_TD

include "tarpon/IR/TarponOpBase.td"

class Tarpon_ReduceOp<string mnemonic, string what> : Tarpon_GraphOp<mnemonic, [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["supportsLayout", "prefersLayout"]>]> {
  let summary = what # ", over some dimensions";
  let description = [{
    With `keepdims` the reduced dimensions stay, with a size of 1.

    Constraints:
    - (C1) axes ascend, there is at least one, and each is a dimension of the
      input.
    - (C2) no reduced dimension is empty.
    - (C3) the elements are floats or integers of 8 bits or more; for means,
      roots and logarithms, floats.
    - (C4) without keepdims the input is row-major, and no layout is blocked.
  }];
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims);
}

def Tarpon_ReduceSumOp : Tarpon_ReduceOp<"reduce_sum", "Sum">;
def Tarpon_ReduceMeanOp : Tarpon_ReduceOp<"reduce_mean", "Mean">;
def Tarpon_ReduceMaxOp : Tarpon_ReduceOp<"reduce_max", "Maximum">;
def Tarpon_ReduceMinOp : Tarpon_ReduceOp<"reduce_min", "Minimum">;
def Tarpon_ReduceProdOp : Tarpon_ReduceOp<"reduce_prod", "Product">;
def Tarpon_ReduceL1Op : Tarpon_ReduceOp<"reduce_l1", "Sum of magnitudes">;
def Tarpon_ReduceL2Op : Tarpon_ReduceOp<"reduce_l2", "Root of the sum of squares">;
def Tarpon_ReduceSumSquareOp : Tarpon_ReduceOp<"reduce_sum_square", "Sum of squares">;
def Tarpon_ReduceLogSumOp : Tarpon_ReduceOp<"reduce_log_sum", "Logarithm of the sum">;
def Tarpon_ReduceLogSumExpOp : Tarpon_ReduceOp<"reduce_log_sum_exp",
    "Logarithm of the sum of exponentials">;

class Tarpon_ArgOp<string mnemonic, string what> : Tarpon_GraphOp<mnemonic, [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["supportsLayout", "prefersLayout"]>]> {
  let summary = "Index of the " # what # " along one dimension";
  let description = [{
    Of several the first one, or with `select_last_index` the last one. The result
    is of i64.

    Constraints:
    - (C1) 0 <= axis < rank.
    - (C2) the dimension is not empty.
    - (C3) the elements are floats or integers of 8 bits or more.
    - (C4) without keepdims the input is row-major, and no layout is blocked.
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last_index);
}

def Tarpon_ArgMaxOp : Tarpon_ArgOp<"arg_max", "largest element">;
def Tarpon_ArgMinOp : Tarpon_ArgOp<"arg_min", "smallest element">;

#endif // TARPON_IR_TARPONREDUCEOPS_TD
