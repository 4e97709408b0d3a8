//===- TuningFile.cpp - The JSON record of a tuned model ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/TuningFile.h"

#include "JsonSchema.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Runtime/File.h"
#include "tarpon/Runtime/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace tarpon;
using nlohmann::json;
// Keeps the fields in the order of the documentation.
using nlohmann::ordered_json;
using runtime::Error;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

static constexpr const char *kSchemaName = "tarpon.tuning/1";

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static ordered_json printLayer(const LayerRecord &layer) {
  ordered_json json = {{"name", layer.name},
                       {"problem", layer.problem},
                       {"solver", layer.solver},
                       {"config", ordered_json::parse(toJson(layer.config))}};
  if (layer.timing) {
    json["median_ms"] = layer.timing->median;
    // The time of a modelled choice has no other fields.
    if (layer.timing->samples > 0) {
      json["mad_ms"] = layer.timing->mad;
      json["samples"] = layer.timing->samples;
      json["max_error"] = layer.timing->maxError;
    }
  }
  json["workspace_bytes"] = layer.workspaceBytes;
  json["source"] = layer.source;
  return json;
}

double AccuracyRecord::getNotableError() const {
  return std::max(value, policy::kExactMaxError);
}

/// Returns the candidates that were measured, the fastest first.
static std::vector<size_t> rankMeasured(const TuningFile &file) {
  std::vector<size_t> ranked;
  for (auto [index, candidate] : llvm::enumerate(file.candidates))
    if (candidate.failure.empty() && candidate.accuracy && candidate.pipeline)
      ranked.push_back(index);
  llvm::stable_sort(ranked, [&file](size_t a, size_t b) {
    const CandidateRecord &one = file.candidates[a],
                          &other = file.candidates[b];
    return std::pair(one.pipeline->median, one.accuracy->value) <
           std::pair(other.pipeline->median, other.accuracy->value);
  });
  return ranked;
}

std::vector<size_t> TuningFile::getFront() const {
  std::vector<size_t> front = rankMeasured(*this);
  double least = std::numeric_limits<double>::infinity();
  llvm::erase_if(front, [&](size_t index) {
    double error = candidates[index].accuracy->getNotableError();
    bool isWorse = error >= least;
    least = std::min(least, error);
    return isWorse;
  });
  return front;
}

std::optional<size_t> TuningFile::findWithin(double maxError) const {
  for (size_t index : rankMeasured(*this))
    if (candidates[index].accuracy->value <= maxError)
      return index;
  return std::nullopt;
}

