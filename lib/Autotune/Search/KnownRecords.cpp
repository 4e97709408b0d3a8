//===- KnownRecords.cpp - A problem's records in both stores --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownRecords.h"

#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;

KnownRecords::KnownRecords(llvm::StringRef problem, const Journal &user,
                           const Journal *system,
                           llvm::function_ref<CandidateDigests()> getCandidates,
                           llvm::ArrayRef<std::string> hiddenRuns)
    : rows(user.getMeasurements(problem, hiddenRuns)),
      findings(user.getFindings(problem, hiddenRuns)) {
  if (getCandidates && !findings.empty())
    candidates = getCandidates();
  if (!system)
    return;
  std::vector<Measurement> shipped = system->getMeasurements(problem);
  hasSystemRows = !shipped.empty();
  // hides() compares with the user's records only: the system store's are
  // appended afterwards.
  llvm::erase_if(shipped, [&](const Measurement &row) { return hides(row); });
  llvm::append_range(rows, shipped);
}

bool KnownRecords::has(Finding finding) const {
  return llvm::any_of(findings, [&](const FindingRecord &record) {
    return record.kind == finding && !candidates.areUnknown() &&
           record.candidates == candidates;
  });
}

bool KnownRecords::had(Finding finding) const {
  return llvm::any_of(findings, [&](const FindingRecord &record) {
    return record.kind == finding;
  });
}

std::vector<std::string> KnownRecords::getSearchedSolvers() const {
  // A search of an older build is taken to have seen all that there is now,
  // until this build has searched.
  bool isRenewed = llvm::any_of(findings, [](const FindingRecord &record) {
    return record.kind == Finding::Searched && !record.candidates.areUnknown();
  });
  std::vector<std::string> solvers;
  for (const Measurement &row : rows) {
    const std::string &solver = row.key.solver;
    auto covers = [&](const FindingRecord &record) {
      return record.kind == Finding::Searched &&
             (record.candidates.areUnknown()
                  ? !isRenewed
                  : record.candidates.haveSame(candidates, solver));
    };
    if (!llvm::is_contained(solvers, solver) && llvm::any_of(findings, covers))
      solvers.push_back(solver);
  }
  return solvers;
}

/// Returns true if the user's measurements override this row of the system
/// store: the same candidate, the solver in a finished find or search, with
/// whatever other candidates, or a config of it that is as fast. A single
/// measurement that failed says nothing about other configs.
bool KnownRecords::hides(const Measurement &shipped) const {
  return llvm::any_of(rows, [&](const Measurement &row) {
    if (row.key.solver != shipped.key.solver)
      return false;
    bool isAsFast = row.status == MeasurementStatus::Ok &&
                    (shipped.status != MeasurementStatus::Ok ||
                     row.median <= shipped.median);
    return !findings.empty() || isAsFast ||
           row.key.config == shipped.key.config;
  });
}

std::vector<Measurement> KnownRecords::getUserRows() const {
  std::vector<Measurement> own = rows;
  llvm::erase_if(own, [](const Measurement &row) { return row.isSystem; });
  return own;
}

bool KnownRecords::knowsSolver(llvm::StringRef id) const {
  return llvm::any_of(
      rows, [&](const Measurement &row) { return row.key.solver == id; });
}

const Measurement *KnownRecords::find(llvm::StringRef id,
                                      const PerfConfig &config) const {
  std::string text = config.str();
  for (const Measurement &row : rows)
    if (row.key.solver == id && row.key.config == text)
      return &row;
  return nullptr;
}

bool KnownRecords::isComplete() const {
  return hasSystemRows || has(Finding::Found) || has(Finding::Searched) ||
         has(Finding::Verified);
}

/// Orders like Journal::getBest. The system store's record that was verified
/// has this machine's time, with which the other records' times are not
/// comparable.
bool KnownRecords::isBetter(const Measurement &a, const Measurement &b) const {
  if (had(Finding::Verified) && a.isSystem != b.isSystem)
    return b.isSystem;
  if (a.stage != b.stage)
    return a.stage > b.stage;
  return a.median < b.median;
}

static const char *getSource(const Measurement &row) {
  switch (row.timeSource) {
  case TimeSource::Modelled:
    return "model";
  case TimeSource::Measured:
    break;
  }
  return row.isSystem ? "system-db" : row.isEarlier ? "user-db" : "measured";
}

std::vector<Solution>
KnownRecords::getRight(const Problem &problem, const TargetInfo &target,
                       const SolutionLimits &limits) const {
  std::vector<Measurement> ranked = rows;
  llvm::stable_sort(ranked, [this](const Measurement &a, const Measurement &b) {
    return isBetter(a, b);
  });
  std::vector<Solution> right;
  for (const Measurement &row : ranked) {
    const Solver *solver = findSolver(target, row.key.solver);
    auto config = PerfConfig::parse(row.key.config);
    auto isListed = [&](const Solution &known) {
      return known.solver == solver;
    };
    // Data from a database is checked like all external input.
    if (row.status == MeasurementStatus::Ok && solver &&
        mlir::succeeded(config) && !llvm::any_of(right, isListed) &&
        checkApplicable(*solver, problem, target) &&
        solver->isValidConfig(problem, target, *config) &&
        limits.allows(*solver, problem, target))
      right.push_back({solver, *config, getSource(row), row, std::nullopt});
  }
  return right;
}
