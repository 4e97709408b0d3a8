//===- BuildWorkTest.cpp - Rounds that nobody waits for -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildWork.h"
#include "FleetTestDatabase.h"
#include "HostileSolvers.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/SolverRegistry.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using tarpon::test::HostileSolver;

namespace {

/// Counts the kernels that are compiled; each candidate has one of its own.
class CountedSolver final : public HostileSolver {
public:
  CountedSolver() : HostileSolver("counted-v1", Right, /*configCount=*/4) {}

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    SolutionPlan plan = HostileSolver::plan(problem, target, config);
    KernelSource &kernel = plan.launches.front().kernel;
    kernel.symbol += "_" + std::to_string(config.get("variant"));
    kernel.emit = [this, emit = kernel.emit](KernelBuilder &b) {
      ++compiled;
      emit(b);
    };
    return plan;
  }

  mutable std::atomic<int> compiled = 0;
};

class BuildWorkTest : public FleetTest {
protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (IsSkipped())
      return;
    // A user's cache could have the kernels.
    cache = testing::TempDir() + "/tarpon-build-work-" + GetParam();
    setenv("TARPON_CACHE_DIR", cache.c_str(), 1);
    SessionRequest request = {"L", "host", false, 1, {}};
    request.settings.solvers = {"counted-v1"};
    request.settings.method = SearchMethodKind::Exhaustive;
    auto session = openSession(*database, request);
    ASSERT_TRUE(session) << session.message();
    addJob(session->id, addProblem("relu(1x8x6x6xf32)->1x8x6x6xf32"));
    auto claimed = JobQueue(*database, addWorker("node1"), 60)
                       .claim(session->id, Phase::Compile, 1);
    ASSERT_TRUE(claimed) << claimed.message();
    lease = claimed->front();
    auto made = BuildWork::create(*database, *session, /*packages=*/"");
    ASSERT_TRUE(made) << made.message();
    work = std::move(*made);
  }

  void TearDown() override {
    unsetenv("TARPON_CACHE_DIR");
    work.reset();
    std::filesystem::remove_all(cache);
    FleetTest::TearDown();
  }

  CountedSolver counted;
  ScopedExtraSolvers extra{{&counted}};
  Lease lease;
  std::unique_ptr<PhaseWork> work;
  std::string log, cache;
};

} // namespace

TEST_P(BuildWorkTest, ARoundIsCompiledAndHandedOver) {
  PhaseResult result = work->run(lease, log, [] { return false; });
  EXPECT_EQ(result.end.cause, Cause::Ok) << result.end.reason;
  EXPECT_EQ(result.next.phase, Phase::Measure);
  EXPECT_EQ(counted.compiled, 4) << log;
}

/// The job is another worker's, or aborted.
TEST_P(BuildWorkTest, AJobThatIsLostIsNotCompiledOn) {
  PhaseResult result = work->run(lease, log, [] { return true; });
  EXPECT_EQ(result.end.cause, Cause::Returned);
  EXPECT_EQ(result.end.reason, "the lease was lost");
  EXPECT_EQ(counted.compiled, 0);
}

TEST_P(BuildWorkTest, AJobThatIsLostMeanwhileEndsBetweenCandidates) {
  std::atomic<int> looks = 0;
  PhaseResult result = work->run(lease, log, [&] { return ++looks > 2; });
  EXPECT_EQ(result.end.cause, Cause::Returned);
  EXPECT_EQ(counted.compiled, 2);
}

INSTANTIATE_FLEET_TEST(BuildWorkTest);
