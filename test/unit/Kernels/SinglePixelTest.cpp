//===- SinglePixelTest.cpp - Convolutions of one pixel --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Squeeze-and-excitation convolves images of one pixel. A bias has the shape of
// the result there, but not its layout.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;

class SinglePixel : public testing::TestWithParam<const char *> {};

TEST_P(SinglePixel, isTakenWithABias) {
  std::string fault;
  auto problem = parseProblem(GetParam(), &fault);
  ASSERT_TRUE(mlir::succeeded(problem)) << fault;
  auto runner = SolverRunner::create("native");
  ASSERT_TRUE(runner) << runner.message();
  const TargetInfo &target = (*runner)->getTarget();
  const Solver &reference = getReferenceSolver();
  auto expected = (*runner)->run(*problem, reference,
                                 reference.defaultConfig(*problem, target));
  ASSERT_TRUE(expected) << expected.message();
  auto solvers = getApplicableSolvers(*problem, target);
  EXPECT_NE(solvers.front(), &reference);
  for (const Solver *solver : solvers) {
    auto actual = (*runner)->run(*problem, *solver,
                                 solver->defaultConfig(*problem, target));
    ASSERT_TRUE(actual) << actual.message();
    for (auto [got, wanted] :
         llvm::zip_equal(actual->front(), expected->front()))
      ASSERT_NEAR(got, wanted, 1e-4) << solver->id().str();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, SinglePixel,
    testing::Values(
        "conv(1x40x1x1xf32:nhwc, 24x40x1x1xf32:const; 1x24x1x1xf32:const)->"
        "1x24x1x1xf32:nhwc {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | "
        "add(2) | relu",
        "conv(1x32x1x1xf32:nchw16c, 24x32x1x1xf32:const; 1x24x1x1xf32:const)->"
        "1x24x1x1xf32:nchw16c {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}"
        " | add(2)"));
