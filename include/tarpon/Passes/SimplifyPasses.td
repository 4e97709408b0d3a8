//===- SimplifyPasses.td - The passes of tarpon-simplify ---*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_SIMPLIFYPASSES_TD
#define TARPON_PASSES_SIMPLIFYPASSES_TD

include "tarpon/Passes/PassBase.td"

def FoldBatchNormPass : Tarpon_FuncPass<"tarpon-fold-batch-norm"> {
  let summary = "Fold batch normalisations into the weights before them";
  let description = [{
    A batch_norm of constant parameters behind an op with constant filters (conv,
    matmul), perhaps with an add of a constant per-channel vector between them,
    becomes scaled filters and one add:

    ```mlir
    %0 = tarpon.conv %x, %w ...
    %1 = tarpon.batch_norm %0, %scale, %bias, %mean, %variance ...
    // becomes
    %0 = tarpon.conv %x, %scaled ...
    %1 = tarpon.add %0, %shift ...
    ```

    If the op in front of it has other users or no constant filters, the
    batch_norm becomes a mul and an add of per-channel constants. A batch_norm
    that is not f32, or whose parameters are not constant, is left alone. The
    new constants are computed in double precision.
  }];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Batch norms folded into filters">,
    Statistic<"numExpanded", "num-expanded", "Batch norms that became mul and add">
  ];
}

def FoldConstantsPass : Tarpon_FuncPass<"tarpon-fold-constants"> {
  let summary = "Evaluate what is constant, drop what is unused";
  let description = [{
    Applies the dialect's folders until nothing changes and erases ops without
    users. Folders decline to make a large constant of a small one.
  }];
  let statistics = [
    Statistic<"numErased", "num-erased", "Ops that are no longer there">
  ];
}

def CropFiltersPass : Tarpon_FuncPass<"tarpon-crop-filters"> {
  let summary = "Drop taps of convolutions that read only padding";
  let description = [{
    With a large dilation, or on a small input, the first and last taps of a
    window may read nothing but padding wherever the window is. They are cropped
    from a constant filter, together with the padding that only they read. A
    dimension in which one tap is left has a dilation of 1:

    ```mlir
    %0 = tarpon.conv %x, %w {pads = array<i64: 9, 9, 9, 9>, dilations = array<i64: 9, 9>, ...} : (tensor<1x4x7x7xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
    // becomes
    %0 = tarpon.conv %x, %v {pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ...} : (tensor<1x4x7x7xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x7x7xf32>
    ```

    At least one tap is left in each dimension, and more if the pads would
    become negative.
  }];
}

def MoveConvolutionsPass : Tarpon_FuncPass<"tarpon-move-convolutions"> {
  let summary = "Convolve images before they are made larger";
  let description = [{
    A 1x1 convolution (stride 1, no pads, one group, constant filter, f32) of a
    resize, or of a concat of channels with resizes among its operands, becomes
    the sum of a resize of a convolution for each resize, and of the convolution
    of the other operands:

    ```mlir
    %0 = tarpon.resize %small ... : (tensor<1x64x8x8xf32>) -> tensor<1x64x16x16xf32>
    %1 = tarpon.concat %0, %large {axis = 1 : i64} ...
    %2 = tarpon.conv %1, %filter ...
    // becomes
    %0 = tarpon.conv %large, %right ...
    %1 = tarpon.conv %small, %left ...
    %2 = tarpon.resize %1 ...
    %3 = tarpon.add %0, %2 ...
    ```

    That is done where the resize makes the image larger, has at least 32
    channels, and has no more of them behind the convolution than in front of it.
    Values in between must have no other use.
  }];
}

def MergeProductsPass : Tarpon_FuncPass<"tarpon-merge-products"> {
  let summary = "Multiply by one matrix in place of two in a row";
  let description = [{
    Of two products with constant matrices (matmuls by a matrix, 1x1 convolutions
    as in tarpon-move-convolutions) with nothing but a constant per-channel add,
    reshapes and transposes between them, one is left, where that takes fewer
    multiplications:

    ```mlir
    %0 = tarpon.matmul %x, %a : (tensor<1x64x16xf32>, tensor<16x32xf32>) -> tensor<1x64x32xf32>
    %1 = tarpon.add %0, %bias : (tensor<1x64x32xf32>, tensor<32xf32>) -> tensor<1x64x32xf32>
    %2 = tarpon.matmul %1, %b : (tensor<1x64x32xf32>, tensor<32x24xf32>) -> tensor<1x64x24xf32>
    // becomes
    %0 = tarpon.matmul %x, %ab : (tensor<1x64x16xf32>, tensor<16x24xf32>) -> tensor<1x64x24xf32>
    %1 = tarpon.add %0, %biasb : (tensor<1x64x24xf32>, tensor<24xf32>) -> tensor<1x64x24xf32>
    ```

    Values in between must have no other use. The new constants are computed in
    double precision. Matrices of more than 2^30 products are left alone.
  }];
}

