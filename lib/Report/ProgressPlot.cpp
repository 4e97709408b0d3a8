//===- ProgressPlot.cpp - The best plan over the time of a search --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningPlots.h"

#include "tarpon/Page/Axis.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::page;
using namespace tarpon::report;
using llvm::formatv;
using llvm::raw_ostream;

static constexpr Box kArea = {80, 34, 690, 200};
static constexpr double kHeight = 284;

namespace {
struct Axes {
  Axis seconds, time;

  Spot getSpot(const TuningFile::Improvement &improvement) const {
    return {kArea.x + seconds.getPosition(improvement.seconds) * kArea.width,
            kArea.y + (1 - time.getPosition(improvement.milliseconds)) *
                          kArea.height};
  }
};
} // namespace

static Axes makeAxes(const TuningFile &file) {
  std::vector<double> seconds = {0}, times;
  for (const TuningFile::Improvement &improvement : file.progress) {
    seconds.push_back(improvement.seconds);
    times.push_back(improvement.milliseconds);
  }
  return {makeAxis(seconds), makeAxis(times)};
}

static void printAxes(const Axes &axes, raw_ostream &os) {
  printVerticalAxis(axes.time, kArea, os);
  printHorizontalAxis(axes.seconds, kArea, os);
  printText({kArea.x - 64, kArea.y - 14}, "start", "time of the best plan, ms",
            os);
  printText({kArea.x + kArea.width, kArea.y + kArea.height + 38}, "end",
            "seconds since the search began", os);
}

/// A plan is the best one until the next is.
static void printSteps(const TuningFile &file, const Axes &axes,
                       raw_ostream &os) {
  os << "<path class=\"front\" d=\"";
  bool isFirst = true;
  for (const TuningFile::Improvement &improvement : file.progress) {
    Spot spot = axes.getSpot(improvement);
    os << (isFirst ? formatv("M{0:f1} {1:f1}", spot.x, spot.y)
                   : formatv("H{0:f1}V{1:f1}", spot.x, spot.y));
    isFirst = false;
  }
  os << formatv("H{0:f1}\"/>\n", kArea.x + kArea.width);
}

static void printMark(const TuningFile::Improvement &improvement, Spot at,
                      raw_ostream &os) {
  std::string text = improvement.choice + ": " +
                     showTime(improvement.milliseconds) + " after " +
                     showNumber(improvement.seconds) + " s";
  os << "<g><title>" << showHtml(text) << "</title>"
     << formatv("<circle class=\"mark within filled\" cx=\"{0:f1}\" "
                "cy=\"{1:f1}\" r=\"5\"/></g>\n",
                at.x, at.y);
}

void report::printProgressPlot(const TuningFile &file, raw_ostream &os) {
  if (file.progress.empty()) {
    os << "<p>The file does not tell how its search went.</p>\n";
    return;
  }
  Axes axes = makeAxes(file);
  openPlot("Progress of the search", kHeight, os);
  printAxes(axes, os);
  printSteps(file, axes, os);
  for (const TuningFile::Improvement &improvement : file.progress)
    printMark(improvement, axes.getSpot(improvement), os);
  closePlot(os);
  os << "<p class=\"soft\">Plans within the accuracy budget, as they were "
        "measured first.</p>\n";
}
