//===- Registry.cpp - The solvers of the host ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/SolverRegistry.h"

#include "Host/Solvers.h"
#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <map>
#include <mutex>

using namespace mlir;
using namespace tarpon;

static std::vector<const Solver *> &solverList() {
  static std::vector<const Solver *> solvers = {
#define TARPON_SOLVER(FUNCTION) &FUNCTION(),
#include "Host/Solvers.def"
  };
  return solvers;
}

/// The number of solvers that ScopedExtraSolvers has put in front.
static size_t extraSolvers = 0;

ArrayRef<const Solver *> tarpon::getHostSolvers() { return solverList(); }

namespace {

/// The solvers of all targets but the host.
class OtherSolvers {
public:
  static OtherSolvers &get() {
    static OtherSolvers solvers;
    return solvers;
  }
  void set(StringRef arch, SolverList list) {
    std::lock_guard<std::mutex> lock(mutex);
    lists.insert_or_assign(arch.str(), list);
  }
  SolverList find(StringRef arch) {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = lists.find(arch);
    return known == lists.end() ? nullptr : known->second;
  }
  /// All lists, in the order of their architectures.
  std::vector<SolverList> list() {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<SolverList> all;
    for (const auto &[arch, list] : lists)
      all.push_back(list);
    return all;
  }

private:
  std::mutex mutex;
  std::map<std::string, SolverList, std::less<>> lists;
};

} // namespace

void tarpon::registerSolvers(StringRef arch, SolverList solvers) {
  OtherSolvers::get().set(arch, solvers);
}

ArrayRef<const Solver *> tarpon::getSolvers(const TargetInfo &target) {
  if (SolverList list = OtherSolvers::get().find(target.arch))
    return list();
  // The solvers of CPUs support only x86-64; see findTarget for others.
  return target.arch == TargetInfo().arch ? getHostSolvers()
                                          : ArrayRef<const Solver *>();
}

static const Solver *findIn(ArrayRef<const Solver *> list, StringRef id) {
  const auto *found = llvm::find_if(
      list, [&](const Solver *solver) { return solver->id() == id; });
  return found == list.end() ? nullptr : *found;
}

const Solver *tarpon::findSolver(const TargetInfo &target, StringRef id) {
  return findIn(getSolvers(target), id);
}

const Solver *tarpon::findSolver(StringRef id) {
  const Solver *solver = findIn(getHostSolvers(), id);
  for (SolverList list : OtherSolvers::get().list())
    if (!solver)
      solver = findIn(list(), id);
  return solver;
}

/// Returns true if each pixel of a slice starts where the target needs it.
static bool hasAlignedSlices(const Problem &problem, const TargetInfo &target) {
  int64_t alignment = target.traits->getSliceAlignment(target);
  auto isAligned = [&](const TensorDesc &desc) {
    return desc.pitch * runtime::dtypeBytes(desc.dtype) % alignment == 0;
  };
  bool all = llvm::all_of(problem.operands, isAligned);
  for (int64_t i = 0; i < problem.numResults(); ++i)
    all &= isAligned(problem.getResult(i));
  return all;
}

Applicability tarpon::checkApplicable(const Solver &solver,
                                      const Problem &problem,
                                      const TargetInfo &target) {
  if (problem.hasSlices() && !solver.knowsSlices())
    return Applicability::no("does not know slices");
  if (hasProducer(problem) && !solver.knowsProducers())
    return Applicability::no("computes one operation at a time");
  if (!hasAlignedSlices(problem, target) &&
      solver.id() != target.traits->getArbiter())
    return Applicability::no("needs slices whose pixels are aligned");
  return solver.isApplicable(problem, target);
}

std::vector<const Solver *>
tarpon::getApplicableSolvers(const Problem &problem, const TargetInfo &target) {
  std::vector<std::pair<double, const Solver *>> ranked;
  for (const Solver *solver : getSolvers(target))
    if (checkApplicable(*solver, problem, target))
      ranked.emplace_back(solver->expectedFraction(problem, target), solver);
  llvm::stable_sort(
      ranked, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<const Solver *> solvers;
  for (const auto &[fraction, solver] : ranked)
    solvers.push_back(solver);
  return solvers;
}

const Solver &tarpon::getReferenceSolver() { return getReference(); }

ScopedExtraSolvers::ScopedExtraSolvers(std::vector<const Solver *> solvers) {
  assert(extraSolvers == 0 && "one set of extra solvers at a time");
  extraSolvers = solvers.size();
  solverList().insert(solverList().begin(), solvers.begin(), solvers.end());
}

ScopedExtraSolvers::~ScopedExtraSolvers() {
  auto &list = solverList();
  list.erase(list.begin(), list.begin() + extraSolvers);
  extraSolvers = 0;
}
