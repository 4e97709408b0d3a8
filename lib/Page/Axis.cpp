//===- Axis.cpp - Axes of plots -----------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Page/Axis.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tarpon;
using namespace tarpon::page;
using llvm::raw_ostream;

static constexpr int kMostTicks = 8;

std::string page::showNumber(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.4g", value);
  return text;
}

//===----------------------------------------------------------------------===//
// The range of an axis
//===----------------------------------------------------------------------===//

double Axis::getPosition(double value) const {
  if (!isLogarithmic)
    return std::clamp((value - low) / (high - low), 0.0, 1.0);
  if (value <= 0)
    return 0;
  double part = std::log(value / low) / std::log(high / low);
  return zeroPart + (1 - zeroPart) * std::clamp(part, 0.0, 1.0);
}

/// Marks powers of ten, not all of many, and on a short axis their doubles and
/// fivefold, too.
static void addLogarithmicTicks(Axis &axis) {
  auto first = static_cast<int>(std::ceil(std::log10(axis.low))),
       last = static_cast<int>(std::floor(std::log10(axis.high)));
  int step = (last - first) / kMostTicks + 1;
  for (int power = first - 1; power <= last; power += step)
    for (double factor : {1, 2, 5}) {
      double tick = factor * std::pow(10, power);
      if (tick >= axis.low && tick <= axis.high &&
          (factor == 1 || last - first < 2))
        axis.ticks.push_back(tick);
    }
}

static Axis makeLogarithmicAxis(double least, double most) {
  constexpr double kMargin = 0.1;
  double margin = std::pow(most / least, kMargin);
  Axis axis;
  axis.isLogarithmic = true;
  axis.low = least / margin;
  axis.high = most * margin;
  axis.ticks.clear();
  addLogarithmicTicks(axis);
  return axis;
}

/// Returns the least of 1, 2, 5, 10, ... that is not less.
static double roundUp(double value) {
  double power = std::pow(10, std::floor(std::log10(value)));
  for (double factor : {1, 2, 5})
    if (factor * power >= value)
      return factor * power;
  return 10 * power;
}

static Axis makeLinearAxis(double low, double most) {
  constexpr double kMargin = 0.1, kLeastSpan = 0.5;
  constexpr int kSteps = 7;
  Axis axis;
  double margin = kMargin * std::max(most - low, kLeastSpan * most);
  axis.low = low > 0 ? std::max(0.0, low - margin) : 0;
  axis.high = most + margin;
  axis.ticks.clear();
  double step = roundUp((axis.high - axis.low) / kSteps);
  double first = std::ceil(axis.low / step);
  for (int i = 0; i <= kSteps && (first + i) * step <= axis.high; ++i)
    axis.ticks.push_back((first + i) * step);
  return axis;
}

Axis page::makeAxis(llvm::ArrayRef<double> values) {
  // Neither the margins nor the ratio of two values leave the numbers.
  constexpr double kLeast = 1e-140, kMost = 1e140;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  bool hasZero = false;
  for (double value : values) {
    if (!std::isfinite(value))
      continue;
    if (value < kLeast) {
      hasZero = true;
      continue;
    }
    least = std::min(least, std::min(value, kMost));
    most = std::max(most, std::min(value, kMost));
  }
  if (most == 0)
    return {};
  if (most < 10 * least)
    return makeLinearAxis(hasZero ? 0 : least, most);
  Axis axis = makeLogarithmicAxis(least, most);
  if (hasZero) {
    axis.zeroPart = 0.08;
    axis.ticks.insert(axis.ticks.begin(), 0);
  }
  return axis;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void page::printHorizontalAxis(const Axis &axis, const Box &area,
                               raw_ostream &os) {
  double bottom = area.y + area.height;
  for (double tick : axis.ticks) {
    double x = area.x + axis.getPosition(tick) * area.width;
    printLine({x, area.y}, {x, bottom}, os);
    printText({x, bottom + 18}, "middle", showNumber(tick), os);
  }
  printLine({area.x, bottom}, {area.x + area.width, bottom}, os);
}

void page::printVerticalAxis(const Axis &axis, const Box &area,
                             raw_ostream &os) {
  double right = area.x + area.width;
  for (double tick : axis.ticks) {
    double y = area.y + (1 - axis.getPosition(tick)) * area.height;
    printLine({area.x, y}, {right, y}, os);
    printText({area.x - 8, y + 4}, "end", showNumber(tick), os);
  }
  printLine({area.x, area.y}, {area.x, area.y + area.height}, os);
}
