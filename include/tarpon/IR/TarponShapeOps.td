//===- TarponShapeOps.td - Constants and data movement ------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONSHAPEOPS_TD
#define TARPON_IR_TARPONSHAPEOPS_TD

include "tarpon/IR/TarponOpBase.td"

def Tarpon_ConstantOp : Tarpon_Op<"constant", [Pure, ConstantLike, InferTypeOpAdaptor,
    Tarpon_VerifiedByInference]> {
  let summary = "A tensor known at compile time";
  let description = [{
    Large values are resource blobs (dense_resource), small ones dense
    attributes; lib/IR/ConstantData.cpp makes and reads both. Constants are
    always row-major. A constant of quantised type holds its storage integers;
    its value's type then has the storage element type, and the op's type is
    given by `quantized_type`.

    Constraints:
    - (C1) the value is a row-major dense or dense_resource tensor of a static
      shape.
    - (C2) its elements are i1, integers of 8, 16, 32 or 64 bits, or floats of
      the table DTypes.def: f16, bf16, f32 or f64.
    - (C3) a resource exists and has as many bytes as the elements.
    - (C4) `quantized_type` is a row-major tensor of the value's shape, of
      quantised elements whose storage type is the value's element type.
  }];
  let arguments = (ins ElementsAttr:$value, OptionalAttr<TypeAttr>:$quantized_type);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tarpon_ConcatOp : Tarpon_GraphOp<"concat", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["supportsLayout", "prefersLayout"]>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface>]> {
  let summary = "Operands one behind the other along one dimension";
  let description = [{
    Constraints: (C1) at least one operand. (C2) 0 <= axis < rank. (C3) the
    operands have the same element type, rank and layout, and the same sizes but
    along axis. (C4) when axis is 1, a blocked layout needs operands whose
    channels are multiples of the block.
  }];
  let arguments = (ins Variadic<Tarpon_Tensor>:$inputs, I64Attr:$axis);
  let hasFolder = 1;
}

def Tarpon_JoinOp : Tarpon_Op<"join", [Pure]> {
  let summary = "Slices that lie side by side in memory, as one tensor";
  let description = [{
    A concatenation along the channels that takes no time: the memory plan
    places the operands inside of the result. It is a view, like tarpon.reshape.

    Constraints:
    - (C1) at least one operand.
    - (C2) the operands have the rank (3 or more) and element type of the result
      and the same sizes but along dimension 1, where the result has the sum of
      theirs; they are not quantised per channel.
    - (C3) result and operands are in one layout. In nhwc an operand has the
      pitch of the result, or as pitch the result's channels if it has none.
      In other layouts there is one image, and no block of channels spans two
      operands.
    - (C4) an operand is the result of an operation that is not a constant or a
      view of something else, and is operand of no other tarpon.join, nor twice.

    Example:
    ```mlir
    %c = tarpon.join %a, %b : (tensor<1x4x8x8xf32, #tarpon.layout<nhwc, pitch = 12>>, tensor<1x8x8x8xf32, #tarpon.layout<nhwc, pitch = 12>>) -> tensor<1x12x8x8xf32, #tarpon.layout<nhwc>>
    ```
  }];
  let arguments = (ins Variadic<Tarpon_Tensor>:$inputs);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
}

