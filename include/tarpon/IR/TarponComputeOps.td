//===- TarponComputeOps.td - Convolution, matmul, pooling, norms --*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONCOMPUTEOPS_TD
#define TARPON_IR_TARPONCOMPUTEOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_ConvOp : Tarpon_GraphOp<"conv", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["isParameterOperand"]>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface,
        ["accumulates", "getFilterOperand", "getFilterChannelAxis"]>]> {
  let summary = "N-D convolution (cross-correlation) with zero padding";
  let description = [{
    `input` is N x C x spatial, `filter` is K x C/group x kernel, the result is
    N x K x out. `pads` holds the begins of all spatial dimensions, then the
    ends. Low-precision operands are accumulated in i32 or f32; the result is
    f32 unless the operands are f64. A quantised input is padded with its zero
    point.

    Constraints:
    - (C1) input and filter have the same rank, 3 to 5.
    - (C2) strides, dilations have rank-2 entries, pads twice as many.
    - (C3) strides, dilations and the kernel's sizes are positive, pads are not
      negative.
    - (C4) group is positive and divides C and K.
    - (C5) the filter has C/group input channels.
    - (C6) the dilated kernel fits into the padded input.
    - (C7) input and filter have the same element type, or both are quantised.
    - (C8) the elements are floats or quantised.
    - (C9) the filter is row-major.
    - (C10) a quantised input has one scale; a quantised filter has one, or one
      per result channel with zero points of 0.

    Example:
    ```mlir
    %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
           dilations = array<i64: 1, 1>, group = 1 : i64}
         : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$filter,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$group);
}

def Tarpon_ConvTransposeOp : Tarpon_GraphOp<"conv_transpose", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["isParameterOperand"]>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface,
        ["accumulates", "getFilterOperand", "getFilterChannelAxis"]>]> {
  let summary = "Transposed N-D convolution: the gradient of conv for its input";
  let description = [{
    `input` is N x K x spatial, `filter` is K x C/group x kernel, the result is
    N x C x out: the input of a tarpon.conv with that filter and those
    attributes. Each element of the input is multiplied with the filter and
    added to the result at stride * place - pad + dilation * tap. An extent of
    the result is (size - 1) * stride + (kernel - 1) * dilation + 1 - pads +
    output_padding; `pads` holds the begins of all spatial dimensions, then the
    ends, and `output_padding` adds places behind the end. The result is f32
    unless the operands are f64.

    Constraints:
    - (C1) input and filter have the same rank, 3 to 5.
    - (C2) strides, dilations and output_padding have rank-2 entries, pads twice
      as many.
    - (C3) strides, dilations and the kernel's sizes are positive, pads and
      output_padding are not negative.
    - (C4) group is positive and divides K.
    - (C5) the filter has K input channels.
    - (C6) the result has a place in every dimension.
    - (C7) input and filter have the same element type, or both are quantised.
    - (C8) the elements are floats or quantised.
    - (C9) the filter is row-major.
    - (C10) a quantised input has one scale; a quantised filter has one, or one
      per result channel of a group with zero points of 0.

    Example:
    ```mlir
    %y = tarpon.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
           dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>}
         : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$filter,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$output_padding,
                       DefaultValuedAttr<I64Attr, "1">:$group);
}

def Tarpon_MatMulOp : Tarpon_GraphOp<"matmul", [
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface,
        ["accumulates", "getFilterOperand", "getFilterChannelAxis"]>]> {
  let summary = "Matrix product, batched as NumPy's matmul";
  let description = [{
    The last two dimensions are multiplied, the others broadcast. With
    `transpose_lhs` or `transpose_rhs` the last two dimensions of that operand
    are read swapped. The result is f32 for low-precision operands.

    Constraints:
    - (C1) both operands have rank 2 or more.
    - (C2) the contracted dimensions are equal.
    - (C3) the batch dimensions broadcast.
    - (C4) both have the same element type, or both are quantised.
    - (C5) the elements are floats or quantised.
    - (C6) both operands are row-major.
    - (C7) a quantised lhs has one scale; a quantised rhs has one, or one per
      column with zero points of 0.
  }];
  let arguments = (ins Tarpon_Tensor:$lhs, Tarpon_Tensor:$rhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_lhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_rhs);
}

