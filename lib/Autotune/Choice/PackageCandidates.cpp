//===- PackageCandidates.cpp - Adds candidates to packages ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageCandidates.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/IR/TarponOps.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using runtime::BufferRef;
using runtime::BufferSpace;
using runtime::Candidate;
using runtime::Error;
using runtime::Layer;
using runtime::Package;
using runtime::Result;
using runtime::Status;

namespace {

/// A launch of the function, and the layer that it became.
struct LaunchToVary {
  LaunchOp op;
  size_t layer;
  Problem problem;
  /// The solutions, the chosen one first.
  std::vector<Solution> solutions;
  /// The workspace of the chosen solution, as memory was planned.
  int64_t workspaceOffset, workspaceBytes;
};

class CandidateAdder {
public:
  CandidateAdder(func::FuncOp function, KernelCompiler &compiler,
                 const CandidateSource &source, Package &package)
      : function(function), compiler(compiler), source(source),
        package(package), collector(package),
        behindArena(static_cast<int64_t>(
            llvm::alignTo(package.arenaBytes, runtime::kBufferAlignment))) {}

  Status run();

private:
  Status collectLaunches();
  Result<LaunchToVary> describe(LaunchOp op, size_t layer);
  Status addSolutions(LaunchToVary &launch);
  void addArbiter(LaunchToVary &launch) const;
  bool fits(const Problem &problem, const Solution &solution) const;
  void select(LaunchToVary &launch, size_t index);
  Status addRound(size_t round, const Package &built);
  Status addCandidate(const LaunchToVary &launch, const Solution &solution,
                      const Layer &built);
  BufferRef relocate(Layer &layer, const BufferSlot &slot,
                     const BufferRef &buffer) const;

  func::FuncOp function;
  KernelCompiler &compiler;
  const CandidateSource &source;
  Package &package;
  runtime::LaunchCollector collector;
  /// The offset of workspaces that are larger than the planned one.
  int64_t behindArena;
  std::vector<LaunchToVary> launches;
};

} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

bool CandidateAdder::fits(const Problem &problem,
                          const Solution &solution) const {
  const TargetInfo &target = compiler.getTarget();
  return checkApplicable(*solution.solver, problem, target) &&
         solution.solver->isValidConfig(problem, target, solution.config);
}

Status CandidateAdder::addSolutions(LaunchToVary &launch) {
  Result<std::vector<Solution>> listed = source.list(launch.problem);
  if (!listed)
    return listed.error();
  Solution &chosen = launch.solutions.front();
  auto isChosen = [&](const Solution &solution) {
    return solution.solver == chosen.solver && solution.config == chosen.config;
  };
  for (Solution &solution : *listed) {
    if (isChosen(solution))
      chosen.measurement = solution.measurement;
    else if (launch.solutions.size() < source.limit &&
             fits(launch.problem, solution))
      launch.solutions.push_back(std::move(solution));
  }
  addArbiter(launch);
  return runtime::success();
}

/// If a layer has candidates, the arbiter that verifies them is included too,
/// whatever its predicted time.
void CandidateAdder::addArbiter(LaunchToVary &launch) const {
  Solution arbiter;
  const TargetInfo &target = compiler.getTarget();
  arbiter.solver = findSolver(target, target.traits->getArbiter());
  if (launch.solutions.size() < 2 || !arbiter.solver ||
      llvm::any_of(launch.solutions, [&](const Solution &solution) {
        return solution.solver == arbiter.solver;
      }))
    return;
  arbiter.config = arbiter.solver->defaultConfig(launch.problem, target);
  arbiter.source = "model";
  if (fits(launch.problem, arbiter))
    launch.solutions.push_back(std::move(arbiter));
}

Result<LaunchToVary> CandidateAdder::describe(LaunchOp op, size_t layer) {
  SolutionAttr attr = op.getSolution();
  const Solver *solver = findSolver(compiler.getTarget(), attr.getSolver());
  if (!solver)
    return Error{"layer '" + op.getName().str() + "' has no solution"};
  LaunchToVary launch = {
      op,
      layer,
      op.getProblem().getValue(),
      {},
      static_cast<int64_t>(op.getWorkspaceOffset().value_or(0)),
      static_cast<int64_t>(op.getWorkspaceBytes())};
  Solution chosen;
  chosen.solver = solver;
  chosen.config = attr.getConfig();
  chosen.source = attr.getSource().str();
  launch.solutions.push_back(std::move(chosen));
  if (Status status = addSolutions(launch); !status)
    return status.error();
  return launch;
}

