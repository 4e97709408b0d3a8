//===- ReleasePlots.cpp - Plots of differences ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReleasePlots.h"

#include "tarpon/Fleet/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tarpon;
using namespace tarpon::fleet;
using llvm::formatv;
using llvm::raw_ostream;

static constexpr double kWidth = 800;

static void openPlot(llvm::StringRef title, double height, raw_ostream &os) {
  os << formatv("<h2>{0}</h2>\n<svg viewBox=\"0 0 {1} {2}\" role=\"img\" "
                "aria-label=\"{0}\">\n",
                title, kWidth, height);
}

static void printLine(double x1, double y1, double x2, double y2,
                      raw_ostream &os) {
  os << formatv("<line class=\"line\" x1=\"{0:f1}\" y1=\"{1:f1}\" "
                "x2=\"{2:f1}\" y2=\"{3:f1}\"/>\n",
                x1, y1, x2, y2);
}

/// A bar with its value as a tool tip, which is harmless text.
static void printBar(double x, double y, double width, double height,
                     llvm::StringRef style, const std::string &tip,
                     raw_ostream &os) {
  os << formatv("<rect class=\"{0}\" x=\"{1:f1}\" y=\"{2:f1}\" "
                "width=\"{3:f1}\" height=\"{4:f1}\"><title>{5}</title>"
                "</rect>\n",
                style, x, y, width, height, tip);
}

static void printText(double x, double y, llvm::StringRef anchor,
                      const std::string &text, raw_ostream &os) {
  os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"{2}\">{3}"
                "</text>\n",
                x, y, anchor, text);
}

//===----------------------------------------------------------------------===//
// Ratios of times
//===----------------------------------------------------------------------===//

namespace {
/// The axis covers ratios from 1 / `limit` to `limit`.
struct RatioAxis {
  double limit;
  std::array<double, 7> ticks;
};
} // namespace

static constexpr RatioAxis kAxes[] = {
    {1.25, {0.8, 0.85, 0.92, 1, 1.08, 1.16, 1.25}},
    {2, {0.5, 0.63, 0.8, 1, 1.25, 1.6, 2}},
    {8, {0.125, 0.25, 0.5, 1, 2, 4, 8}}};

static constexpr size_t kBins = 60;
static constexpr double kPlotHeight = 180, kMargin = 40;

static const RatioAxis &findAxis(llvm::ArrayRef<double> ratios) {
  for (const RatioAxis &axis : kAxes)
    if (llvm::all_of(ratios, [&](double ratio) {
          return std::abs(std::log(ratio)) <= std::log(axis.limit);
        }))
      return axis;
  return kAxes[std::size(kAxes) - 1];
}

/// The part of the axis to the left of a ratio, 0 to 1.
static double getPosition(const RatioAxis &axis, double ratio) {
  return std::clamp(std::log(ratio) / std::log(axis.limit) / 2 + 0.5, 0.0, 1.0);
}

static double getX(double position) {
  return kMargin + position * (kWidth - 2 * kMargin);
}

static llvm::StringRef getStyle(double middle) {
  if (middle > 1 + kLeastTimeChange)
    return "slower";
  return middle < 1 / (1 + kLeastTimeChange) ? "faster" : "older";
}

static void printBins(const RatioAxis &axis, llvm::ArrayRef<double> ratios,
                      raw_ostream &os) {
  std::array<int64_t, kBins> bins = {};
  for (double ratio : ratios)
    ++bins[std::min<size_t>(
        kBins - 1, static_cast<size_t>(getPosition(axis, ratio) * kBins))];
  auto most = static_cast<double>(*llvm::max_element(bins));
  constexpr double kStep = 1.0 / kBins;
  auto getRatio = [&](double position) {
    return std::exp((2 * position - 1) * std::log(axis.limit));
  };
  for (size_t i = 0; i < kBins; ++i) {
    if (bins[i] == 0)
      continue;
    double left = static_cast<double>(i) * kStep;
    double height =
        std::max(1.0, kPlotHeight * static_cast<double>(bins[i]) / most);
    printBar(getX(left) + 0.5, kMargin + kPlotHeight - height,
             getX(kStep) - getX(0) - 1, height,
             getStyle(getRatio(left + kStep / 2)),
             formatv("{0}: ratios of {1:f3} to {2:f3}", bins[i], getRatio(left),
                     getRatio(left + kStep)),
             os);
  }
  printText(getX(0), kMargin - 10, "start",
            formatv("at most {0} problems in a bar", most), os);
}

void tarpon::fleet::printRatioPlot(const ReleaseDiff &diff, raw_ostream &os) {
  std::vector<double> ratios;
  for (const RecordChange &change : diff.changes)
    if (change.time.verdict != TimeVerdict::Incomparable)
      ratios.push_back(change.time.ratio);
  if (ratios.empty())
    return;
  const RatioAxis &axis = findAxis(ratios);
  double bottom = kMargin + kPlotHeight;
  openPlot("Times now over times before", bottom + kMargin + 10, os);
  for (double tick : axis.ticks) {
    double x = getX(getPosition(axis, tick));
    printLine(x, kMargin, x, bottom, os);
    printText(x, bottom + 18, "middle", formatv("{0}", tick), os);
  }
  printLine(getX(0), bottom, getX(1), bottom, os);
  printBins(axis, ratios, os);
  printText(getX(0), bottom + 40, "start", "faster", os);
  printText(getX(1), bottom + 40, "end", "slower", os);
  os << "</svg>\n";
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
  printText(kLeft - 10, y + kBar + 4, "end", showName(solver), os);
  auto print = [&](int64_t count, double top, llvm::StringRef style,
                   const char *when) {
    double width = scale * static_cast<double>(count);
    printBar(kLeft, top, width, kBar, style,
             showHtml(solver) + formatv(" {0}: {1}", when, count).str(), os);
    printText(kLeft + width + 6, top + kBar, "start", std::to_string(count),
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
  openPlot("Problems that a solver is best at",
           kTop + kRow * static_cast<double>(shown) + 10, os);
  printBar(0, 4, 12, 12, "older", "before", os);
  printText(18, 15, "start", "before", os);
  printBar(80, 4, 12, 12, "newer", "now", os);
  printText(98, 15, "start", "now", os);
  for (size_t i = 0; i < shown; ++i)
    printWins(wins[i], kTop + kRow * static_cast<double>(i), kRoom / most, os);
  os << "</svg>\n";
  if (wins.size() > shown)
    os << "<p class=\"soft\">" << wins.size() - shown << " more solvers</p>\n";
}
