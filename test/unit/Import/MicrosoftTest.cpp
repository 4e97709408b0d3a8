//===- MicrosoftTest.cpp - Import of ONNX Runtime's operators -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/conformance compares results with those of ONNX Runtime. Here is what
// the importer refuses, and what shows in the operations only.
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

constexpr int i32 = onnx::TensorProto::INT32, u8 = onnx::TensorProto::UINT8,
              i8 = onnx::TensorProto::INT8;

/// The module of a model whose only node is of com.microsoft and has the output
/// y, or the error.
std::string import(TestModel &model) {
  model.getGraph().mutable_node(0)->set_domain("com.microsoft");
  onnx::OperatorSetIdProto &opset = *model.getProto().add_opset_import();
  opset.set_domain("com.microsoft");
  opset.set_version(1);
  Imported result = model.output("y").import();
  EXPECT_NE(result.ir.empty(), result.diagnostics.empty());
  return result.ir + result.diagnostics;
}

struct InputShape {
  std::string name;
  std::vector<int64_t> shape;
  int type = onnx::TensorProto::FLOAT;
};

/// A node of inputs with these shapes; "-" leaves one out.
TestModel &addNode(TestModel &model, const std::string &op,
                   const std::vector<InputShape> &inputs) {
  std::string names;
  for (const InputShape &input : inputs) {
    names += input.name + " ";
    if (input.name != "-")
      model.input(input.name, input.shape, input.type);
  }
  return model.node(op, names, "y");
}

std::string importNode(const std::string &op,
                       const std::vector<InputShape> &inputs) {
  TestModel model(17);
  return import(addNode(model, op, inputs));
}

//===----------------------------------------------------------------------===//
// Elementwise operators and norms
//===----------------------------------------------------------------------===//

TEST(Microsoft, UnknownOperators) {
  EXPECT_THAT(importNode("Frobnicate", {{"x", {2}}}),
              HasSubstr("Frobnicate node 'n' in MODEL: the operator of domain "
                        "'com.microsoft' is not supported"));
}

