//===- Tolerance.h - How wrong a result may be ------------------*- C++ -*-===//
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

/// What counts as equal. Integers and booleans have to be equal in any case but
/// with a relative L2 budget; NaN equals NaN, and infinities those of their
/// sign.
struct Tolerance {
  /// |got - expected| <= relative * |expected| + ofScale * max |expected| +
  /// absolute, for every element.
  double relative = 0, ofScale = 0, absolute = 0;
  /// Instead of that: ||got - expected|| <= relativeL2 * ||expected||.
  std::optional<double> relativeL2;
};

/// Against the reference solver in fp32: the stated budget of the package's
/// dtype, that of int8 if the model was quantised before it was imported, or
/// `maxError`. fp32 has no budget: its sums are added up in another order. In
/// each layer a sum of K products moves like a random walk of sqrt(K) steps of
/// half an ulp, and what the layers add to each other is independent too.
Tolerance getReferenceTolerance(const runtime::Package &package,
                                std::optional<double> maxError);

/// For data sets of ONNX: what its backend tests allow, but relative to the
/// largest element where elements cancel to next to nothing.
Tolerance getOnnxTolerance();

/// A sentence about the element that is furthest from what it should be, or
/// none if all are near enough.
std::optional<std::string> findMismatch(const runtime::HostTensor &got,
                                        const runtime::HostTensor &expected,
                                        const Tolerance &tolerance);

/// "NaN in 3 of 10 elements", or none if there is no NaN.
std::optional<std::string> findNaN(const runtime::HostTensor &tensor);

/// "relative L2 1.2e-07 (budget 5.0e-03)": how far all outputs are off, next to
/// what is allowed.
std::string summarizeErrors(const std::vector<runtime::HostTensor> &got,
                            const std::vector<runtime::HostTensor> &expected,
                            const Tolerance &tolerance);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_TOLERANCE_H