def MoveActivationsPass : Tarpon_FuncPass<"tarpon-move-activations"> {
  let summary = "Bring activations to what can compute them at no cost";
  let description = [{
    - An activation (an elementwise op of one operand) of a concat that has no
      other use moves to the operands of the concat, if one of them is produced
      by an op that accumulates or is elementwise, and used once: there the
      activation becomes an epilogue. So does one of reshapes and transposes that
      have no other use.
    - Of a factor of a matmul that is a product with a constant number, the number
      becomes a factor of the matmul's result.
    - A relu of a value that cannot be negative is dropped.
    - Of a sum of several values, the one that an op with an epilogue computes
      comes first: (x + y) + conv becomes (conv + y) + x, unless such an op
      computes x + y, too.
  }];
}

def RaiseActivationsPass : Tarpon_FuncPass<"tarpon-raise-activations"> {
  let summary = "Find activations that are written as arithmetic";
  let description = [{
    Exporters write some activations as several ops, which read the input more
    than once and therefore are no epilogue. These become one op, whatever the
    order of factors and summands, of multiplications and divisions:

    | becomes | from |
    |---|---|
    | swish {alpha} | x * sigmoid(alpha * x) |
    | hard_swish | x * hard_sigmoid(x) with 1/6 and 1/2; x * relu6(x + 3) / 6, with any ops that bound from 0 to 6 |
    | gelu | x / 2 * (1 + erf(x / sqrt(2))) |
    | gelu_tanh | x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) |
    | mish | x * tanh(softplus(x)) |

    ```mlir
    %0 = tarpon.sigmoid %x : tensor<1x4x8x8xf32>
    %1 = tarpon.mul %x, %0 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    // becomes
    %1 = tarpon.swish %x {alpha = 1.0 : f32} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    ```

    Constants may be rounded to six digits, to f16 or to bf16. Values in between
    must have no other use. f64 is left alone.
  }];
  let statistics = [
    Statistic<"numRaised", "num-raised", "Activations that became one op">
  ];
}

def RaiseChannelShufflesPass : Tarpon_FuncPass<"tarpon-raise-channel-shuffles"> {
  let summary = "Find shuffles of channels";
  let description = [{
    A reshape that splits the channels into groups, a transpose of groups and
    channels within them, and a reshape back become a tarpon.shuffle_channels,
    which works in nhwc too. Quantised tensors are left alone.
  }];
}

def RaiseQuantizedProductsPass : Tarpon_FuncPass<"tarpon-raise-quantized-products"> {
  let summary = "Find products of 8-bit integers";
  let description = [{
    A conv or matmul of a value and a constant that are both converted to f32
    from 8 bits reads the integers themselves. The constant has signed integers,
    zero points of 0, and one scale or those of its result channels:

    ```mlir
    %0 = tarpon.convert %x : tensor<4x8x!quant.uniform<u8:f32, 0.5:3>> -> tensor<4x8xf32>
    %1 = tarpon.convert %w : tensor<8x2x!quant.uniform<i8:f32:1, {0.25, 0.5}>> -> tensor<8x2xf32>
    %2 = tarpon.matmul %0, %1 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    // becomes
    %2 = tarpon.matmul %x, %w : (tensor<4x8x!quant.uniform<u8:f32, 0.5:3>>, tensor<8x2x!quant.uniform<i8:f32:1, {0.25, 0.5}>>) -> tensor<4x2xf32>
    ```

    Before that, converts to f32 move behind ops that only pass elements on
    (reshape, transpose, concat, max_pool, pads with 0), and converts to 8 bits
    in front of them; a convert to 8 bits of one to f32 reads what that reads.
    Nothing is folded: converts of constants that no product takes are left to
    tarpon-fold-constants.
  }];
}

def SimplifyTransposesPass : Tarpon_FuncPass<"tarpon-simplify-transposes"> {
  let summary = "Merge and drop transposes";
  let description = [{
    - Transposes with nothing but reshapes between them become one, or none if
      together they keep the order of the elements.
    - A transpose that only moves dimensions of size 1 becomes a reshape.
    - A transpose of the last two dimensions of a matmul's right-hand side
      becomes its `transpose_rhs`.

    Empty tensors and those quantised per channel are left alone.
  }];
}

#endif // TARPON_PASSES_SIMPLIFYPASSES_TD
