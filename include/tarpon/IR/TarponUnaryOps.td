//===- TarponUnaryOps.td - More unary elementwise ops -------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONUNARYOPS_TD
#define TARPON_IR_TARPONUNARYOPS_TD

include "tarpon/IR/TarponElementwiseOps.td"

def Tarpon_AbsOp : Tarpon_UnaryOp<"abs"> {
  let summary = "|x|";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_AcosOp : Tarpon_RealOp<"acos"> {
  let summary = "The inverse of cos, from 0 to pi; NaN where |x| > 1";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_AcoshOp : Tarpon_RealOp<"acosh"> {
  let summary = "The inverse of cosh, from 0 on; NaN where x < 1";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_AsinOp : Tarpon_RealOp<"asin"> {
  let summary = "The inverse of sin, from -pi/2 to pi/2; NaN where |x| > 1";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_AsinhOp : Tarpon_RealOp<"asinh"> {
  let summary = "The inverse of sinh";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_AtanOp : Tarpon_RealOp<"atan"> {
  let summary = "The inverse of tan, from -pi/2 to pi/2";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_AtanhOp : Tarpon_RealOp<"atanh"> {
  let summary = "The inverse of tanh; infinite where |x| is 1, NaN above";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_CeilOp : Tarpon_RealOp<"ceil"> {
  let summary = "The least integer not below x";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_CeluOp : Tarpon_RealOp<"celu"> {
  let summary = "x < 0 ? alpha * (exp(x / alpha) - 1) : x";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha);
}

def Tarpon_CosOp : Tarpon_RealOp<"cos"> {
  let summary = "cos(x), exact for |x| up to 1e5";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_EluOp : Tarpon_RealOp<"elu"> {
  let summary = "x < 0 ? alpha * (exp(x) - 1) : x";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha);
}

def Tarpon_ErfOp : Tarpon_RealOp<"erf"> {
  let summary = "The error function";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_ExpOp : Tarpon_RealOp<"exp"> {
  let summary = "e to the power of x";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_FloorOp : Tarpon_RealOp<"floor"> {
  let summary = "The largest integer not above x";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_GeluOp : Tarpon_RealOp<"gelu"> {
  let summary = "x / 2 * (1 + erf(x / sqrt(2)))";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_GeluTanhOp : Tarpon_RealOp<"gelu_tanh"> {
  let summary = "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_LogOp : Tarpon_RealOp<"log"> {
  let summary = "The natural logarithm";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_MishOp : Tarpon_RealOp<"mish"> {
  let summary = "x * tanh(log(1 + exp(x)))";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_NegOp : Tarpon_UnaryOp<"neg"> {
  let summary = "-x";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_PowerOp : Tarpon_RealOp<"power"> {
  let summary = "(shift + scale * x) to the power of exponent";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$shift, F32Attr:$scale, F32Attr:$exponent);
}

def Tarpon_ReciprocalOp : Tarpon_RealOp<"reciprocal"> {
  let summary = "1 / x";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_RoundOp : Tarpon_RealOp<"round"> {
  let summary = "The nearest integer, the even one of two";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_SeluOp : Tarpon_RealOp<"selu"> {
  let summary = "gamma * (x < 0 ? alpha * (exp(x) - 1) : x)";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha, F32Attr:$gamma);
}

def Tarpon_SignOp : Tarpon_UnaryOp<"sign"> {
  let summary = "-1, 0 or 1; NaN of NaN";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_SinOp : Tarpon_RealOp<"sin"> {
  let summary = "sin(x), exact for |x| up to 1e5";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_SoftplusOp : Tarpon_RealOp<"softplus"> {
  let summary = "log(1 + exp(x))";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_SoftsignOp : Tarpon_RealOp<"softsign"> {
  let summary = "x / (1 + |x|)";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_SqrtOp : Tarpon_RealOp<"sqrt"> {
  let summary = "The square root";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_SwishOp : Tarpon_RealOp<"swish"> {
  let summary = "x / (1 + exp(-alpha * x))";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha);
}

def Tarpon_TanhOp : Tarpon_RealOp<"tanh"> {
  let summary = "The hyperbolic tangent";
  let arguments = (ins Tarpon_Tensor:$input);
}

def Tarpon_ThresholdedReluOp : Tarpon_RealOp<"thresholded_relu"> {
  let summary = "x > alpha ? x : 0";
  let arguments = (ins Tarpon_Tensor:$input, F32Attr:$alpha);
}

#endif // TARPON_IR_TARPONUNARYOPS_TD
