//===- SolutionFile.cpp - A solution as a JSON file -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SolutionFile.h"

#include "Search/FieldReader.h"
#include "Store/RecordVersion.h"

#include "tarpon/Runtime/File.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace tarpon;
using nlohmann::json;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr const char *kSchema = "tarpon.solution/1";

std::string tarpon::getSolutionPackagePath(const std::string &path) {
  return path + ".tpn";
}

Status tarpon::writeSolutionFile(const SolutionFile &file,
                                 const std::string &path) {
  json text = {{"schema", kSchema},
               {"problem", file.candidate.problem},
               {"solver", file.candidate.solver},
               {"version", file.version},
               {"config", file.candidate.config},
               {"source", file.source},
               {"target", file.madeBy.target},
               {"threads", file.madeBy.threads},
               {"tarpon", file.madeBy.tarpon},
               {"llvm", file.madeBy.llvm},
               {"caches", file.madeBy.caches},
               {"kernels", file.hasKernels}};
  if (file.medianMs)
    text["median_ms"] = *file.medianMs;
  return runtime::writeFileAtomically(path, {text.dump(2) + "\n"});
}

Result<SolutionFile> tarpon::readSolutionFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Error{"cannot read " + path + ": " + buffer.getError().message()};
  json text = json::parse((*buffer)->getBuffer().begin(),
                          (*buffer)->getBuffer().end(), nullptr,
                          /*allow_exceptions=*/false);
  if (!text.is_object())
    return Error{path + " is not a saved solution: it is not a JSON object"};
  SolutionFile file;
  std::string schema;
  FieldReader fields(text, path);
  fields.read("schema", schema);
  if (fields.error.empty() && schema != kSchema)
    return Error{path + ": schema: expected \"" + kSchema + "\", got \"" +
                 schema + "\""};
  fields.read("problem", file.candidate.problem);
  fields.read("solver", file.candidate.solver);
  fields.read("config", file.candidate.config);
  fields.read("source", file.source);
  fields.read("target", file.madeBy.target);
  fields.read("threads", file.madeBy.threads);
  fields.read("tarpon", file.madeBy.tarpon);
  // Files of 6d49224 and before lack the version, and have another text for
  // `tarpon`.
  if (text.contains("version"))
    fields.read("version", file.version);
  fields.read("llvm", file.madeBy.llvm);
  // Files without the sizes of caches are valid for any, as records are.
  if (text.contains("caches"))
    fields.read("caches", file.madeBy.caches);
  file.madeBy.tarpon = translateRecordVersion(
      file.madeBy.tarpon, file.madeBy.llvm, file.madeBy.target);
  fields.read("kernels", file.hasKernels);
  fields.read("median_ms", file.medianMs);
  if (fields.error.empty() && file.medianMs &&
      !(std::isfinite(*file.medianMs) && *file.medianMs > 0))
    return Error{path + ": median_ms: expected a positive number"};
  if (!fields.error.empty())
    return Error{fields.error};
  return file;
}

Status tarpon::checkSolutionFile(const SolutionFile &file,
                                 const JournalContext &here,
                                 const std::string &path) {
  const JournalContext &there = file.madeBy;
  auto refuse = [&](const std::string &what, const std::string &recorded,
                    const std::string &actual) {
    return Error{path + " was made " + what + " " + recorded + ", not " +
                 actual};
  };
  if (there.target != here.target)
    return refuse("for target", there.target, here.target);
  if (there.threads != here.threads)
    return refuse("for a thread count of", std::to_string(there.threads),
                  std::to_string(here.threads));
  if (there.tarpon != here.tarpon)
    return refuse("by tarpon", there.tarpon, here.tarpon);
  if (int64_t version = getBehaviourVersion(file.candidate.solver);
      file.version != version)
    return refuse("with " + file.candidate.solver + " in version",
                  std::to_string(file.version), std::to_string(version));
  if (there.llvm != here.llvm)
    return refuse("with LLVM", there.llvm, here.llvm);
  if (!there.caches.empty() && there.caches != here.caches)
    return refuse("for caches of", there.caches, here.caches);
  return runtime::success();
}
