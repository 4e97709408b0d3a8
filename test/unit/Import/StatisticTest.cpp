//===- StatisticTest.cpp - Import of norms and reductions -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tarpon::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static std::string importText(TestModel &model) {
  Imported imported = model.output("y").import();
  EXPECT_EQ(imported.diagnostics, "");
  return imported.ir;
}

TEST(Reductions, MeansOfOtherDimensionsThanTheSpatialOnes) {
  TestModel model;
  model.input("x", {1, 3, 4, 4}).node("ReduceMean", "x", "y");
  model.list("axes", {-3, 2}).attr("keepdims", 0);
  EXPECT_THAT(importText(model),
              AllOf(HasSubstr("tarpon.reduce_mean"),
                    HasSubstr("axes = array<i64: 1, 2>, keepdims = false"),
                    HasSubstr("-> tensor<1x4xf32>")));
}

TEST(Reductions, WithoutAxesAllAreReduced) {
  TestModel model;
  model.input("x", {2, 3}).node("ReduceMax", "x", "y");
  EXPECT_THAT(importText(model), AllOf(HasSubstr("axes = array<i64: 0, 1>"),
                                       HasSubstr("-> tensor<1x1xf32>")));
}

TEST(Reductions, WithoutAxesNothingIsReducedIfAsked) {
  TestModel model;
  model.input("x", {2, 3}).node("ReduceSum", "x", "y");
  model.attr("noop_with_empty_axes", 1);
  EXPECT_THAT(importText(model), Not(HasSubstr("tarpon.reduce_sum")));
}

TEST(Reductions, WithoutAxesElementsAreMapped) {
  for (auto [op, each] :
       {std::pair("ReduceSumSquare", "tarpon.mul %arg0, %arg0"),
        std::pair("ReduceL1", "tarpon.abs"),
        std::pair("ReduceL2", "tarpon.abs"),
        std::pair("ReduceLogSum", "tarpon.log %arg0")}) {
    TestModel model(18);
    model.input("x", {2, 3}).node(op, "x", "y");
    model.attr("noop_with_empty_axes", 1);
    EXPECT_THAT(importText(model),
                AllOf(HasSubstr(each), Not(HasSubstr("tarpon.reduce"))))
        << op;
  }
}

TEST(Reductions, OfSizesAreSizes) {
  // The shape [1, 24] is computed from reductions of [2, 3, 4].
  TestModel model;
  model.input("x", {2, 3, 4}).input("w", {24}).node("Shape", "x", "s");
  model.node("ReduceMax", "s", "most").node("ReduceMin", "s", "least");
  model.node("Mul", "most least", "eight").node("ReduceSum", "s", "nine");
  model.node("Sub", "nine eight", "one").node("ReduceProd", "s", "all");
  model.node("Concat", "one all", "shape").attr("axis", 0);
  model.node("Reshape", "w shape", "y");
  EXPECT_THAT(importText(model), HasSubstr("-> tensor<1x24xf32>"));
}

TEST(Norms, InstancesAreGroupsOfOneChannel) {
  TestModel model;
  model.input("x", {1, 6, 4}).input("s", {6}).input("b", {6});
  model.node("InstanceNormalization", "x s b", "y");
  EXPECT_THAT(importText(model), AllOf(HasSubstr("tarpon.group_norm"),
                                       HasSubstr("groups = 6 : i64")));
}

TEST(Norms, ScalesOfGroupsAreRepeatedForChannels) {
  TestModel model(18);
  model.input("x", {1, 6, 4}).input("s", {2}).input("b", {2});
  model.node("GroupNormalization", "x s b", "y").attr("num_groups", 2);
  EXPECT_THAT(importText(model),
              AllOf(HasSubstr("tarpon.concat"),
                    HasSubstr("(tensor<1x6x4xf32>, tensor<6xf32>, "
                              "tensor<6xf32>) -> tensor<1x6x4xf32>")));
}

TEST(Norms, StatisticsOfLayersAreComputedWhereTheyAreRead) {
  TestModel model(17), reads(17);
  for (TestModel *each : {&model, &reads}) {
    each->input("x", {2, 6}).input("s", {6});
    each->node("LayerNormalization", "x s", "y m d");
  }
  EXPECT_THAT(importText(model), AllOf(HasSubstr("tarpon.layer_norm"),
                                       Not(HasSubstr("statistics"))));
  EXPECT_THAT(importText(reads.output("d")),
              AllOf(HasSubstr("statistics"),
                    HasSubstr("-> (tensor<2x6xf32>, tensor<2x1xf32>, "
                              "tensor<2x1xf32>)")));
}

TEST(Norms, RunningStatisticsOfBatches) {
  TestModel model(15);
  model.input("x", {2, 3, 4}).input("p", {3});
  model.node("BatchNormalization", "x p p p p", "y m v");
  model.attr("training_mode", 1).attr("momentum", 0.75f).output("v");
  EXPECT_THAT(importText(model),
              AllOf(HasSubstr("tarpon.batch_norm_training"),
                    HasSubstr("factor = 2.500000e-01"),
                    HasSubstr("-> (tensor<2x3x4xf32>, tensor<3xf32>, "
                              "tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)"),
                    HasSubstr("return %running_variance, %result")));
}
