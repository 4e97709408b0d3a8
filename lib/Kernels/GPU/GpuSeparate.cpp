//===- GpuSeparate.cpp - Producer and consumer one after the other --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves a problem with a producer by the solvers of its parts that rank first,
// with the value between them in the workspace: what a model without fusion of
// producers does. A search that finds this faster than one launch takes it.
//
// Configs have the fields of both parts, named apart.
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"

#include "Common/PartPlans.h"
#include "ImplicitGemm/FusedEstimate.h"
#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class GpuSeparate final : public Solver {
public:
  StringRef id() const override { return "gpu-separate-v1"; }
  bool knowsProducers() const override { return true; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return gpuigemm::kSeparateFraction;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// A part of the problem and its solver.
struct Part {
  Problem problem;
  const Solver *solver;
  StringLiteral prefix; ///< of its fields
};

} // namespace

static std::vector<Part> getParts(const Problem &problem,
                                  const TargetInfo &target) {
  std::vector<Part> parts = {{getProducer(problem), nullptr, "producer_"},
                             {getConsumer(problem), nullptr, "consumer_"}};
  for (Part &part : parts) {
    std::vector<const Solver *> solvers =
        getApplicableSolvers(part.problem, target);
    part.solver = solvers.empty() ? nullptr : solvers.front();
  }
  return parts;
}

/// Adds the fields of a part's config.
static void addFields(const Part &part, const PerfConfig &config,
                      PerfConfig &all) {
  for (const auto &[name, value] : config.getFields())
    all.set(part.prefix.str() + name, value);
}

static PerfConfig takeFields(const Part &part, const PerfConfig &all) {
  PerfConfig config;
  for (const auto &[name, value] : all.getFields())
    if (StringRef rest = name; rest.consume_front(part.prefix))
      config.set(rest, value);
  return config;
}

Applicability GpuSeparate::isApplicable(const Problem &problem,
                                        const TargetInfo &target) const {
  if (!target.gpu)
    return Applicability::no("needs a GPU");
  if (!hasProducer(problem))
    return Applicability::no("needs two operations");
  for (const Part &part : getParts(problem, target))
    if (!part.solver)
      return Applicability::no("no solver takes one of the operations");
  return Applicability::yes();
}

int64_t GpuSeparate::workspaceSize(const Problem &problem,
                                   const TargetInfo &target) const {
  std::vector<Part> parts = getParts(problem, target);
  return getPartsWorkspace(
      problem, parts[0].solver->workspaceSize(parts[0].problem, target),
      parts[1].solver->workspaceSize(parts[1].problem, target));
}

PerfConfig GpuSeparate::defaultConfig(const Problem &problem,
                                      const TargetInfo &target) const {
  PerfConfig config;
  for (const Part &part : getParts(problem, target))
    addFields(part, part.solver->defaultConfig(part.problem, target), config);
  return config;
}

/// The first configs of one part beside the default of the other.
std::vector<PerfConfig> GpuSeparate::configs(const Problem &problem,
                                             const TargetInfo &target) const {
  // Each is a kernel to compile; a search goes on from the best ones.
  constexpr size_t kMostOfPart = 8;
  std::vector<PerfConfig> all = {defaultConfig(problem, target)};
  std::vector<Part> parts = getParts(problem, target);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part &varied = parts[i], &other = parts[1 - i];
    PerfConfig usual = other.solver->defaultConfig(other.problem, target);
    std::vector<PerfConfig> configs =
        varied.solver->configs(varied.problem, target);
    for (const PerfConfig &each : ArrayRef(configs).take_front(kMostOfPart)) {
      PerfConfig config;
      addFields(varied, each, config);
      addFields(other, usual, config);
      if (!llvm::is_contained(all, config))
        all.push_back(config);
    }
  }
  return all;
}

bool GpuSeparate::isValidConfig(const Problem &problem,
                                const TargetInfo &target,
                                const PerfConfig &config) const {
  size_t count = 0;
  for (const Part &part : getParts(problem, target)) {
    PerfConfig own = takeFields(part, config);
    count += own.getFields().size();
    if (!part.solver->isValidConfig(part.problem, target, own))
      return false;
  }
  return count == config.getFields().size();
}

SolutionPlan GpuSeparate::plan(const Problem &problem, const TargetInfo &target,
                               const PerfConfig &config) const {
  std::vector<SolutionPlan> plans;
  for (const Part &part : getParts(problem, target))
    plans.push_back(
        part.solver->plan(part.problem, target, takeFields(part, config)));
  return joinPlans(problem, std::move(plans[0]), std::move(plans[1]));
}

const Solver &tarpon::getGpuSeparate() {
  static const GpuSeparate solver;
  return solver;
}
