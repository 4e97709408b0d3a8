//===- QuantTest.cpp - Import of QuantizeLinear and its inverse -*- C++ -*-===//
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

constexpr int u8 = onnx::TensorProto::UINT8;
constexpr int i8 = onnx::TensorProto::INT8;

std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

TEST(Quant, ActivationsGetQuantisedTypes) {
  TestModel model;
  model.input("x", {1, 2}).floats("s", {}, {0.5f}).bytes("z", {}, u8, {3});
  model.node("QuantizeLinear", "x s z", "q", "q");
  model.node("DequantizeLinear", "q s z", "y", "d");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("!quant.uniform<u8:f32, 5.000000e-01:3>"),
                    HasSubstr("-> tensor<1x2xf32>")));
}

TEST(Quant, ConstantsAreQuantisedPerAxis) {
  TestModel model;
  model.floats("w", {2, 2}, {1, 1, -1, 3}).floats("s", {2}, {0.5f, 0.25f});
  model.bytes("z", {2}, i8, {0, 1}).node("QuantizeLinear", "w s z", "q", "q");
  model.node("DequantizeLinear", "q s z", "y", "d");
  std::string ir = importModel(model);
  EXPECT_THAT(ir, AllOf(HasSubstr("[1.000000e+00, 1.000000e+00], "
                                  "[-1.000000e+00, 3.000000e+00]"),
                        Not(HasSubstr("quant.uniform"))));
}

/// One scale is one scale, whatever its axis.
TEST(Quant, ActivationsTakeAnAxisOfOneScale) {
  TestModel model;
  model.input("x", {2, 1}).floats("s", {1}, {0.5f});
  model.node("QuantizeLinear", "x s", "y", "q").attr("axis", 1);
  EXPECT_THAT(importModel(model),
              HasSubstr("!quant.uniform<u8:f32, 5.000000e-01>"));
}

TEST(Quant, ConstantWeightsBecomeFloats) {
  TestModel model;
  model.bytes("w", {2, 2}, i8, {-2, 4, 6, 8}).floats("s", {2}, {0.5f, 2.0f});
  model.bytes("z", {2}, i8, {0, 1}).node("DequantizeLinear", "w s z", "y");
  model.attr("axis", 0);
  std::string ir = importModel(model);
  EXPECT_THAT(ir, HasSubstr("[-1.000000e+00, 2.000000e+00], "
                            "[1.000000e+01, 1.400000e+01]"));
}

TEST(Quant, ConstantsAreQuantised) {
  TestModel model;
  model.floats("w", {4}, {-100, 0.25f, 0.75f, 100}).floats("s", {}, {0.5f});
  model.bytes("z", {}, i8, {1}).node("QuantizeLinear", "w s z", "y");
  // Halves round to even: 0.5 -> 0 and 1.5 -> 2, before the zero point.
  EXPECT_THAT(importModel(model),
              HasSubstr("dense<[-128, 1, 3, 127]> : tensor<4xi8>"));
}

TEST(Quant, IntegerInputsAreDequantisedByArithmetic) {
  TestModel model;
  model.input("x", {2}, u8).input("s", {}).bytes("z", {}, u8, {3});
  model.node("DequantizeLinear", "x s z", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.convert"), HasSubstr("tarpon.sub"),
                    HasSubstr("tarpon.mul")));
}

TEST(Quant, Errors) {
  TestModel mismatch;
  mismatch.input("x", {2}).floats("s", {}, {0.5f}).floats("t", {}, {0.25f});
  mismatch.node("QuantizeLinear", "x s", "q", "q");
  mismatch.node("DequantizeLinear", "q t", "y", "d").output("y");
  EXPECT_EQ(mismatch.error(),
            "DequantizeLinear node 'd' in MODEL: 'q' was quantised as "
            "'!quant.uniform<u8:f32, 5.000000e-01>', but is dequantised as "
            "'!quant.uniform<u8:f32, 2.500000e-01>'\n");

  TestModel runtime;
  runtime.input("x", {2}).input("s", {}).node("QuantizeLinear", "x s", "y");
  EXPECT_EQ(runtime.output("y").error(), "QuantizeLinear node 'n' in MODEL: "
                                         "the scale 's' is not a constant\n");

  TestModel negative;
  negative.input("x", {2})
      .floats("s", {}, {-1})
      .node("QuantizeLinear", "x s", "y");
  EXPECT_EQ(negative.output("y").error(),
            "QuantizeLinear node 'n' in MODEL: the scale -1.000000e+00 is not "
            "positive\n");

  TestModel wide;
  wide.input("x", {2}).floats("s", {}, {1});
  wide.bytes("z", {}, onnx::TensorProto::INT16, {0});
  wide.node("QuantizeLinear", "x s z", "y").output("y");
  EXPECT_EQ(wide.error(), "QuantizeLinear node 'n' in MODEL: quantisation to "
                          "i16 is not supported, only to i8 and u8\n");

  TestModel scales;
  scales.input("x", {2, 3}).floats("s", {2}, {1, 1});
  scales.node("QuantizeLinear", "x s", "y").output("y");
  EXPECT_EQ(scales.error(),
            "QuantizeLinear node 'n' in MODEL: there are 2 scales for the "
            "dimension 1 of size 3\n");

  TestModel axis;
  axis.input("x", {2, 3}).floats("s", {3}, {1, 1, 1});
  axis.node("QuantizeLinear", "x s", "y").output("y");
  EXPECT_EQ(axis.error(), "QuantizeLinear node 'n' in MODEL: quantisation per "
                          "axis of 'x', which is not a constant, is not "
                          "supported\n");

  TestModel zero;
  zero.input("x", {2}).floats("s", {}, {1}).bytes("z", {2}, u8, {0, 0});
  zero.node("QuantizeLinear", "x s z", "y").output("y");
  EXPECT_EQ(zero.error(), "QuantizeLinear node 'n' in MODEL: the zero point "
                          "'tensor<2xui8>' does not fit the scale "
                          "'tensor<f32>'\n");

  TestModel blocked(21);
  blocked.input("x", {2}).floats("s", {}, {1});
  blocked.node("QuantizeLinear", "x s", "y").attr("block_size", 2).output("y");
  EXPECT_EQ(blocked.error(), "QuantizeLinear node 'n' in MODEL: blocked "
                             "quantisation is not supported\n");

  TestModel output(21);
  output.input("x", {2}).floats("s", {}, {1});
  output.node("QuantizeLinear", "x s", "y").attr("output_dtype", 17);
  EXPECT_EQ(output.output("y").error(),
            "QuantizeLinear node 'n' in MODEL: attribute 'output_dtype' is the "
            "unsupported type 17\n");

  TestModel floats;
  floats.input("x", {2})
      .floats("s", {}, {1})
      .node("DequantizeLinear", "x s", "y");
  EXPECT_EQ(floats.output("y").error(), "DequantizeLinear node 'n' in MODEL: "
                                        "'x' holds no integers, but 'f32'\n");

  TestModel compute;
  compute.input("x", {2}).floats("s", {}, {1});
  compute.node("QuantizeLinear", "x s", "q", "q").node("Relu", "q", "y", "r");
  EXPECT_EQ(compute.output("y").error(),
            "Relu node 'r' in MODEL: cannot compute with the quantised tensor "
            "'q'; it needs a DequantizeLinear before it\n");
}

} // namespace
