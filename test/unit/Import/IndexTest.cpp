//===- IndexTest.cpp - Imported selections and comparisons ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr int kBool = onnx::TensorProto::BOOL;
constexpr int kInt64 = onnx::TensorProto::INT64;

/// The module of a model whose output is y.
std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

//===----------------------------------------------------------------------===//
// Comparisons, logic, bits
//===----------------------------------------------------------------------===//

TEST(Comparison, GivesBool) {
  for (auto [name, op] : {std::pair("Equal", "tarpon.equal %arg0, %arg1"),
                          std::pair("Less", "tarpon.less %arg0, %arg1"),
                          std::pair("Greater", "tarpon.less %arg1, %arg0")}) {
    TestModel model;
    model.input("a", {2, 3}).input("b", {3}).node(name, "a b", "y");
    EXPECT_THAT(importModel(model),
                AllOf(HasSubstr(op), HasSubstr("-> tensor<2x3xi1>")))
        << name;
  }
}

TEST(Comparison, OrEqualIsFalseOfNaN) {
  for (auto [name, op] :
       {std::pair("LessOrEqual", "tarpon.less %arg0, %arg1"),
        std::pair("GreaterOrEqual", "tarpon.less %arg1, %arg0")}) {
    TestModel model(16);
    model.input("a", {2}).input("b", {2}).node(name, "a b", "y");
    EXPECT_THAT(importModel(model),
                AllOf(HasSubstr(op), HasSubstr("tarpon.equal"),
                      HasSubstr("tarpon.add")))
        << name;
  }
}

TEST(Comparison, IsNaNAndIsInf) {
  TestModel isNaN;
  isNaN.input("x", {2}).node("IsNaN", "x", "y");
  EXPECT_THAT(importModel(isNaN), HasSubstr("tarpon.equal %arg0, %arg0"));
  TestModel isInf;
  isInf.input("x", {2}).node("IsInf", "x", "y");
  EXPECT_THAT(importModel(isInf), HasSubstr("tarpon.abs"));
  TestModel negative;
  negative.input("x", {2}).node("IsInf", "x", "y").attr("detect_positive", 0);
  EXPECT_THAT(importModel(negative), Not(HasSubstr("tarpon.abs")));
}

TEST(Logic, IsOfBits) {
  for (auto [name, op] :
       {std::pair("And", "tarpon.bit_and"), std::pair("Or", "tarpon.bit_or"),
        std::pair("Xor", "tarpon.bit_xor")}) {
    TestModel model;
    model.input("a", {2}, kBool).input("b", {2}, kBool);
    model.node(name, "a b", "y");
    EXPECT_THAT(importModel(model),
                AllOf(HasSubstr(op), HasSubstr("tensor<2xi1>")))
        << name;
    TestModel floats;
    floats.input("a", {2}).input("b", {2}).node(name, "a b", "y").output("y");
    EXPECT_THAT(floats.error(), HasSubstr("input 0 is not of bool"));
  }
}

TEST(Logic, Shift) {
  TestModel left;
  left.input("a", {2}, kInt64).input("b", {2}, kInt64);
  left.node("BitShift", "a b", "y").attr("direction", "LEFT");
  EXPECT_THAT(importModel(left), HasSubstr("tarpon.shift_left"));
  TestModel wrong;
  wrong.input("a", {2}, kInt64).input("b", {2}, kInt64);
  wrong.node("BitShift", "a b", "y").attr("direction", "UP").output("y");
  EXPECT_THAT(wrong.error(), HasSubstr("attribute 'direction' is 'UP', "
                                       "expected LEFT or RIGHT"));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

TEST(Where, Broadcasts) {
  TestModel model;
  model.input("c", {3, 1}, kBool).input("a", {2}).input("b", {});
  model.node("Where", "c a b", "y");
  EXPECT_THAT(importModel(model), HasSubstr("-> tensor<3x2xf32>"));
}

TEST(Where, ConstantsFold) {
  TestModel model;
  model.bytes("c", {2}, kBool, {1, 0}).floats("a", {2}, {1, 2});
  model.floats("b", {2}, {3, 4}).node("Where", "c a b", "y");
  EXPECT_THAT(importModel(model),
              HasSubstr("dense<[1.000000e+00, 4.000000e+00]>"));
}

TEST(Gather, RunTimeIndices) {
  TestModel model;
  model.input("x", {5, 4}).input("i", {2, 3}, kInt64);
  model.node("Gather", "x i", "y").attr("axis", 1);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tarpon.gather"),
                                        HasSubstr("-> tensor<5x2x3xf32>")));
}

