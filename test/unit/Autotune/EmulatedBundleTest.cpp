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

#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include "gmock/gmock.h"

#include <chrono>
#include <fstream>

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

/// Builds a bundle of one candidate for an emulated GPU.
static runtime::Result<std::optional<CandidateBundle>>
buildEmulated(const Problem &problem, const SearchOptions &options) {
  TargetOptions emulated;
  emulated.device = "emulated";
  auto gpu = findTarget("gfx942:cu=304", emulated);
  if (!gpu)
    return gpu.error();
  KernelCompiler kernels((*gpu)->getInfo(), nullptr, (*gpu)->makeBackend());
  auto records = Journal::openInMemory(
      JournalContext::forModel((*gpu)->getInfo(), kernels.describeCostModel()));
  return BundleBuilder(kernels, *records, nullptr, nullptr, options)
      .build(problem, 1);
}

/// The number of the process's mode of seccomp: 2 if a filter confines it.
static std::string readSeccompMode(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);)
    if (llvm::StringRef(line).starts_with("Seccomp:"))
      return llvm::StringRef(line).split(':').second.trim().str();
  return "none";
}

TEST_F(BundleTest, EmulatedCandidatesAreConfined) {
  auto bundle = buildEmulated(problem, options);
  ASSERT_TRUE(bundle && *bundle) << bundle.message();
  std::string file = directory.file("candidate.tpn");
  std::ofstream(file, std::ios::binary) << (*bundle)->candidates[0].package;

  std::string evaluatorProgram = findEvaluatorProgram();
  llvm::SmallString<256> program(
      llvm::sys::path::parent_path(evaluatorProgram));
  llvm::sys::path::append(program, "tarpon-emulator");
  runtime::EvaluatorProcess emulator(program.str().str());
  runtime::EvaluationRequest request;
  request.package = file;
  auto answer = emulator.evaluate(request, std::chrono::minutes(1));
  ASSERT_TRUE(answer) << answer.message();
  EXPECT_EQ(answer->outcome, runtime::EvaluationOutcome::Ok) << answer->error;
  EXPECT_EQ(readSeccompMode(emulator.processId()), "2");
}

TEST_F(BundleTest, WithoutTheEmulatorNothingIsVerified) {
  auto bundle = buildEmulated(problem, options);
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
