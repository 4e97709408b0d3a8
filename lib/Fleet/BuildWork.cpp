//===- BuildWork.cpp - Compiles the rounds of jobs ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildWork.h"

#include "DiskErrors.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/SystemStore.h"
#include "tarpon/Fleet/Measurements.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <map>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

/// The numbers of other problems' measurements that a builder begins with, adds
/// at a look, and keeps at most (about 30 MB): the latest ones. However many a
/// fleet makes, a thousand builders read no more than 34,000 small rows a
/// second.
static constexpr int64_t kFirstRows = 20000, kRowsPerLook = 2000,
                         kMostRows = 100000;
static constexpr double kSecondsBetweenLooks = 60;
/// The sessions before this one whose winners are measured first.
static constexpr int64_t kEarlierSessions = 3;

static SearchOptions getSearchOptions(const SessionSettings &settings) {
  SearchOptions options;
  options.method = settings.method;
  options.iterations = settings.iterations;
  return options;
}

BuildWork::BuildWork(Database &database, const Session &session,
                     SessionTarget target, const std::string &packages)
    : database(database), session(session), target(std::move(target)),
      packages(database, packages) {}

/// A system store that is damaged, or missing, only makes the search longer.
Result<std::unique_ptr<PhaseWork>>
BuildWork::create(Database &database, const Session &session,
                  const std::string &packages) {
  Result<SessionTarget> target = openTarget(session);
  if (!target)
    return target.error();
  std::unique_ptr<BuildWork> work(
      new BuildWork(database, session, std::move(*target), packages));
  const TargetInfo &info = work->target.compiler->getTarget();
  if (!session.usesEmulator)
    if (auto system = openSystemStore(info))
      work->system = std::move(*system);
  std::vector<std::string> remarks;
  work->beginHistory();
  work->ranker =
      loadLearnedRanker(info, *work->journal, work->system.get(), remarks);
  return std::unique_ptr<PhaseWork>(std::move(work));
}

/// The builder goes with its journal, which it refers to.
void BuildWork::beginHistory() {
  builder.reset();
  journal = Journal::openInMemory(session.context);
  lastRows.clear();
  rowsHeld = 0;
  nextLook = Deadline::after(0);
}

/// Reads what was measured of other problems since the last look. A part of a
/// long history tells enough about related problems.
Status BuildWork::readHistory() {
  if (!nextLook.isOver())
    return success();
  if (rowsHeld > kMostRows)
    beginHistory();
  Result<LatestMeasurements> latest =
      readLatestMeasurements(database, session.id, lastRows,
                             rowsHeld == 0 ? kFirstRows : kRowsPerLook);
  if (!latest)
    return latest.error();
  for (const Measurement &measurement : latest->measurements)
    if (Status status = journal->record(measurement); !status)
      return status;
  lastRows = std::move(latest->lastRows);
  rowsHeld += static_cast<int64_t>(latest->measurements.size());
  nextLook = Deadline::after(kSecondsBetweenLooks);
  if (!builder)
    builder = std::make_unique<BundleBuilder>(
        *target.compiler, *journal, system.get(), ranker.get(),
        getSearchOptions(session.settings));
  return success();
}

/// Reads what there is to know for a job: all that counts of its own problem,
/// and what was measured of others.
Result<std::vector<Measurement>> BuildWork::refresh(const Lease &lease) {
  if (Status status = readHistory(); !status)
    return status.error();
  Result<std::vector<Measurement>> known = readMeasurements(database, lease);
  if (!known)
    return known;
  if (Status status = journal->forgetProblem(lease.key); !status)
    return status.error();
  for (const Measurement &measurement : *known)
    if (Status status = journal->record(measurement); !status)
      return status.error();
  return known;
}

static SolutionLimits getLimits(const SessionSettings &settings,
                                const TargetInfo &target) {
  SolutionLimits limits;
  if (settings.solvers.empty())
    return limits;
  for (const Solver *solver : getSolvers(target))
    if (!llvm::is_contained(settings.solvers, solver->id().str()))
      limits.disabledSolvers.push_back(solver->id().str());
  return limits;
}

/// The share of the best time that the last round has saved is what another may
/// save; before anything is measured, the job's own expectation stays.
static std::optional<double> expectGain(const std::vector<Measurement> &known) {
  double best = 0, before = 0;
  for (const Measurement &m : known)
    if (m.status == MeasurementStatus::Ok && (best == 0 || m.median < best)) {
      before = best;
      best = m.median;
    }
  if (best == 0)
    return std::nullopt;
  double share = before > 0 ? 1 - best / before : policy::kPriorSaving;
  return best * std::min(share, policy::kPriorSaving);
}

