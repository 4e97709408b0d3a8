//===- RegionStrips.cpp - Choices of regions along the graph -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningPlots.h"

#include "tarpon/Autotune/Choice/CandidateSummary.h"
#include "tarpon/Page/SafeText.h"
#include "tarpon/Page/Svg.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::page;
using namespace tarpon::report;
using llvm::raw_ostream;
using runtime::Precision;

static constexpr size_t kCellsInRow = 25;
static constexpr double kCell = kPlotWidth / kCellsInRow, kGap = 2;
static constexpr double kUpper = 20, kLower = 16, kRow = 46;

static llvm::StringRef getStyle(Precision precision) {
  switch (precision) {
  case Precision::F32:
    return "part c1";
  case Precision::F16:
    return "part c2";
  case Precision::BF16:
    return "part c5";
  case Precision::I8:
    return "part c3";
  }
  llvm_unreachable("unknown precision");
}

static llvm::StringRef getStyle(const Layout &layout) {
  switch (layout.kind) {
  case Layout::NCHW:
    return "layout";
  case Layout::NHWC:
  case Layout::Blocked:
    return "layout last";
  }
  llvm_unreachable("unknown layout");
}

/// Returns the names of the regions in their order, if the file tells: its
/// ranges are those of the model's inputs and its regions; and its layers are
/// its regions, and converts between them, unless one became no launch.
static std::vector<std::string> nameRegions(const TuningFile &file,
                                            const CandidateRecord &candidate) {
  size_t count = candidate.choice.regions.size();
  std::vector<std::string> names;
  if (candidate.ranges.size() == file.model.inputs.size() + count) {
    for (const TensorRange &range :
         llvm::ArrayRef(candidate.ranges).take_back(count))
      names.push_back(range.name);
    return names;
  }
  for (const LayerRecord &layer : candidate.layers)
    if (mlir::FailureOr<Problem> problem = parseProblem(layer.problem);
        succeeded(problem) && problem->op != OpKind::Convert)
      names.push_back(layer.name);
  if (names.size() != count)
    names.assign(count, "");
  return names;
}

static void printCell(const RegionChoice &choice, Spot at,
                      const std::string &tip, raw_ostream &os) {
  double width = kCell - kGap;
  printBar({at.x, at.y, width, kUpper}, getStyle(choice.dtype), tip, os);
  printText({at.x + width / 2, at.y + 14}, "middle",
            getPrecisionName(choice.dtype), os, "inside");
  printBar({at.x + 0.5, at.y + kUpper, width - 1, kLower},
           getStyle(choice.layout), tip, os);
  printText({at.x + width / 2, at.y + kUpper + 12}, "middle",
            choice.layout.name(), os, "small");
}

static void printStrip(const TuningFile &file, size_t index, raw_ostream &os) {
  const CandidateRecord &candidate = file.candidates[index];
  const std::vector<RegionChoice> &regions = candidate.choice.regions;
  std::vector<std::string> names = nameRegions(file, candidate);
  std::string title = showHtml(nameCandidate(file, index));
  os << "<p>" << title << " <span class=\"soft\">"
     << summarizeRegions(candidate.choice) << "</span></p>\n";
  size_t rows = (regions.size() + kCellsInRow - 1) / kCellsInRow;
  openPlot("Precision and layout of the regions of " + title,
           kRow * static_cast<double>(rows), os);
  for (auto [i, region] : llvm::enumerate(regions)) {
    size_t row = i / kCellsInRow, column = i % kCellsInRow;
    Spot at = {kCell * static_cast<double>(column),
               kRow * static_cast<double>(row)};
    printCell(region, at,
              showHtml("region " + std::to_string(i) + ": " +
                       printRegionChoice(region) +
                       (names[i].empty() ? "" : ", " + names[i])),
              os);
  }
  closePlot(os);
}

void report::printRegionStrips(const TuningFile &file, raw_ostream &os) {
  bool isAny = false;
  for (auto [index, candidate] : llvm::enumerate(file.candidates)) {
    if (candidate.choice.regions.empty())
      continue;
    printStrip(file, index, os);
    isAny = true;
  }
  if (!isAny)
    os << "<p>No candidate chose for each region: every one has a single "
          "precision and layout.</p>\n";
}
