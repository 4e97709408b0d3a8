//===- LayerBars.cpp - Times of layers as stacked bars -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningPlots.h"

#include "tarpon/Page/Axis.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace tarpon;
using namespace tarpon::page;
using namespace tarpon::report;
using llvm::formatv;
using llvm::raw_ostream;

static constexpr size_t kMostNamed = 8;
static constexpr double kLeft = 165, kRight = 620, kTop = 10, kRow = 30,
                        kBar = 18;

namespace {
/// The layers of one name in a candidate.
struct LayerTime {
  double milliseconds = 0;
  size_t layers = 0;
  std::string solver;
};

/// The times of a candidate's layers.
struct LayerTimes {
  std::map<std::string, LayerTime> byName;
  double sum = 0;
  size_t timed = 0, untimed = 0;
};
} // namespace

/// Adds a time, unless the sum would be no number any more.
static void add(double &sum, double milliseconds) {
  sum = std::min(sum + milliseconds, std::numeric_limits<double>::max());
}

static LayerTimes addUp(const CandidateRecord &candidate) {
  LayerTimes times;
  for (const LayerRecord &layer : candidate.layers) {
    if (!layer.timing) {
      ++times.untimed;
      continue;
    }
    LayerTime &time = times.byName[layer.name];
    add(time.milliseconds, layer.timing->median);
    ++time.layers;
    time.solver = layer.solver;
    add(times.sum, layer.timing->median);
    ++times.timed;
  }
  return times;
}

/// Returns the names of the layers that take the longest in any candidate, the
/// longest first.
static std::vector<std::string>
findLargest(llvm::ArrayRef<LayerTimes> candidates) {
  std::map<std::string, double> most;
  for (const LayerTimes &times : candidates)
    for (const auto &[name, time] : times.byName)
      most[name] = std::max(most[name], time.milliseconds);
  std::vector<std::string> names;
  for (const auto &[name, milliseconds] : most)
    names.push_back(name);
  llvm::stable_sort(names, [&](const std::string &a, const std::string &b) {
    return most[a] > most[b];
  });
  if (names.size() > kMostNamed)
    names.resize(kMostNamed);
  return names;
}

//===----------------------------------------------------------------------===//
// A candidate's bar
//===----------------------------------------------------------------------===//

namespace {
/// Prints the bar of a candidate, from left to right.
class BarPrinter {
public:
  BarPrinter(const LayerTimes &times, const Axis &axis, double y,
             raw_ostream &os)
      : times(times), axis(axis), y(y), os(os) {}

  void printNamed(llvm::ArrayRef<std::string> names);
  /// Prints the layers that are not among the names as one.
  void printRest(llvm::ArrayRef<std::string> names);
  /// Prints the sum, and how many layers are missing in it.
  void printSum();
  void printPipeline(const PipelineRecord &pipeline);

private:
  double getX(double milliseconds) const {
    return kLeft + axis.getPosition(milliseconds) * (kRight - kLeft);
  }
  void printPart(double milliseconds, llvm::StringRef style,
                 llvm::StringRef letter, llvm::StringRef tip);
  std::string showShare(double milliseconds) const;

  const LayerTimes &times;
  const Axis &axis;
  double y;
  raw_ostream &os;
  double done = 0;
};
} // namespace

/// "0.0123 ms, 24 % of the layers"
std::string BarPrinter::showShare(double milliseconds) const {
  double share = times.sum > 0 ? milliseconds / times.sum : 0;
  return formatv("{0}, {1:f0} % of the layers", showTime(milliseconds),
                 100 * share);
}

void BarPrinter::printPart(double milliseconds, llvm::StringRef style,
                           llvm::StringRef letter, llvm::StringRef tip) {
  constexpr double kRoomForLetter = 12;
  double x = getX(done);
  add(done, milliseconds);
  double width = getX(done) - x;
  printBar({x, y, width, kBar}, style, tip, os);
  if (width >= kRoomForLetter)
    printText({x + width / 2, y + kBar - 5}, "middle", letter, os, "inside");
}

