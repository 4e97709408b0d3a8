//===- KnownRecords.cpp - What both stores know of a problem --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownRecords.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;

KnownRecords::KnownRecords(llvm::StringRef problem, const Journal &user,
                           const Journal *system)
    : rows(user.getMeasurements(problem)) {
  for (Finding finding : {Finding::Found, Finding::Searched, Finding::Verified})
    if (user.hasFinding(problem, finding))
      findings |= 1 << static_cast<int>(finding);
  if (!system)
    return;
  std::vector<Measurement> shipped = system->getMeasurements(problem);
  hasSystemRows = !shipped.empty();
  llvm::erase_if(shipped, [&](const Measurement &row) {
    return knowsSolver(row.key.solver);
  });
  llvm::append_range(rows, shipped);
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

bool KnownRecords::knowsCandidate(llvm::StringRef id,
                                  const PerfConfig &config) const {
  std::string text = config.str();
  return llvm::any_of(rows, [&](const Measurement &row) {
    return row.key.solver == id && row.key.config == text;
  });
}

bool KnownRecords::isComplete() const { return findings != 0 || hasSystemRows; }

/// Orders as Journal::getBest does. The system store's record that was verified
/// has this machine's time now, with which the others' cannot be compared.
bool KnownRecords::isBetter(const Measurement &a, const Measurement &b) const {
  if (has(Finding::Verified) && a.isSystem != b.isSystem)
    return b.isSystem;
  if (a.stage != b.stage)
    return a.stage > b.stage;
  return a.median < b.median;
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
    const Solver *solver = findSolver(row.key.solver);
    auto config = PerfConfig::parse(row.key.config);
    auto isListed = [&](const Solution &known) {
      return known.solver == solver;
    };
    // What a database says is checked like everything that comes from outside.
    if (row.status == MeasurementStatus::Ok && solver &&
        mlir::succeeded(config) && !llvm::any_of(right, isListed) &&
        checkApplicable(*solver, problem, target) &&
        solver->isValidConfig(problem, target, *config) &&
        limits.allows(*solver, problem, target))
      right.push_back({solver, *config, row.isSystem ? "system-db" : "user-db",
                       row, std::nullopt});
  }
  return right;
}
