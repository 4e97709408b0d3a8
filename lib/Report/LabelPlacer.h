//===- LabelPlacer.h - Labels that do not cover each other -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_REPORT_LABELPLACER_H
#define TARPON_LIB_REPORT_LABELPLACER_H

#include "tarpon/Page/Svg.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace tarpon::report {

/// The place of a text beside a mark.
struct LabelPlace {
  page::Spot spot;
  llvm::StringRef anchor = "start";
};

/// Finds places for the labels of marks in a plot.
class LabelPlacer {
public:
  explicit LabelPlacer(const page::Box &area) : area(area) {}

  /// Keeps labels away from a mark.
  void addMark(page::Spot spot);

  /// Returns a free place for a text of that many letters beside a mark, and
  /// takes it. The directions are tried in their order; {-1, 1} is below on the
  /// left.
  std::optional<LabelPlace> place(page::Spot mark, size_t letters,
                                  llvm::ArrayRef<page::Spot> directions);

private:
  bool isFree(const page::Box &box) const;

  page::Box area;
  std::vector<page::Box> taken;
};

} // namespace tarpon::report

#endif // TARPON_LIB_REPORT_LABELPLACER_H
