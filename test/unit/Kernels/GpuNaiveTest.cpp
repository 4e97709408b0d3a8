//===- GpuNaiveTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <set>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

static TargetInfo getTarget(const char *name) {
  return makeGpuTargetInfo(*parseGpuTarget(name));
}

/// Operations of all kinds become packages, for a GPU with waves of 64 lanes
/// and one with 32, and for the emulated device.
TEST(GpuNaiveTest, PackagesEveryProblem) {
  ProblemGenerator generator(5);
  std::set<OpKind> operations;
  std::set<std::string> symbols;
  for (int i = 0; i < 120; ++i) {
    Problem problem = generator.next();
    if (!operations.insert(problem.op).second)
      continue;
    for (const char *name : {"gfx942", "gfx1100"})
      for (GpuCodeForm form : {GpuCodeForm::CodeObject, GpuCodeForm::Ir}) {
        TargetInfo target = makeGpuTargetInfo(*getTarget(name).gpu, form);
        KernelCompiler compiler(target, /*cache=*/nullptr,
                                makeAmdGpuBackend(*target.gpu, form));
        const Solver &solver = *findSolver("gpu-naive-v1");
        if (!checkApplicable(solver, problem, target))
          continue;
        auto package = buildProblemPackage(problem, solver, {}, compiler);
        ASSERT_TRUE(package) << problem.key() << ": " << package.message();
        EXPECT_EQ(package->chip, target.name());
        for (const runtime::CodeObjectRange &object : package->codeObjects) {
          symbols.insert(object.symbol);
          EXPECT_EQ(object.workgroup, 256);
        }
      }
  }
  EXPECT_GT(operations.size(), 30u);
  EXPECT_GT(symbols.size(), 30u);
}

/// More workgroups than the reference has tasks, so that the largest GPU has
/// enough of them, and all of them at work.
TEST(GpuNaiveTest, FillsLargeGpus) {
  auto problem =
      parseProblem("conv(1x8x96x96xf32, 8x8x3x3xf32)->1x8x96x96xf32 "
                   "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}");
  TargetInfo target = getTarget("gfx942");
  SolutionPlan plan =
      findSolver("gpu-naive-v1")->plan(*problem, target, PerfConfig());
  SolutionPlan reference = getReferenceSolver().plan(*problem, target, {});
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_GE(plan.launches.front().tasks, 8 * target.gpu->computeUnits);
  EXPECT_EQ(plan.launches.front().tasks, 16 * reference.launches.front().tasks);
}

TEST(GpuNaiveTest, HostSolversAreNotOffered) {
  auto problem = parseProblem("relu(1x8x4x4xf32)->1x8x4x4xf32");
  TargetInfo target = getTarget("gfx942:cu=228");
  EXPECT_EQ(target.name(), "gfx942:cu=228");
  for (const Solver *solver : getApplicableSolvers(*problem, target))
    EXPECT_TRUE(solver->id().starts_with("gpu-")) << solver->id().str();
  for (const Solver *solver : getApplicableSolvers(*problem, TargetInfo()))
    EXPECT_FALSE(solver->id().starts_with("gpu-")) << solver->id().str();
  EXPECT_TRUE(findSolver("gpu-naive-v1"));
}

/// A step of a recurrent layer keeps its state there.
TEST(GpuNaiveTest, ScratchIsRefused) {
  const Solver &solver = *findSolver("gpu-naive-v1");
  ProblemGenerator generator(5);
  int found = 0;
  for (int i = 0; i < 500 && found < 3; ++i) {
    Problem problem = generator.next();
    if (problem.op != OpKind::Lstm && problem.op != OpKind::Gru &&
        problem.op != OpKind::Rnn)
      continue;
    ++found;
    Applicability answer =
        checkApplicable(solver, problem, getTarget("gfx942"));
    ASSERT_FALSE(answer) << problem.key();
    EXPECT_EQ(answer.getReason(), "needs scratch memory for a task");
  }
  EXPECT_EQ(found, 3);
}
