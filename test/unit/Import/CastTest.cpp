//===- CastTest.cpp - Import of Cast, CastLike and BitCast ------*- C++ -*-===//
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
using testing::Not;

namespace {

constexpr int fp8 = 17, fp8fnuz = 18, e5m2 = 19, u4 = 21, i4 = 22, fp4 = 23,
              e8m0 = 24, i2 = 26;

std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

/// Folds a cast of these numbers.
std::string castFloats(std::vector<float> values, int to, bool saturate = true,
                       const char *roundMode = "up") {
  TestModel model(25);
  auto size = static_cast<int64_t>(values.size());
  model.floats("x", {size}, std::move(values)).node("Cast", "x", "y");
  model.attr("to", to).attr("saturate", int(saturate));
  model.attr("round_mode", roundMode);
  return importModel(model);
}

TEST(Cast, Fp8Saturates) {
  std::vector<float> values = {0.48f, 1e6f, -INFINITY, -1e-7f};
  EXPECT_THAT(castFloats(values, fp8),
              HasSubstr("dense<[4.687500e-01, 4.480000e+02, -4.480000e+02, "
                        "-0.000000e+00]> : tensor<4xf8E4M3FN>"));
  EXPECT_THAT(castFloats(values, fp8, /*saturate=*/false),
              HasSubstr("dense<[4.687500e-01, 0x7F, 0xFF, -0.000000e+00]>"));
  EXPECT_THAT(castFloats(values, fp8fnuz),
              HasSubstr("dense<[4.687500e-01, 2.400000e+02, -2.400000e+02, "
                        "0.000000e+00]>"));
  EXPECT_THAT(castFloats(values, e5m2, /*saturate=*/false),
              HasSubstr("dense<[5.000000e-01, 0x7C, 0xFC, -0.000000e+00]>"));
  EXPECT_THAT(castFloats(values, fp4, /*saturate=*/false),
              HasSubstr("dense<[5.000000e-01, 6.000000e+00, -6.000000e+00, "
                        "-0.000000e+00]>"));
}

TEST(Cast, NaNStaysNaN) {
  TestModel model(25);
  model.input("x", {2}).node("Cast", "x", "y").attr("to", fp8);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.clip"), HasSubstr("4.480000e+02"),
                    HasSubstr("tensor<2xf32> -> tensor<2xf8E4M3FN>")));
}

/// Floats out of range wrap, as they do in NumPy.
TEST(Cast, NarrowIntegersWrap) {
  EXPECT_THAT(castFloats({-9, 7.9f, 8, -1}, i4),
              HasSubstr("dense<[7, 7, -8, -1]> : tensor<4xi4>"));
  EXPECT_THAT(castFloats({-9, 7.9f, 8, -1}, u4),
              HasSubstr("dense<[7, 7, 8, 15]> : tensor<4xui4>"));
  EXPECT_THAT(castFloats({-3, 2, 3}, i2),
              HasSubstr("dense<[1, -2, -1]> : tensor<3xi2>"));
}

TEST(Cast, PowersOfTwoAreRoundedByMode) {
  std::vector<float> values = {0, 0.124f, -1.1f, 3, 0x1.8p127f};
  EXPECT_THAT(castFloats(values, e8m0),
              HasSubstr("dense<[5.877470e-39, 1.250000e-01, 2.000000e+00, "
                        "4.000000e+00, 1.701410e+38]> : tensor<5xf8E8M0FNU>"));
  EXPECT_THAT(castFloats(values, e8m0, /*saturate=*/false),
              HasSubstr("4.000000e+00, 0xFF]>"));
  EXPECT_THAT(castFloats(values, e8m0, true, "down"),
              HasSubstr("dense<[5.877470e-39, 6.250000e-02, 1.000000e+00, "
                        "2.000000e+00, 1.701410e+38]>"));
  EXPECT_THAT(castFloats(values, e8m0, true, "nearest"),
              HasSubstr("dense<[5.877470e-39, 1.250000e-01, 1.000000e+00, "
                        "4.000000e+00, 1.701410e+38]>"));
  EXPECT_THAT(castFloats({INFINITY, 1}, e8m0), HasSubstr("dense<[0xFF, 1"));
}

TEST(Cast, LikeAnotherTensor) {
  TestModel model(25);
  model.floats("x", {2}, {1e9f, 1}).input("t", {2}, fp8);
  EXPECT_THAT(importModel(model.node("CastLike", "x t", "y")),
              HasSubstr("dense<[4.480000e+02, 1.000000e+00]>"));
}

TEST(BitCast, TakesTheBits) {
  TestModel model(26);
  model.floats("x", {2}, {1, -2.5f}).node("BitCast", "x", "y");
  EXPECT_THAT(importModel(model.attr("to", onnx::TensorProto::INT32)),
              HasSubstr("dense<[1065353216, -1071644672]> : tensor<2xi32>"));
  TestModel run(26);
  run.input("x", {2}).node("BitCast", "x", "y");
  EXPECT_THAT(importModel(run.attr("to", onnx::TensorProto::UINT32)),
              HasSubstr("tarpon.bitcast"));
}

TEST(BitCast, OfIntegersIsAConversion) {
  TestModel model(26);
  model.bytes("x", {3}, onnx::TensorProto::INT8, {-1, -128, 127});
  model.node("BitCast", "x", "y").attr("to", onnx::TensorProto::UINT8);
  EXPECT_THAT(importModel(model),
              HasSubstr("dense<[255, 128, 127]> : tensor<3xui8>"));
  TestModel truth(26);
  truth.input("x", {3}, onnx::TensorProto::BOOL).node("BitCast", "x", "y");
  EXPECT_THAT(importModel(truth.attr("to", onnx::TensorProto::UINT8)),
              AllOf(HasSubstr("tarpon.convert"), Not(HasSubstr("bitcast"))));
}

/// The bytes of i4 hold signs, which fp4 has not.
TEST(BitCast, OfNarrowElements) {
  TestModel model(26);
  model.bytes("x", {2}, fp4, {0x9f}).node("BitCast", "x", "y");
  EXPECT_THAT(importModel(model.attr("to", i4)),
              HasSubstr("dense<[-1, -7]> : tensor<2xi4>"));
}

TEST(Cast, Errors) {
  TestModel width(26);
  width.input("x", {2}).node("BitCast", "x", "y").attr("to", fp8);
  EXPECT_EQ(
      width.output("y").error(),
      "BitCast node 'n' in MODEL: cannot take the bits of 'f32' for those "
      "of 'f8E4M3FN', which has more or fewer\n");
  TestModel type(26);
  type.input("x", {2}).node("BitCast", "x", "y").attr("to", 8);
  EXPECT_EQ(type.output("y").error(), "BitCast node 'n' in MODEL: cannot cast "
                                      "to the data type 8 (STRING)\n");
  TestModel mode(25);
  mode.input("x", {2}).node("Cast", "x", "y").attr("to", e8m0);
  mode.attr("round_mode", "odd");
  EXPECT_EQ(mode.output("y").error(),
            "Cast node 'n' in MODEL: attribute 'round_mode' is 'odd', expected "
            "up, down or nearest\n");
}

} // namespace