TEST(Microsoft, BiasesDoNotGrowTheResult) {
  const InputShape x = {"x", {2, 3, 8}}, bias = {"b", {4, 1, 1, 8}},
                   row = {"r", {8}}, skip = {"s", {4, 2, 3, 8}};
  for (const char *op : {"FastGelu", "BiasGelu", "BiasSplitGelu"})
    EXPECT_THAT(importNode(op, {x, bias}),
                HasSubstr("the bias 'tensor<4x1x1x8xf32>' does not broadcast "
                          "to 'tensor<2x3x8xf32>'"))
        << op;
  for (const char *op :
       {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    EXPECT_THAT(importNode(op, {x, skip, row}),
                HasSubstr("skip or bias does not broadcast to the input "
                          "'tensor<2x3x8xf32>'"))
        << op;
  TestModel softmax(17);
  addNode(softmax, "BiasSoftmax", {x, skip}).attr("axis", 2);
  EXPECT_THAT(import(softmax.attr("is_inner_broadcast", 1)),
              HasSubstr("the bias 'tensor<4x2x3x8xf32>' does not broadcast to "
                        "'tensor<2x3x8xf32>'"));
}

TEST(Microsoft, ElementwiseErrors) {
  EXPECT_THAT(importNode("BiasSplitGelu", {{"x", {2, 7}}, {"b", {7}}}),
              HasSubstr("the channels of 'tensor<2x7xf32>' cannot be halved"));
  EXPECT_THAT(importNode("ExpandDims", {{"x", {2, 7}}, {"a", {}, i32}}),
              HasSubstr("the axis 'a' is not a constant"));
  TestModel far(17);
  far.input("x", {2, 7}).ints("a", {4}).node("ExpandDims", "x a", "y");
  EXPECT_THAT(import(far), HasSubstr("axis 4 is out of range for rank 3"));
}

TEST(Microsoft, NormErrors) {
  const std::vector<InputShape> embedding = {
      {"i", {2, 3}, i32}, {"s", {2, 3}, i32}, {"w", {9, 8}}, {"p", {9, 8}},
      {"-", {}},          {"g", {8}},         {"b", {8}}};
  EXPECT_THAT(importNode("EmbedLayerNormalization", embedding),
              HasSubstr("or only one of segments and their embeddings is "
                        "there"));
  EXPECT_THAT(importNode("EmbedLayerNormalization", {{"i", {2, 3}, i32}}),
              HasSubstr("input 2 is missing"));
  EXPECT_THAT(importNode("QEmbedLayerNormalization", {{"i", {2, 3}, i32}}),
              HasSubstr("input 2 is missing"));
  TestModel groups(17);
  addNode(groups, "SkipGroupNorm",
          {{"x", {1, 4, 3, 3}}, {"g", {4}}, {"b", {4}}, {"s", {1, 4, 3, 3}}});
  groups.attr("groups", 2).attr("activation", 0).attr("channels_last", 0);
  EXPECT_THAT(import(groups),
              HasSubstr("attribute 'channels_last' is 0, expected 1"));
  TestModel none(17);
  addNode(none, "GroupNorm", {{"x", {1, 3, 3, 4}}, {"g", {4}}, {"b", {4}}});
  EXPECT_THAT(import(none.attr("activation", 0)),
              HasSubstr("expects a positive number of groups"));
  TestModel skip(17);
  addNode(skip, "SkipGroupNorm",
          {{"x", {1, 3, 3, 4}}, {"g", {4}}, {"b", {4}}, {"s", {2, 4}}});
  EXPECT_THAT(import(skip.attr("groups", 2).attr("activation", 0)),
              HasSubstr("skip or bias does not broadcast to the input"));
}

/// ONNX Runtime writes LayerNormalization into models of older opsets, too.
TEST(Microsoft, NormsOfTheDefaultDomain) {
  for (const char *op :
       {"LayerNormalization", "SimplifiedLayerNormalization"}) {
    TestModel model(11);
    model.input("x", {2, 8}).input("g", {8}).node(op, "x g", "y");
    EXPECT_EQ(model.output("y").import().diagnostics, "") << op;
  }
}

//===----------------------------------------------------------------------===//
// Fused operators
//===----------------------------------------------------------------------===//

TEST(Microsoft, FusedErrors) {
  const std::vector<InputShape> conv = {
      {"x", {1, 2, 6, 6}}, {"w", {2, 2, 3, 3}}, {"-", {}}, {"z", {3, 2, 4, 4}}};
  TestModel sum(17);
  EXPECT_THAT(import(addNode(sum, "FusedConv", conv)),
              HasSubstr("the input Z 'tensor<3x2x4x4xf32>' does not broadcast "
                        "to 'tensor<1x2x4x4xf32>'"));
  TestModel activation(17);
  addNode(activation, "FusedGemm", {{"a", {2, 3}}, {"b", {3, 4}}});
  EXPECT_THAT(import(activation.attr("activation", "Mish")),
              HasSubstr("the activation 'Mish' is not supported"));
}

TEST(Microsoft, FusedActivationsAreOperations) {
  TestModel gemm(17);
  addNode(gemm, "FusedGemm", {{"a", {2, 3}}, {"b", {3, 4}}});
  gemm.attr("activation", "LeakyRelu").attr("activation_alpha", 0.25f);
  EXPECT_THAT(import(gemm),
              AllOf(HasSubstr("tarpon.leaky_relu"), HasSubstr("2.500000e-01")));
}

//===----------------------------------------------------------------------===//
// Quantised operators
//===----------------------------------------------------------------------===//

/// Adds constants s, a scale, and z, a zero point.
TestModel &addParams(TestModel &model) {
  return model.floats("s", {}, {0.5f}).bytes("z", {}, u8, {3});
}

TEST(Microsoft, QuantisedResultsHaveQuantisedTypes) {
  TestModel add(17);
  addParams(add).input("a", {2, 3}, u8).input("b", {3}, u8);
  add.node("QLinearAdd", "a s z b s z s z", "y");
  EXPECT_THAT(import(add), HasSubstr("-> tensor<2x3x!quant.uniform<u8:f32, "
                                     "5.000000e-01:3>>"));
  // Without zero points, the result has the type of the operands.
  TestModel mul(17);
  mul.floats("s", {}, {0.5f}).input("a", {2, 3}, i8);
  mul.node("QLinearMul", "a s - a s - s", "y");
  EXPECT_THAT(import(mul), HasSubstr("!quant.uniform<i8:f32, 5.000000e-01>"));
  // A result without a scale stays f32.
  TestModel gemm(17);
  addParams(gemm).input("a", {2, 3}, u8).input("b", {3, 4}, u8);
  gemm.node("QGemm", "a s z b s z", "y");
  EXPECT_THAT(import(gemm), AllOf(HasSubstr("-> tensor<2x4xf32>"),
                                  Not(HasSubstr("quant.uniform"))));
}

TEST(Microsoft, QuantisedErrors) {
  TestModel missing(17);
  addParams(missing).input("a", {2, 3}, u8);
  missing.node("QLinearAdd", "a s z a s z", "y");
  EXPECT_THAT(import(missing), HasSubstr("input 6 is missing"));
  TestModel gates(17);
  addParams(gates).floats("t", {3}, {1, 2, 3}).input("x", {2, 1, 4});
  gates.bytes("w", {1, 4, 4}, u8, std::vector<int>(16, 1));
  gates.bytes("r", {1, 1, 4}, u8, std::vector<int>(4, 1));
  gates.node("DynamicQuantizeLSTM", "x w r - - - - - t z s z", "y");
  EXPECT_THAT(import(gates), HasSubstr("'t' of type 'tensor<3xf32>' does not "
                                       "fit the weights 'tensor<1x4x4xui8>'"));
  TestModel scales(17);
  addParams(scales).floats("t", {2}, {1, 2}).input("a", {2, 3}, u8);
  scales.node("QLinearSigmoid", "a t z s z", "y");
  EXPECT_THAT(import(scales), HasSubstr("the scale 't' is 'tensor<2xf32>', "
                                        "expected one number"));
  TestModel result(17);
  addParams(result).floats("t", {2}, {1, 2}).input("a", {2, 3}, u8);
  result.node("QLinearSigmoid", "a s z t z", "y");
  EXPECT_THAT(import(result), HasSubstr("the scale of the result is "
                                        "'tensor<2xf32>', expected one "
                                        "number"));
  TestModel integers(17);
  addParams(integers).input("a", {2, 3}, u8).input("b", {3, 4}, u8);
  integers.node("DynamicQuantizeMatMul", "a b s z", "y");
  EXPECT_THAT(import(integers), HasSubstr("the input is not of floats"));
  TestModel scale(17);
  addParams(scale).input("i", {2, 3}, i32).input("w", {9, 8}, u8);
  scale.input("g", {8}, u8)
      .node("QEmbedLayerNormalization", "i i w w w g g - s s - s s z z z z z",
            "y");
  EXPECT_THAT(import(scale), HasSubstr("input 10 is missing"));
  TestModel concat(17);
  addParams(concat).input("a", {2, 3}, u8);
  concat.node("QLinearConcat", "s z a s z a", "y").attr("axis", 0);
  EXPECT_THAT(import(concat), HasSubstr("has 6 inputs, expected two and three "
                                        "for each tensor"));
  TestModel bias(17);
  addParams(bias).input("a", {2, 3}).input("b", {3, 4}, u8);
  bias.input("c", {5, 2, 4}).node("DynamicQuantizeMatMul", "a b s z c", "y");
  EXPECT_THAT(import(bias),
              HasSubstr("the bias 'tensor<5x2x4xf32>' does not broadcast to "
                        "'tensor<2x4xf32>'"));
}

} // namespace
