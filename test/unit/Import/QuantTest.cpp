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

/// Integer kernels read them.
TEST(Quant, SymmetricWeightsStayIntegers) {
  TestModel model;
  model.bytes("w", {2, 2}, i8, {-2, 4, 6, -128}).floats("s", {2}, {0.5f, 2});
  model.node("DequantizeLinear", "w s", "y").attr("axis", 0);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<[[-2, 4], [6, -128]]>"),
                    HasSubstr("!quant.uniform<i8:f32:0, "
                              "{5.000000e-01,2.000000e+00}>"),
                    HasSubstr("tarpon.convert")));
}

/// 128 is the middle of unsigned integers.
TEST(Quant, UnsignedWeightsAreCentred) {
  TestModel model;
  model.bytes("w", {1, 2}, u8, {0, 130}).floats("s", {}, {0.5f});
  model.bytes("z", {}, u8, {128}).node("DequantizeLinear", "w s z", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<[[-128, 2]]> : tensor<1x2xi8>"),
                    HasSubstr("!quant.uniform<i8:f32, 5.000000e-01>")));
}

/// Vectors are no filters, and integer kernels read symmetric ones only.
TEST(Quant, OtherConstantsBecomeFloats) {
  TestModel vector;
  vector.bytes("w", {2}, i8, {-2, 4}).floats("s", {}, {0.5f});
  vector.node("DequantizeLinear", "w s", "y");
  EXPECT_THAT(importModel(vector), HasSubstr("[-1.000000e+00, 2.000000e+00]"));

  TestModel centred;
  centred.bytes("w", {1, 2}, u8, {0, 130}).floats("s", {}, {0.5f});
  centred.node("DequantizeLinear", "w s", "y");
  EXPECT_THAT(importModel(centred), HasSubstr("[0.000000e+00, 6.500000e+01]"));
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

constexpr int fp8 = 17, fp8fnuz = 18, u4 = 21, i4 = 22, fp4 = 23, e8m0 = 24,
              u2 = 25;

/// Packed, the first one in the lower bits: -8, 7, 1 with the zero point 1.
TEST(Quant, NarrowWeightsBecomeFloats) {
  TestModel model(25);
  model.bytes("w", {3}, i4, {0x78, 0x01}).floats("s", {}, {0.5f});
  model.bytes("z", {}, i4, {1}).node("DequantizeLinear", "w s z", "y");
  EXPECT_THAT(importModel(model),
              HasSubstr("dense<[-4.500000e+00, 3.000000e+00, 0.000000e+00]>"));

  TestModel floats(25);
  floats.bytes("w", {3}, fp8, {0x38, 0xb8, 0x7e}).floats("s", {}, {2});
  floats.bytes("z", {}, fp8, {0}).node("DequantizeLinear", "w s z", "y");
  EXPECT_THAT(importModel(floats),
              HasSubstr("dense<[2.000000e+00, -2.000000e+00, 8.960000e+02]>"));
}

/// The last block has one element only, and scales are powers of two.
TEST(Quant, BlocksOfWeightsHaveTheirScales) {
  TestModel model(25);
  model.bytes("w", {1, 3, 2}, u4, {0x21, 0x43, 0x65});
  model.bytes("s", {1, 2, 2}, e8m0, {127, 128, 129, 130});
  model.node("DequantizeLinear", "w s", "y").attr("block_size", 2);
  model.attr("output_dtype", onnx::TensorProto::FLOAT);
  EXPECT_THAT(importModel(model),
              HasSubstr("[1.000000e+00, 4.000000e+00], [3.000000e+00, "
                        "8.000000e+00], [2.000000e+01, 4.800000e+01]"));
}

/// As NumPy's reference: quotients are rounded to even and clipped.
TEST(Quant, ConstantsAreQuantisedToOtherTypes) {
  TestModel model(25);
  model.floats("w", {5}, {0, 2.5f, -9, 9, -0.5f}).floats("s", {}, {1});
  model.node("QuantizeLinear", "w s", "y").attr("output_dtype", i4);
  EXPECT_THAT(importModel(model),
              HasSubstr("dense<[0, 2, -8, 7, 0]> : tensor<5xi4>"));

  TestModel words(25);
  words.floats("w", {3}, {0, 40000, -2}).floats("s", {}, {1});
  words.bytes("z", {}, onnx::TensorProto::UINT16, {32767});
  words.node("QuantizeLinear", "w s z", "y");
  EXPECT_THAT(importModel(words),
              HasSubstr("dense<[32767, 65535, 32765]> : tensor<3xui16>"));

  TestModel floats(25);
  floats.floats("w", {3}, {1, -1e9f, 0.4f}).floats("s", {}, {2});
  floats.bytes("z", {}, fp8, {0}).node("QuantizeLinear", "w s z", "y");
  EXPECT_THAT(importModel(floats),
              HasSubstr("dense<[5.000000e-01, -4.480000e+02, 2.031250e-01]>"));

  TestModel overflow(25);
  overflow.floats("w", {2}, {1, -1e9f}).floats("s", {}, {1});
  overflow.node("QuantizeLinear", "w s", "y").attr("output_dtype", fp8fnuz);
  overflow.attr("saturate", 0);
  EXPECT_THAT(importModel(overflow), HasSubstr("dense<[1.000000e+00, 0x80]>"));

  TestModel blocks(25);
  blocks.floats("w", {1, 3}, {2, 3, 4}).floats("s", {1, 2}, {1, 4});
  blocks.bytes("z", {1, 2}, u2, {0x04}).node("QuantizeLinear", "w s z", "y");
  blocks.attr("block_size", 2);
  EXPECT_THAT(importModel(blocks),
              HasSubstr("dense<[[2, 3, 2]]> : tensor<1x3xui2>"));
}

/// 2048.75 is 2048 in f16, where numbers are two apart.
TEST(Quant, QuotientsAreRoundedToThePrecision) {
  for (auto [precision, expected] :
       {std::pair(onnx::TensorProto::FLOAT, "dense<2049>"),
        std::pair(onnx::TensorProto::FLOAT16, "dense<2048>")}) {
    TestModel model(25);
    model.floats("w", {1}, {2048.75f}).floats("s", {}, {1});
    model.node("QuantizeLinear", "w s", "y").attr("precision", precision);
    model.attr("output_dtype", onnx::TensorProto::INT16);
    EXPECT_THAT(importModel(model), HasSubstr(expected));
  }
}

TEST(Quant, ScalesAtRunTimeAreArithmetic) {
  TestModel model;
  model.input("x", {2, 3}).input("s", {3}).bytes("z", {3}, u8, {1, 2, 3});
  model.node("QuantizeLinear", "x s z", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.div"), HasSubstr("tarpon.round"),
                    HasSubstr("tarpon.clip"), HasSubstr("-> tensor<2x3xui8>")));
}

