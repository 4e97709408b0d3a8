//===- ConfigSpaceTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Methods/ConfigSpace.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <set>

using namespace tarpon;

static const char *const kConv =
    "conv(1x64x28x28xf32:nhwc, 64x64x3x3xf32:const)->1x64x28x28xf32:nhwc "
    "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}";
static const char *const kSmall =
    "conv(1x64x4x4xf32:nhwc, 64x64x1x1xf32:const)->1x64x4x4xf32:nhwc "
    "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}";

TEST(ConfigSpaceTest, ListedConfigsComeFirstAndAllAreValid) {
  TargetInfo target = *getHostTarget(1);
  for (const char *key : {kConv, kSmall}) {
    Problem problem = *parseProblem(key);
    for (const Solver *solver : getApplicableSolvers(problem, target)) {
      std::vector<PerfConfig> space = getConfigSpace(*solver, problem, target);
      ASSERT_FALSE(space.empty());
      EXPECT_LE(space.size(), policy::kMaxConfigs);
      EXPECT_EQ(space.front(), solver->configs(problem, target).front());
      EXPECT_EQ(space, getConfigSpace(*solver, problem, target));
      std::set<PerfConfig> seen;
      for (const PerfConfig &config : space) {
        EXPECT_TRUE(seen.insert(config).second) << config.str();
        EXPECT_TRUE(solver->isValidConfig(problem, target, config) ||
                    solver == &getReferenceSolver())
            << solver->id().str() << " {" << config.str() << "}";
      }
    }
  }
}

TEST(ConfigSpaceTest, HoldsMoreThanIsListed) {
  TargetInfo target = *getHostTarget(1);
  Problem problem = *parseProblem(kConv);
  const Solver *solver = findSolver("conv-igemm-v1");
  size_t listed = solver->configs(problem, target).size();
  EXPECT_GT(getConfigSpace(*solver, problem, target).size(), 5 * listed);
}

TEST(ConfigSpaceTest, ConfigsOfTheSameLaunchesAreOne) {
  TargetInfo target = *getHostTarget(1);
  Problem problem = *parseProblem(kSmall);
  const Solver *solver = findSolver("conv-igemm-v1");
  std::set<std::string> plans;
  for (const PerfConfig &config : getConfigSpace(*solver, problem, target)) {
    LaunchPlan launch = solver->plan(problem, target, config).launches.front();
    std::string text = launch.kernel.symbol;
    for (int64_t param : launch.params)
      text += " " + std::to_string(param);
    EXPECT_TRUE(plans.insert(text).second) << config.str();
  }
  // 16 pixels: a block of 32 tiles is no other than one of all there are.
  EXPECT_LT(plans.size(), 80u);
}

TEST(ConfigSpaceTest, SolversWithoutFieldsHaveOneConfig) {
  TargetInfo target = *getHostTarget(1);
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  for (const Solver *solver : getApplicableSolvers(problem, target))
    EXPECT_EQ(getConfigSpace(*solver, problem, target).size(),
              solver->configs(problem, target).size());
}