void BarPrinter::printNamed(llvm::ArrayRef<std::string> names) {
  for (auto [i, name] : llvm::enumerate(names)) {
    auto found = times.byName.find(name);
    if (found == times.byName.end())
      continue;
    const LayerTime &time = found->second;
    std::string number = std::to_string(i + 1);
    std::string what =
        time.layers > 1 ? std::to_string(time.layers) + " layers" : time.solver;
    printPart(time.milliseconds, "part c" + number, number,
              showHtml(number + " " + name + ": " +
                       showShare(time.milliseconds) + ", " + what));
  }
}

void BarPrinter::printRest(llvm::ArrayRef<std::string> names) {
  LayerTime rest;
  for (const auto &[name, time] : times.byName) {
    if (llvm::is_contained(names, name))
      continue;
    add(rest.milliseconds, time.milliseconds);
    rest.layers += time.layers;
  }
  if (rest.layers > 0)
    printPart(rest.milliseconds, "part others", "+",
              std::to_string(rest.layers) +
                  " others: " + showShare(rest.milliseconds));
}

void BarPrinter::printSum() {
  std::string text = times.timed > 0 ? showTime(times.sum) : "no layer timed";
  if (times.timed > 0 && times.untimed > 0)
    text += ", " + std::to_string(times.untimed) + " not timed";
  if (times.timed + times.untimed == 0)
    text = "no layers";
  printText({kRight + 8, y + kBar - 4}, "start", text, os,
            times.timed > 0 ? "" : "soft");
}

void BarPrinter::printPipeline(const PipelineRecord &pipeline) {
  printBar({getX(pipeline.median) - 1.5, y - 4, 3, kBar + 8}, "whole",
           "the whole model: " + showTime(pipeline.median), os);
}

//===----------------------------------------------------------------------===//
// The plot
//===----------------------------------------------------------------------===//

static void printKey(llvm::ArrayRef<std::string> names, bool hasRest,
                     raw_ostream &os) {
  os << "<ul class=\"key\">\n";
  for (auto [i, name] : llvm::enumerate(names))
    os << formatv("<li><span class=\"swatch b{0}\">{0}</span> {1}</li>\n",
                  i + 1, showHtml(name));
  if (hasRest)
    os << "<li><span class=\"swatch others\">+</span> all others</li>\n";
  os << "<li><span class=\"swatch whole\"></span> the whole model</li>\n"
        "</ul>\n";
}

static Axis makeTimeAxis(const TuningFile &file,
                         llvm::ArrayRef<LayerTimes> candidates) {
  double most = 0;
  for (const auto &[candidate, times] : llvm::zip(file.candidates, candidates))
    most = std::max(
        {most, times.sum, candidate.pipeline ? candidate.pipeline->median : 0});
  return makeAxis({0, most});
}

void report::printLayerBars(const TuningFile &file, raw_ostream &os) {
  std::vector<LayerTimes> candidates;
  for (const CandidateRecord &candidate : file.candidates)
    candidates.push_back(addUp(candidate));
  if (llvm::all_of(candidates, [](auto &times) { return times.timed == 0; })) {
    os << "<p>No layer has a time of its own: all solutions were taken "
          "unmeasured.</p>\n";
    return;
  }
  std::vector<std::string> names = findLargest(candidates);
  Axis axis = makeTimeAxis(file, candidates);
  double height = kRow * static_cast<double>(candidates.size());
  openPlot("Time per layer", kTop + height + 45, os);
  printHorizontalAxis(axis, {kLeft, kTop, kRight - kLeft, height}, os);
  printText({kRight + 8, kTop + height + 18}, "start", "ms", os);
  bool hasRest = false;
  for (auto [i, times] : llvm::enumerate(candidates)) {
    double y = kTop + kRow * static_cast<double>(i) + (kRow - kBar) / 2;
    printText({kLeft - 8, y + kBar - 4}, "end",
              showHtml(nameCandidate(file, i)), os,
              static_cast<int64_t>(i) == file.winner ? "point" : "");
    BarPrinter bar(times, axis, y, os);
    bar.printNamed(names);
    bar.printRest(names);
    bar.printSum();
    if (const auto &pipeline = file.candidates[i].pipeline)
      bar.printPipeline(*pipeline);
    hasRest |= times.byName.size() > names.size();
  }
  closePlot(os);
  printKey(names, hasRest, os);
}
