//===- KernelExport.cpp - The kernels of the best solutions ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportSessions.h"

#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Compiler/LaunchKernel.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

namespace {

/// Collects the kernels that are asked for in a folder of their own. The user's
/// cache has most of them.
class CollectingCache final : public KernelCache {
public:
  CollectingCache(const std::string &folder, const TargetInfo &target)
      : KernelCache(folder), users(openKernelCache(target)),
        collected(std::make_unique<KernelCache>(folder + "/" +
                                                getKernelFolderName(target))) {}

  std::optional<std::vector<char>>
  read(const std::string &digest) const override {
    std::optional<std::vector<char>> bytes = collected->read(digest);
    if (bytes)
      return bytes;
    bytes = users->read(digest);
    if (bytes)
      collected->write(digest, *bytes);
    return bytes;
  }
  void write(const std::string &digest,
             const std::vector<char> &bytes) override {
    collected->write(digest, bytes);
  }

private:
  std::shared_ptr<KernelCache> users;
  std::unique_ptr<KernelCache> collected;
};

} // namespace

/// A record that this build cannot plan any more needs no kernels.
static Status compileBest(const Measurement &best, KernelCompiler &compiler) {
  const TargetInfo &target = compiler.getTarget();
  auto problem = parseProblem(best.key.problem);
  auto config = PerfConfig::parse(best.key.config);
  const Solver *solver = findSolver(target, best.key.solver);
  if (!solver || mlir::failed(problem) || mlir::failed(config) ||
      !checkApplicable(*solver, *problem, target) ||
      !solver->isValidConfig(*problem, target, *config))
    return success();
  SolutionPlan plan = solver->plan(*problem, target, *config);
  for (const LaunchPlan &launch : plan.launches)
    if (auto object = compiler.getObject(solver->id(), getKernelSource(launch));
        !object)
      return object.error();
  return success();
}

/// Collects the kernels of a session in `folder`, and copies them to `output`
/// with the modes of files that are installed.
static Result<ExportedFile>
exportSession(Database &database, const ResultsName &name,
              const Session &session, const SessionTarget &target,
              const std::string &folder, const std::string &output) {
  const TargetInfo &info = target.compiler->getTarget();
  KernelCompiler compiler(info, std::make_shared<CollectingCache>(folder, info),
                          target.target->makeBackend());
  ExportedFile file;
  Status status =
      visitResults(database, name, session, /*withSamples=*/false,
                   [&](const ProblemResults &results) -> Status {
                     const RecordedMeasurement *best = results.getBest();
                     if (!best)
                       return success();
                     ++file.problems;
                     return compileBest(best->measurement, compiler);
                   });
  if (!status)
    return status.error();
  Result<ExportedKernels> exported = exportKernels(info, folder, output);
  if (!exported)
    return exported.error();
  file.path = output + "/" + getKernelFolderName(info);
  file.entries = exported->kernels;
  return file;
}

Result<ExportSummary>
tarpon::fleet::exportKernelCache(Database &database, const ResultsName &name,
                                 const std::string &output) {
  ExportSummary summary;
  Result<std::vector<Session>> sessions =
      selectSessions(database, name, kKernelForm, summary.omissions);
  if (!sessions)
    return sessions.error();
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("tarpon-kernels", folder))
    return Error{"cannot create a temporary folder: " + error.message()};
  llvm::scope_exit cleanUp(
      [&] { (void)llvm::sys::fs::remove_directories(folder); });
  for (const Session &session : *sessions) {
    Result<SessionTarget> target = openTarget(session);
    if (!target)
      return target.error();
    Result<ExportedFile> file = exportSession(database, name, session, *target,
                                              folder.str().str(), output);
    if (!file)
      return file.error();
    summary.files.push_back(std::move(*file));
  }
  return summary;
}
