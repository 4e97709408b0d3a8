//===- ProcessMeasurer.cpp - Measures in another process ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ProcessMeasurer.h"

#include "Measure/EvaluationStatus.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>

using namespace tarpon;
using runtime::EvaluationAnswer;
using runtime::Result;
using runtime::Status;

static constexpr const char *kReferenceFile = "reference.tpn";

ProcessMeasurer::ProcessMeasurer(const Problem &problem,
                                 KernelCompiler &compiler,
                                 runtime::EvaluatorProcess &evaluator,
                                 const TempDirectory &directory,
                                 const Conditions &conditions)
    : CompilingMeasurer(problem, compiler), evaluator(evaluator),
      directory(directory), conditions(conditions) {}

ProcessMeasurer::~ProcessMeasurer() {
  for (const auto &entry : builtCandidates)
    discard(entry.second);
  if (!reference.empty())
    (void)llvm::sys::fs::remove(reference);
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

Status ProcessMeasurer::prepare(llvm::ArrayRef<Contender>) {
  if (!reference.empty())
    return runtime::success();
  const Solver &solver = *conditions.reference;
  PerfConfig config = solver.defaultConfig(problem, compiler.getTarget());
  Result<runtime::Package> package =
      buildProblemPackage(problem, solver, config, compiler);
  if (!package)
    return package.error();
  reference = directory.file(kReferenceFile);
  return runtime::writePackage(*package, reference);
}

size_t ProcessMeasurer::getBatchSize() const {
  int64_t bytes = std::max<int64_t>(countConstantBytes(problem), 1);
  return std::clamp<int64_t>(policy::kMaxPackageBytes / bytes, 1,
                             policy::kMaxBatch);
}

CompilingMeasurer::Built ProcessMeasurer::compile(const Contender &contender) {
  Built built;
  Result<runtime::Package> package = buildProblemPackage(
      problem, *contender.solver, contender.config, compiler);
  if (!package) {
    built.error = package.message();
    return built;
  }
  std::string path = directory.file(std::to_string(packages++) + ".tpn");
  if (Status status = runtime::writePackage(*package, path))
    built.package = path;
  else
    built.error = status.message();
  return built;
}

/// Packages hold the problem's constants, which may be large.
bool ProcessMeasurer::discard(const Built &built) {
  if (built.package.empty())
    return false;
  (void)llvm::sys::fs::remove(built.package);
  return true;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// The evaluation may include the reference.
std::chrono::milliseconds ProcessMeasurer::getTimeLimit() const {
  double seconds = conditions.baseSeconds +
                   problem.flops() / conditions.referenceFlopsPerSecond;
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void ProcessMeasurer::judge(const EvaluationAnswer &answer,
                            MeasureOutcome &outcome) const {
  outcome.status = toStatus(answer.outcome);
  outcome.detail = answer.error;
  if (outcome.status != MeasurementStatus::Ok)
    return;
  outcome.timing = runtime::summarize(answer.samplesMs);
  outcome.timing.isDropped = answer.isDropped;
  if (static_cast<int64_t>(answer.outputs.size()) != problem.numResults()) {
    outcome.status = MeasurementStatus::Failed;
    outcome.detail = "the evaluator did not compare the results";
    return;
  }
  outcome.maxError = answer.comparison->maxAbsError;
  outcome.relativeL2 = answer.comparison->relativeL2;
  auto describe = [](const std::string &error) { return "error " + error; };
  if (auto wrong = findWrongResult(problem, answer.outputs, conditions.slack,
                                   describe)) {
    outcome.status = MeasurementStatus::Wrong;
    outcome.detail = *wrong;
  }
}

Result<MeasureOutcome> ProcessMeasurer::measure(const Contender &contender,
                                                const Effort &effort) {
  runtime::EvaluationRequest request;
  request.package = builtCandidates[contender.key].package;
  request.reference = reference;
  request.threads = static_cast<int>(compiler.getTarget().threads);
  request.minSamples = effort.minSamples;
  request.minTimeMs = effort.minMs;
  request.maxTimeMs = effort.maxMs;
  request.rotateBytes = conditions.rotateBytes;
  request.coldConstants = conditions.coldConstants;
  request.cutoffMs = effort.cutoffMs;
  Result<EvaluationAnswer> answer = evaluator.evaluate(request, getTimeLimit());
  if (!answer)
    return answer.error();
  MeasureOutcome outcome;
  judge(*answer, outcome);
  return outcome;
}

/// The candidate is not to blame for the end of this process, which it was not
/// part of; the user may have ended it. The next run tries it again.
std::optional<MeasurementStatus> ProcessMeasurer::getInterruptedStatus() const {
  return MeasurementStatus::Failed;
}
