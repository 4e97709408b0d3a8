//===- FindFixture.h - Finds with solvers of the tests ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_FINDFIXTURE_H
#define TARPON_TEST_UNIT_AUTOTUNE_FINDFIXTURE_H

#include "HostileSolvers.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "gtest/gtest.h"

#include <set>

namespace tarpon::test {

using Keys = std::set<std::pair<std::string, std::string>>;

/// Two solvers beside the built-in ones; one of them is not dynamic.
class FindFixture : public testing::Test {
protected:
  TestDirectory directory;
  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  TargetInfo target = *getHostTarget(1);
  static std::shared_ptr<KernelCache> getCache() {
    // Kernels are the same in all tests.
    static TestDirectory folder;
    static auto cache = std::make_shared<KernelCache>(folder.path());
    return cache;
  }
  KernelCompiler compiler{target, getCache(), makeHostBackend(target)};
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  HostileSolver first{"first-v1", HostileSolver::Right, 3};
  HostileSolver second{"second-v1", HostileSolver::Right, 2};
  std::optional<ScopedExtraSolvers> extra;
  std::unique_ptr<Journal> system;

  void SetUp() override {
    second.dynamic = false;
    extra.emplace(std::vector<const Solver *>{&first, &second});
  }

  std::unique_ptr<Journal> openUser() {
    auto journal = Journal::open(directory.file("user"),
                                 JournalContext::forTarget(target));
    EXPECT_TRUE(journal) << journal.message();
    return std::move(*journal);
  }

  /// A system store in which the second config of the first solver won.
  void makeSystem(double median, const std::string &solver = "first-v1") {
    std::string path = directory.file("system");
    {
      auto journal = Journal::open(path, JournalContext::forTarget(target));
      Measurement best;
      best.key = {problem.key(), solver, "variant=1"};
      best.status = MeasurementStatus::Ok;
      best.stage = MeasurementStage::Final;
      best.rounds = 2;
      best.median = median;
      ASSERT_TRUE((*journal)->record(best));
    }
    auto journal =
        Journal::openReadOnly(path, JournalContext::forTarget(target));
    ASSERT_TRUE(journal) << journal.message();
    system = std::move(*journal);
  }

  /// In a process of its own, so to speak.
  Solution find(FindPolicy policy, SearchStatistics *statistics = nullptr,
                const FindRequest &request = {}) {
    auto journal = openUser();
    Tuner tuner(compiler, *journal, progress);
    tuner.setFindPolicy(policy);
    tuner.setSystemStore(system.get());
    auto solution = tuner.find(problem, request);
    EXPECT_TRUE(solution) << solution.message();
    if (statistics)
      *statistics = tuner.getStatistics();
    return solution ? *solution : Solution();
  }

  std::vector<Measurement> getRows() {
    return openUser()->getMeasurements(problem.key());
  }

  Keys getKeys() {
    Keys keys;
    for (const Measurement &row : getRows())
      keys.emplace(row.key.solver, row.key.config);
    return keys;
  }

  /// The candidates that there are.
  Keys getCandidates(bool allConfigs, bool dynamicOnly,
                     const std::string &without = "") {
    Keys keys;
    for (const Solver *solver : getApplicableSolvers(problem, target)) {
      if (solver == &getReferenceSolver() || solver->id() == without ||
          (dynamicOnly && !solver->isDynamic()))
        continue;
      if (!allConfigs)
        keys.emplace(solver->id().str(),
                     solver->defaultConfig(problem, target).str());
      else
        for (const PerfConfig &config : solver->configs(problem, target))
          keys.emplace(solver->id().str(), config.str());
    }
    return keys;
  }
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_FINDFIXTURE_H
