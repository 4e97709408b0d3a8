//===- Passes.td - The passes of Tarpon --------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_PASSES_TD
#define TARPON_PASSES_PASSES_TD

include "tarpon/Passes/PassBase.td"
include "tarpon/Passes/SimplifyPasses.td"

//===----------------------------------------------------------------------===//
// Choice of fusion, dtype and layout
//===----------------------------------------------------------------------===//

def SumInFloatsPass : Tarpon_FuncPass<"tarpon-sum-in-floats"> {
  let summary = "Add up products of integers in f32, where that is read";
  let description = [{
    Sums and differences in i32 of products (matmuls of values that are quantised
    with a scale of 1), converted to f32, are computed in f32, where they are
    epilogues of the products:

    ```mlir
    %2 = tarpon.convert %0 : tensor<2x2xf32> -> tensor<2x2xi32>
    %3 = tarpon.sub %2, %1 : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %4 = tarpon.convert %3 : tensor<2x2xi32> -> tensor<2x2xf32>
    // becomes
    %2 = tarpon.convert %1 : tensor<2xi32> -> tensor<2xf32>
    %3 = tarpon.sub %0, %2 : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    ```

    Sums of 2^24 and more are rounded to 24 bits. That is done where the choice is
    fp32: narrower floats would not hold the parts.
  }];
}