def Tarpon_BlockMatMulOp : Tarpon_GraphOp<"block_matmul", [
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface, ["accumulates"]>]> {
  let summary = "Matrix product with weights of a few bits, scaled in blocks";
  let description = [{
    `lhs` is ... x m x k, and the result ... x m x n. Column j of the weights
    has blocks of `block_size` elements along k, the last of which may reach
    beyond k; `weights` is n x blocks x bytes. An element is an unsigned integer
    of `bits` bits, the first of a byte in its lowest bits, and stands for
    (element - zero point) * scale. `scales` and `zero_points` are n x blocks,
    one zero point in each byte; without `zero_points` they are all
    2^(bits - 1). What lies behind k is ignored.

    Constraints:
    - (C1) bits is 4 or 8.
    - (C2) block_size is a positive multiple of 8.
    - (C3) the lhs has rank 2 or more, the weights have rank 3.
    - (C4) the weights have blocks for all of k, of block_size * bits / 8 bytes.
    - (C5) there is one operand of zero points at most; scales and zero points
      have one element for each block.
    - (C6) lhs and scales are of f32, weights and zero points of ui8.
    - (C7) all operands are row-major.

    Example:
    ```mlir
    %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64}
         : (tensor<1x4096xf32>, tensor<512x128x16xui8>, tensor<512x128xf32>)
           -> tensor<1x512xf32>
    ```
  }];
  let arguments = (ins Tarpon_Tensor:$lhs, Tarpon_Tensor:$weights,
                       Tarpon_Tensor:$scales,
                       Variadic<Tarpon_Tensor>:$zero_points,
                       I64Attr:$bits, I64Attr:$block_size);
}

def Tarpon_AttentionOp : Tarpon_GraphOp<"attention"> {
  let summary = "Attention: softmax(scale * query * key^T + mask) * value";
  let description = [{
    The last two dimensions of query, key and value are positions and channels;
    the dimensions before them, batch and heads, are the same for all three. The
    softmax runs over the keys. `mask`, which is optional, is added to the
    scores. With `causal`, a query sees only the keys up to its own position,
    where the last query stands at the last key. A query that sees no key gives
    NaN, as the softmax does. All operands are computed with in f32, or f64.

    Constraints:
    - (C1) query, key and value have the same rank, 3 or more, and the same
      batch dimensions.
    - (C2) query and key have the same number of channels.
    - (C3) key and value have the same number of positions.
    - (C4) there is at most one mask, which broadcasts to the scores.
    - (C5) with `causal` there are no more queries than keys.
    - (C6) the elements of all operands are floats.
    - (C7) all operands are row-major.

    Example:
    ```mlir
    %y = tarpon.attention %q, %k, %v {scale = 0.125 : f64, causal = false}
         : (tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>,
            tensor<1x8x512x64xf32>) -> tensor<1x8x512x64xf32>
    ```
  }];
  let arguments = (ins Tarpon_Tensor:$query, Tarpon_Tensor:$key,
                       Tarpon_Tensor:$value, Variadic<Tarpon_Tensor>:$mask,
                       F64Attr:$scale,
                       DefaultValuedAttr<BoolAttr, "false">:$causal);
}

class Tarpon_PoolOp<string mnemonic, list<string> quantizableMethods = []>
  : Tarpon_GraphOp<mnemonic, [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface,
                              quantizableMethods>]>;

defvar poolConstraints = [{
    Constraints:
    - (C1) the input has rank 3 to 5.
    - (C2) kernel, strides and dilations have rank-2 entries, pads twice as many.
    - (C3) kernel, strides and dilations are positive, pads are not negative.
    - (C4) the dilated kernel fits into the padded input.
}];

