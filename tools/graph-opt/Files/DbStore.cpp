//===- DbStore.cpp - Opens stores for the db commands -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DbStore.h"

#include "tarpon/Runtime/File.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <nlohmann/json.hpp>

namespace tarpon {

using namespace runtime;

Result<std::string> getStorePath(const StoreArguments &arguments) {
  if (!arguments.store.empty())
    return arguments.store;
  // The records have the number of threads, which the file's name lacks.
  Result<TargetInfo> target = getHostTarget(/*threads=*/1, "native");
  if (!target)
    return target.error();
  return Journal::getDefaultPath(*target);
}

Result<std::unique_ptr<StoreAdmin>> openStore(const StoreArguments &arguments) {
  Result<std::string> path = getStorePath(arguments);
  if (!path)
    return path.error();
  return StoreAdmin::openForReading(*path);
}

Result<std::unique_ptr<StoreAdmin>>
openStoreForWriting(const StoreArguments &arguments) {
  Result<std::string> path = getStorePath(arguments);
  if (!path)
    return path.error();
  return StoreAdmin::openForWriting(*path);
}

Status writeJson(const std::string &path, const nlohmann::json &json) {
  if (path.empty())
    return success();
  // The bytes of a damaged store need not be text.
  std::string text =
      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return writeFileAtomically(path, {text});
}

Status writeJson(const StoreArguments &arguments, const nlohmann::json &json) {
  return writeJson(arguments.json, json);
}

std::string count(int64_t number, const std::string &noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string describeSolution(const Measurement &measurement) {
  return measurement.key.solver + " {" + measurement.key.config + "}";
}

nlohmann::json toJson(const BestSolution &solution) {
  const Measurement &m = solution.measurement;
  return {{"problem", m.key.problem},
          {"solver", m.key.solver},
          {"config", m.key.config},
          {"median_ms", m.median},
          {"mad_ms", m.mad},
          {"workspace_bytes", m.workspaceBytes},
          {"max_error", m.maxError},
          {"stage", m.stage == MeasurementStage::Final ? "final" : "race"},
          {"solutions", solution.solutions},
          {"target", solution.context.target},
          {"threads", solution.context.threads},
          {"caches", solution.context.caches},
          {"tarpon", solution.context.tarpon},
          {"llvm", solution.context.llvm},
          {"stale", solution.isStale}};
}

} // namespace tarpon
