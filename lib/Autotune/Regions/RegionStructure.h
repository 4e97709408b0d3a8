//===- RegionStructure.h - The values between regions -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_REGIONS_REGIONSTRUCTURE_H
#define TARPON_LIB_AUTOTUNE_REGIONS_REGIONSTRUCTURE_H

#include "Regions/RegionAssignment.h"

#include "mlir/IR/BuiltinTypes.h"

#include <string>
#include <vector>

namespace tarpon {

struct RegionStructure {
  /// The name of each region, in the order of getChosenRegions.
  std::vector<std::string> names;
  /// The float values that regions read or make, without their conversions'
  /// times; and the types that these have in the model.
  std::vector<RegionValue> values;
  std::vector<mlir::RankedTensorType> types;
};

/// Describes a function that has just been fused. Constants are left out: they
/// are converted when a package is made.
RegionStructure describeRegions(mlir::func::FuncOp function);

/// The problem of converting a value of this type from a state to another.
runtime::Result<Problem> poseConversion(mlir::RankedTensorType type,
                                        const RegionChoice &from,
                                        const RegionChoice &to);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_REGIONS_REGIONSTRUCTURE_H