def Tarpon_MaxPoolOp : Tarpon_PoolOp<"max_pool"> {
  let summary = "Maximum over a window; padding never wins";
  let description = poolConstraints;
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
}

def Tarpon_MaxPoolIndicesOp : Tarpon_GraphOp<"max_pool_indices", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface>]> {
  let summary = "Maximum over a window, and where it lies";
  let description = !strconcat([{
    `indices` are those of the maxima in the whole input in row-major order,
    whatever its layout; with `column_major` the pixels of an image are numbered
    in column-major order. Of equal maxima the first in row-major order counts;
    the index is -1 if no cell of the window is greater than negative infinity.

  }], poolConstraints, [{
    - (C5) the elements are floats.
  }]);
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$column_major);
  let results = (outs Tarpon_Tensor:$result, Tarpon_Tensor:$indices);
}

def Tarpon_MaxUnpoolOp : Tarpon_GraphOp<"max_unpool"> {
  let summary = "Puts maxima back to where they were, among zeros";
  let description = [{
    The result has the spatial sizes `sizes`. `indices` are those of the input's
    elements in the whole result, as max_pool_indices gives them without
    `column_major`. An index outside of the image and channel of its element is
    ignored; of equal indices the last one in row-major order counts.

    Constraints:
    - (C1) the input has rank 3 to 5.
    - (C2) sizes has rank-2 entries, which are positive.
    - (C3) indices is of i64 and has the shape of the input.
    - (C4) the elements of the input are floats.
    - (C5) input and indices are row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$indices,
                       DenseI64ArrayAttr:$sizes);
}

def Tarpon_AvgPoolOp : Tarpon_PoolOp<"avg_pool", ["averages"]> {
  let summary = "Mean over a window";
  let description = !strconcat([{
    The divisor counts the cells of the window that lie in the input, or with
    `count_include_pad` also those in the explicit padding; the cells that
    ceil_mode adds are never counted.

  }], poolConstraints);
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$count_include_pad);
}

def Tarpon_GlobalAvgPoolOp : Tarpon_PoolOp<"global_avg_pool", ["averages"]> {
  let summary = "Mean over all spatial dimensions, which become 1";
  let description = "Constraints: (C1) the input has rank 3 to 5.";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_GlobalMaxPoolOp : Tarpon_PoolOp<"global_max_pool"> {
  let summary = "Maximum over all spatial dimensions, which become 1";
  let description = "Constraints: (C1) the input has rank 3 to 5.";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_BatchNormOp : Tarpon_GraphOp<"batch_norm", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["isParameterOperand"]>]> {
  let summary = "Batch normalisation in inference: scale * (x - mean) / sqrt(var + epsilon) + bias";
  let description = [{
    Constraints: (C1) the input has rank 2 or more. (C2) scale, bias, mean and
    variance are vectors of C elements. (C3) epsilon is not negative. (C4) the
    elements of all operands are floats.
  }];
  let arguments = (ins Tarpon_Tensor:$input, Tarpon_Tensor:$scale,
                       Tarpon_Tensor:$bias, Tarpon_Tensor:$mean,
                       Tarpon_Tensor:$variance, F32Attr:$epsilon);
}

def Tarpon_SoftmaxOp : Tarpon_GraphOp<"softmax"> {
  let summary = "exp(x - max) / sum, along one dimension";
  let description = [{
    Constraints: (C1) 0 <= axis < rank. (C2) the elements are floats. (C3) the
    input is row-major.
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$axis);
}

def Tarpon_LrnOp : Tarpon_GraphOp<"lrn", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface>]> {
  let summary = "Local response normalisation across channels";
  let description = [{
    x / (bias + alpha / size * sum of x^2 over the window)^beta, the window being
    channels c - floor((size-1)/2) to c + ceil((size-1)/2).
    Constraints: (C1) the input has rank 3 or more. (C2) size is positive. (C3)
    the elements are floats.
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$size, F32Attr:$alpha,
                       F32Attr:$beta, F32Attr:$bias);
}

#endif // TARPON_IR_TARPONCOMPUTEOPS_TD