def RoundInEpiloguesPass : Tarpon_FuncPass<"tarpon-round-in-epilogues"> {
  let summary = "Round to 8 bits what an elementwise op reads next";
  let description = [{
    Where a quantised model rounds the operand of an elementwise op, and nothing
    else reads it, the rounding is computed in f32 and not stored: the op, and
    those behind it, are then an epilogue of what computes the operand. One
    operand of each op is, that of a product in front of others, since the others
    are stored and better stored in 8 bits.

    ```mlir
    %1 = tarpon.convert %0 : tensor<4x8xf32> -> tensor<4x8x!quant.uniform<u8:f32, 0.5:3>>
    %2 = tarpon.convert %1 : tensor<4x8x!quant.uniform<u8:f32, 0.5:3>> -> tensor<4x8xf32>
    %3 = tarpon.add %2, %residual : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // becomes
    %1 = tarpon.mul %0, %two : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
    %2 = tarpon.round %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = tarpon.clip %2 {low = -3.0 : f64, high = 252.0 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = tarpon.mul %3, %half : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
    %5 = tarpon.add %4, %residual : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    Runs in front of tarpon-fuse, unless fusion is off.
  }];
  let statistics = [
    Statistic<"numRounded", "num-rounded", "Values that are not stored">
  ];
}

def ScaleOperandsPass : Tarpon_FuncPass<"tarpon-scale-operands"> {
  let summary = "Scale what products read, not what they give";
  let description = [{
    A matmul's result that is read once, by a product with a constant number
    below 1, is not scaled, but the left-hand side is: results that are stored
    without an epilogue may not fit into f16 unscaled. Runs where fusion is off.

    ```mlir
    %0 = tarpon.matmul %x, %y : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
    %1 = tarpon.mul %0, %s : (tensor<6x4xf32>, tensor<1xf32>) -> tensor<6x4xf32>
    // becomes
    %0 = tarpon.mul %x, %s : (tensor<6x5xf32>, tensor<1xf32>) -> tensor<6x5xf32>
    %1 = tarpon.matmul %0, %y : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
    ```
  }];
}

def AssignDtypePass : Tarpon_FuncPass<"tarpon-assign-dtype"> {
  let summary = "Store activations and filters in float types";
  let description = [{
    Runs on fused functions. Every f32 activation that is passed from one region
    to another, and every constant filter, is stored in the chosen type; the
    function keeps its own types. Inside a region
    - an op that accumulates reads low precision and gives f32,
    - an op that only passes elements on or selects (pooling, concat) works in
      the storage type,
    - everything else computes in f32 between tarpon.converts,
    and the last op is a tarpon.convert to the storage type, unless the result
    leaves the function. Constants besides filters stay f32. A function argument
    is converted at graph level where a region reads it in low precision;
    regions that compute in f32 anyway read it as it is. Integers, f64 and
    quantised values are left alone, as are ops outside of fused regions.

    A region with the attribute `tarpon.precision` ("fp32", "fp16", "bf16") has
    that in place of the chosen type. A result is then stored as its readers want
    it, in the type of their own precision. If they disagree, it is stored in the
    type of the region that makes it, if one of them has that precision, and in
    that of the first of them otherwise; roots of the others that read stored
    types get a tarpon.convert at graph level, one per value and type. "int8"
    marks a region that tarpon-quantize was in charge of before: it reads floats
    of any type, and gives f32 unless its readers want another type. The pass
    removes the attributes.

    ```mlir
    %1 = tarpon.fused(%a = %0, ...) ... attributes {tarpon.precision = "fp32"} {
      %2 = tarpon.conv ... // Gives f16 if the next region is the only reader.
    ...
    %3 = tarpon.fused(%a = %1, ...) ... attributes {tarpon.precision = "fp16"} {
    ```
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", /*default=*/"\"fp32\"",
           "fp32 (changes nothing), fp16 or bf16: for regions without tarpon.precision.">
  ];
}

def AssignLayoutPass : Tarpon_FuncPass<"tarpon-assign-layout"> {
  let summary = "Lay out activations in memory";
  let description = [{
    Runs on fused functions. A region computes in the chosen layout if all its
    ops support it; its filters and per-channel vectors stay row-major. A region
    whose ops gain nothing from the layout (elementwise ones, concats, pads,
    reductions) follows its data: it computes in the layout only if one of its
    operands already has it. Other regions, reshapes, and
    values of a rank below 3 stay row-major, as do the function's arguments and
    results. A tarpon.convert at graph level is inserted where producer and
    consumer disagree, one per value and layout.

    A region with the attribute `tarpon.layout` ("nchw", "nhwc", ...) computes in
    that layout in place of the chosen one if all its ops support it, also if it
    gains nothing from it. The pass removes the attributes.
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"\"nchw\"",
           "nchw (changes nothing), nhwc, or blocked as nchw16c: for regions without tarpon.layout.">
  ];
}

def SplitRegionsPass : Tarpon_FuncPass<"tarpon-split-regions"> {
  let summary = "Make a region of each op of regions that are not to be fused";
  let description = [{
    Runs on fused functions, in front of the passes that choose dtypes and
    layouts. A region with the attribute `tarpon.unfused` becomes one region
    for each of its ops, which have its precision, its layout and its index; the
    last one has the range of its result. A region that is to compute in int8
    cannot be split, since the ranges of the values within it are unknown.

    ```mlir
    %0 = tarpon.fused(%a0 = %x, %a1 = %w) attributes {tarpon.unfused} ... {
      %1 = tarpon.conv %a0, %a1 ...
      %2 = tarpon.relu %1 ...
    }
    // becomes
    %1 = tarpon.fused(%a0 = %x, %a1 = %w) ... { tarpon.conv %a0, %a1 ... }
    %0 = tarpon.fused(%a0 = %1) ... { tarpon.relu %a0 ... }
    ```
  }];
  let statistics = [
    Statistic<"numSplit", "num-split", "Regions that were split">
  ];
}

def SplitTransposesPass : Tarpon_FuncPass<"tarpon-split-transposes"> {
  let summary = "Let transposes read and write the chosen layout";
  let description = [{
    Runs on fused functions, in front of tarpon-assign-layout. A transpose, with
    reshapes around it, of a value that will lie in nhwc becomes a conversion
    to nhwc, which is dropped later, and the transpose of a tensor whose last
    dimension is the channels; the same holds for one whose result is wanted
    in nhwc. Often no transpose is left: one from NCHW to a row per pixel costs
    nothing in nhwc. The attribute `tarpon.layout` of a region says in which layout
    that region will compute, as in tarpon-assign-layout.

    ```mlir
    %0 = tarpon.reshape %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x64xf32>
    %1 = tarpon.fused(%a0 = %0) ... { tarpon.transpose %a0 {permutation = array<i64: 0, 2, 1>} ... }
    // becomes
    %0 = tarpon.convert %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
    %1 = tarpon.reshape %0 : (tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>) -> tensor<1x64x4xf32>
    ```
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"\"nchw\"",
           "nchw or blocked (changes nothing), or nhwc: for regions without tarpon.layout.">
  ];
}

def FusePass : Tarpon_FuncPass<"tarpon-fuse"> {
  let summary = "Wrap ops into regions of one launch each";
  let description = [{
    With mode=on, an op that accumulates (conv, matmul) or is elementwise is
    fused with the longest following chain of elementwise ops of its result's
    type, as long as each value has one use. Where two chains meet, the later op
    takes the rest. The region's arguments are the operands of the root, then
    those of the other ops in order.

    ```mlir
    %0 = tarpon.conv %x, %w ...
    %1 = tarpon.add %0, %b ...
    // becomes
    %1 = tarpon.fused(%a0 = %x, %a1 = %w, %a2 = %b) ... {
      %2 = tarpon.conv %a0, %a1 ...
      %3 = tarpon.add %2, %a2 ...
      tarpon.yield %3 ...
    }
    ```

    A convert from f32 to 8 bits behind a chain becomes its last op, and converts
    from 8 bits in front of one are computed in each region that reads them.

    All other ops, and with mode=off all ops, are wrapped alone. Constants and
    reshapes (which are views) are never wrapped, nor are ops that use a type
    which kernels do not support. Existing regions are left alone, so that the
    pass can run again for ops that were added later.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"on\"",
           "on or producers, which are the same here, or off: every op alone.">
  ];
  let statistics = [
    Statistic<"numRegions", "num-regions", "Fused regions made">,
    Statistic<"numEpilogueOps", "num-epilogue-ops", "Ops that became epilogue">
  ];
}

def QuantizePass : Tarpon_FuncPass<"tarpon-quantize"> {
  let summary = "Store activations and filters in 8 bits";
  let description = [{
    Runs on fused, calibrated functions: the attribute
    `tarpon.range = array<f32: low, high>` of a region, or of a function
    argument, holds the range of its values. Activations become u8 with one
    scale and zero point, 0 being exactly representable; constant filters become
    i8 with one scale per channel and zero point 0. Inside a region
    - an op that accumulates reads quantised operands and gives f32; without
      constant filters (a matmul of two activations) it computes in f32,
    - an op that only passes elements on (pooling, concat) works in the quantised
      type; operands of a concat are converted to the type of the union of their
      ranges,
    - everything else computes in f32 between tarpon.converts.
    A result stays f32 if it leaves the function, if only an f32 region whose
    result leaves the function reads it (logits before the last softmax), and if
    only converts read it, as in a model that was quantised before it was
    imported. Such converts are left as they are.

    All that holds for regions in int8: those with the attribute
    `tarpon.precision = "int8"`, and by default those without one. A region with
    another precision reads floats where its root reads what is stored, and
    converts operands of its epilogue inside. A result becomes u8 if all readers
    are in int8; if some are not, it becomes u8 only if the region that makes it
    is in int8, or if that has the precision of none of them and the first of them
    is in int8. The other readers get a tarpon.convert at graph level, one per
    value and type. So a change of precision along a chain costs no launch: a
    region in fp32 writes u8 for one in int8, and the other way round. The
    attributes stay, for tarpon-assign-dtype.

    A range that is needed and missing is an error; where no region is in int8,
    none is needed.
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", /*default=*/"\"int8\"",
           "The precision of regions without tarpon.precision: fp32, fp16, bf16 or int8.">
  ];
}

def RemoveRedundantConvertsPass
    : Tarpon_FuncPass<"tarpon-remove-redundant-converts"> {
  let summary = "Merge and drop conversions";
  let description = [{
    - A convert to the value's own type is dropped; one of a constant is
      evaluated.
    - Two successive converts become one, if the type between them holds every
      value of the first type, or if the second one changes only the layout.
    - Equal converts of one value are merged.
    - A convert between layouts that are the same in memory (nhwc with all
      spatial dimensions 1) becomes a tarpon.reshape, which costs nothing.
  }];
  let statistics = [
    Statistic<"numRemoved", "num-removed", "Converts that are no longer there">
  ];
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

class Tarpon_TargetPass<string argument> : Tarpon_FuncPass<argument> {
  /// Programs pass a TargetInfo instead.
  list<Option> targetOptions = [
    Option<"targetName", "target", "std::string", /*default=*/"\"\"",
           "The target, which overrides that of the module's attribute tarpon.target.">,
    Option<"threads", "threads", "int64_t", /*default=*/"0",
           "Threads that the model will run on (default: as the target says).">
  ];
}

def RaiseAttentionPass : Tarpon_TargetPass<"tarpon-raise-attention"> {
  let summary = "Find attention in products and softmaxes";
  let description = [{
    Runs before fusion. matmul(softmax(scale * matmul(q, k^T) + mask), v)
    becomes a tarpon.attention: the softmax runs over the last axis; scale and
    mask may be missing; the scale may be a factor or a divisor of the scores,
    of the queries or of the keys; the keys may be transposed by an op of their
    own. A mask of 0 and of -1e30 or less that only hides later keys becomes
    `causal`. What sets the probabilities of fully masked queries to zero goes,
    if the mask is constant and there are none.

    Only values that nothing else reads are replaced; and only where the target
    has a solver for the problem in the chosen type, beside the one that takes
    everything, that is expected to be faster than the products and the softmax.
  }];
  let options = targetOptions # [
    Option<"dtype", "dtype", "std::string", /*default=*/"\"fp32\"",
           "fp32, fp16 or bf16: in what the model will compute.">
  ];
  let statistics = [Statistic<"numRaised", "num-raised",
                              "Softmaxes that became attention">];
}

def EliminateConcatsPass : Tarpon_TargetPass<"tarpon-eliminate-concats"> {
  let summary = "Let producers write where a concat would copy";
  let description = [{
    Runs on fused functions. A region that only concatenates along the channels
    becomes a tarpon.join, which takes no time; its operands become slices (an
    nhwc layout with a pitch) or, where channels are outermost and there is one
    image, stay as they are.

    An operand that cannot be a slice is copied by a region of its own: an
    argument, a constant or a view, a value that leaves the function or is a
    slice already, and a value whose producer or reader would lose the solver
    that it has without slices. A concat all of whose operands would be copied
    is left alone, as is one whose result leaves the function.

    ```mlir
    %a = tarpon.fused(...) ... -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
    %c = tarpon.fused(%0 = %a, %1 = %b) ... { tarpon.concat %0, %1 ... }
    // becomes
    %a = tarpon.fused(...) ... -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc, pitch = 12>>
    %c = tarpon.join %a, %b ...
    ```
  }];
  let options = targetOptions;
  let statistics = [
    Statistic<"numEliminated", "num-eliminated", "Concats that became joins">,
    Statistic<"numCopies", "num-copies", "Operands of them that are copied">
  ];
}

def EliminateSlicesPass : Tarpon_TargetPass<"tarpon-eliminate-slices"> {
  let summary = "Let readers read where a slice would copy";
  let description = [{
    Runs on fused functions. A region that only selects some channels of another
    region's result becomes a tarpon.slice, which takes no time: in nhwc a
    tensor with a pitch; if channels are outermost and there is one image, it is
    contiguous. So is a slice of any other dimension that only dimensions of
    size 1 precede; there the tarpon.slice is between reshapes.

    It stays a copy if a reader would lose the solver that it has without
    slices, if the channels are joined with others, or if either tensor leaves
    the function.

    ```mlir
    %s = tarpon.fused(%0 = %x) ... { tarpon.pad %0 {pads = array<i64: 0, -4, 0, 0, ...>} ... }
    // becomes
    %s = tarpon.slice %x {offset = 4 : i64} ... -> tensor<1x8x8x8xf32, #tarpon.layout<nhwc, pitch = 12>>
    ```
  }];
  let options = targetOptions;
  let statistics = [
    Statistic<"numEliminated", "num-eliminated", "Copies that became slices">
  ];
}

def FuseProducersPass : Tarpon_TargetPass<"tarpon-fuse-producers"> {
  let summary = "Let a region compute what its root reads";
  let description = [{
    Runs on fused functions, behind all passes that change types. A region whose
    result only the root of another region reads, as its first operand, moves in
    front of that root, if it is a convolution or a matrix product and the
    target's first-ranking solver of both was made for such problems and takes
    fewer launches than those of the two. A value between them that is not
    stored like the region's first operand keeps them apart, as do views, slices
    and quantised values.

    ```mlir
    %a = tarpon.fused(%0 = %x, %1 = %w, %2 = %b) ... { tarpon.conv %0, %1 ... tarpon.add ... }
    %c = tarpon.fused(%0 = %a, %1 = %v) ... { tarpon.conv %0, %1 ... }
    // becomes
    %c = tarpon.fused(%0 = %x, %1 = %w, %2 = %b, %3 = %v) ... {
      %4 = tarpon.conv %0, %1 ...
      %5 = tarpon.add %4, %2 ...
      %6 = tarpon.conv %5, %3 ...
    }
    ```
  }];
  let options = targetOptions;
  let statistics = [
    Statistic<"numFused", "num-fused", "Regions that moved into another one">
  ];
}

def LowerToLaunchesPass : Tarpon_TargetPass<"tarpon-lower-to-launches"> {
  let summary = "Turn fused regions with solutions into launches";
  let description = [{
    Each region becomes a tarpon.launch that carries its problem key, its
    solution and the workspace that the solution needs. Launches are named after
    the location of the root op, or `<op>_<index>` if that has no name; names are
    unique in a function. A region without a solution, a solution that does not
    fit the problem, and an op outside of a region are errors.
  }];
  let options = targetOptions;
}

def PlanMemoryPass : Tarpon_FuncPass<"tarpon-plan-memory"> {
  let summary = "Place results and workspaces in one arena";
  let description = [{
    Buffers that are not in use at the same time share memory. A result is in
    use from its launch to the last launch that reads it, also through reshapes;
    a workspace during its launch. Joined tensors lie in one buffer, which is in
    use from the first launch that writes to it. A result overwrites an input if
    its launch allows it and nothing else reads that input then or later. The
    largest buffers are placed first, each in the smallest gap that holds it.
    Offsets are aligned, and behind each buffer there is room for reads of a
    whole vector.

    A result that the function returns has memory of its own (offset -1), unless
    it is returned twice or through a reshape. The function's attribute
    `tarpon.arena_bytes` is the size of the arena.
  }];
  let statistics = [
    Statistic<"bufferBytes", "buffer-bytes", "Bytes of all buffers">,
    Statistic<"arenaBytes", "arena-bytes", "Bytes of the arena">
  ];
}

def SelectSolutionsPass : Tarpon_TargetPass<"tarpon-select-solutions"> {
  let summary = "Attach a solution to every fused region";
  let description = [{
    On the command line, the pass takes the first applicable solver with its
    default config, or the solver with the given id where that is applicable
    (otherwise a remark says why not). Programs pass a SolutionChooser. The
    region also holds the problem from here on that the solution is for.
  }];
  let options = !listconcat([
    Option<"solver", "solver", "std::string", /*default=*/"\"\"",
           "The id of the solver to prefer.">
  ], targetOptions);
}

#endif // TARPON_PASSES_PASSES_TD