TEST(Gather, ElementsAndSlices) {
  TestModel elements;
  elements.input("x", {3, 4}).input("i", {3, 2}, kInt64);
  elements.node("GatherElements", "x i", "y").attr("axis", 1);
  EXPECT_THAT(importModel(elements),
              AllOf(HasSubstr("tarpon.gather"),
                    HasSubstr("(tensor<12xf32>, tensor<3x2xi64>)")));
  TestModel slices;
  slices.input("x", {2, 3, 4}).input("i", {5, 2}, kInt64);
  slices.node("GatherND", "x i", "y");
  EXPECT_THAT(importModel(slices),
              HasSubstr("(tensor<6x4xf32>, tensor<5xi64>) -> "
                        "tensor<5x4xf32>"));
  TestModel wrong;
  wrong.input("x", {2, 3}).input("i", {5, 3}, kInt64);
  wrong.node("GatherND", "x i", "y").output("y");
  EXPECT_THAT(wrong.error(), HasSubstr("do not fit the data"));
}

TEST(Scatter, ElementsAndSlices) {
  TestModel elements(18);
  elements.input("x", {3, 4}).input("i", {3, 2}, kInt64).input("u", {3, 2});
  elements.node("ScatterElements", "x i u", "y").attr("reduction", "max");
  EXPECT_THAT(importModel(elements),
              AllOf(HasSubstr("tarpon.scatter"), HasSubstr("mode = 3 : i32"),
                    HasSubstr("tensor<6xi64>")));
  TestModel slices;
  slices.input("x", {4, 2}).input("i", {3, 1}, kInt64).input("u", {3, 2});
  slices.node("ScatterND", "x i u", "y");
  EXPECT_THAT(importModel(slices), HasSubstr("tarpon.scatter"));
  TestModel wrong;
  wrong.input("x", {4, 2}).input("i", {3, 1}, kInt64).input("u", {2, 2});
  wrong.node("ScatterND", "x i u", "y").output("y");
  EXPECT_THAT(wrong.error(), HasSubstr("do not fit the data"));
  TestModel mode(18);
  mode.input("x", {4}).input("i", {3}, kInt64).input("u", {3});
  mode.node("ScatterElements", "x i u", "y").attr("reduction", "replace");
  EXPECT_THAT(mode.output("y").error(),
              HasSubstr("attribute 'reduction' is 'replace', expected none, "
                        "add, mul, max or min"));
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

TEST(Repetition, ExpandAndTile) {
  TestModel expand;
  expand.input("x", {3, 1}).ints("s", {2, 1, 4}).node("Expand", "x s", "y");
  EXPECT_THAT(importModel(expand), HasSubstr("-> tensor<2x3x4xf32>"));
  TestModel tile;
  tile.input("x", {2, 3}).ints("r", {2, 2}).node("Tile", "x r", "y");
  EXPECT_THAT(importModel(tile), HasSubstr("-> tensor<4x6xf32>"));
}

TEST(Repetition, NegativeSizesAreRefused) {
  TestModel expand;
  expand.input("x", {1, 1}).ints("s", {-1, -1}).node("Expand", "x s", "y");
  EXPECT_THAT(expand.output("y").error(),
              HasSubstr("the shape [-1, -1] does not fit the input"));
  TestModel tile;
  tile.input("x", {2, 3}).ints("r", {-1, -1}).node("Tile", "x r", "y");
  EXPECT_THAT(tile.output("y").error(),
              HasSubstr("the repeats [-1, -1] do not fit the input"));
  TestModel crop(18);
  crop.input("x", {5}).ints("s", {-1}).node("CenterCropPad", "x s", "y");
  EXPECT_THAT(crop.output("y").error(),
              HasSubstr("the size -1 is out of range"));
}

TEST(Repetition, TriluOfMoreThanMemoryHolds) {
  TestModel model(14);
  model.input("x", {2147483647, 5}).node("Trilu", "x", "y");
  EXPECT_THAT(model.output("y").error(),
              HasSubstr("needs a constant of 2147483647x5 elements"));
}

TEST(Repetition, Trilu) {
  TestModel model(14);
  model.floats("x", {2, 2}, {1, 2, 3, 4}).node("Trilu", "x", "y");
  EXPECT_THAT(importModel(model), HasSubstr("[0.000000e+00, 4.000000e+00]"));
}

TEST(Repetition, OneHot) {
  TestModel model;
  model.input("i", {3}, kInt64).ints("d", {4}).floats("v", {2}, {0, 1});
  model.node("OneHot", "i d v", "y");
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tarpon.where"),
                                        HasSubstr("-> tensor<3x4xf32>")));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

