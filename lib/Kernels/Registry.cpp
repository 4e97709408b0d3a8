//===- Registry.cpp - The solvers of the host ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/Solver.h"

#include "Host/Solvers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

/// In order of preference; the reference comes last and takes everything.
static std::vector<const Solver *> &solverList() {
  static std::vector<const Solver *> solvers = {
      &getDepthwiseTaps(),
      &getDepthwiseNhwc(),
      &getDepthwiseNchw(),
      &getConvDirectRows(),
      &getConvImplicitGemm(),
      &getWinogradF4x3(),
      &getWinogradF2x3(),
      &getConvFft(),
      &getGemm(),
      &getGemv(),
      &getElementwise(),
      &getBatchNorm(),
      &getBatchNormVariable(),
      &getPoolRows(),
      &getPoolNhwc(),
      &getPoolNchw(),
      &getGlobalPoolNchw(),
      &getPoolIndicesNhwc(),
      &getPoolIndicesNchw(),
      &getMaxUnpoolNchw(),
      &getSoftmax(),
      &getSoftmaxAxis(),
      &getLrn(),
      &getLayerNorm(),
      &getGroupNorm(),
      &getGroupNormNhwc(),
      &getReduce(),
      &getArgReduce(),
      &getConcat(),
      &getTranspose(),
      &getReshape(),
      &getShuffleChannels(),
      &getConvert(),
      &getPad(),
      &getResizeNhwc(),
      &getResizeNchw(),
      &getConvDataDepthwiseNhwc(),
      &getConvDataDepthwiseNchw(),
      &getConvDataImplicitGemm(),
      &getConvWeightsOuter(),
      &getPoolGradientNhwc(),
      &getPoolGradientNchw(),
      &getBatchNormTraining(),
      &getBatchNormBackward(),
      &getSoftmaxBackward(),
      &getLrnBackward(),
      &getRecurrent(),
      &getReference(),
  };
  return solvers;
}

/// How many solvers ScopedExtraSolvers has put in front.
static size_t extraSolvers = 0;

ArrayRef<const Solver *> tarpon::getHostSolvers() { return solverList(); }

const Solver *tarpon::findSolver(StringRef id) {
  for (ArrayRef<const Solver *> list : {getHostSolvers(), getGpuSolvers()})
    for (const Solver *solver : list)
      if (solver->id() == id)
        return solver;
  return nullptr;
}

Applicability tarpon::checkApplicable(const Solver &solver,
                                      const Problem &problem,
                                      const TargetInfo &target) {
  if (problem.hasSlices() && !solver.knowsSlices())
    return Applicability::no("does not know slices");
  return solver.isApplicable(problem, target);
}

std::vector<const Solver *>
tarpon::getApplicableSolvers(const Problem &problem, const TargetInfo &target) {
  std::vector<std::pair<double, const Solver *>> ranked;
  for (const Solver *solver : target.gpu ? getGpuSolvers() : getHostSolvers())
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