def Tarpon_SliceOp : Tarpon_Op<"slice", [Pure]> {
  let summary = "Some channels of a tensor, where they lie";
  let description = [{
    The channels from `offset` on, as many as the result has. It takes no time:
    it is a view, like tarpon.reshape and tarpon.join.

    Constraints:
    - (C1) the result has the rank (3 or more) and element type of the input and
      its sizes but for dimension 1; it is not quantised per channel.
    - (C2) 0 <= offset, and the input has offset + the result's channels, or more.
    - (C3) input and result are in one layout. In nhwc the result has the pitch
      of the input, or as pitch the input's channels if that has none. In other
      layouts there is one image, and no block of channels is cut.

    Example:
    ```mlir
    %s = tarpon.slice %x {offset = 4 : i64} : (tensor<1x12x8x8xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x8x8xf32, #tarpon.layout<nhwc, pitch = 12>>
    ```
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$offset);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tarpon_ReshapeOp : Tarpon_Op<"reshape", [Pure,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface>]> {
  let summary = "The same elements in the order of memory in another shape";
  let description = [{
    For row-major tensors that is the order of the logical shape. In nhwc the
    channels are innermost, so that a reshape may also stand for a transpose:

    ```mlir
    %y = tarpon.reshape %x : (tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x8x4xf32>
    ```

    Constraints: (C1) both types have the same element type and number of
    elements. (C2) both are without a layout, or nhwc without a pitch.
  }];
  let arguments = (ins Tarpon_Tensor:$input);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tarpon_BitcastOp : Tarpon_Op<"bitcast", [Pure]> {
  let summary = "The bits of the elements as another type of the same width";
  let description = [{
    A view, like tarpon.reshape: it lies in the memory of its operand and never
    becomes a launch. Passes that store the operand in another type or layout
    convert it back in front of this operation.

    ```mlir
    %y = tarpon.bitcast %x : (tensor<4xf32>) -> tensor<4xi32>
    ```

    Constraints: (C1) both types are row-major and of the same shape. (C2)
    elements are floats or integers, but neither i1, nor signless ones of less
    than 8 bits, whose bytes hold more than their bits. (C3) the elements have as
    many bits in both.
  }];
  let arguments = (ins Tarpon_Tensor:$input);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tarpon_TransposeOp : Tarpon_GraphOp<"transpose", [
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface>]> {
  let summary = "Result dimension i is input dimension permutation[i]";
  let description = "Constraints: (C1) permutation is one of the input's rank. (C2) the input is row-major.";
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let hasFolder = 1;
}

def Tarpon_ShuffleChannelsOp : Tarpon_GraphOp<"shuffle_channels", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["supportsLayout", "prefersLayout"]>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface>]> {
  let summary = "Interleaves the channels of groups";
  let description = [{
    Channel `c * group + g` of the result is channel `g * (C / group) + c` of
    the input, as if groups and the channels within them were transposed.
    Constraints: (C1) the input has a rank of 2 or more. (C2) group is positive
    and divides the channels. (C3) the elements are not quantised per channel.
  }];
  let arguments = (ins Tarpon_Tensor:$input, I64Attr:$group);
}

def Tarpon_PadMode : I32EnumAttr<"PadMode", "what lies outside", [
    I32EnumAttrCase<"Constant", 0, "constant">,
    I32EnumAttrCase<"Edge", 1, "edge">,
    I32EnumAttrCase<"Reflect", 2, "reflect">,
    I32EnumAttrCase<"Wrap", 3, "wrap">]> {
  let cppNamespace = "::tarpon";
}

def Tarpon_PadOp : Tarpon_GraphOp<"pad", [
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["supportsLayout", "prefersLayout"]>,
    DeclareOpInterfaceMethods<Tarpon_QuantizableInterface>]> {
  let summary = "Adds (or with negative pads removes) cells at the borders";
  let description = [{
    Constraints: (C1) pads has two entries per dimension, begins before ends.
    (C2) every result dimension is positive. (C3) in reflect mode a pad is smaller
    than its dimension. (C4) in a blocked layout the channels are not padded.
    (C5) in edge and wrap mode a padded dimension is not empty.
  }];
  let arguments = (ins Tarpon_Tensor:$input, DenseI64ArrayAttr:$pads,
                       F64Attr:$value,
                       DefaultValuedAttr<Tarpon_PadMode, "::tarpon::PadMode::Constant">:$mode);
  let hasFolder = 1;
}

def Tarpon_ConvertOp : Tarpon_Op<"convert", [Pure]> {
  let summary = "The same logical tensor in another dtype or layout";
  let description = [{
    To an integer type a float truncates towards zero (as ONNX Cast), to a
    quantised type it rounds to nearest even and saturates, to a smaller float
    type it rounds to nearest even. To i1, it compares with zero.
    Constraints: (C1) input and result have the same shape. (C2) the elements are
    floats, integers or quantised. (C3) elements that are quantised per channel
    have zero points of 0.
  }];
  let arguments = (ins Tarpon_Tensor:$input);
  let results = (outs Tarpon_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TARPON_IR_TARPONSHAPEOPS_TD
