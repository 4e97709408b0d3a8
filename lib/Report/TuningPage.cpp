//===- TuningPage.cpp - A tuning file as a page ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every text that comes from the file goes through showHtml.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Report/TuningPage.h"

#include "TuningPlots.h"

#include "tarpon/Autotune/Choice/CandidateSummary.h"
#include "tarpon/Page/HtmlPage.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>
#include <set>

using namespace tarpon;
using namespace tarpon::report;
using llvm::raw_ostream;

static constexpr const char *kStyle = R"(
table.facts { width: auto } tr.winner td { font-weight: 600 }
td.judgement { min-width: 7em } code { font-size: 0.95em }
.key { list-style: none; padding: 0; display: flex; flex-wrap: wrap;
  gap: 0.3em 1.4em; font-size: 0.9em } .key li { overflow-wrap: anywhere }
.swatch { display: inline-block; width: 1.5em; text-align: center;
  color: var(--back); font-size: 0.85em }
.swatch.whole { background: var(--text); width: 3px; height: 1.2em;
  vertical-align: middle }
.b1 { background: var(--blue) } .b2 { background: var(--orange) }
.b3 { background: var(--teal) } .b4 { background: var(--purple) }
.b5 { background: var(--pink) } .b6 { background: var(--olive) }
.b7 { background: var(--sky) } .b8 { background: var(--brown) }
.swatch.others { background: var(--grey) }
svg .c1 { fill: var(--blue) } svg .c2 { fill: var(--orange) }
svg .c3 { fill: var(--teal) } svg .c4 { fill: var(--purple) }
svg .c5 { fill: var(--pink) } svg .c6 { fill: var(--olive) }
svg .c7 { fill: var(--sky) } svg .c8 { fill: var(--brown) }
svg .others { fill: var(--grey) }
svg .whole { fill: var(--text); stroke: var(--back) }
svg text.label { paint-order: stroke; stroke: var(--back); stroke-width: 3 }
svg .part { stroke: var(--back); stroke-width: 1 }
svg text.inside { fill: var(--back); font-size: 10.5px }
svg text.small { font-size: 9.5px } svg text.point { font-weight: 700 }
svg .layout { fill: var(--back); stroke: var(--line) }
svg .layout.last { fill: var(--line) }
svg .mark { fill: var(--back); stroke-width: 2 }
svg .within { stroke: var(--blue) } svg .over { stroke: var(--orange) }
svg .failed { stroke: var(--soft) }
svg .within.filled { fill: var(--blue) }
svg .over.filled { fill: var(--orange) }
svg .ring { fill: none; stroke: var(--text); stroke-width: 1.5 }
svg path.front { fill: none; stroke: var(--blue); stroke-width: 1.5;
  stroke-dasharray: 5 3 }
)";

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// Prints a row of a fact and its less important part; both are plain text.
static void printFact(llvm::StringRef name, const std::string &fact,
                      const std::string &aside, raw_ostream &os) {
  os << "<tr><th>" << name << "</th><td>" << showHtml(fact);
  if (!aside.empty())
    os << " <span class=\"soft\">" << showHtml(aside) << "</span>";
  os << "</td></tr>\n";
}

/// "data 1x3x224x224, mask 1x8"
static std::string showInputs(const TuningFile::Model &model) {
  std::string text;
  for (const auto &[name, shape] : model.inputs)
    text +=
        (text.empty() ? "" : ", ") + name + " " +
        llvm::join(llvm::map_range(
                       shape, [](int64_t size) { return llvm::itostr(size); }),
                   "x");
  return text;
}

