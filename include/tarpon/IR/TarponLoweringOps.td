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
    `tarpon.convert` is the root; the ops behind it are elementwise, except that
    one may be a convolution or a product whose first operand is the value of
    the ops before it (their consumer, see Producer.h). They form a chain: each
    takes the result of the previous one, and otherwise only region
    arguments (or converts of them). `tarpon.convert`s of region arguments state
    the type in which an operand is stored, a `tarpon.convert` before the yield
    that of the result. If the root has several results, the chain continues
    from the first; the others leave the region unchanged.

    `problem` is what the region poses: poseProblem sets it once nothing will
    change the region any more, in tarpon-select-solutions at the latest, which
    sets `solution`. A pass that changes the region all the same makes a new one
    or drops both (dropSolution).

    Constraints:
    - (C1) region arguments have the types of the operands.
    - (C2) a `tarpon.yield` of one value of each result's type ends the region.
    - (C3) every op in the region is a tarpon op without a region of its own.
    - (C4) ops behind the root are elementwise or converts, but for one
      consumer at most, whose first operand is stored like that of the region.
    - (C5) the ops form a chain as described, and the last one is yielded.
    - (C6) the results of the root behind the first are yielded behind the chain,
      in order.
    - (C7) elements are of types that kernels know (see isElementType).
    - (C8) `problem`, if it is there, is that of the region's ops and types, but
      that an operand which is a constant may be taken for a variable one.
    - (C9) the root is an operation that problems have (Ops.def), no view.

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
                       OptionalAttr<Tarpon_SolutionAttr>:$solution,
                       OptionalAttr<Tarpon_ProblemAttr>:$problem);
  let results = (outs Variadic<Tarpon_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The first op of the region that is not a convert; in a region of
    /// converts only, the first of them.
    ::mlir::Operation *getRoot();

    /// The first result.
    ::mlir::TypedValue<::mlir::RankedTensorType> getResult() {
      return ::llvm::cast<::mlir::TypedValue<::mlir::RankedTensorType>>(
          getResults().front());
    }
    /// The results behind the first.
    ::mlir::ResultRange getMoreResults() {
      return (*this)->getResults().drop_front();
    }
    /// The type of the first result.
    ::mlir::RankedTensorType getType() { return getResult().getType(); }

    /// Drops the problem and the solution, which were those of the old region.
    void dropSolution() {
      removeProblemAttr();
      removeSolutionAttr();
    }
  }];
}

def Tarpon_YieldOp : Tarpon_Op<"yield", [Pure, Terminator, HasParent<"FusedOp">]> {
  let summary = "The results of a fused region";
  let arguments = (ins Tarpon_Tensor:$value,
                       Variadic<Tarpon_Tensor>:$more_values);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def Tarpon_LaunchOp : Tarpon_Op<"launch", [Pure]> {
  let summary = "A problem with the solution that computes it, placed in memory";
  let description = [{
    What tarpon-lower-to-launches makes of a fused region. `problem` is what the
    region posed (packaging checks that it fits the types), `may_overwrite` the
    inputs that the result may lie in the place of, if nothing reads them
    afterwards. tarpon-plan-memory sets `offset` (of the result, in the arena;
    -1 for a result of the model, which has memory of its own), `more_offsets`
    (those of the other results, if there are any) and `workspace_offset`.

    Constraints: (C1) `offset` and `more_offsets` are not negative, or -1;
    `workspace_offset` is a multiple of 64, or -1. (C2) workspace_bytes is not
    negative. (C3) there is a result, and `more_offsets` has one entry for each
    behind the first. (C4) `may_overwrite` has indices of inputs, and there is
    one result if it is there.
  }];
  let arguments = (ins Variadic<Tarpon_Tensor>:$inputs, StrAttr:$name,
                       Tarpon_ProblemAttr:$problem,
                       Tarpon_SolutionAttr:$solution,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$workspace_offset,
                       OptionalAttr<DenseI64ArrayAttr>:$more_offsets,
                       OptionalAttr<DenseI64ArrayAttr>:$may_overwrite);
  let results = (outs Variadic<Tarpon_Tensor>:$results);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The first result.
    ::mlir::TypedValue<::mlir::RankedTensorType> getResult() {
      return ::llvm::cast<::mlir::TypedValue<::mlir::RankedTensorType>>(
          getResults().front());
    }
    /// The results behind the first.
    ::mlir::ResultRange getMoreResults() {
      return (*this)->getResults().drop_front();
    }

    /// The place of a result: `offset` for the first, `more_offsets` for the
    /// others. None before memory is planned.
    std::optional<int64_t> getResultOffset(unsigned index);
    /// Sets the place. The offsets of results that have none yet become -1.
    void setResultOffset(unsigned index, int64_t offset);
  }];
}

#endif // TARPON_IR_TARPONLOWERINGOPS_TD