PhaseResult BuildWork::handOver(const Lease &lease,
                                const CandidateBundle &bundle,
                                const std::vector<Measurement> &known) {
  llvm::SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tarpon", "candidates", path))
    return PhaseResult::fail(Cause::Disk, "no temporary file can be made: " +
                                              code.message());
  Status written = writeBundle(bundle, path.str().str());
  Result<std::string> digest =
      written ? packages.stage(lease, path.str().str()) : written.error();
  (void)llvm::sys::fs::remove(path);
  if (!digest)
    return PhaseResult::fail(Cause::Disk, digest.message());
  PhaseResult result;
  std::optional<Phase> phase;
  if (session.settings.measures)
    phase = Phase::Measure;
  result.next = {phase, lease.round, *digest, expectGain(known)};
  result.write = [this, lease, digest = *digest]() -> Status {
    // The package of the round before is of no use any more.
    if (!lease.package.empty() && lease.package != digest)
      if (Status dropped = packages.drop(lease); !dropped)
        return dropped;
    return packages.record(lease, digest);
  };
  return result;
}

/// The cause for which no candidate is right: what happened to most of them.
static PhaseResult failSearch(const std::vector<Measurement> &known) {
  std::map<MeasurementStatus, int64_t> counts;
  for (const Measurement &m : known)
    ++counts[m.status];
  static constexpr std::pair<MeasurementStatus, Cause> kCauses[] = {
      {MeasurementStatus::Wrong, Cause::Wrong},
      {MeasurementStatus::Crashed, Cause::Crash},
      {MeasurementStatus::TimedOut, Cause::Hang},
      {MeasurementStatus::Failed, Cause::Compile}};
  auto most = std::ranges::max_element(
      kCauses, {}, [&](const auto &row) { return counts[row.first]; });
  auto example = llvm::find_if(
      known, [&](const Measurement &m) { return m.status == most->first; });
  std::string reason =
      "no candidate of " + std::to_string(known.size()) + " is right";
  if (example != known.end())
    reason += "; " + example->key.solver + " {" + example->key.config +
              "}: " + example->detail;
  // Another attempt would find the same measurements, and no new candidates.
  PhaseResult result = PhaseResult::fail(most->second, reason);
  result.end.isFinal = true;
  return result;
}

PhaseResult BuildWork::finish(const Lease &lease,
                              const std::vector<Measurement> &known) {
  bool hasRight = llvm::any_of(known, [](const Measurement &m) {
    return m.status == MeasurementStatus::Ok;
  });
  if (!hasRight)
    return failSearch(known);
  PhaseResult result;
  result.next = {std::nullopt, lease.round, "", std::nullopt};
  result.write = [this, lease]() -> Status {
    return lease.package.empty() ? success() : packages.drop(lease);
  };
  return result;
}

PhaseResult BuildWork::run(const Lease &lease, std::string &log,
                           const std::function<bool()> &isLost) {
  mlir::FailureOr<Problem> problem = parseProblem(lease.key);
  if (mlir::failed(problem))
    return PhaseResult::fail(Cause::Compile,
                             "'" + lease.key + "' is no problem of this build");
  Result<std::vector<Measurement>> known = refresh(lease);
  if (!known)
    return PhaseResult::failDatabase(database, known.message());
  // Nobody loses a winner to the luck of a new search.
  Result<std::vector<CandidateKey>> winners = std::vector<CandidateKey>();
  if (known->empty())
    winners = findEarlierWinners(database, lease.session, lease.problem,
                                 kEarlierSessions);
  if (!winners)
    return PhaseResult::failDatabase(database, winners.message());
  const TargetInfo &info = target.compiler->getTarget();
  Result<std::optional<CandidateBundle>> bundle =
      builder->build(*problem, static_cast<size_t>(session.settings.candidates),
                     getLimits(session.settings, info), *winners,
                     Deadline::never().orWhen(isLost));
  if (isLost())
    return PhaseResult::fail(Cause::Returned, "the lease was lost");
  if (!bundle)
    return PhaseResult::fail(getDiskCauseOr(Cause::Compile, bundle.message()),
                             bundle.message());
  if (!*bundle) {
    log += "nothing more is worth measuring\n";
    return finish(lease, *known);
  }
  for (const BundledCandidate &candidate : (*bundle)->candidates)
    log += candidate.key.solver + " {" + candidate.key.config +
           "}: " + (candidate.error.empty() ? "compiled" : candidate.error) +
           "\n";
  for (const BundledCandidate &candidate : (*bundle)->candidates)
    if (isDiskError(candidate.error))
      return PhaseResult::fail(Cause::Disk, candidate.error);
  return handOver(lease, **bundle, *known);
}
