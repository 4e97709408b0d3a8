//===- FrontPlot.cpp - Time against error ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LabelPlacer.h"
#include "TuningPlots.h"

#include "tarpon/Autotune/Choice/CandidateSummary.h"
#include "tarpon/Page/Axis.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::page;
using namespace tarpon::report;
using llvm::formatv;
using llvm::raw_ostream;

static constexpr Box kArea = {80, 58, 690, 330};
static constexpr double kHeight = 438;

namespace {
/// The shape says what became of a candidate, and filled ones are on the front.
enum class Shape { Circle, Triangle, Cross };

struct Mark {
  size_t index;
  Spot spot;
  Shape shape;
  std::optional<size_t> point;
  bool isWinner;
};
} // namespace

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

static bool hasPlace(const CandidateRecord &candidate) {
  return candidate.accuracy && candidate.pipeline;
}

static Shape getShape(const CandidateRecord &candidate) {
  if (!candidate.failure.empty())
    return Shape::Cross;
  return candidate.accuracy->withinBudget ? Shape::Circle : Shape::Triangle;
}

static void printShape(Shape shape, Spot at, bool isFilled, raw_ostream &os) {
  const char *filled = isFilled ? " filled" : "";
  switch (shape) {
  case Shape::Circle:
    os << formatv("<circle class=\"mark within{0}\" cx=\"{1:f1}\" "
                  "cy=\"{2:f1}\" r=\"5\"/>",
                  filled, at.x, at.y);
    return;
  case Shape::Triangle:
    os << formatv("<path class=\"mark over{0}\" d=\"M{1:f1} {2:f1}l6 11h-12z"
                  "\"/>",
                  filled, at.x, at.y - 7);
    return;
  case Shape::Cross:
    os << formatv("<path class=\"mark failed\" d=\"M{0:f1} {1:f1}l10 10m0 "
                  "-10l-10 10\"/>",
                  at.x - 5, at.y - 5);
    return;
  }
  llvm_unreachable("unknown shape");
}

static void printRing(Spot at, raw_ostream &os) {
  os << formatv("<circle class=\"ring\" cx=\"{0:f1}\" cy=\"{1:f1}\" "
                "r=\"10\"/>",
                at.x, at.y);
}

/// Describes a candidate in a tool tip.
static std::string describe(const TuningFile &file, const Mark &mark) {
  const CandidateRecord &candidate = file.candidates[mark.index];
  std::string text = nameCandidate(file, mark.index) + ": " +
                     showTime(candidate.pipeline->median) + ", error " +
                     showError(candidate.accuracy->value);
  if (candidate.accuracy->budget)
    text += " of " + showError(*candidate.accuracy->budget);
  if (const auto &metric = candidate.accuracy->metric)
    text += ", " + formatv("a drop of {0:f4} in {1} of {2:f4}",
                           metric->getDrop(), metric->name, metric->reference)
                       .str();
  if (mark.point)
    text += ", --point " + std::to_string(*mark.point);
  if (std::string judgement = judge(file, mark.index); !judgement.empty())
    text += ", " + judgement;
  return showHtml(text);
}

