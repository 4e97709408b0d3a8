//===- RegionErrors.cpp - The errors of regions in a precision ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionErrors.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

static constexpr double kUnusable = std::numeric_limits<double>::infinity();
static constexpr double kLargestUsable = std::numeric_limits<double>::max();

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Status RegionErrors::measure(RegionMeasurer &measurer, Group group) {
  std::vector<RegionChoice> choices(group.count,
                                    {kReferenceChoice.dtype, group.layout});
  for (size_t region = group.begin; region < group.begin + group.size; ++region)
    choices[region].dtype = group.dtype;
  Result<std::optional<double>> error =
      measurer.measureError(makeRegionChoice(std::move(choices), group.fusion));
  if (!error)
    return error.error();
  group.error = *error;
  groups.push_back(group);
  return runtime::success();
}

Status RegionErrors::add(RegionMeasurer &measurer, Precision dtype,
                         Layout layout, Fusion fusion, size_t count) {
  Group all;
  all.dtype = dtype;
  all.layout = layout;
  all.fusion = fusion;
  all.size = all.count = count;
  return measure(measurer, all);
}

/// A group that cannot be used is halved first: one region may be the cause.
std::optional<size_t> RegionErrors::findCoarsest(double negligible) const {
  std::optional<size_t> coarsest;
  // Without a budget no error counts, but what cannot be used does.
  double largest = std::min(negligible, kLargestUsable);
  for (auto [index, group] : llvm::enumerate(groups))
    if (double error = group.error.value_or(kUnusable);
        group.size > 1 && !group.halves && error > largest) {
      coarsest = index;
      largest = error;
    }
  return coarsest;
}

Status RegionErrors::refine(RegionMeasurer &measurer, double negligible,
                            const Deadline &deadline) {
  while (std::optional<size_t> coarsest = findCoarsest(negligible)) {
    if (deadline.isOver())
      break;
    Group first = groups[*coarsest], second = first;
    first.size /= 2;
    second.begin += first.size;
    second.size -= first.size;
    for (const Group &half : {first, second})
      if (Status status = measure(measurer, half); !status)
        return status;
    groups[*coarsest].halves = groups.size() - 2;
  }
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Squares
//===----------------------------------------------------------------------===//

std::optional<double> RegionErrors::getSquare(Precision dtype,
                                              size_t region) const {
  if (dtype == kReferenceChoice.dtype)
    return 0;
  for (const Group &group : groups)
    if (group.dtype == dtype && !group.halves && region >= group.begin &&
        region < group.begin + group.size && group.error)
      return *group.error * *group.error / static_cast<double>(group.size);
  return std::nullopt;
}

double RegionErrors::getJointSquare(const Group &group,
                                    llvm::ArrayRef<Precision> dtypes) const {
  auto present = static_cast<size_t>(
      llvm::count(dtypes.slice(group.begin, group.size), group.dtype));
  if (present == 0)
    return 0;
  bool isWhole = present == group.size && group.error;
  if (group.halves && !isWhole)
    return getJointSquare(groups[group.halves], dtypes) +
           getJointSquare(groups[group.halves + 1], dtypes);
  double error = group.error.value_or(0);
  return error * error * static_cast<double>(present) /
         static_cast<double>(group.size);
}

double RegionErrors::getJointSquare(llvm::ArrayRef<Precision> dtypes) const {
  double sum = 0;
  for (const Group &group : groups)
    if (group.size == group.count)
      sum += getJointSquare(group, dtypes);
  return sum;
}
