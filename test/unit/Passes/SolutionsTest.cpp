//===- SolutionsTest.cpp - Choosing solutions from a program ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModule.h"

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
  FailureOr<PerfConfig> back = getPerfConfig(solution);
  ASSERT_TRUE(succeeded(back));
  EXPECT_EQ(*back, config);
}

TEST(SolutionAttr, RefusesFieldsThatAreNoIntegers) {
  MLIRContext context;
  context.loadDialect<TarponDialect>();
  Builder builder(&context);
  auto field = builder.getNamedAttr("tile_m", builder.getF32FloatAttr(1));
  auto solution = SolutionAttr::get(&context, builder.getStringAttr("s"),
                                    builder.getDictionaryAttr(field),
                                    builder.getStringAttr("default"));
  EXPECT_TRUE(failed(getPerfConfig(solution)));
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
