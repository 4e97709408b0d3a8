//===- BundleManifest.cpp - The description of a bundle -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleManifest.h"

#include "Search/FieldReader.h"
#include "tarpon/Problem/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <set>

using namespace tarpon;
using nlohmann::json;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr const char *kSchema = "tarpon.bundle/1";
static constexpr int64_t kMaxThreads = 1 << 16;

namespace {

struct StageName {
  MeasurementStage stage;
  llvm::StringLiteral name;
};

} // namespace

static constexpr StageName kStages[] = {{MeasurementStage::Race, "race"},
                                        {MeasurementStage::Final, "final"}};

std::string tarpon::getPackageMember(size_t candidate) {
  return std::to_string(candidate) + ".tpn";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string getStageName(MeasurementStage stage) {
  const auto *entry = llvm::find_if(
      kStages, [&](const StageName &known) { return known.stage == stage; });
  return entry->name.str();
}

/// Messages of compilers may hold any bytes.
std::string tarpon::printManifest(const CandidateBundle &bundle) {
  json candidates = json::array();
  for (const BundledCandidate &candidate : bundle.candidates) {
    json entry = {{"solver", candidate.key.solver},
                  {"config", candidate.key.config},
                  {"workspace_bytes", candidate.workspaceBytes},
                  {"model_ms", candidate.modelMs}};
    if (!candidate.error.empty())
      entry["error"] = candidate.error;
    candidates.push_back(std::move(entry));
  }
  json manifest = {{"schema", kSchema},
                   {"problem", bundle.problem},
                   {"target", bundle.target},
                   {"kernel_version", bundle.kernelVersion},
                   {"threads", bundle.threads},
                   {"stage", getStageName(bundle.stage)},
                   {"candidates", std::move(candidates)}};
  return manifest.dump(2, ' ', /*ensure_ascii=*/false,
                       json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns true for a name that may appear in a message as it is.
static bool isName(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isPrint(c) && c != ' ';
  });
}

static Status checkHead(const CandidateBundle &bundle) {
  std::string fault;
  mlir::FailureOr<Problem> problem = parseProblem(bundle.problem, &fault);
  if (mlir::failed(problem))
    return Error{"problem: " + fault};
  if (problem->key() != bundle.problem)
    return Error{"problem: expected the form '" + problem->key() + "'"};
  if (!isName(bundle.target))
    return Error{"target: expected a name"};
  if (!isName(bundle.kernelVersion))
    return Error{"kernel_version: expected a name"};
  if (bundle.threads < 1 || bundle.threads > kMaxThreads)
    return Error{"threads: expected a number from 1 to " +
                 std::to_string(kMaxThreads)};
  return runtime::success();
}

static Status checkCandidate(const BundledCandidate &candidate) {
  if (!isName(candidate.key.solver))
    return Error{"solver: expected a name"};
  mlir::FailureOr<PerfConfig> config = PerfConfig::parse(candidate.key.config);
  if (mlir::failed(config) || config->str() != candidate.key.config)
    return Error{"config: expected a perf config"};
  if (candidate.workspaceBytes < 0)
    return Error{"workspace_bytes: expected a number from 0 on"};
  if (!(std::isfinite(candidate.modelMs) && candidate.modelMs >= 0))
    return Error{"model_ms: expected a number from 0 on"};
  return runtime::success();
}

static Result<BundledCandidate> readCandidate(const json &entry,
                                              const std::string &where,
                                              const std::string &problem) {
  if (!entry.is_object())
    return Error{where + ": expected an object"};
  BundledCandidate candidate;
  candidate.key.problem = problem;
  std::optional<double> modelMs;
  FieldReader fields(entry, where);
  fields.read("solver", candidate.key.solver);
  fields.read("config", candidate.key.config);
  fields.read("workspace_bytes", candidate.workspaceBytes);
  fields.read("model_ms", modelMs);
  if (entry.contains("error")) {
    fields.read("error", candidate.error);
    if (fields.error.empty() && candidate.error.empty())
      return Error{where + ": error: expected a text"};
  }
  if (!fields.error.empty())
    return Error{fields.error};
  candidate.modelMs = modelMs.value_or(0);
  if (Status status = checkCandidate(candidate); !status)
    return Error{where + ": " + status.message()};
  return candidate;
}

static Status readCandidates(const json &list, CandidateBundle &bundle) {
  std::set<CandidateKey> keys;
  for (auto [index, entry] : llvm::enumerate(list)) {
    std::string where = "candidates[" + std::to_string(index) + "]";
    Result<BundledCandidate> candidate =
        readCandidate(entry, where, bundle.problem);
    if (!candidate)
      return candidate.error();
    if (!keys.insert(candidate->key).second)
      return Error{where + ": it is there twice"};
    bundle.candidates.push_back(std::move(*candidate));
  }
  return runtime::success();
}

Result<CandidateBundle> tarpon::parseManifest(llvm::StringRef text) {
  json manifest = json::parse(text.begin(), text.end(), nullptr,
                              /*allow_exceptions=*/false);
  if (!manifest.is_object())
    return Error{"it is not a JSON object"};
  CandidateBundle bundle;
  std::string schema, stage;
  FieldReader fields(manifest, "");
  fields.read("schema", schema);
  if (fields.error.empty() && schema != kSchema)
    return Error{std::string("schema: expected ") + kSchema};
  fields.read("problem", bundle.problem);
  fields.read("target", bundle.target);
  fields.read("kernel_version", bundle.kernelVersion);
  fields.read("threads", bundle.threads);
  fields.read("stage", stage);
  if (!fields.error.empty())
    return Error{fields.error};
  if (Status status = checkHead(bundle); !status)
    return status.error();
  const auto *known = llvm::find_if(
      kStages, [&](const StageName &entry) { return entry.name == stage; });
  if (known == std::end(kStages))
    return Error{"stage: expected race or final"};
  bundle.stage = known->stage;
  auto list = manifest.find("candidates");
  if (list == manifest.end() || !list->is_array() || list->empty())
    return Error{"candidates: expected a list"};
  if (Status status = readCandidates(*list, bundle); !status)
    return status.error();
  return bundle;
}