/// Means of a few samples have no more significant digits than these.
static std::string printShortForm(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

float tarpon::roundToShortForm(double value) {
  float rounded = 0;
  [[maybe_unused]] bool isNumber =
      llvm::to_float(printShortForm(value), rounded);
  assert(isNumber && "a printed number is no number");
  return rounded;
}

static const char *printTimeSource(TimeSource source) {
  switch (source) {
  case TimeSource::Measured:
    return "measured";
  case TimeSource::Modelled:
    return "model";
  }
  return "";
}

/// Means are many: a string takes half the space of an array. They are read
/// back exactly, being in this form already.
static std::string printMeans(const std::vector<float> &means) {
  std::string text;
  for (float mean : means)
    text += (text.empty() ? "" : " ") + printShortForm(mean);
  return text;
}

static ordered_json printRange(const TensorRange &range) {
  // Converted to double, a float is printed and read back exactly.
  ordered_json json = {{"name", range.name},
                       {"lo", static_cast<double>(range.lo)},
                       {"hi", static_cast<double>(range.hi)},
                       {"method", getRangeMethodName(range.method)}};
  if (!range.inputMeans.empty()) {
    json["input_means"] = printMeans(range.inputMeans);
    json["stored_means"] = printMeans(range.storedMeans);
  }
  return json;
}

static ordered_json printAccuracy(const AccuracyRecord &accuracy) {
  ordered_json json = {{"metric", "relative_l2"}, {"value", accuracy.value}};
  if (accuracy.budget)
    json["budget"] = *accuracy.budget;
  json["within_budget"] = accuracy.withinBudget;
  if (const auto &metric = accuracy.metric)
    json["drop"] = {{"metric", metric->name},
                    {"fp32", metric->reference},
                    {"value", metric->value},
                    {"budget", metric->budget}};
  return json;
}

static ordered_json printPrediction(const PredictionRecord &prediction) {
  return {{"median_ms", prediction.milliseconds},
          {"deviation_ms", prediction.deviation},
          {"error", prediction.error}};
}

static ordered_json printCandidate(const CandidateRecord &candidate) {
  ordered_json json = {{"dtype", getPrecisionName(candidate.choice.dtype)},
                       {"layout", candidate.choice.layout.name()},
                       {"fusion", getFusionName(candidate.choice.fusion)},
                       {"status", candidate.failure.empty() ? "ok" : "failed"}};
  if (!candidate.failure.empty())
    json["failure"] = candidate.failure;
  for (const RegionChoice &region : candidate.choice.regions)
    json["regions"].push_back(printRegionChoice(region));
  if (candidate.accuracy)
    json["accuracy"] = printAccuracy(*candidate.accuracy);
  if (candidate.pipeline) {
    json["pipeline"] = {{"median_ms", candidate.pipeline->median},
                        {"mad_ms", candidate.pipeline->mad},
                        {"samples", candidate.pipeline->samples}};
    json["pipeline"]["source"] =
        printTimeSource(candidate.pipeline->getTimeSource());
  }
  if (candidate.prediction)
    json["prediction"] = printPrediction(*candidate.prediction);
  if (candidate.correctedPrediction)
    json["corrected_prediction"] =
        printPrediction(*candidate.correctedPrediction);
  if (!candidate.ranges.empty()) {
    ordered_json ranges = ordered_json::array();
    for (const TensorRange &range : candidate.ranges)
      ranges.push_back(printRange(range));
    json["ranges"] = ranges;
  }
  json["layers"] = ordered_json::array();
  for (const LayerRecord &layer : candidate.layers)
    json["layers"].push_back(printLayer(layer));
  return json;
}

std::string tarpon::printTuningFile(const TuningFile &file) {
  ordered_json inputs = ordered_json::object();
  for (const auto &[name, shape] : file.model.inputs)
    inputs[name] = shape;
  ordered_json json;
  json["schema"] = kSchemaName;
  json["model"] = {{"sha256", file.model.sha256},
                   {"name", file.model.name},
                   {"inputs", inputs}};
  json["target"] = {{"arch", file.target.arch},
                    {"cpu", file.target.cpu},
                    {"features", file.target.features},
                    {"threads", file.target.threads}};
  if (!file.target.caches.empty())
    json["target"]["caches"] = file.target.caches;
  json["toolchain"] = {{"tarpon", file.toolchain.tarpon},
                       {"llvm", file.toolchain.llvm}};
  json["knobs"] = {{"dtype", file.knobs.dtype},
                   {"layout", file.knobs.layout},
                   {"fusion", file.knobs.fusion},
                   {"ranges", file.knobs.ranges}};
  json["calibration"] = {{"source", file.calibration.source},
                         {"samples", file.calibration.samples},
                         {"digest", file.calibration.digest}};
  json["candidates"] = ordered_json::array();
  for (const CandidateRecord &candidate : file.candidates)
    json["candidates"].push_back(printCandidate(candidate));
  json["winner"] = file.winner;
  for (const TuningFile::Improvement &improvement : file.progress)
    json["progress"].push_back({{"seconds", improvement.seconds},
                                {"median_ms", improvement.milliseconds},
                                {"choice", improvement.choice}});
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Parsing, after the document was checked against the schema
//===----------------------------------------------------------------------===//

static LayerRecord parseLayer(const json &json) {
  LayerRecord layer;
  layer.name = json["name"].get<std::string>();
  layer.problem = json["problem"].get<std::string>();
  layer.solver = json["solver"].get<std::string>();
  // The schema asks for an object of integers.
  layer.config = *parseJsonConfig(json["config"].dump());
  layer.workspaceBytes = json["workspace_bytes"].get<int64_t>();
  layer.source = json["source"].get<std::string>();
  if (json.contains("median_ms"))
    layer.timing = {json["median_ms"].get<double>(), json.value("mad_ms", 0.0),
                    json.value("samples", int64_t(0)),
                    json.value("max_error", 0.0)};
  return layer;
}

/// A word that is no number becomes NaN, which checkMeaning refuses.
static std::vector<float> parseMeans(const std::string &text) {
  std::vector<float> means;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ' ', /*MaxSplit=*/-1,
                              /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    if (!llvm::to_float(part, means.emplace_back()))
      means.back() = NAN;
  return means;
}

static TensorRange parseRange(const json &json) {
  TensorRange range = {json["name"].get<std::string>(), json["lo"].get<float>(),
                       json["hi"].get<float>()};
  // The schema lists the names.
  range.method = *parseRangeMethod(json.value("method", "min-max"));
  range.inputMeans = parseMeans(json.value("input_means", ""));
  range.storedMeans = parseMeans(json.value("stored_means", ""));
  return range;
}

static AccuracyRecord parseAccuracy(const json &json) {
  AccuracyRecord accuracy;
  accuracy.value = json["value"].get<double>();
  if (json.contains("budget"))
    accuracy.budget = json["budget"].get<double>();
  accuracy.withinBudget = json["within_budget"].get<bool>();
  if (json.contains("drop")) {
    const auto &drop = json["drop"];
    accuracy.metric = {drop["metric"].get<std::string>(),
                       drop["fp32"].get<double>(), drop["value"].get<double>(),
                       drop["budget"].get<double>()};
  }
  return accuracy;
}

static PredictionRecord parsePrediction(const json &json) {
  return {json["median_ms"].get<double>(), json["error"].get<double>(),
          json.value("deviation_ms", 0.0)};
}

static CandidateRecord parseCandidate(const json &json) {
  CandidateRecord candidate;
  // The schema lists the names.
  candidate.choice = {
      *runtime::parsePrecision(json["dtype"].get<std::string>()),
      *parseLayout(json["layout"].get<std::string>()),
      *parseFusion(json["fusion"].get<std::string>())};
  if (json.contains("regions"))
    for (const auto &name : json["regions"])
      candidate.choice.regions.push_back(
          *parseRegionChoice(name.get<std::string>()));
  if (json["status"] == "failed")
    candidate.failure = json.value("failure", "no reason is given");
  if (json.contains("accuracy"))
    candidate.accuracy = parseAccuracy(json["accuracy"]);
  if (json.contains("pipeline")) {
    const auto &pipeline = json["pipeline"];
    candidate.pipeline = {pipeline["median_ms"].get<double>(),
                          pipeline["mad_ms"].get<double>(),
                          pipeline["samples"].get<int64_t>()};
  }
  if (json.contains("prediction"))
    candidate.prediction = parsePrediction(json["prediction"]);
  if (json.contains("corrected_prediction"))
    candidate.correctedPrediction =
        parsePrediction(json["corrected_prediction"]);
  if (json.contains("ranges"))
    for (const auto &range : json["ranges"])
      candidate.ranges.push_back(parseRange(range));
  for (const auto &layer : json["layers"])
    candidate.layers.push_back(parseLayer(layer));
  return candidate;
}

static TuningFile parseDocument(const json &json) {
  TuningFile file;
  const auto &model = json["model"];
  file.model.sha256 = model["sha256"].get<std::string>();
  file.model.name = model["name"].get<std::string>();
  for (const auto &[name, shape] : model["inputs"].items())
    file.model.inputs[name] = shape.get<std::vector<int64_t>>();
  const auto &target = json["target"];
  file.target = {
      target["arch"].get<std::string>(), target["cpu"].get<std::string>(),
      target["features"].get<std::vector<std::string>>(),
      target["threads"].get<int64_t>(), target.value("caches", std::string())};
  file.toolchain = {json["toolchain"]["tarpon"].get<std::string>(),
                    json["toolchain"]["llvm"].get<std::string>()};
  const auto &knobs = json["knobs"];
  file.knobs = {
      knobs["dtype"].get<std::string>(), knobs["layout"].get<std::string>(),
      knobs["fusion"].get<std::string>(), knobs.value("ranges", "min-max")};
  const auto &calibration = json["calibration"];
  file.calibration = {calibration["source"].get<std::string>(),
                      calibration["samples"].get<int64_t>(),
                      calibration["digest"].get<std::string>()};
  for (const auto &candidate : json["candidates"])
    file.candidates.push_back(parseCandidate(candidate));
  file.winner = json["winner"].get<int64_t>();
  if (json.contains("progress"))
    for (const auto &improvement : json["progress"])
      file.progress.push_back({improvement["seconds"].get<double>(),
                               improvement["median_ms"].get<double>(),
                               improvement["choice"].get<std::string>()});
  return file;
}

static const char *findRangeError(const TensorRange &range) {
  auto isNumber = [](float mean) { return std::isfinite(mean); };
  if (!(range.lo <= range.hi))
    return "lo is above hi";
  if (range.inputMeans.size() != range.storedMeans.size())
    return "input_means and stored_means differ in number";
  if (!llvm::all_of(range.inputMeans, isNumber) ||
      !llvm::all_of(range.storedMeans, isNumber))
    return "input_means and stored_means must be finite numbers";
  return "";
}

/// Checks rules that a schema cannot express.
static std::string checkMeaning(const TuningFile &file) {
  int64_t count = static_cast<int64_t>(file.candidates.size());
  if (file.winner < 0 || file.winner >= count)
    return "winner: expected an index below " + std::to_string(count) +
           ", got " + std::to_string(file.winner);
  if (!file.getWinner().failure.empty())
    return "winner: candidate " + std::to_string(file.winner) + " has failed";
  for (auto [i, candidate] : llvm::enumerate(file.candidates))
    for (auto [j, range] : llvm::enumerate(candidate.ranges))
      if (const char *error = findRangeError(range); *error)
        return "candidates[" + std::to_string(i) + "].ranges[" +
               std::to_string(j) + "]: " + error;
  return "";
}

Result<TuningFile> tarpon::parseTuningFile(const std::string &text,
                                           const std::string &name) {
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    return Error{name + ": not a JSON document"};
  // The version comes first, so that a file of a later version is reported as
  // such instead of by a field.
  if (document.is_object() && document.contains("schema") &&
      document["schema"] != kSchemaName)
    return Error{name + ": schema: expected \"" + kSchemaName + "\", got " +
                 document["schema"].dump(-1, ' ', false,
                                         json::error_handler_t::replace)};
  static const json schema = json::parse(getTuningSchema(), nullptr, false);
  assert(!schema.is_discarded() && "docs/tuning.schema.json is not JSON");
  if (Status status = checkJson(document, schema); !status)
    return Error{name + ": " + status.message()};
  TuningFile file = parseDocument(document);
  if (std::string error = checkMeaning(file); !error.empty())
    return Error{name + ": " + error};
  return file;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Result<TuningFile> tarpon::readTuningFile(const std::string &path) {
  Result<runtime::InputFile> file = runtime::InputFile::open(path);
  if (!file)
    return file.error();
  std::string text(file->size(), '\0');
  if (Status status = file->read(0, text); !status)
    return status.error();
  return parseTuningFile(text, path);
}

Status tarpon::writeTuningFile(const TuningFile &file,
                               const std::string &path) {
  std::string text = printTuningFile(file);
  return runtime::writeFileAtomically(path, {text});
}

//===----------------------------------------------------------------------===//
// The model and target of a file
//===----------------------------------------------------------------------===//

TuningFile::Target tarpon::describeTarget(const TargetInfo &target) {
  const TargetTraits &traits = *target.traits;
  return {target.arch, traits.getProcessor(target), target.features,
          target.threads, traits.printCacheSizes(target)};
}

Status tarpon::checkModel(const TuningFile &file,
                          const TuningFile::Model &model,
                          const std::string &path) {
  if (file.model.sha256 != model.sha256)
    return Error{path + " was made for another model: " + file.model.name +
                 " (sha256 " + file.model.sha256.substr(0, 12) + "), not " +
                 model.name + " (" + model.sha256.substr(0, 12) + ")"};
  for (const auto &[name, shape] : model.inputs) {
    auto recorded = file.model.inputs.find(name);
    if (recorded == file.model.inputs.end())
      return Error{path + " knows no input '" + name + "' of the model"};
    if (recorded->second != shape)
      return Error{path + " was made for another shape of input '" + name +
                   "': " + runtime::shapeToString(recorded->second) + ", not " +
                   runtime::shapeToString(shape)};
  }
  return runtime::success();
}

Status tarpon::checkTarget(const TuningFile &file, const TargetInfo &target,
                           const std::string &path) {
  TuningFile::Target wanted = describeTarget(target);
  auto refuse = [&](const std::string &what, const std::string &recorded,
                    const std::string &actual) {
    return Error{path + " was made for another target: " + what + " " +
                 recorded + ", not " + actual};
  };
  if (file.target.arch != wanted.arch)
    return refuse("architecture", file.target.arch, wanted.arch);
  if (file.target.cpu != wanted.cpu)
    return refuse("processor", file.target.cpu, wanted.cpu);
  if (file.target.threads != wanted.threads)
    return refuse("thread count", std::to_string(file.target.threads),
                  std::to_string(wanted.threads));
  // Plans depend on the caches, so that another package would be made.
  if (!file.target.caches.empty() && file.target.caches != wanted.caches)
    return refuse("caches", file.target.caches, wanted.caches);
  for (const std::string &feature : file.target.features)
    if (!llvm::is_contained(wanted.features, feature))
      return refuse("processor", "with feature " + feature, "without it");
  for (const std::string &feature : wanted.features)
    if (!llvm::is_contained(file.target.features, feature))
      return refuse("processor", "without feature " + feature, "with it");
  return runtime::success();
}