static void printFacts(const TuningFile &file, raw_ostream &os) {
  os << "<table class=\"facts\">\n";
  printFact("model", file.model.name, "sha256 " + file.model.sha256, os);
  printFact("inputs", showInputs(file.model), "", os);
  printFact("target", file.target.arch, llvm::join(file.target.features, " "),
            os);
  printFact("CPU", file.target.cpu,
            file.target.caches.empty() ? "" : "caches " + file.target.caches,
            os);
  printFact("threads", std::to_string(file.target.threads), "", os);
  printFact("toolchain", "Tarpon " + file.toolchain.tarpon,
            "LLVM " + file.toolchain.llvm, os);
  const TuningFile::Knobs &knobs = file.knobs;
  printFact("knobs",
            "dtype " + knobs.dtype + ", layout " + knobs.layout + ", fusion " +
                knobs.fusion + ", ranges " + knobs.ranges,
            "", os);
  const TuningFile::Calibration &calibration = file.calibration;
  printFact("calibration",
            calibration.source + ", " + std::to_string(calibration.samples) +
                (calibration.samples == 1 ? " sample" : " samples"),
            "digest " + calibration.digest, os);
  page::closeTable(os);
}

/// Says in a sentence what came out.
static void printOutcome(const TuningFile &file, raw_ostream &os) {
  const CandidateRecord &winner = file.getWinner();
  size_t count = file.candidates.size();
  os << "<p>" << count << (count == 1 ? " candidate" : " candidates") << ", "
     << file.getFront().size() << " on the front. The winner is "
     << showHtml(nameCandidate(file, file.winner));
  if (winner.pipeline)
    os << ": " << showTime(winner.pipeline->median);
  if (winner.accuracy)
    os << ", with an error of " << showError(winner.accuracy->value);
  os << ".</p>\n";
}

//===----------------------------------------------------------------------===//
// The candidates
//===----------------------------------------------------------------------===//

static void printNumber(const std::string &text, raw_ostream &os) {
  os << "<td class=\"number\">" << text << "</td>";
}

static std::string showPipeline(const PipelineRecord &pipeline) {
  switch (pipeline.getTimeSource()) {
  case TimeSource::Measured:
    return showMilliseconds(pipeline.median) + " &plusmn; " +
           showMilliseconds(pipeline.mad);
  case TimeSource::Modelled:
    return showMilliseconds(pipeline.median) + " (model)";
  }
  llvm_unreachable("unknown source");
}

static std::string showPrediction(const PredictionRecord &prediction) {
  std::string text = showMilliseconds(prediction.milliseconds);
  if (prediction.deviation > 0)
    text += " &plusmn; " + showMilliseconds(prediction.deviation);
  return text;
}

namespace {
/// The columns that some files have.
struct Columns {
  bool hasMetrics = false, hasPredictions = false;
};
} // namespace

static Columns findColumns(const TuningFile &file) {
  Columns columns;
  for (const CandidateRecord &candidate : file.candidates) {
    columns.hasMetrics |= candidate.accuracy && candidate.accuracy->metric;
    columns.hasPredictions |= candidate.prediction.has_value();
  }
  return columns;
}

static void printAccuracy(const std::optional<AccuracyRecord> &accuracy,
                          const Columns &columns, raw_ostream &os) {
  printNumber(accuracy ? showError(accuracy->value) : "-", os);
  printNumber(accuracy && accuracy->budget ? showError(*accuracy->budget) : "-",
              os);
  if (!columns.hasMetrics)
    return;
  const auto *metric =
      accuracy && accuracy->metric ? &*accuracy->metric : nullptr;
  printNumber(metric ? showError(metric->getDrop()) : "-", os);
  printNumber(metric ? showError(metric->budget) : "-", os);
}

