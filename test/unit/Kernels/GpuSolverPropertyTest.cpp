//===- GpuSolverPropertyTest.cpp ------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every GPU solver agrees with the host's reference on random problems of every
// dtype and layout that it takes, on the emulated device, which also looks for
// races and for accesses outside of buffers.
//
// Problems are drawn until each solver has had enough of each dtype and layout.
//
// TARPON_TEST_GPU_PROBLEMS: how many of each (16, which gfx942 and gfx1100
// share; 300 for a long run, which every GPU does); TARPON_TEST_SEED: the first
// one; TARPON_TEST_GPU_SOLVER: the only solver to be tested.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"
#include "SolverTest.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

using namespace tarpon;
using namespace tarpon::test;

namespace {

uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// "f16"; "i8q"; "other" for what only conversions and movements have.
std::string getDtypeKind(const TensorDesc &desc) {
  if (desc.quantized)
    return std::string(runtime::dtypeName(desc.dtype)) + "q";
  return runtime::fitsF32(desc.dtype)
             ? std::string(runtime::dtypeName(desc.dtype))
             : "other";
}

/// "f16 nhwc": what solvers have to be tested with, each on its own.
std::string getKind(const Problem &problem) {
  const TensorDesc &input = problem.operands.front();
  std::string kind = getDtypeKind(input);
  static constexpr const char *kLayouts[] = {"nchw", "nhwc", "blocked"};
  return kind + " " + (input.rank() < 3 ? "flat" : kLayouts[input.layout.kind]);
}

/// Returns true if the emulator runs it in a moment.
bool isSmall(const Problem &problem) {
  return problem.flops() < 4e5 && problem.bytes() < 2e5;
}

std::vector<std::string> combine(std::initializer_list<const char *> dtypes,
                                 std::initializer_list<const char *> layouts) {
  std::vector<std::string> kinds;
  for (std::string dtype : dtypes)
    for (const char *layout : layouts)
      kinds.push_back(dtype + " " + layout);
  return kinds;
}

/// Kinds of problems that solvers must not stop taking.
const std::map<std::string, std::vector<std::string>> &getClaims() {
  static const std::map<std::string, std::vector<std::string>> claims = {
      {"gpu-naive-v1", combine({"f32", "f16", "bf16", "u8q", "i8q"},
                               {"flat", "nchw", "nhwc", "blocked"})},
      {"gpu-igemm-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-winograd-f2x3-v1", combine({"f32", "f16"}, {"nchw", "nhwc"})},
      {"gpu-gemm-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"flat", "nchw"})},
      {"gpu-depthwise-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-elementwise-v1", combine({"f32", "f16", "bf16", "u8q", "i8q"},
                                     {"flat", "nchw", "nhwc", "blocked"})},
      {"gpu-convert-layout-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-pool-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-softmax-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"flat", "nchw"})},
      {"gpu-layernorm-v1", combine({"f32", "f16", "bf16"}, {"nchw", "nhwc"})},
      {"gpu-reduce-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"flat", "nchw", "nhwc"})},
  };
  return claims;
}

/// The problem with another layout of its images, if that is one.
Problem changeLayout(Problem problem, Layout layout) {
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
Problem makeSigned(Problem problem) {
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
Problem vary(Problem problem, uint64_t seed) {
  static constexpr Layout kLayouts[] = {
      {Layout::NCHW, 1}, {Layout::NHWC, 1}, {Layout::Blocked, 8}};
  if (seed % 2 == 0)
    problem = changeLayout(std::move(problem), kLayouts[seed / 2 % 3]);
  return seed % 5 < 2 ? makeSigned(std::move(problem)) : problem;
}

/// A 3 x 3 convolution of f16.
Problem makeHalfWinogradProblem(ProblemGenerator &generator) {
  Problem problem = makeWinogradProblem(generator);
  for (int i = 0; i < problem.rootOperands; ++i)
    problem.operands[i].dtype = DType::F16;
  if (problem.result.dtype == DType::F32)
    problem.result.dtype = DType::F16;
  return problem;
}

/// Those that are tested.
std::vector<const Solver *> getSolvers() {
  const char *only = std::getenv("TARPON_TEST_GPU_SOLVER");
  std::vector<const Solver *> solvers;
  for (const Solver *solver : getGpuSolvers())
    if (!only || solver->id() == only)
      solvers.push_back(solver);
  return solvers;
}

/// Winograd's tiles and filters are rounded to f16 when they are transformed,
/// too. Twice is what the search's own verification allows (Policy.cpp).
double getStorageUlps(const Solver &solver) {
  return solver.id() == "gpu-winograd-f2x3-v1" ? 2 : 1;
}

class GpuSolverProperty : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
  /// The solvers that still need problems of this kind, and take this one.
  std::vector<const Solver *> findSolvers(const Problem &problem,
                                          const std::string &kind);
  void check(const Problem &problem, const std::vector<const Solver *> &solvers,
             uint64_t seed);
  std::vector<PerfConfig> pickConfigs(const Solver &solver,
                                      const Problem &problem, uint64_t seed);
  void checkCounts();
  /// Gives a problem of an area to the solvers that still need it.
  void offer(const Problem &problem, size_t area, uint64_t seed);
  /// Returns true until the area has had the kinds of problems that solvers
  /// lack.
  bool isNeeded(size_t area) const;

  uint64_t wanted = 0, firstSeed = 0;
  std::unique_ptr<SolverRunner> host, gpu;
  /// Problems solved, by solver and kind.
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  /// In which areas there are such problems.
  std::map<std::string, std::map<std::string, std::set<size_t>>> areasOf;
};

void GpuSolverProperty::SetUp() {
  constexpr uint64_t kShortRun = 16;
  wanted = getNumber("TARPON_TEST_GPU_PROBLEMS", kShortRun);
  std::string name = GetParam();
  firstSeed = getNumber("TARPON_TEST_SEED", 1);
  if (wanted <= kShortRun) {
    if (name != "gfx942" && name != "gfx1100")
      GTEST_SKIP() << "tested in long runs";
    // Each of the two has half of the problems.
    wanted = (wanted + 1) / 2;
    firstSeed += name == "gfx942" ? 0 : 1000000;
  }
  auto hostRunner = SolverRunner::create("native");
  ASSERT_TRUE(hostRunner) << hostRunner.message();
  auto gpuRunner = SolverRunner::createEmulated(name);
  ASSERT_TRUE(gpuRunner) << gpuRunner.message();
  host = std::move(*hostRunner);
  gpu = std::move(*gpuRunner);
}

std::vector<const Solver *>
GpuSolverProperty::findSolvers(const Problem &problem,
                               const std::string &kind) {
  std::vector<const Solver *> solvers;
  for (const Solver *solver : getSolvers())
    if (counts[solver->id().str()][kind] < wanted &&
        checkApplicable(*solver, problem, gpu->getTarget()))
      solvers.push_back(solver);
  return solvers;
}

/// The default, and another one.
std::vector<PerfConfig> GpuSolverProperty::pickConfigs(const Solver &solver,
                                                       const Problem &problem,
                                                       uint64_t seed) {
  const TargetInfo &target = gpu->getTarget();
  std::vector<PerfConfig> picked = {solver.defaultConfig(problem, target)};
  std::vector<PerfConfig> all = solver.configs(problem, target);
  EXPECT_FALSE(all.empty());
  // Neighbouring seeds would pick neighbouring configs.
  const PerfConfig &other = all[seed * 0x9e3779b97f4a7c15u % all.size()];
  if (other != picked.front())
    picked.push_back(other);
  return picked;
}

void GpuSolverProperty::check(const Problem &problem,
                              const std::vector<const Solver *> &solvers,
                              uint64_t seed) {
  auto expected = host->run(problem, getReferenceSolver(), {}, {}, seed);
  ASSERT_TRUE(expected) << expected.message();
  for (const Solver *solver : solvers)
    for (const PerfConfig &config : pickConfigs(*solver, problem, seed)) {
      SCOPED_TRACE(solver->id().str() + " {" + config.str() + "}");
      auto actual = gpu->run(problem, *solver, config, {}, seed);
      ASSERT_TRUE(actual) << actual.message();
      EXPECT_EQ(compare(problem, *actual, *expected, getStorageUlps(*solver)),
                "");
    }
}

void GpuSolverProperty::checkCounts() {
  for (const auto &[solver, kinds] : getClaims())
    EXPECT_TRUE(findSolver(solver)) << solver;
  for (const Solver *solver : getSolvers()) {
    std::string id = solver->id().str();
    auto claims = getClaims().find(id);
    ASSERT_TRUE(claims != getClaims().end()) << id;
    for (const std::string &kind : claims->second)
      EXPECT_GT(counts[id][kind], 0u) << id << " on " << kind;
    uint64_t total = 0, numKinds = 0;
    for (const auto &[kind, count] : counts[id]) {
      total += count;
      numKinds += count > 0;
      if (count > 0) {
        EXPECT_GE(count, wanted) << id << " on " << kind;
      }
    }
    EXPECT_GT(total, 0u) << id;
    std::cout << GetParam() << " " << id << ": " << total << " problems of "
              << numKinds << " dtypes and layouts\n";
  }
}

void GpuSolverProperty::offer(const Problem &problem, size_t area,
                              uint64_t seed) {
  if (!isSmall(problem))
    return;
  std::string kind = getKind(problem);
  std::vector<const Solver *> solvers = findSolvers(problem, kind);
  if (solvers.empty())
    return;
  SCOPED_TRACE("area " + std::to_string(area) + ", seed " +
               std::to_string(seed) + ": " + problem.key());
  check(problem, solvers, seed);
  for (const Solver *solver : solvers) {
    ++counts[solver->id().str()][kind];
    areasOf[solver->id().str()][kind].insert(area);
  }
}

bool GpuSolverProperty::isNeeded(size_t area) const {
  for (const auto &[solver, kinds] : areasOf)
    for (const auto &[kind, areas] : kinds)
      if (areas.contains(area) && counts.at(solver).at(kind) < wanted)
        return true;
  return false;
}

/// Problems of all areas alike at first, and then, of what is rare, more.
TEST_P(GpuSolverProperty, agreesWithReference) {
  using MakeProblem = Problem (*)(ProblemGenerator &);
  static constexpr MakeProblem kAreas[] = {
      [](ProblemGenerator &generator) { return generator.next(); },
      makeConvDirectionProblem,
      makeDepthwiseProblem,
      makeFftProblem,
      makeGemmProblem,
      makeNormProblem,
      makePoolGradientProblem,
      makePoolIndicesProblem,
      makeReduceProblem,
      makeWinogradProblem,
      makeHalfWinogradProblem};
  const uint64_t kDraws = 1000 * wanted;
  constexpr int kMaxRounds = 30;
  uint64_t seed = firstSeed;
  for (int round = 0; round < kMaxRounds; ++round)
    for (size_t area = 0; area < std::size(kAreas); ++area) {
      if (round > 0 && !isNeeded(area))
        continue;
      for (uint64_t end = seed + kDraws; seed < end; ++seed) {
        ProblemGenerator generator(seed);
        Problem problem = vary(kAreas[area](generator), seed);
        ASSERT_NO_FATAL_FAILURE(offer(problem, area, seed));
      }
    }
  checkCounts();
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuSolverProperty,
                         testing::Values("gfx90a", "gfx942", "gfx950",
                                         "gfx1100", "gfx1201"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
