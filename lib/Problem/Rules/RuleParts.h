//===- RuleParts.h - Common parts of rules ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inference functions return the fault, or "", like OpRule::infer.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PROBLEM_RULES_RULEPARTS_H
#define TARPON_LIB_PROBLEM_RULES_RULEPARTS_H

#include "RuleTables.h"
#include "tarpon/Problem/ComputeKind.h"

namespace tarpon {

llvm::ArrayRef<TensorDesc> getRootOperands(const Problem &problem);

int64_t product(llvm::ArrayRef<int64_t> numbers);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace attr {
inline constexpr AttrRule strides = {"strides", Count::Spatial, true, 1};
inline constexpr AttrRule dilations = {"dilations", Count::Spatial, true, 1};
inline constexpr AttrRule pads = {"pads", Count::SpatialTwice, true, 0};
inline constexpr AttrRule kernel = {"kernel", Count::Spatial, true, 1};
inline constexpr AttrRule group = {"group", Count::One, true, 1};
inline constexpr AttrRule ceilMode = {"ceil_mode", Count::One, true, 0};
inline constexpr AttrRule countIncludePad = {"count_include_pad", Count::One,
                                             true, 0};
inline constexpr AttrRule axis = {"axis", Count::One, true, 0};
inline constexpr AttrRule epsilon = {"epsilon", Count::One, false, 0};
} // namespace attr

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Infers the shape of operand 0.
std::string inferSame(const Problem &problem, std::vector<Shape> &results);

/// Infers the shape of operand 0 for all operands of the root and the result;
/// operand 0 must have the dimension `axis`.
std::string inferAlongAxis(const Problem &problem, std::vector<Shape> &results);

/// Appends the number of places of a window with that kernel in the spatial
/// dimensions, by the problem's strides, dilations, pads and ceil_mode.
std::string inferWindow(const Problem &problem, llvm::ArrayRef<int64_t> spatial,
                        llvm::ArrayRef<int64_t> kernel, Shape &shape);

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// One addition or comparison for each cell of the attribute `kernel` and each
/// element of the result.
double countWindowFlops(const Problem &problem);

/// The number of terms of a sum of products: half of the flops of one element
/// of the result.
int64_t countTermsByFlops(const Problem &problem);

} // namespace tarpon

#endif // TARPON_LIB_PROBLEM_RULES_RULEPARTS_H
