//===- RangeMethod.cpp - How int8's ranges are chosen ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/RangeMethod.h"

using namespace tarpon;

std::string_view tarpon::getRangeMethodName(RangeMethod method) {
  switch (method) {
  case RangeMethod::MinMax:
    return "min-max";
  case RangeMethod::Percentile:
    return "percentile";
  case RangeMethod::Mse:
    return "mse";
  case RangeMethod::Entropy:
    return "entropy";
  }
  return "";
}

std::optional<RangeMethod> tarpon::parseRangeMethod(std::string_view name) {
  for (RangeMethod method : kRangeMethods)
    if (name == getRangeMethodName(method))
      return method;
  return std::nullopt;
}