static void print(const TuningFile &file, const Mark &mark, raw_ostream &os) {
  os << "<g><title>" << describe(file, mark) << "</title>";
  if (mark.isWinner)
    printRing(mark.spot, os);
  printShape(mark.shape, mark.spot, mark.point.has_value(), os);
  os << "</g>\n";
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace {
struct Axes {
  Axis error, time;

  Spot getSpot(const CandidateRecord &candidate) const {
    return {kArea.x +
                error.getPosition(candidate.accuracy->value) * kArea.width,
            kArea.y + (1 - time.getPosition(candidate.pipeline->median)) *
                          kArea.height};
  }
};
} // namespace

static Axes makeAxes(const TuningFile &file) {
  std::vector<double> errors, times;
  for (const CandidateRecord &candidate : file.candidates) {
    if (!hasPlace(candidate))
      continue;
    errors.push_back(candidate.accuracy->value);
    times.push_back(candidate.pipeline->median);
  }
  return {makeAxis(errors), makeAxis(times)};
}

static void printAxes(const Axes &axes, raw_ostream &os) {
  printVerticalAxis(axes.time, kArea, os);
  printHorizontalAxis(axes.error, kArea, os);
  double bottom = kArea.y + kArea.height;
  printText({kArea.x - 64, kArea.y - 14}, "start",
            "time of the whole model, ms", os);
  printText({kArea.x + kArea.width, bottom + 38}, "end",
            "error against fp32, relative L2", os);
}

/// The line below and left of which no candidate is: whoever allows an error
/// gets the time of the next point to the left.
static void printFrontLine(const TuningFile &file, const Axes &axes,
                           raw_ostream &os) {
  std::vector<size_t> front = file.getFront();
  if (front.empty())
    return;
  os << "<path class=\"front\" d=\"";
  const char *command = "M";
  for (size_t index : llvm::reverse(front)) {
    Spot spot = axes.getSpot(file.candidates[index]);
    if (*command == 'L')
      os << formatv("H{0:f1}", spot.x);
    os << formatv("{0}{1:f1} {2:f1}", command, spot.x, spot.y);
    command = "L";
  }
  os << formatv("H{0:f1}\"/>\n", kArea.x + kArea.width);
}

static void printLegend(raw_ostream &os) {
  constexpr double kY = 14;
  double x = 14;
  auto print = [&](const char *text, double width, auto printMark) {
    printMark(Spot{x, kY});
    printText({x + 15, kY + 4}, "start", text, os);
    x += width;
  };
  auto printMark = [&](Shape shape, bool isFilled) {
    return [&os, shape, isFilled](Spot at) {
      printShape(shape, at, isFilled, os);
    };
  };
  print("on the front", 110, printMark(Shape::Circle, true));
  print("not on it", 90, printMark(Shape::Circle, false));
  print("over the budget", 128, printMark(Shape::Triangle, false));
  print("failed", 72, printMark(Shape::Cross, false));
  print("winner", 80, [&](Spot at) { printRing(at, os); });
}

//===----------------------------------------------------------------------===//
// The plot
//===----------------------------------------------------------------------===//

/// Returns the marks, those of the front last: they lie on top.
static std::vector<Mark> makeMarks(const TuningFile &file, const Axes &axes) {
  std::vector<Mark> marks;
  for (auto [index, candidate] : llvm::enumerate(file.candidates))
    if (hasPlace(candidate))
      marks.push_back({index, axes.getSpot(candidate), getShape(candidate),
                       findPoint(file, index),
                       static_cast<int64_t>(index) == file.winner});
  llvm::stable_sort(marks, [](const Mark &a, const Mark &b) {
    return a.point.has_value() < b.point.has_value();
  });
  return marks;
}

// The front's line goes up and to the right of its points.
static constexpr Spot kAroundFront[] = {{-1, 0}, {0, 1},  {1, 1},  {-1, 1},
                                        {1, 0},  {1, -1}, {0, -1}, {-1, -1}};
static constexpr Spot kAround[] = {{1, 0},  {-1, 0}, {0, -1},  {0, 1},
                                   {1, -1}, {1, 1},  {-1, -1}, {-1, 1}};

/// Labels a mark: one of the front in any case, though it be with no more than
/// its number, and others where there is room.
static void printLabel(const TuningFile &file, const Mark &mark,
                       LabelPlacer &placer, raw_ostream &os) {
  std::string name = file.candidates[mark.index].choice.name();
  if (!mark.point) {
    if (auto place = placer.place(mark.spot, name.size(), kAround))
      printText(place->spot, place->anchor, name, os, "label soft");
    return;
  }
  std::string number = std::to_string(*mark.point),
              label = number + ": " + name;
  auto place = placer.place(mark.spot, label.size(), kAroundFront);
  if (!place) {
    label = number;
    place = placer.place(mark.spot, label.size(), kAroundFront);
  }
  if (!place)
    place = LabelPlace{{mark.spot.x, mark.spot.y - 11}, "middle"};
  printText(place->spot, place->anchor, label, os, "label point");
}

static void printLabels(const TuningFile &file, llvm::ArrayRef<Mark> marks,
                        raw_ostream &os) {
  LabelPlacer placer(kArea);
  for (const Mark &mark : marks)
    placer.addMark(mark.spot);
  for (const Mark &mark : llvm::reverse(marks))
    printLabel(file, mark, placer, os);
}

/// Names the candidates without a place in the plot.
static void printMissing(const TuningFile &file, raw_ostream &os) {
  bool isFirst = true;
  for (auto [index, candidate] : llvm::enumerate(file.candidates)) {
    if (hasPlace(candidate))
      continue;
    os << (isFirst ? "<p>Not in the plot:</p>\n<ul>\n" : "") << "<li>"
       << showHtml(nameCandidate(file, index)) << ": "
       << (candidate.failure.empty() ? "was not measured"
                                     : showHtml(candidate.failure))
       << "</li>\n";
    isFirst = false;
  }
  if (!isFirst)
    os << "</ul>\n";
}

void report::printFrontPlot(const TuningFile &file, raw_ostream &os) {
  if (llvm::none_of(file.candidates, hasPlace)) {
    os << "<p>No candidate has both a time and an error.</p>\n";
    return printMissing(file, os);
  }
  Axes axes = makeAxes(file);
  std::vector<Mark> marks = makeMarks(file, axes);
  openPlot("Time against error", kHeight, os);
  printAxes(axes, os);
  printLegend(os);
  printFrontLine(file, axes, os);
  for (const Mark &mark : marks)
    print(file, mark, os);
  printLabels(file, marks, os);
  closePlot(os);
  os << "<p class=\"soft\">The numbers on the front are those of "
        "<code>graph-opt compile --replay FILE --point N</code>.</p>\n";
  printMissing(file, os);
}
