//===- ReleasePlots.cpp - Plots of differences ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReleasePlots.h"

#include "tarpon/Page/Axis.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::page;
using llvm::formatv;
using llvm::raw_ostream;

static void openTitledPlot(llvm::StringRef title, double height,
                           raw_ostream &os) {
  os << "<h2>" << title << "</h2>\n";
  page::openPlot(title, height, os);
}

//===----------------------------------------------------------------------===//
// Ratios of times
//===----------------------------------------------------------------------===//

/// Makes an axis of ratios from 1 / `limit` to `limit`.
static Axis makeRatioAxis(double limit, std::vector<double> ticks) {
  Axis axis;
  axis.low = 1 / limit;
  axis.high = limit;
  axis.isLogarithmic = true;
  axis.ticks = std::move(ticks);
  return axis;
}

static constexpr size_t kBins = 60;
static constexpr double kPlotHeight = 180, kMargin = 40;

static Axis findAxis(llvm::ArrayRef<double> ratios) {
  double largest = 0;
  for (double ratio : ratios)
    largest = std::max(largest, std::abs(std::log(ratio)));
  if (largest <= std::log(1.25))
    return makeRatioAxis(1.25, {0.8, 0.85, 0.92, 1, 1.08, 1.16, 1.25});
  if (largest <= std::log(2))
    return makeRatioAxis(2, {0.5, 0.63, 0.8, 1, 1.25, 1.6, 2});
  return makeRatioAxis(8, {0.125, 0.25, 0.5, 1, 2, 4, 8});
}

static double getX(double position) {
  return kMargin + position * (kPlotWidth - 2 * kMargin);
}

static llvm::StringRef getStyle(double middle) {
  if (middle > 1 + kLeastTimeChange)
    return "slower";
  return middle < 1 / (1 + kLeastTimeChange) ? "faster" : "older";
}

static void printBins(const Axis &axis, llvm::ArrayRef<double> ratios,
                      raw_ostream &os) {
  std::array<int64_t, kBins> bins = {};
  for (double ratio : ratios)
    ++bins[std::min<size_t>(
        kBins - 1, static_cast<size_t>(axis.getPosition(ratio) * kBins))];
  auto most = static_cast<double>(*llvm::max_element(bins));
  constexpr double kStep = 1.0 / kBins;
  auto getRatio = [&](double position) {
    return axis.low * std::pow(axis.high / axis.low, position);
  };
  for (size_t i = 0; i < kBins; ++i) {
    if (bins[i] == 0)
      continue;
    double left = static_cast<double>(i) * kStep;
    double height =
        std::max(1.0, kPlotHeight * static_cast<double>(bins[i]) / most);
    printBar({getX(left) + 0.5, kMargin + kPlotHeight - height,
              getX(kStep) - getX(0) - 1, height},
             getStyle(getRatio(left + kStep / 2)),
             formatv("{0}: ratios of {1:f3} to {2:f3}", bins[i], getRatio(left),
                     getRatio(left + kStep))
                 .str(),
             os);
  }
  printText({getX(0), kMargin - 10}, "start",
            formatv("at most {0:f0} problems in a bar", most).str(), os);
}

void tarpon::fleet::printRatioPlot(const ReleaseDiff &diff, raw_ostream &os) {
  std::vector<double> ratios;
  for (const RecordChange &change : diff.changes)
    if (change.time.verdict != TimeVerdict::Incomparable)
      ratios.push_back(change.time.ratio);
  if (ratios.empty())
    return;
  Axis axis = findAxis(ratios);
  Box area = {getX(0), kMargin, getX(1) - getX(0), kPlotHeight};
  double bottom = kMargin + kPlotHeight;
  openTitledPlot("Times now over times before", bottom + kMargin + 10, os);
  printHorizontalAxis(axis, area, os);
  printBins(axis, ratios, os);
  printText({getX(0), bottom + 40}, "start", "faster", os);
  printText({getX(1), bottom + 40}, "end", "slower", os);
  page::closePlot(os);
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

using Wins = std::pair<std::string, std::pair<int64_t, int64_t>>;

static constexpr size_t kMostSolvers = 24, kLongestName = 36;

/// The name, cut to what there is room for.
static std::string showName(llvm::StringRef name) {
  std::string shown = showText(name);
  if (shown.size() <= kLongestName)
    return showHtml(shown);
  return showHtml(llvm::StringRef(shown).take_front(kLongestName - 3)) + "...";
}

static void printWins(const Wins &wins, double y, double scale,
                      raw_ostream &os) {
  constexpr double kLeft = 260, kBar = 9;
  const auto &[solver, counts] = wins;
  printText({kLeft - 10, y + kBar + 4}, "end", showName(solver), os);
  auto print = [&](int64_t count, double top, llvm::StringRef style,
                   const char *when) {
    double width = scale * static_cast<double>(count);
    printBar({kLeft, top, width, kBar}, style,
             showHtml(solver) + formatv(" {0}: {1}", when, count).str(), os);
    printText({kLeft + width + 6, top + kBar}, "start", std::to_string(count),
              os);
  };
  print(counts.first, y, "older", "before");
  print(counts.second, y + kBar + 1, "newer", "now");
}

void tarpon::fleet::printWinsPlot(const ReleaseDiff &diff, raw_ostream &os) {
  constexpr double kRow = 28, kRoom = 460, kTop = 30;
  std::vector<Wins> wins(diff.wins.begin(), diff.wins.end());
  llvm::stable_sort(wins, [](const Wins &a, const Wins &b) {
    return std::max(a.second.first, a.second.second) >
           std::max(b.second.first, b.second.second);
  });
  if (wins.empty())
    return;
  auto most = static_cast<double>(
      std::max(wins.front().second.first, wins.front().second.second));
  size_t shown = std::min(wins.size(), kMostSolvers);
  openTitledPlot("Problems that a solver is best at",
                 kTop + kRow * static_cast<double>(shown) + 10, os);
  printBar({0, 4, 12, 12}, "older", "before", os);
  printText({18, 15}, "start", "before", os);
  printBar({80, 4, 12, 12}, "newer", "now", os);
  printText({98, 15}, "start", "now", os);
  for (size_t i = 0; i < shown; ++i)
    printWins(wins[i], kTop + kRow * static_cast<double>(i), kRoom / most, os);
  page::closePlot(os);
  if (wins.size() > shown)
    os << "<p class=\"soft\">" << wins.size() - shown << " more solvers</p>\n";
}
