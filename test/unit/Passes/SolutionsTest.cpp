//===- SolutionsTest.cpp - Choosing solutions from a program ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModule.h"
#include "tarpon/IR/FusedProblem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tarpon;
using tarpon::test::TestModule;

static constexpr const char *kReluAndSoftmax = R"mlir(
  func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = tarpon.fused(%a = %x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
      %2 = tarpon.relu %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
      tarpon.yield %2 : tensor<4x4xf32>
    }
    %1 = tarpon.fused(%a = %0) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
      %2 = tarpon.softmax %a {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
      tarpon.yield %2 : tensor<4x4xf32>
    }
    return %1 : tensor<4x4xf32>
  })mlir";

TEST(SolutionAttr, HoldsSolverConfigAndSource) {
  MLIRContext context;
  context.loadDialect<TarponDialect>();
  PerfConfig config{{"tile_m", 14}, {"tile_n", 32}};
  SolutionAttr solution =
      makeSolutionAttr(&context, getReferenceSolver(), config, "measured");
  EXPECT_EQ(solution.getSolver().getValue(), getReferenceSolver().id());
  EXPECT_EQ(solution.getSource().getValue(), "measured");
  EXPECT_EQ(solution.getConfig(), config);
}

TEST(SelectSolutions, LeavesTheProblemOnTheRegion) {
  TestModule test(kReluAndSoftmax);
  std::vector<const Problem *> asked;
  auto choose = [&](FusedOp, const Problem &problem) {
    asked.push_back(&problem);
    return FailureOr<SolutionAttr>(
        makeSolutionAttr(&test.context, getReferenceSolver(), {}, "user-db"));
  };
  ASSERT_TRUE(
      succeeded(test.run(createSelectSolutionsPass(TargetInfo(), choose))));
  ASSERT_EQ(asked.size(), 2U);
  size_t index = 0;
  test.getFunction().walk([&](FusedOp op) {
    ASSERT_TRUE(op.getProblemAttr());
    EXPECT_EQ(op.getProblemAttr().getValue(), getProblem(op));
    // The problem is the one that the chooser was asked about.
    EXPECT_EQ(&op.getProblemAttr().getValue(), asked[index++]);
  });
}

TEST(SelectSolutions, AsksTheChooserForEveryRegion) {
  TestModule test(kReluAndSoftmax);
  std::vector<OpKind> asked;
  auto choose = [&](FusedOp, const Problem &problem) {
    asked.push_back(problem.op);
    return FailureOr<SolutionAttr>(
        makeSolutionAttr(&test.context, getReferenceSolver(), {}, "user-db"));
  };
  ASSERT_TRUE(
      succeeded(test.run(createSelectSolutionsPass(TargetInfo(), choose))));
  EXPECT_THAT(asked, testing::ElementsAre(OpKind::Relu, OpKind::Softmax));
  test.getFunction().walk([](FusedOp op) {
    ASSERT_TRUE(op.getSolutionAttr());
    EXPECT_EQ(op.getSolutionAttr().getSource().getValue(), "user-db");
  });
}

TEST(SelectSolutions, FailsWhenTheChooserFails) {
  TestModule test(kReluAndSoftmax);
  auto choose = [](FusedOp op, const Problem &) -> FailureOr<SolutionAttr> {
    return op.emitOpError("has no record");
  };
  EXPECT_TRUE(
      failed(test.run(createSelectSolutionsPass(TargetInfo(), choose))));
  EXPECT_THAT(test.diagnostics, testing::HasSubstr("has no record"));
}

TEST(SelectSolutions, TakesTheBestRankedSolverByDefault) {
  TestModule test(kReluAndSoftmax);
  TargetInfo target;
  target.vectorBits = 512;
  ASSERT_TRUE(succeeded(test.run(createSelectSolutionsPass(target))));
  test.getFunction().walk([&](FusedOp op) {
    const Solver *best = getApplicableSolvers(getProblem(op), target).front();
    EXPECT_EQ(op.getSolutionAttr().getSolver().getValue(), best->id());
  });
}