/// A scale that is known at run time is in no type.
TEST(Quant, RunTimeScalesAreArithmetic) {
  TestModel model;
  model.input("x", {2}).input("s", {}).input("z", {}, i8);
  model.node("QuantizeLinear", "x s z", "q", "q");
  model.node("DequantizeLinear", "q s z", "y", "d");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.div"), HasSubstr("tarpon.round"),
                    HasSubstr("high = 1.270000e+02 : f64, low = -1.280000e+02"),
                    Not(HasSubstr("quant.uniform"))));
}

TEST(Quant, ActivationsTakeScalesOfAnAxis) {
  TestModel model;
  model.input("x", {1, 2, 3}).floats("s", {2}, {0.5f, 0.25f});
  model.node("QuantizeLinear", "x s", "y", "q");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tensor<1x2x1xf32>) -> tensor<1x2x3xf32>"),
                    HasSubstr("high = 2.550000e+02 : f64, low = 0")));
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

  TestModel negative;
  negative.input("x", {2})
      .floats("s", {}, {-1})
      .node("QuantizeLinear", "x s", "y");
  EXPECT_EQ(negative.output("y").error(),
            "QuantizeLinear node 'n' in MODEL: the scale -1.000000e+00 is not "
            "positive\n");

  TestModel wide;
  wide.input("x", {2}).floats("s", {}, {1});
  wide.bytes("z", {}, onnx::TensorProto::INT32, {0});
  wide.node("QuantizeLinear", "x s z", "y").output("y");
  EXPECT_EQ(wide.error(), "QuantizeLinear node 'n' in MODEL: quantisation to "
                          "i32 is not supported\n");

  TestModel powers(25);
  powers.input("x", {2}).floats("s", {}, {1});
  powers.node("QuantizeLinear", "x s", "y").attr("output_dtype", e8m0);
  EXPECT_EQ(
      powers.output("y").error(),
      "QuantizeLinear node 'n' in MODEL: quantisation to f8E8M0FNU is not "
      "supported\n");

  TestModel conflict(25);
  conflict.input("x", {2}).floats("s", {}, {1}).bytes("z", {}, u8, {0});
  conflict.node("QuantizeLinear", "x s z", "y").attr("output_dtype", fp4);
  EXPECT_EQ(conflict.output("y").error(),
            "QuantizeLinear node 'n' in MODEL: attribute 'output_dtype' is "
            "f4E2M1FN, but the zero point is u8\n");

  TestModel precise(25);
  precise.input("x", {2}).floats("s", {}, {1});
  precise.node("QuantizeLinear", "x s", "y").attr("precision", fp8);
  EXPECT_EQ(precise.output("y").error(),
            "QuantizeLinear node 'n' in MODEL: attribute 'precision' is "
            "f8E4M3FN, expected f32, f16 or bf16\n");

  TestModel scales;
  scales.input("x", {2, 3}).floats("s", {2}, {1, 1});
  scales.node("QuantizeLinear", "x s", "y").output("y");
  EXPECT_EQ(scales.error(),
            "QuantizeLinear node 'n' in MODEL: there are 2 scales for the "
            "dimension 1 of size 3\n");

  TestModel zero;
  zero.input("x", {2}).floats("s", {}, {1}).bytes("z", {2}, u8, {0, 0});
  zero.node("QuantizeLinear", "x s z", "y").output("y");
  EXPECT_EQ(zero.error(), "QuantizeLinear node 'n' in MODEL: the zero point "
                          "'tensor<2xui8>' does not fit the scale "
                          "'tensor<f32>'\n");

  TestModel zeros(25);
  zeros.input("x", {2}).floats("s", {}, {1}).bytes("z", {}, fp8, {0x38});
  zeros.node("QuantizeLinear", "x s z", "y").output("y");
  EXPECT_EQ(zeros.error(), "QuantizeLinear node 'n' in MODEL: the zero point "
                           "of floats is not 0\n");

  TestModel blocked(21);
  blocked.input("x", {2, 5}).floats("s", {2, 2}, {1, 1, 1, 1});
  blocked.node("QuantizeLinear", "x s", "y").attr("block_size", 2).output("y");
  EXPECT_EQ(blocked.error(),
            "QuantizeLinear node 'n' in MODEL: the scale has "
            "the shape [2, 2], expected [2, 3] for blocks of 2 "
            "along the dimension 1\n");

  TestModel size(21);
  size.input("x", {2, 2}).floats("s", {2, 2}, {1, 1, 1, 1});
  size.node("QuantizeLinear", "x s", "y").attr("block_size", -1).output("y");
  EXPECT_EQ(size.error(), "QuantizeLinear node 'n' in MODEL: attribute "
                          "'block_size' is -1, expected 0 or more\n");

  TestModel matrix(21);
  matrix.input("x", {2, 2}).floats("s", {2, 2}, {1, 1, 1, 1});
  matrix.node("QuantizeLinear", "x s", "y").output("y");
  EXPECT_EQ(matrix.error(), "QuantizeLinear node 'n' in MODEL: the scale has 2 "
                            "dimensions, expected 1 where there is no "
                            "'block_size'\n");

  TestModel output(21);
  output.input("x", {2}).floats("s", {}, {1});
  output.node("QuantizeLinear", "x s", "y").attr("output_dtype", 8);
  EXPECT_EQ(output.output("y").error(),
            "QuantizeLinear node 'n' in MODEL: attribute 'output_dtype' is the "
            "unsupported type 8 (STRING)\n");

  TestModel result(25);
  result.input("x", {2}, u8).bytes("s", {}, e8m0, {127});
  result.node("DequantizeLinear", "x s", "y").output("y");
  EXPECT_EQ(result.error(), "DequantizeLinear node 'n' in MODEL: the result is "
                            "of 'f8E8M0FNU', expected f32, f16 or bf16\n");

  TestModel floats;
  floats.input("x", {2})
      .floats("s", {}, {1})
      .node("DequantizeLinear", "x s", "y");
  EXPECT_EQ(floats.output("y").error(), "DequantizeLinear node 'n' in MODEL: "
                                        "'x' holds no quantised numbers, but "
                                        "'f32'\n");

  TestModel compute;
  compute.input("x", {2}).floats("s", {}, {1});
  compute.node("QuantizeLinear", "x s", "q", "q").node("Relu", "q", "y", "r");
  EXPECT_EQ(compute.output("y").error(),
            "Relu node 'r' in MODEL: cannot compute with the quantised tensor "
            "'q'; it needs a DequantizeLinear before it\n");
}

} // namespace
