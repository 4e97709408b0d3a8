//===- TarponLoweringOps.td - Fused regions and launches ----------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONLOWERINGOPS_TD
#define TARPON_IR_TARPONLOWERINGOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_FusedOp : Tarpon_Op<"fused", [Pure, IsolatedFromAbove,
    SingleBlock]> {
  let summary = "One launch: a root operation and its epilogue";
  let description = [{
    The region's arguments are the operands. Its first op that is not a
    `tarpon.convert` is the root; the ops behind it are elementwise and form a
    chain: each takes the result of the one before it, and else only region
    arguments (or converts of them). `tarpon.convert`s of region arguments state
    in which type an operand is stored, a `tarpon.convert` before the yield in
    which type the result is stored.

    `solution` is set by the pass tarpon-select-solutions.

    Constraints:
    - (C1) region arguments have the types of the operands.
    - (C2) a `tarpon.yield` of a value of the result's type ends the region.
    - (C3) every op in the region is a tarpon op without a region of its own.
    - (C4) ops behind the root are elementwise or converts.
    - (C5) the ops form a chain as described, and the last one is yielded.

    Example:
    ```mlir
    %y = tarpon.fused(%a = %x, %b = %bias) : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
      %0 = tarpon.add %a, %b : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
      %1 = tarpon.relu %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
      tarpon.yield %1 : tensor<1x4x8x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Tarpon_Tensor>:$inputs,
                       OptionalAttr<Tarpon_SolutionAttr>:$solution);
  let results = (outs Tarpon_Tensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The first op of the region that is not a convert; in a region of
    /// converts only, the first of them.
    ::mlir::Operation *getRoot();
  }];
}

def Tarpon_YieldOp : Tarpon_Op<"yield", [Pure, Terminator, HasParent<"FusedOp">]> {
  let summary = "The result of a fused region";
  let arguments = (ins Tarpon_Tensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tarpon_LaunchOp : Tarpon_Op<"launch", [Pure]> {
  let summary = "A problem with the solution that computes it, placed in memory";
  let description = [{
    What tarpon-lower-to-launches makes of a fused region. `problem` is the
    canonical problem key. tarpon-plan-memory sets `offset` (of the result, in
    the arena; -1 for a result of the model, which has memory of its own) and
    `workspace_offset`.

    Constraints: (C1) `offset` is not negative, or -1; `workspace_offset` is a
    multiple of 64, or -1. (C2) workspace_bytes is not negative.
  }];
  let arguments = (ins Variadic<Tarpon_Tensor>:$inputs, StrAttr:$name, StrAttr:$problem,
                       Tarpon_SolutionAttr:$solution,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$workspace_offset);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
}

#endif // TARPON_IR_TARPONLOWERINGOPS_TD
