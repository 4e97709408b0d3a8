//===- ActivationTest.cpp - Import of activations and resizes -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

TEST(Activation, PowersThatAreSimpler) {
  for (auto [exponent, op] :
       {std::pair(2.0f, "tarpon.mul"), std::pair(0.5f, "tarpon.sqrt"),
        std::pair(-1.0f, "tarpon.reciprocal"), std::pair(2.5f, "tarpon.pow")}) {
    TestModel model;
    model.input("x", {2, 3}).floats("e", {}, {exponent});
    model.node("Pow", "x e", "y");
    EXPECT_THAT(importModel(model), HasSubstr(op)) << exponent;
  }
}

TEST(Activation, PowersOfOtherTypesKeepThatOfTheBase) {
  TestModel model;
  model.input("x", {3}, onnx::TensorProto::INT32).input("e", {3});
  model.node("Pow", "x e", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tensor<3xi32> -> tensor<3xf64>"),
                    HasSubstr("tensor<3xf64> -> tensor<3xi32>")));
}

TEST(Activation, Gelu) {
  TestModel exact(20), fast(20);
  exact.input("x", {2}).node("Gelu", "x", "y");
  EXPECT_THAT(importModel(exact), HasSubstr("tarpon.gelu %"));
  fast.input("x", {2}).node("Gelu", "x", "y").attr("approximate", "tanh");
  EXPECT_THAT(importModel(fast), HasSubstr("tarpon.gelu_tanh %"));
}

TEST(Activation, SwishOfTheNewestOpset) {
  TestModel plain(24), steep(24);
  plain.input("x", {2}).node("Swish", "x", "y");
  EXPECT_THAT(importModel(plain), AllOf(HasSubstr("tarpon.swish"),
                                        HasSubstr("alpha = 1.000000e+00")));
  steep.input("x", {2}).node("Swish", "x", "y").attr("alpha", 1.5f);
  EXPECT_THAT(importModel(steep), HasSubstr("alpha = 1.500000e+00"));
  TestModel old(23);
  old.input("x", {2}).node("Swish", "x", "y");
  EXPECT_THAT(old.output("y").error(),
              HasSubstr("the operator is not supported in opset 23, only in 24 "
                        "to 28"));
}

TEST(Activation, Mish) {
  TestModel model(18);
  model.input("x", {2}).node("Mish", "x", "y");
  EXPECT_THAT(importModel(model), HasSubstr("tarpon.mish %"));
}

TEST(Activation, Celu) {
  TestModel model;
  model.input("x", {2}).node("Celu", "x", "y").attr("alpha", 0.0f);
  EXPECT_THAT(
      model.output("y").error(),
      HasSubstr("attribute 'alpha' is 0, by which the input is divided"));
}

TEST(Resize, ScalesGiveSizes) {
  TestModel model;
  model.input("x", {1, 2, 3, 5}).floats("s", {4}, {1, 1, 2, 0.5f});
  model.node("Resize", "x - s", "y").attr("mode", "linear");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("sizes = array<i64: 1, 2, 6, 2>"),
                    HasSubstr("mode = 1"), HasSubstr("coordinates = 0")));
}

TEST(Resize, SizesGiveScales) {
  TestModel model;
  model.input("x", {1, 2, 4}).floats("s", {0}, {}).ints("z", {1, 2, 6});
  model.node("Resize", "x - s z", "y");
  EXPECT_THAT(importModel(model), HasSubstr("1.500000e+00"));
}

TEST(Resize, UpsampleIsAsymmetric) {
  TestModel model(9);
  model.input("x", {1, 2, 4}).floats("s", {3}, {1, 1, 2});
  model.node("Upsample", "x s", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("coordinates = 3"), HasSubstr("rounding = 2")));
}

TEST(Resize, Errors) {
  auto error = [](const char *name, const char *value) {
    TestModel model(18);
    model.input("x", {1, 2, 4}).floats("s", {3}, {1, 1, 2});
    model.node("Resize", "x - s", "y").attr(name, value);
    return model.output("y").error();
  };
  EXPECT_THAT(error("mode", "area"),
              HasSubstr("attribute 'mode' is 'area', which is not supported"));
  EXPECT_THAT(error("keep_aspect_ratio_policy", "smaller"),
              HasSubstr("attribute 'keep_aspect_ratio_policy' is "
                        "'smaller', which is not supported"));
  EXPECT_THAT(error("coordinate_transformation_mode", "tf_crop_and_resize"),
              HasSubstr("the region of interest has 0 entries, expected 6"));
  TestModel model;
  model.input("x", {1, 2, 4}).floats("s", {2}, {1, 2});
  model.node("Resize", "x - s", "y");
  EXPECT_THAT(model.output("y").error(),
              HasSubstr("the scales have 2 entries, expected 3"));
}

TEST(Blocks, DepthToSpace) {
  TestModel model;
  model.input("x", {1, 8, 2, 3}).node("DepthToSpace", "x", "y");
  model.attr("blocksize", 2).attr("mode", "CRD");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("permutation = array<i64: 0, 1, 4, 2, 5, 3>"),
                    HasSubstr("tensor<1x2x4x6xf32>")));
}

TEST(Blocks, SpaceToDepthNeedsWholeBlocks) {
  TestModel model;
  model.input("x", {1, 1, 3, 4}).node("SpaceToDepth", "x", "y");
  model.attr("blocksize", 2);
  EXPECT_THAT(model.output("y").error(),
              HasSubstr("the image of 3x4 is no multiple of the blocksize"));
}

} // namespace
