//===- UnaryOps.cpp - The functions of TarponUnaryOps.td --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions for folding, in the order of the TableGen file.
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponOps.h"

#include <cmath>

using namespace mlir;
using namespace tarpon;

static double asDouble(const APFloat &attr) { return attr.convertToFloat(); }

/// exp(x) - 1 below 0.
static double elu(double x, double alpha, double width) {
  return x < 0 ? alpha * std::expm1(x / width) : x;
}

static double softplus(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

double AbsOp::compute(double x) { return std::fabs(x); }

double AcosOp::compute(double x) { return std::acos(x); }

double AcoshOp::compute(double x) { return std::acosh(x); }

double AsinOp::compute(double x) { return std::asin(x); }

double AsinhOp::compute(double x) { return std::asinh(x); }

double AtanOp::compute(double x) { return std::atan(x); }

double AtanhOp::compute(double x) { return std::atanh(x); }

double CeilOp::compute(double x) { return std::ceil(x); }

double CeluOp::compute(double x) {
  return elu(x, asDouble(getAlpha()), asDouble(getAlpha()));
}

double CosOp::compute(double x) { return std::cos(x); }

double EluOp::compute(double x) { return elu(x, asDouble(getAlpha()), 1); }

double ErfOp::compute(double x) { return std::erf(x); }

double ExpOp::compute(double x) { return std::exp(x); }

double FloorOp::compute(double x) { return std::floor(x); }

double GeluOp::compute(double x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
}

double GeluTanhOp::compute(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

double LogOp::compute(double x) { return std::log(x); }

double MishOp::compute(double x) { return x * std::tanh(softplus(x)); }

double NegOp::compute(double x) { return -x; }

double PowerOp::compute(double x) {
  return std::pow(asDouble(getShift()) + asDouble(getScale()) * x,
                  asDouble(getExponent()));
}

double ReciprocalOp::compute(double x) { return 1 / x; }

// The process rounds to nearest even.
double RoundOp::compute(double x) { return std::nearbyint(x); }

double SeluOp::compute(double x) {
  return asDouble(getGamma()) * elu(x, asDouble(getAlpha()), 1);
}

double SignOp::compute(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

double SinOp::compute(double x) { return std::sin(x); }

double SoftplusOp::compute(double x) { return softplus(x); }

double SoftsignOp::compute(double x) { return x / (1 + std::fabs(x)); }

double SqrtOp::compute(double x) { return std::sqrt(x); }

double SwishOp::compute(double x) {
  return x / (1 + std::exp(-asDouble(getAlpha()) * x));
}

double TanhOp::compute(double x) { return std::tanh(x); }

double ThresholdedReluOp::compute(double x) {
  return x > asDouble(getAlpha()) ? x : 0;
}
