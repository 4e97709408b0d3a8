//===- Tolerance.h - Tolerances of results ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_TOLERANCE_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_TOLERANCE_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The rule by which values are equal. Integers and booleans must be equal,
/// except under a relative L2 budget; NaN equals NaN, and an infinity equals
/// one of the same sign.
struct Tolerance {
  /// |got - expected| <= relative * |expected| + ofScale * max |expected| +
  /// absolute, for every element.
  double relative = 0, ofScale = 0, absolute = 0;
  /// The relative error is at least as many last places of a float that is
  /// smaller than f32: a sum next to a rounding boundary is rounded to either
  /// side of it.
  double lastPlaces = 1;
  /// If set, the rule is instead: ||got - expected|| <= relativeL2 *
  /// ||expected||.
  std::optional<double> relativeL2;
};

/// The tolerance against the reference solver in fp32: the stated budget of the
/// package's dtype, that of int8 if the model was quantised before it was
/// imported, or `maxError`. fp32 has no budget: its sums are added up in
/// another order. In each layer a sum of K products moves like a random walk of
/// sqrt(K) steps of half an ulp, and the errors of layers are independent too.
/// Where products of fp32 are in TF32, each layer rounds its factors to the
/// mantissa of fp16, whose budget holds.
Tolerance getReferenceTolerance(const runtime::Package &package,
                                std::optional<double> maxError);

/// The tolerance for data sets of ONNX: that of its backend tests, but relative
/// to the largest element where elements almost cancel.
Tolerance getOnnxTolerance();

/// Returns true if solutions of the package's target may round the products of
/// a layer (TargetTraits.h).
bool roundsProducts(const runtime::Package &package);

/// Describes the element that is furthest from its expected value in a
/// sentence; none if all are within the tolerance.
std::optional<std::string> findMismatch(const runtime::HostTensor &got,
                                        const runtime::HostTensor &expected,
                                        const Tolerance &tolerance);

/// Describes NaN: "NaN in 3 of 10 elements"; none if there is no NaN.
std::optional<std::string> findNaN(const runtime::HostTensor &tensor);

/// Summarises the errors of all outputs and their budget: "relative L2 1.2e-07
/// (budget 5.0e-03)".
std::string summarizeErrors(const std::vector<runtime::HostTensor> &got,
                            const std::vector<runtime::HostTensor> &expected,
                            const Tolerance &tolerance);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_TOLERANCE_H
