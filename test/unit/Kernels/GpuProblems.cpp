//===- GpuProblems.cpp - Random problems for the solvers of GPUs ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuProblems.h"

#include "AreaProblems.h"
#include "ProblemGenerator.h"

#include <cstdlib>

using namespace tarpon;
using namespace tarpon::test;

uint64_t test::getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string GpuCase::describe() const {
  return "area " + std::to_string(area) + ", seed " + std::to_string(seed) +
         ": " + problem.key();
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// "f16"; "i8q"; "other" for what only conversions and movements have.
static std::string getDtypeKind(const TensorDesc &desc) {
  if (desc.quantized)
    return std::string(runtime::dtypeName(desc.dtype)) + "q";
  return runtime::fitsF32(desc.dtype)
             ? std::string(runtime::dtypeName(desc.dtype))
             : "other";
}

static std::string getKind(const Problem &problem) {
  const TensorDesc &input = problem.operands.front();
  std::string kind = getDtypeKind(input);
  static constexpr const char *kLayouts[] = {"nchw", "nhwc", "blocked"};
  return kind + " " + (input.rank() < 3 ? "flat" : kLayouts[input.layout.kind]);
}

/// The problem with another layout of its images, if that is one.
static Problem changeLayout(Problem problem, Layout layout) {
  Problem changed = problem;
  Layout old = problem.operands.front().layout;
  int64_t rank = problem.operands.front().rank();
  auto change = [&](TensorDesc &desc) {
    if (desc.rank() != rank || rank < 3 || desc.constant ||
        !(desc.layout == old))
      return;
    desc.layout = layout;
    desc.pitch = 0;
  };
  for (TensorDesc &operand : changed.operands)
    change(operand);
  for (int64_t i = 0; i < changed.numResults(); ++i)
    change(changed.getResult(i));
  return findFault(changed).empty() ? changed : problem;
}

/// The problem with signed integers in place of unsigned ones, if that is one.
static Problem makeSigned(Problem problem) {
  Problem changed = problem;
  auto change = [&](TensorDesc &desc) {
    if (!desc.quantized || desc.dtype != DType::U8)
      return;
    desc.dtype = DType::I8;
    desc.zeroPoint -= 128;
  };
  for (TensorDesc &operand : changed.operands)
    change(operand);
  for (int64_t i = 0; i < changed.numResults(); ++i)
    change(changed.getResult(i));
  return findFault(changed).empty() ? changed : problem;
}

/// Makes kinds frequent that generators seldom make.
static Problem vary(Problem problem, uint64_t seed) {
  static constexpr Layout kLayouts[] = {
      {Layout::NCHW, 1}, {Layout::NHWC, 1}, {Layout::Blocked, 8}};
  if (seed % 2 == 0)
    problem = changeLayout(std::move(problem), kLayouts[seed / 2 % 3]);
  return seed % 5 < 2 ? makeSigned(std::move(problem)) : problem;
}

/// A 3 x 3 convolution of f16.
static Problem makeHalfWinogradProblem(ProblemGenerator &generator) {
  Problem problem = makeWinogradProblem(generator);
  for (int i = 0; i < problem.rootOperands; ++i)
    generator.setType(problem.operands[i], DType::F16, /*quantized=*/false);
  if (problem.result.dtype == DType::F32 || problem.result.quantized)
    generator.setType(problem.result, DType::F16, /*quantized=*/false);
  return problem;
}

using MakeProblem = Problem (*)(ProblemGenerator &);

static constexpr MakeProblem kAreas[] = {
    [](ProblemGenerator &generator) { return generator.next(); },
    makeAttentionProblem,
    makeHalfAttentionProblem,
    makeConvDirectionProblem,
    makeDepthwiseProblem,
    makeFftProblem,
    makeGemmProblem,
    makeNormProblem,
    makePoolGradientProblem,
    makePoolIndicesProblem,
    makeReduceProblem,
    makeWinogradProblem,
    makeHalfWinogradProblem,
    makeProducerProblem,
    makeBlockMatMulProblem,
    [](ProblemGenerator &generator) { return generator.makeElementwise(); },
    makeIndexProblem,
    makeRecurrentProblem,
    makeSampleProblem};

size_t test::getNumGpuAreas() { return std::size(kAreas); }

Problem test::makeGpuProblem(size_t area, uint64_t seed) {
  ProblemGenerator generator(seed);
  return vary(kAreas[area % std::size(kAreas)](generator), seed);
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

std::vector<const Solver *> test::getTestedGpuSolvers() {
  const char *only = std::getenv("TARPON_TEST_GPU_SOLVER");
  std::vector<const Solver *> solvers;
  for (const Solver *solver : getGpuSolvers())
    if (!only || solver->id() == only)
      solvers.push_back(solver);
  return solvers;
}

/// Winograd's tiles and filters are rounded to f16 when they are transformed,
/// too. Twice is what the search's own verification allows (Policy.cpp).
double test::getStorageUlps(const Solver &solver) {
  return solver.id() == "gpu-winograd-f2x3-v1" ? 2 : 1;
}

std::vector<PerfConfig> test::pickConfigs(const Solver &solver,
                                          const Problem &problem,
                                          const TargetInfo &target,
                                          uint64_t seed) {
  std::vector<PerfConfig> picked = {solver.defaultConfig(problem, target)};
  std::vector<PerfConfig> all = solver.configs(problem, target);
  if (all.empty())
    return {};
  // Neighbouring seeds would pick neighbouring configs.
  const PerfConfig &other = all[seed * 0x9e3779b97f4a7c15u % all.size()];
  if (other != picked.front())
    picked.push_back(other);
  return picked;
}

std::vector<const Solver *> GpuProblems::findSolvers(const Problem &problem,
                                                     const std::string &kind) {
  std::vector<const Solver *> solvers;
  for (const Solver *solver : getTestedGpuSolvers())
    if (counts[solver->id().str()][kind] < wanted &&
        checkApplicable(*solver, problem, target))
      solvers.push_back(solver);
  return solvers;
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

bool GpuProblems::offer(size_t area, uint64_t seed,
                        llvm::function_ref<bool(const GpuCase &)> use) {
  GpuCase drawn;
  drawn.problem = makeGpuProblem(area, seed);
  if (drawn.problem.flops() >= maxFlops || drawn.problem.bytes() >= maxBytes)
    return true;
  drawn.kind = getKind(drawn.problem);
  drawn.solvers = findSolvers(drawn.problem, drawn.kind);
  drawn.area = area;
  drawn.seed = seed;
  if (drawn.solvers.empty())
    return true;
  if (!use(drawn))
    return false;
  for (const Solver *solver : drawn.solvers) {
    ++counts[solver->id().str()][drawn.kind];
    areasOf[solver->id().str()][drawn.kind].insert(area);
  }
  return true;
}

bool GpuProblems::isNeeded(size_t area) const {
  for (const auto &[solver, kinds] : areasOf)
    for (const auto &[kind, areas] : kinds)
      if (areas.contains(area) && counts.at(solver).at(kind) < wanted)
        return true;
  return false;
}

void GpuProblems::draw(llvm::function_ref<bool(const GpuCase &)> use) {
  const uint64_t kDraws = 1000 * wanted;
  constexpr int kMaxRounds = 30;
  uint64_t seed = firstSeed;
  for (int round = 0; round < kMaxRounds; ++round)
    for (size_t area = 0; area < std::size(kAreas); ++area) {
      if (round > 0 && !isNeeded(area))
        continue;
      for (uint64_t end = seed + kDraws; seed < end; ++seed)
        if (!offer(area, seed, use))
          return;
    }
}
