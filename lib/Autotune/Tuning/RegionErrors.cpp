//===- RegionErrors.cpp - The errors of regions in a precision ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionErrors.h"

#include "tarpon/Autotune/Search/Policy.h"

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

Status RegionErrors::measure(RegionMeasurer &measurer, Precision dtype,
                             Layout layout, Fusion fusion,
                             llvm::ArrayRef<size_t> regions, size_t count,
                             double maxError, const Deadline &deadline) {
  if (regions.empty())
    return runtime::success();
  std::vector<RegionChoice> choices(count, {kReferenceChoice.dtype, layout});
  for (size_t region : regions)
    choices[region].dtype = dtype;
  Result<std::optional<double>> error =
      measurer.measureError(makeRegionChoice(std::move(choices), fusion));
  if (!error)
    return error.error();
  double negligible = policy::kNegligibleErrorShare * maxError;
  bool isFine = *error && **error <= negligible;
  if (isFine || regions.size() == 1 || deadline.isOver()) {
    if (*error)
      for (size_t region : regions)
        squares[{dtype, region}] =
            **error * **error / static_cast<double>(regions.size());
    return runtime::success();
  }
  size_t half = regions.size() / 2;
  for (llvm::ArrayRef<size_t> part :
       {regions.take_front(half), regions.drop_front(half)})
    if (Status status = measure(measurer, dtype, layout, fusion, part, count,
                                maxError, deadline);
        !status)
      return status;
  return runtime::success();
}

std::optional<double> RegionErrors::getSquare(Precision dtype,
                                              size_t region) const {
  if (dtype == kReferenceChoice.dtype)
    return 0;
  auto found = squares.find({dtype, region});
  return found == squares.end() ? std::nullopt
                                : std::optional<double>(found->second);
}
