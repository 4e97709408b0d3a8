//===- KernelCountTest.cpp - The number of a network's kernels ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes are run-time parameters, so that a network needs few kernels and
// another batch size hardly any others: those of Strassen's scheme, whose
// blocks of few rows have one of four tiles and one or two levels.
//
//===----------------------------------------------------------------------===//

#include "ResNet50.h"

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <set>

using namespace tarpon;

/// The symbols of the kernels that the network's convolutions and its
/// classifier take with default configs.
static std::set<std::string> getSymbols(const TargetInfo &target, int64_t batch,
                                        const char *layout) {
  std::set<std::string> symbols;
  for (const std::string &key : test::getResNet50Keys(batch, layout, "f32")) {
    std::string fault;
    auto problem = parseProblem(key, &fault);
    EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
    if (mlir::failed(problem))
      continue;
    const Solver *solver = getApplicableSolvers(*problem, target).front();
    PerfConfig config = solver->defaultConfig(*problem, target);
    for (const LaunchPlan &launch :
         solver->plan(*problem, target, config).launches)
      symbols.insert(launch.kernel.symbol);
  }
  return symbols;
}

TEST(KernelCount, resNet50) {
  // A few more where few registers ask for more shapes of tiles.
  for (auto [cpu, most] : {std::pair("znver5", 17u), {"x86-64-v3", 20u}})
    for (const char *layout : {":nhwc", ""}) {
      SCOPED_TRACE(std::string(cpu) + " " + layout);
      auto target = getHostTarget(/*threads=*/1, cpu);
      ASSERT_TRUE(target) << target.message();
      std::set<std::string> one = getSymbols(*target, 1, layout);
      EXPECT_LE(one.size(), most);
      int64_t others = 0;
      for (const std::string &symbol : getSymbols(*target, 7, layout)) {
        if (one.count(symbol))
          continue;
        ++others;
        EXPECT_TRUE(llvm::StringRef(symbol).starts_with("strassen")) << symbol;
      }
      EXPECT_LE(others, 6);
      for (const std::string &symbol : one)
        RecordProperty(symbol, 1);
    }
}
