//===- RegionErrors.cpp - The errors of regions in a precision ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionErrors.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

static constexpr double kUnusable = std::numeric_limits<double>::infinity();
static constexpr double kLargestUsable = std::numeric_limits<double>::max();

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Status RegionErrors::add(RegionMeasurer &measurer, Group group) {
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
  Status status = add(measurer, all);
  scaleSquares();
  return status;
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

Status RegionErrors::halve(RegionMeasurer &measurer, size_t group) {
  Group first = groups[group], second = first;
  first.size /= 2;
  second.begin += first.size;
  second.size -= first.size;
  for (const Group &half : {first, second})
    if (Status status = add(measurer, half); !status)
      return status;
  groups[group].halves = groups.size() - 2;
  return runtime::success();
}

Status RegionErrors::refine(RegionMeasurer &measurer, double budget,
                            const Deadline &deadline) {
  double negligible = policy::kNegligibleErrorShare * budget;
  while (std::optional<size_t> coarsest = findCoarsest(negligible)) {
    if (deadline.isOver())
      break;
    if (Status status = halve(measurer, *coarsest); !status)
      return status;
  }
  scaleSquares();
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Squares
//===----------------------------------------------------------------------===//

/// Calls a function with each of the smallest groups within a group.
void RegionErrors::forEachSmallest(size_t index,
                                   llvm::function_ref<void(Group &)> visit) {
  size_t halves = groups[index].halves;
  if (!halves)
    return visit(groups[index]);
  forEachSmallest(halves, visit);
  forEachSmallest(halves + 1, visit);
}

/// Returns false for errors that do not add up with others: that of a group
/// that cannot be used, and those that are as large as the results themselves.
static bool addsUp(std::optional<double> error) {
  return error && *error < policy::kSaturatedError;
}

/// Scales the squares of the smallest groups within a group so that their sum
/// is what was measured of all of it. Returns false, and leaves them, if they
/// do not add up.
bool RegionErrors::scaleGroup(size_t index) {
  Group &group = groups[index];
  if (!group.halves) {
    group.square = group.getMeasuredSquare();
    return addsUp(group.error);
  }
  bool first = scaleGroup(group.halves), second = scaleGroup(group.halves + 1);
  if (!first || !second || !addsUp(group.error))
    return false;
  double sum = 0;
  forEachSmallest(index, [&](Group &smallest) { sum += smallest.square; });
  if (!(sum > 0))
    return true;
  double ratio = group.getMeasuredSquare() / sum;
  forEachSmallest(index, [&](Group &smallest) { smallest.square *= ratio; });
  return true;
}

void RegionErrors::scaleSquares() {
  for (auto [index, group] : llvm::enumerate(groups))
    if (group.size == group.count)
      (void)scaleGroup(index);
}

std::optional<double> RegionErrors::getSquare(Precision dtype,
                                              size_t region) const {
  if (dtype == kReferenceChoice.dtype)
    return 0;
  for (const Group &group : groups)
    if (group.dtype == dtype && !group.halves && region >= group.begin &&
        region < group.begin + group.size && group.error)
      return group.getCorrectedSquare() / static_cast<double>(group.size);
  return std::nullopt;
}

std::vector<RegionErrors::Part>
RegionErrors::getParts(llvm::ArrayRef<Precision> dtypes) const {
  std::vector<Part> parts;
  for (auto [index, group] : llvm::enumerate(groups)) {
    auto present =
        llvm::count(dtypes.slice(group.begin, group.size), group.dtype);
    if (!group.halves && present > 0)
      parts.push_back(
          {index, group.getCorrectedSquare() * static_cast<double>(present) /
                      static_cast<double>(group.size)});
  }
  return parts;
}

double RegionErrors::getModelSquare(llvm::ArrayRef<Precision> dtypes) const {
  double sum = 0;
  for (const Part &part : getParts(dtypes))
    sum += part.square;
  return sum;
}

//===----------------------------------------------------------------------===//
// Corrections
//===----------------------------------------------------------------------===//

/// Returns how much of a model's square is in regions of a precision.
double RegionErrors::getShare(const Observation &observation,
                              Precision dtype) const {
  double own = 0, sum = 0;
  for (const Part &part : getParts(observation.dtypes)) {
    sum += part.square;
    own += groups[part.group].dtype == dtype ? part.square : 0;
  }
  return sum > 0 ? own / sum : 0;
}

/// Returns the logarithm of what was observed as a ratio to what is expected; 0
/// where one of them is nothing.
double RegionErrors::getDistance(const Observation &observation) const {
  double expected = getModelSquare(observation.dtypes);
  return expected > 0 && observation.square > 0
             ? std::log(observation.square / expected)
             : 0;
}

/// Returns the mean distance of the models that err in this precision mostly.
double RegionErrors::getMeanDistance(llvm::ArrayRef<Observation> observations,
                                     Precision dtype) const {
  double sum = 0;
  int count = 0;
  for (const Observation &one : observations)
    if (getShare(one, dtype) > 0.5) {
      sum += getDistance(one);
      ++count;
    }
  return count > 0 ? sum / count : 0;
}

/// Takes a part of the way to what was observed (the step of Kaczmarz's method
/// for logarithms, which changes corrections least): the logarithm of a sum
/// changes with that of a part as far as the part is one of it.
void RegionErrors::correct(const Observation &observation) {
  std::vector<Part> parts = getParts(observation.dtypes);
  double sum = 0, squares = 0;
  for (const Part &part : parts) {
    sum += part.square;
    squares += part.square * part.square;
  }
  if (!(squares > 0))
    return;
  double step = policy::kErrorCorrection * getDistance(observation);
  for (const Part &part : parts)
    groups[part.group].correction += step * part.square * sum / squares;
}

void RegionErrors::fit(llvm::ArrayRef<Observation> observations) {
  for (Group &group : groups)
    group.correction = 0;
  std::map<Precision, double> means;
  for (const Group &group : groups)
    means[group.dtype] = 0;
  for (auto &[dtype, mean] : means)
    mean = getMeanDistance(observations, dtype);
  for (Group &group : groups)
    group.correction = means[group.dtype];
  auto isFitted = [this](const Observation &one) {
    return std::abs(getDistance(one)) <= 2 * std::log1p(policy::kFittedError);
  };
  for (int pass = 0;
       pass < policy::kMaxErrorPasses && !llvm::all_of(observations, isFitted);
       ++pass)
    for (const Observation &one : observations)
      correct(one);
}