static void printCandidate(const TuningFile &file, size_t index,
                           const Columns &columns, raw_ostream &os) {
  const CandidateRecord &candidate = file.candidates[index];
  const GlobalChoice &choice = candidate.choice;
  bool isWinner = static_cast<int64_t>(index) == file.winner;
  os << (isWinner ? "<tr class=\"winner\">" : "<tr>");
  std::optional<size_t> point = findPoint(file, index);
  printNumber("#" + std::to_string(index), os);
  printNumber(point ? std::to_string(*point) : "", os);
  for (const std::string &word :
       {choice.getDtypeName(), choice.getLayoutName(), choice.getFusionName()})
    os << "<td class=\"word\">" << word << "</td>";
  printAccuracy(candidate.accuracy, columns, os);
  printNumber(candidate.pipeline ? showPipeline(*candidate.pipeline) : "-", os);
  if (columns.hasPredictions) {
    const auto &prediction = candidate.prediction;
    printNumber(prediction ? showPrediction(*prediction) : "-", os);
    printNumber(prediction ? showError(prediction->error) : "-", os);
  }
  os << "<td class=\"judgement\">" << showHtml(judge(file, index))
     << "</td></tr>\n";
}

static void printCandidates(const TuningFile &file, raw_ostream &os) {
  Columns columns = findColumns(file);
  std::vector<page::Head> heads = {
      {"", true}, {"point", true}, "dtype",         "layout",
      "fusion",   {"error", true}, {"budget", true}};
  if (columns.hasMetrics)
    for (const char *head : {"drop", "allowed"})
      heads.emplace_back(head, true);
  heads.emplace_back("ms", true);
  if (columns.hasPredictions)
    for (const char *head : {"predicted ms", "predicted error"})
      heads.emplace_back(head, true);
  heads.push_back("");
  page::openTable(heads, os);
  for (size_t i = 0; i < file.candidates.size(); ++i)
    printCandidate(file, i, columns, os);
  page::closeTable(os);
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Returns the sources of the file, the most reliable first.
static std::vector<std::string> listSources(const TuningFile &file) {
  static constexpr std::array<const char *, 6> kOrder = {
      "measured", "user-db", "system-db", "model", "heuristic", "default"};
  std::set<std::string> found;
  for (const CandidateRecord &candidate : file.candidates)
    for (const LayerRecord &layer : candidate.layers)
      found.insert(layer.source);
  std::vector<std::string> sources;
  for (const char *source : kOrder)
    if (found.erase(source) > 0)
      sources.emplace_back(source);
  sources.insert(sources.end(), found.begin(), found.end());
  return sources;
}

static void printSources(const TuningFile &file, raw_ostream &os) {
  std::vector<std::string> sources = listSources(file), names;
  for (const std::string &source : sources)
    names.push_back(showHtml(source));
  std::vector<page::Head> heads = {"", {"layers", true}};
  for (const std::string &name : names)
    heads.emplace_back(name, true);
  page::openTable(heads, os);
  for (auto [index, candidate] : llvm::enumerate(file.candidates)) {
    os << "<tr><td class=\"word\">" << showHtml(nameCandidate(file, index))
       << "</td>";
    printNumber(std::to_string(candidate.layers.size()), os);
    std::map<std::string, int64_t> counts = countSources(candidate);
    for (const std::string &source : sources)
      printNumber(std::to_string(counts[source]), os);
    os << "</tr>\n";
  }
  page::closeTable(os);
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

void tarpon::printTuningPage(const TuningFile &file, raw_ostream &os) {
  std::string model = showHtml(file.model.name);
  page::openPage("Tuning of " + model,
                 "Tuning of " + model + " <span class=\"soft\">on " +
                     showHtml(file.target.cpu) + "</span>",
                 kStyle, os);
  printOutcome(file, os);
  printFacts(file, os);
  os << "<h2>Time against error</h2>\n";
  printFrontPlot(file, os);
  os << "<h2>Candidates</h2>\n";
  printCandidates(file, os);
  os << "<h2>Time per layer</h2>\n";
  printLayerBars(file, os);
  os << "<h2>Precision and layout of each region</h2>\n";
  printRegionStrips(file, os);
  os << "<h2>Where the layers' solutions come from</h2>\n";
  printSources(file, os);
  os << "<h2>Progress of the search</h2>\n";
  printProgressPlot(file, os);
  page::closePage(os);
}
