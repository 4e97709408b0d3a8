//===- TarponElementwiseOps.td - Unary and binary ops -------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONELEMENTWISEOPS_TD
#define TARPON_IR_TARPONELEMENTWISEOPS_TD

include "tarpon/IR/TarponOpBase.td"

/// One operand; the result has its type. `infer` is the function in
/// lib/IR/Inference.h that checks C1.
class Tarpon_UnaryOp<string mnemonic, string infer = "inferUnary"> : Tarpon_GraphOp<mnemonic, [
    DeclareOpInterfaceMethods<Tarpon_ElementwiseInterface>,
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface>]> {
  let description = "Constraints: (C1) the elements are floats or integers.";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The op's result for one element.
    double compute(double x);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return detail::}] # infer # [{({location, getOperationName()},
                                adaptor.getOperands(), types);
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return detail::foldUnary(adaptor.getInput(), getType(),
                               [this](double x) { return compute(x); });
    }
  }];
}

/// A unary op that is defined on floats only.
class Tarpon_RealOp<string mnemonic> : Tarpon_UnaryOp<mnemonic, "inferReal"> {
  let description = "Constraints: (C1) the elements are floats.";
}

def Tarpon_ReluOp : Tarpon_UnaryOp<"relu"> {
  let summary = "max(x, 0)";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_ClipOp : Tarpon_UnaryOp<"clip"> {
  let summary = "min(max(x, low), high)";
  let description = [{
    An absent bound is infinite. As in ONNX, high wins when low > high.
    Constraints: (C1) the elements are floats or integers.
  }];
  let arguments = (ins Tarpon_Tensor:$input, F64Attr:$low, F64Attr:$high);
}

def Tarpon_LeakyReluOp : Tarpon_UnaryOp<"leaky_relu"> {
  let summary = "x < 0 ? alpha * x : x";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha);
}

def Tarpon_SigmoidOp : Tarpon_RealOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_HardSigmoidOp : Tarpon_RealOp<"hard_sigmoid"> {
  let summary = "min(max(alpha * x + beta, 0), 1)";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha, F32Attr:$beta);
}

def Tarpon_HardSwishOp : Tarpon_RealOp<"hard_swish"> {
  let summary = "x * min(max(x / 6 + 1/2, 0), 1)";
  let arguments = (ins Tarpon_Tensor:$input);
}

/// Two operands of one element type, broadcast as in NumPy.
class Tarpon_BinaryOp<string mnemonic, string infer = "inferBinary"> : Tarpon_GraphOp<mnemonic, [
    DeclareOpInterfaceMethods<Tarpon_ElementwiseInterface>,
    DeclareOpInterfaceMethods<Tarpon_LayoutInterface, ["isParameterOperand"]>]> {
  let description = [{
    Constraints: (C1) the shapes broadcast as in NumPy. (C2) both operands have
    the same element type. (C3) operands of the result's rank that are not
    parameters (see isParameterOperand) have the same layout. (C4) the elements
    are floats or integers.

    The result has the layout of the first operand of its rank that is not a
    parameter; without one, that of the first operand of its shape.
    An operand is a parameter when it has one element, or when only its
    dimension 1, counted from the result's rank, is above 1.
  }];
  let arguments = (ins Tarpon_Tensor:$lhs, Tarpon_Tensor:$rhs);
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The op's result for one pair of elements; for integers none where the op
    /// is undefined.
    static double compute(double lhs, double rhs);
    static std::optional<int64_t> computeInteger(int64_t lhs, int64_t rhs);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return detail::}] # infer # [{({location, getOperationName()},
                                 adaptor.getOperands(), types);
    }
    bool $cppClass::isParameterOperand(unsigned index) {
      return detail::isParameter(
          ::llvm::cast<::mlir::RankedTensorType>(
              getOperation()->getOperand(index).getType()),
          getType().getRank());
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return detail::foldBinary(adaptor.getLhs(), adaptor.getRhs(), getType(),
                                compute, computeInteger);
    }
  }];
}

def Tarpon_AddOp : Tarpon_BinaryOp<"add"> { let summary = "lhs + rhs"; }
def Tarpon_SubOp : Tarpon_BinaryOp<"sub"> { let summary = "lhs - rhs"; }
def Tarpon_MulOp : Tarpon_BinaryOp<"mul"> { let summary = "lhs * rhs"; }
def Tarpon_DivOp : Tarpon_BinaryOp<"div"> {
  let summary = "lhs / rhs; for integers truncated towards zero";
}
def Tarpon_MinOp : Tarpon_BinaryOp<"min"> {
  let summary = "The smaller of lhs and rhs; NaN if one is";
}
def Tarpon_MaxOp : Tarpon_BinaryOp<"max"> {
  let summary = "The larger of lhs and rhs; NaN if one is";
}
def Tarpon_EqualOp : Tarpon_BinaryOp<"equal"> {
  let summary = "1 where lhs and rhs are equal, otherwise 0; NaN equals nothing";
}
def Tarpon_LessOp : Tarpon_BinaryOp<"less"> {
  let summary = "1 where lhs < rhs, otherwise 0; NaN is less than nothing";
}
def Tarpon_PReluOp : Tarpon_BinaryOp<"prelu"> {
  let summary = "lhs < 0 ? rhs * lhs : lhs";
}
def Tarpon_PowOp : Tarpon_BinaryOp<"pow", "inferRealBinary"> {
  let summary = "lhs to the power of rhs";
  let description = [{
    As C's pow: 1 where lhs is 1 or rhs is 0; NaN where lhs is negative and rhs
    no integer.
    Constraints: (C1) to (C3) as of add. (C4) the elements are floats.
  }];
}

def Tarpon_FmodOp : Tarpon_BinaryOp<"fmod", "inferRealBinary"> {
  let summary = "lhs - n * rhs, exact, where n is lhs / rhs truncated";
  let description = [{
    As C's fmod: the result has the sign of lhs; NaN where rhs is 0 or lhs is
    infinite; lhs where only rhs is infinite.
    Constraints: (C1) to (C3) as of add. (C4) the elements are floats.
  }];
}

/// Binary ops that are defined on integers only, bit by bit.
class Tarpon_BitOp<string mnemonic> : Tarpon_BinaryOp<mnemonic, "inferIntegerBinary"> {
  let description = "Constraints: (C1) to (C3) as of add. (C4) the elements are integers.";
}

def Tarpon_BitAndOp : Tarpon_BitOp<"bit_and"> { let summary = "lhs & rhs"; }
def Tarpon_BitOrOp : Tarpon_BitOp<"bit_or"> { let summary = "lhs | rhs"; }
def Tarpon_BitXorOp : Tarpon_BitOp<"bit_xor"> { let summary = "lhs ^ rhs"; }
def Tarpon_ShiftLeftOp : Tarpon_BitOp<"shift_left"> {
  let summary = "lhs << rhs; 0 if rhs is not from 0 to 63";
}
def Tarpon_ShiftRightOp : Tarpon_BitOp<"shift_right"> {
  let summary = "lhs >> rhs, which keeps the sign of a signed lhs; rhs is taken for 63 if it is not from 0 to 63";
}

#endif // TARPON_IR_TARPONELEMENTWISEOPS_TD