TEST(Arithmetic, CumSumDoublesItsReach) {
  TestModel model(14);
  model.input("x", {5}).ints("a", {0}).node("CumSum", "x a", "y");
  std::string ir = importModel(model);
  EXPECT_THAT(ir, AllOf(HasSubstr("pads = array<i64: 1, -1>"),
                        HasSubstr("pads = array<i64: 2, -2>"),
                        HasSubstr("pads = array<i64: 4, -4>"),
                        Not(HasSubstr("pads = array<i64: 8, -8>"))));
}

TEST(Arithmetic, ModOfFloats) {
  TestModel model;
  model.input("a", {2}).input("b", {2}).node("Mod", "a b", "y");
  EXPECT_THAT(importModel(model.attr("fmod", 1)),
              AllOf(HasSubstr("tarpon.fmod"), Not(HasSubstr("tarpon.where"))));
  // Constants are folded, and have the signs of the divisors.
  TestModel signs;
  signs.floats("a", {6}, {-3, 3, 4, -4, 0, -0.0f});
  signs.floats("b", {6}, {INFINITY, -INFINITY, -2.5, 2.5, -2, 2});
  signs.node("Mod", "a b", "y");
  EXPECT_THAT(importModel(signs),
              HasSubstr("dense<[0x7F800000, 0xFF800000, -1.000000e+00, "
                        "1.000000e+00, -0.000000e+00, 0.000000e+00]>"));
}

TEST(Einsum, IsABatchOfProducts) {
  TestModel model;
  model.input("a", {5, 2, 3}).input("b", {3, 5, 4});
  model.node("Einsum", "a b", "y").attr("equation", "bij, jbk -> kbi");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("(tensor<5x2x3xf32>, tensor<5x3x4xf32>)"),
                    HasSubstr("-> tensor<4x5x2xf32>")));
}

/// The result of Einsum of inputs with these shapes, or the error.
std::string importEinsum(const char *equation,
                         const std::vector<std::vector<int64_t>> &shapes) {
  TestModel model;
  std::string names;
  for (const std::vector<int64_t> &shape : shapes) {
    std::string name = "i" + std::to_string(names.size());
    model.input(name, shape);
    names += name + " ";
  }
  model.node("Einsum", names, "y").attr("equation", equation).output("y");
  Imported result = model.import();
  return result.ir + result.diagnostics;
}

