//===- EmulatedBundleTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates on an emulated GPU run in a process of their own, with limits.
//
//===----------------------------------------------------------------------===//

#include "BundleFixture.h"
#include "HostileSolvers.h"

#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "gmock/gmock.h"

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

TEST_F(BundleTest, EmulatedCandidatesThatHangOrCrashLoseAlone) {
  TargetOptions emulated;
  emulated.device = "emulated";
  auto gpu = findTarget("gfx942:cu=304", emulated);
  ASSERT_TRUE(gpu) << gpu.message();
  const TargetInfo &info = (*gpu)->getInfo();
  KernelCompiler kernels(info, nullptr, (*gpu)->makeBackend());
  auto records = Journal::openInMemory(
      JournalContext::forModel(info, kernels.describeCostModel()));
  options.iterations = 1;
  BundleBuilder builder(kernels, *records, nullptr, nullptr, options);
  auto bundle = builder.build(problem, 1);
  ASSERT_TRUE(bundle && *bundle) << bundle.message();
  BundledCandidate right = (*bundle)->candidates[0];
  for (auto kind : {HostileGpuSolver::Hangs, HostileGpuSolver::Crashes}) {
    HostileGpuSolver solver(kind);
    auto package = buildProblemPackage(problem, solver, PerfConfig(), kernels);
    ASSERT_TRUE(package) << package.message();
    BundledCandidate planted = right;
    planted.key.solver = solver.id().str();
    planted.package = *runtime::serializePackage(*package);
    (*bundle)->candidates.insert((*bundle)->candidates.begin(), planted);
  }

  BundleEvaluator verifier(findEvaluatorProgram(), progress,
                           /*onEmulatedDevice=*/true);
  ASSERT_TRUE(writeBundle(**bundle, path));
  auto measured = verifier.measure(path, {});
  ASSERT_TRUE(measured) << measured.message();
  ASSERT_EQ(measured->size(), 3u);
  EXPECT_EQ((*measured)[0].status, MeasurementStatus::Crashed);
  EXPECT_EQ((*measured)[0].detail, "candidate crashed with SIGABRT");
  EXPECT_EQ((*measured)[1].status, MeasurementStatus::TimedOut);
  EXPECT_THAT((*measured)[1].detail,
              HasSubstr("candidate ran longer than its limit of 10"));
  EXPECT_EQ((*measured)[2].status, MeasurementStatus::Ok)
      << (*measured)[2].detail;
  EXPECT_EQ((*measured)[2].timeSource, TimeSource::Modelled);
}

TEST_F(BundleTest, WithoutTheEmulatorNothingIsVerified) {
  TargetOptions emulated;
  emulated.device = "emulated";
  auto gpu = findTarget("gfx942:cu=304", emulated);
  ASSERT_TRUE(gpu) << gpu.message();
  KernelCompiler kernels((*gpu)->getInfo(), nullptr, (*gpu)->makeBackend());
  auto records = Journal::openInMemory(
      JournalContext::forModel((*gpu)->getInfo(), kernels.describeCostModel()));
  BundleBuilder builder(kernels, *records, nullptr, nullptr, options);
  auto bundle = builder.build(problem, 1);
  ASSERT_TRUE(bundle && *bundle) << bundle.message();
  BundleEvaluator verifier("/nowhere/evaluator", progress,
                           /*onEmulatedDevice=*/true);
  ASSERT_TRUE(writeBundle(**bundle, path));
  auto measured = verifier.measure(path, {});
  ASSERT_FALSE(measured);
  EXPECT_THAT(
      measured.message(),
      HasSubstr("cannot start the evaluator '/nowhere/tarpon-emulator'"));
}