/// Launches that became no layer (folded ones) have no candidates, nor do
/// layers that were no launch (copies).
Status CandidateAdder::collectLaunches() {
  llvm::StringMap<size_t> layers;
  for (auto [index, layer] : llvm::enumerate(package.layers))
    layers[layer.name] = index;
  for (LaunchOp op : function.getOps<LaunchOp>()) {
    auto layer = layers.find(op.getName());
    if (layer == layers.end())
      continue;
    Result<LaunchToVary> launch = describe(op, layer->second);
    if (!launch)
      return launch.error();
    if (launch->solutions.size() > 1)
      launches.push_back(std::move(*launch));
  }
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// One package per candidate
//===----------------------------------------------------------------------===//

void CandidateAdder::select(LaunchToVary &launch, size_t index) {
  const Solution &solution = launch.solutions[index];
  Builder builder(function.getContext());
  int64_t bytes =
      solution.solver
          ->plan(launch.problem, compiler.getTarget(), solution.config)
          .workspaceBytes;
  bool isPlanned = bytes <= launch.workspaceBytes;
  launch.op.setSolutionAttr(makeSolutionAttr(
      function.getContext(), *solution.solver, solution.config, "model"));
  launch.op.setWorkspaceBytesAttr(
      builder.getI64IntegerAttr(isPlanned ? launch.workspaceBytes : bytes));
  launch.op.setWorkspaceOffsetAttr(builder.getI64IntegerAttr(
      isPlanned ? launch.workspaceOffset : behindArena));
}

/// Turns a buffer of the model into one of the problem. The layer notes where
/// the problem's tensors are.
BufferRef CandidateAdder::relocate(Layer &layer, const BufferSlot &slot,
                                   const BufferRef &buffer) const {
  if (buffer.space == BufferSpace::Constant)
    return buffer;
  switch (slot.kind) {
  case BufferSlot::Operand:
    layer.operands[slot.index] = buffer;
    return {BufferSpace::Input, slot.index};
  case BufferSlot::Result:
    layer.results[slot.index] = buffer;
    return {BufferSpace::Output, slot.index};
  case BufferSlot::Workspace:
    return {BufferSpace::Arena, slot.index};
  case BufferSlot::Constant:
    break;
  }
  return buffer;
}

Status CandidateAdder::addCandidate(const LaunchToVary &launch,
                                    const Solution &solution,
                                    const Layer &built) {
  SolutionPlan plan = solution.solver->plan(
      launch.problem, compiler.getTarget(), solution.config);
  if (plan.launches.size() != built.launches.size())
    return Error{"layer '" + built.name +
                 "' has other launches than its solver has planned"};
  Layer &layer = package.layers[launch.layer];
  layer.operands.resize(launch.problem.operands.size(),
                        {BufferSpace::Constant, 0});
  layer.results.resize(launch.problem.numResults(), {BufferSpace::Constant, 0});
  Candidate candidate;
  candidate.solver = built.solver;
  candidate.config = built.config;
  if (solution.measurement)
    candidate.modelMs = solution.measurement->median;
  candidate.workspaceBytes = plan.workspaceBytes;
  candidate.workspaceOffset = plan.workspaceBytes <= launch.workspaceBytes
                                  ? launch.workspaceOffset
                                  : behindArena;
  for (auto [planned, placed] :
       llvm::zip_equal(plan.launches, built.launches)) {
    runtime::Launch copy = collector.copy(placed);
    for (auto [slot, buffer] : llvm::zip_equal(planned.buffers, copy.buffers))
      buffer = relocate(layer, slot, buffer);
    candidate.launches.push_back(std::move(copy));
  }
  layer.candidates.push_back(std::move(candidate));
  return runtime::success();
}

Status CandidateAdder::addRound(size_t round, const Package &built) {
  collector.setSource(built);
  for (LaunchToVary &launch : launches)
    if (round < launch.solutions.size())
      if (Status status = addCandidate(launch, launch.solutions[round],
                                       built.layers[launch.layer]);
          !status)
        return status;
  return runtime::success();
}

Status CandidateAdder::run() {
  if (Status status = collectLaunches(); !status)
    return status;
  size_t rounds = 0;
  for (const LaunchToVary &launch : launches)
    rounds = std::max(rounds, launch.solutions.size());
  package.kernelVersion = source.kernelVersion;
  for (size_t round = 0; round < rounds; ++round) {
    for (LaunchToVary &launch : launches)
      select(launch, round < launch.solutions.size() ? round : 0);
    // The first candidate is there already.
    Result<Package> built = round == 0 ? Result<Package>(Package())
                                       : buildPackage(function, compiler);
    if (!built)
      return built.error();
    if (Status status = addRound(round, round == 0 ? package : *built); !status)
      return status;
  }
  if (Status status = runtime::validatePackage(package); !status)
    return Error{"cannot package the candidates: " + status.message()};
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// The public interface
//===----------------------------------------------------------------------===//

Status tarpon::addCandidates(func::FuncOp function, KernelCompiler &compiler,
                             const CandidateSource &source, Package &package) {
  return CandidateAdder(function, compiler, source, package).run();
}
