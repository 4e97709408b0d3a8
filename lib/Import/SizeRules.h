//===- SizeRules.h - How operators pass real sizes on -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_SIZERULES_H
#define TARPON_LIB_IMPORT_SIZERULES_H

#include "OnnxNode.h"
#include "OpTable.h"

#include <array>

namespace tarpon {

/// Tells what becomes of an input's real size in a result.
struct FollowedSize {
  bool isRefused = false;
  /// None if the result's size does not depend on it.
  std::optional<RealSize> size;
};

/// Input `index` of the node has the real size `real`, and the result that
/// shape.
using SizeRule = FollowedSize (*)(OnnxNode &node, unsigned index,
                                  const RealSize &real,
                                  llvm::ArrayRef<int64_t> result);

/// The elements of slices that do not count, as an operator that combines
/// slices sees them.
enum class Fill {
  Any,
  Zero,
  One,
  Lowest,
  Highest,
  /// The element that TopK sorts behind all others.
  Last,
  /// That of the first slice: other inputs may have several slices where this
  /// one has a single one.
  First,
};

/// The treatment of real sizes by one operator.
struct SizeRow {
  OpImporter importer;
  SizeRule rule;
  /// Those of the first input, and of all others.
  std::array<Fill, 2> fills;
};

/// Returns true if operands of the node broadcast, and another one than input
/// `index` has several slices along its dimension `dim`, whose number depends
/// on nothing: that input then has as many, or one for all.
bool hasFixedSize(OnnxNode &node, unsigned index, int64_t dim);

/// Returns the row of an operator; null if it does not take real sizes.
const SizeRow *findSizeRow(const OpRow &row);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_SIZERULES_H
