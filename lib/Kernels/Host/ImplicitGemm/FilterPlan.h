//===- FilterPlan.h - Packed filters, constant or not -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_FILTERPLAN_H
#define TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_FILTERPLAN_H

#include "ImplicitGemm.h"

namespace tarpon::igemm {

/// The buffers in which the main launch finds the filter, and for I8Dot the
/// initial sums.
struct PackedFilter {
  BufferSlot panels, starts;
};

/// Packs `filters` filters, one after the other: as constants of `plan`, or by
/// launches that are appended to it.
PackedFilter planFilter(SolutionPlan &plan, const Problem &problem,
                        const TargetInfo &target, const KernelSpec &spec,
                        const Geometry &g, const FilterStrides &strides,
                        int64_t filters);

/// Adds the constants of a filter that `panels` packs, and for I8Dot the
/// initial sums of `filters` filters.
PackedFilter addConstantFilter(SolutionPlan &plan, const Problem &problem,
                               const KernelSpec &spec, const Geometry &g,
                               const FilterStrides &strides, int64_t filters,
                               ConstantPlan panels);

/// The scale of each output channel's i32 sum: input scale times filter scale.
std::vector<char> makeScales(const KernelSpec &spec, const Geometry &g,
                             const TensorDesc &input, const TensorDesc &filter);

/// For an operand that is broadcast to the result's shape as in NumPy: the
/// element at which each image of the result starts, and the elements from one
/// row of the image to the next.
std::pair<std::vector<int64_t>, int64_t>
getImageStarts(const TensorDesc &operand, const TensorDesc &result);

/// A constant of 64-bit numbers.
ConstantPlan makeConstant(std::vector<int64_t> numbers);

/// See KernelSpec::tableColumns.
ConstantPlan makeTable(const Problem &problem, const KernelSpec &spec,
                       const Geometry &g, const Batch &batch);

} // namespace tarpon::igemm

#endif // TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_FILTERPLAN_H
