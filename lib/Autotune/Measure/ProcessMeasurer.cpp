//===- ProcessMeasurer.cpp - Measures in another process ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ProcessMeasurer.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

static constexpr const char *kReferenceFile = "reference.tpn";

ProcessMeasurer::ProcessMeasurer(const Problem &problem,
                                 KernelCompiler &compiler,
                                 const TempDirectory &directory,
                                 const Solver &reference,
                                 PackageEvaluation evaluation,
                                 size_t maxProposals)
    : CompilingMeasurer(problem, compiler), directory(directory),
      referenceSolver(reference), evaluation(std::move(evaluation)),
      maxProposals(maxProposals) {}

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
  PerfConfig config =
      referenceSolver.defaultConfig(problem, compiler.getTarget());
  Result<runtime::Package> package =
      buildProblemPackage(problem, referenceSolver, config, compiler);
  if (!package)
    return package.error();
  reference = directory.file(kReferenceFile);
  return runtime::writePackage(*package, reference);
}

size_t ProcessMeasurer::getBatchSize() const { return getMaxBatch(problem); }

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

Result<MeasureOutcome> ProcessMeasurer::measure(const Contender &contender,
                                                const Effort &effort) {
  return evaluation.run(builtCandidates[contender.key].package, reference,
                        effort);
}

/// The candidate is not to blame for the end of this process, which it was not
/// part of; the user may have ended it. The next run tries it again.
std::optional<MeasurementStatus> ProcessMeasurer::getInterruptedStatus() const {
  return MeasurementStatus::Failed;
}
