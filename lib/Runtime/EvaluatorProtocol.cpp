//===- EvaluatorProtocol.cpp - Requests and answers as JSON -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"
#include "tarpon/Runtime/Evaluator.h"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace tarpon::runtime {

using nlohmann::json;

/// The names are in the order of the enumeration.
static constexpr std::array<std::string_view, 4> kOutcomes = {
    "ok", "crashed", "timed-out", "failed"};

std::string_view outcomeName(EvaluationOutcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}

static std::string toLine(const json &document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

std::string toJsonLine(const EvaluationRequest &request) {
  json document = {{"id", request.id},
                   {"package", request.package},
                   {"reference", nullptr},
                   {"threads", request.threads},
                   {"input_seed", request.inputSeed},
                   {"inputs", nullptr},
                   {"min_samples", request.minSamples},
                   {"min_time_ms", request.minTimeMs},
                   {"max_time_ms", request.maxTimeMs},
                   {"rotate_bytes", request.rotateBytes},
                   {"cold_constant_bytes", request.coldConstantBytes},
                   {"cutoff_ms", request.cutoffMs}};
  if (request.reference)
    document["reference"] = *request.reference;
  if (!request.inputs.empty())
    document["inputs"] = request.inputs;
  if (!request.samples.empty())
    document["samples"] = request.samples;
  if (request.profiledRuns > 0)
    document["profiled_runs"] = request.profiledRuns;
  return toLine(document);
}

static int readInt(const JsonReader &reader) {
  int64_t value = reader.integer();
  if (value < 0 || value > std::numeric_limits<int>::max())
    reader.expect("a small integer that is not negative");
  return static_cast<int>(value);
}

static double readTime(const JsonReader &reader) {
  double value = reader.number();
  if (!(value >= 0))
    reader.expect("a time that is not negative");
  return value;
}

Result<EvaluationRequest> parseEvaluationRequest(std::string_view line) {
  json document = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    return Error{"the request is not JSON"};
  std::string error;
  JsonReader reader(document, "", error);
  EvaluationRequest request;
  request.id = reader.field("id").integer();
  request.package = reader.field("package").string();
  if (reader.has("reference"))
    request.reference = reader.field("reference").string();
  request.threads = readInt(reader.field("threads"));
  request.inputSeed = reader.field("input_seed").unsignedInteger();
  if (reader.has("inputs"))
    request.inputs = reader.field("inputs").strings();
  if (reader.has("samples"))
    for (const JsonReader &sample : reader.field("samples").elements())
      request.samples.push_back(sample.strings());
  if (reader.has("profiled_runs"))
    request.profiledRuns = readInt(reader.field("profiled_runs"));
  request.minSamples = readInt(reader.field("min_samples"));
  request.minTimeMs = readTime(reader.field("min_time_ms"));
  request.maxTimeMs = readTime(reader.field("max_time_ms"));
  request.rotateBytes = reader.field("rotate_bytes").integer();
  request.coldConstantBytes = reader.field("cold_constant_bytes").integer();
  if (reader.has("cutoff_ms"))
    request.cutoffMs = readTime(reader.field("cutoff_ms"));
  if (!error.empty())
    return Error{"in the request, " + error};
  return request;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static json finiteOrNull(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

static json toJson(const TensorComparison &comparison) {
  return {{"max_abs_error", finiteOrNull(comparison.maxAbsError)},
          {"relative_l2", finiteOrNull(comparison.relativeL2)},
          {"reference_scale", comparison.referenceScale}};
}

/// JSON has no NaN; a missing number is one.
static json toJson(const std::vector<double> &values) {
  json list = json::array();
  for (double value : values)
    list.push_back(finiteOrNull(value));
  return list;
}

std::string toJsonLine(const EvaluationAnswer &answer) {
  if (answer.outcome != EvaluationOutcome::Ok)
    return toLine({{"id", answer.id},
                   {"ok", false},
                   {"error", answer.error},
                   {"crashed", answer.outcome == EvaluationOutcome::Crashed}});
  json document = {{"id", answer.id},
                   {"ok", true},
                   {"samples_ms", answer.samplesMs},
                   {"median_ms", answer.medianMs},
                   {"mad_ms", answer.madMs},
                   {"dropped", answer.isDropped}};
  if (answer.comparison) {
    document.update(toJson(*answer.comparison));
    json &outputs = document["outputs"] = json::array();
    for (const TensorComparison &output : answer.outputs)
      outputs.push_back(toJson(output));
  }
  if (!answer.problemsMs.empty())
    document["problems_ms"] = answer.problemsMs;
  if (!answer.sampleErrors.empty())
    document["sample_errors"] = toJson(answer.sampleErrors);
  for (const auto &sample : answer.results) {
    json &outputs = document["results"].emplace_back(json::array());
    for (const std::vector<double> &output : sample)
      outputs.push_back(toJson(output));
  }
  return toLine(document);
}

static double readError(const JsonReader &reader, const char *key) {
  if (!reader.has(key))
    return std::numeric_limits<double>::infinity();
  return reader.field(key).number();
}

static TensorComparison readComparison(const JsonReader &reader) {
  TensorComparison comparison;
  comparison.maxAbsError = readError(reader, "max_abs_error");
  comparison.relativeL2 = readError(reader, "relative_l2");
  comparison.referenceScale = reader.field("reference_scale").number();
  return comparison;
}

/// Returns numbers of which those that JSON cannot have are `missing`.
static std::vector<double> readValues(const JsonReader &reader,
                                      double missing) {
  std::vector<double> values;
  for (const JsonReader &element : reader.elements())
    values.push_back(element.isNull() ? missing : element.number());
  return values;
}

static void readResults(const JsonReader &reader, EvaluationAnswer &answer) {
  for (const JsonReader &sample : reader.elements()) {
    answer.results.emplace_back();
    for (const JsonReader &output : sample.elements())
      answer.results.back().push_back(
          readValues(output, std::numeric_limits<double>::quiet_NaN()));
  }
}

static void readMeasurement(const JsonReader &reader,
                            EvaluationAnswer &answer) {
  answer.samplesMs = reader.field("samples_ms").numbers();
  answer.medianMs = reader.field("median_ms").number();
  answer.madMs = reader.field("mad_ms").number();
  answer.isDropped = reader.field("dropped").boolean();
  if (reader.has("results"))
    readResults(reader.field("results"), answer);
  if (reader.has("sample_errors"))
    answer.sampleErrors = readValues(reader.field("sample_errors"),
                                     std::numeric_limits<double>::infinity());
  if (reader.has("problems_ms"))
    for (const auto &[problem, time] : reader.field("problems_ms").members())
      answer.problemsMs[problem] = time.number();
  if (!reader.has("reference_scale"))
    return;
  answer.comparison = readComparison(reader);
  for (const JsonReader &output : reader.field("outputs").elements())
    answer.outputs.push_back(readComparison(output));
}

Result<EvaluationAnswer> parseEvaluationAnswer(std::string_view line) {
  json document = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    return Error{"the answer is not JSON"};
  std::string error;
  JsonReader reader(document, "", error);
  EvaluationAnswer answer;
  answer.id = reader.field("id").integer();
  if (reader.field("ok").boolean()) {
    readMeasurement(reader, answer);
  } else {
    bool crashed = reader.has("crashed") && reader.field("crashed").boolean();
    answer.outcome =
        crashed ? EvaluationOutcome::Crashed : EvaluationOutcome::Failed;
    answer.error = reader.field("error").string();
  }
  if (!error.empty())
    return Error{"in the answer, " + error};
  return answer;
}

} // namespace tarpon::runtime