TEST(Einsum, TakesDiagonals) {
  TestModel model;
  model.floats("a", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  model.node("Einsum", "a", "y").attr("equation", "ii->i");
  EXPECT_THAT(importModel(model),
              HasSubstr("dense<[1.000000e+00, 5.000000e+00, 9.000000e+00]>"));
  EXPECT_THAT(importEinsum("...ii->...i", {{2, 3, 3}}),
              HasSubstr("-> tensor<2x3xf32>"));
  EXPECT_THAT(importEinsum("ii", {{2, 2}}), HasSubstr("tarpon.reduce_sum"));
  EXPECT_THAT(importEinsum("ii", {{2, 3}}),
              HasSubstr("the label 'i' has the sizes 2 and 3"));
}

TEST(Einsum, BroadcastsTheEllipsis) {
  EXPECT_THAT(importEinsum("...ij,...jk->...ik", {{5, 1, 2, 3}, {4, 3, 7}}),
              HasSubstr("-> tensor<5x4x2x7xf32>"));
  EXPECT_THAT(importEinsum("...i,...i", {{4, 3}, {1, 3}}),
              HasSubstr("-> tensor<4xf32>"));
  EXPECT_THAT(importEinsum("...i,...i->...", {{4, 3}, {5, 3}}),
              HasSubstr("the label '0' has the sizes 4 and 5"));
  EXPECT_THAT(importEinsum("...i->i", {{2, 2}}),
              HasSubstr("the result of the equation '...i->i' lacks the "
                        "ellipsis"));
  EXPECT_THAT(importEinsum("...ijk->i", {{2, 2}}),
              HasSubstr("the term '...ijk' does not fit an input of rank 2"));
  EXPECT_THAT(importEinsum("i.j->i", {{2, 2}}),
              HasSubstr("the equation 'i.j->i' is not of terms of letters"));
  EXPECT_THAT(importEinsum("ij->ii", {{2, 2}}),
              HasSubstr("the result 'ii' has a label twice, or one of no "
                        "term"));
}

TEST(Constants, Windows) {
  TestModel model(17);
  model.bytes("n", {}, onnx::TensorProto::UINT8, {4});
  model.node("HannWindow", "n", "y");
  EXPECT_THAT(importModel(model), HasSubstr("dense<[0.000000e+00, 5.000000e-01,"
                                            " 1.000000e+00, 5.000000e-01]>"));
}

TEST(Select, Compress) {
  TestModel model;
  model.input("x", {3, 2}).bytes("c", {2}, kBool, {0, 1});
  model.node("Compress", "x c", "y").attr("axis", 0);
  EXPECT_THAT(importModel(model), HasSubstr("-> tensor<1x2xf32>"));
}

TEST(Select, CenterCropPad) {
  TestModel model(18);
  model.input("x", {5, 2}).ints("s", {2, 5});
  model.node("CenterCropPad", "x s", "y");
  EXPECT_THAT(importModel(model), HasSubstr("pads = array<i64: -1, 1, -2, 2>"));
}

TEST(Arithmetic, DynamicQuantizeLinear) {
  TestModel model;
  model.input("x", {5}).node("DynamicQuantizeLinear", "x", "y s z");
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tarpon.reduce_max"),
                                        HasSubstr("tarpon.reduce_min"),
                                        HasSubstr("-> tensor<5xui8>")));
}

/// No kernel reads an empty input.
TEST(Reduction, OfNothing) {
  TestModel sum;
  sum.input("x", {2, 0}).node("ReduceSum", "x", "y");
  EXPECT_THAT(importModel(sum), AllOf(HasSubstr("dense<0.000000e+00>"),
                                      Not(HasSubstr("reduce_sum"))));
  TestModel most(18);
  most.input("x", {2, 0}, onnx::TensorProto::INT8);
  most.node("ReduceMax", "x", "y");
  EXPECT_THAT(importModel(most), HasSubstr("dense<-128>"));
  TestModel mean(18);
  mean.input("x", {2, 0}).node("ReduceMean", "x", "y").output("y");
  EXPECT_THAT(mean.error(), HasSubstr("reduces the empty tensor "
                                      "'tensor<2x0xf32>', whose mean is "
                                      "undefined"));
}

/// Values that are computed from assumed ones are assumed, too.
TEST(Assumptions, AreComputedWith) {
  TestModel model(14);
  model.input("n", {1}, kInt64).ints("two", {2});
  model.node("Mul", "n two", "s").node("ConstantOfShape", "s", "y");
  model.output("y");
  EXPECT_THAT(model.error(), HasSubstr("the shape 's' is not a constant"));
  auto made = runtime::HostTensor::create(runtime::DType::I64, {1});
  ASSERT_TRUE(made);
  int64_t three = 3;
  std::memcpy(made->data.data(), &three, sizeof(three));
  ImportOptions options;
  options.assumedInputs["n"] = &*made;
  Imported result = model.import(options);
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_THAT(result.ir, AllOf(HasSubstr("tensor<6xf32>"),
                               HasSubstr("tarpon.assumed_inputs = [\"n\"]")));
}

} // namespace
