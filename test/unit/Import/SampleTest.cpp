//===- SampleTest.cpp - Imported operators of vision ----------------------===//
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

constexpr int kF16 = onnx::TensorProto::FLOAT16;
constexpr int kI8 = onnx::TensorProto::INT8;
constexpr int kU8 = onnx::TensorProto::UINT8;
constexpr int kI32 = onnx::TensorProto::INT32;
constexpr int kI64 = onnx::TensorProto::INT64;

/// The module of a model whose output is y.
std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

std::string importError(TestModel &model) { return model.output("y").error(); }

//===----------------------------------------------------------------------===//
// TopK
//===----------------------------------------------------------------------===//

TEST(TopK, GathersItsValues) {
  TestModel model;
  model.input("x", {2, 9}).ints("k", {3}).node("TopK", "x k", "y i");
  model.attr("largest", 0).output("i");
  EXPECT_THAT(
      importModel(model),
      AllOf(HasSubstr("tarpon.top_k %arg0 {axis = 1 : i64, k = 3 : i64, "
                      "largest = false}"),
            HasSubstr("tarpon.gather")));
  TestModel old(9);
  old.input("x", {2, 9}).node("TopK", "x", "- y").attr("k", 2).attr("axis", 0);
  EXPECT_THAT(importModel(old), AllOf(HasSubstr("axis = 0 : i64, k = 2"),
                                      Not(HasSubstr("tarpon.gather"))));
}

TEST(TopK, Errors) {
  TestModel many;
  many.input("x", {2, 9}).ints("k", {10}).node("TopK", "x k", "y i");
  EXPECT_THAT(importError(many),
              HasSubstr("expects k from 1 to the size 9 of the dimension"));
  TestModel several;
  several.input("x", {2, 9}).ints("k", {1, 2}).node("TopK", "x k", "y i");
  EXPECT_THAT(importError(several),
              HasSubstr("the number of elements is 2 numbers, expected one"));
  TestModel unknown;
  unknown.input("x", {2, 9}).input("k", {1}, kI64).node("TopK", "x k", "y i");
  EXPECT_THAT(importError(unknown),
              HasSubstr("the number of elements 'k' is not a constant"));
  TestModel missing;
  missing.input("x", {2, 9}).node("TopK", "x", "y i");
  EXPECT_THAT(importError(missing), HasSubstr("input 1 is missing"));
  TestModel old(9);
  old.input("x", {2, 9}).node("TopK", "x", "y i");
  EXPECT_THAT(importError(old), HasSubstr("attribute 'k' is missing"));
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

TEST(GridSample, FindsPixels) {
  TestModel model(16);
  model.input("x", {1, 2, 4, 5}, kF16).input("g", {1, 6, 7, 2}, kF16);
  model.node("GridSample", "x g", "y").attr("mode", "bicubic");
  model.attr("padding_mode", "reflection");
  // Coordinates are computed in f32.
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<[5.000000e+00, 4.000000e+00]>"),
                    HasSubstr("{mode = 2 : i32, padding = 2 : i32} : "
                              "(tensor<1x2x4x5xf16>, tensor<1x6x7x2xf32>) -> "
                              "tensor<1x2x6x7xf16>")));
  TestModel corners(20);
  corners.input("x", {1, 2, 3, 4, 5}).input("g", {1, 2, 2, 2, 3});
  corners.node("GridSample", "x g", "y").attr("align_corners", 1);
  EXPECT_THAT(
      importModel(corners),
      AllOf(HasSubstr("dense<[4.000000e+00, 3.000000e+00, 2.000000e+00]>"),
            HasSubstr("align_corners = true, mode = 1 : i32")));
}

TEST(GridSample, Errors) {
  for (auto [opset, mode, expected] :
       {std::tuple(16, "linear", "bilinear, nearest or bicubic"),
        std::tuple(20, "bilinear", "linear, nearest or cubic")}) {
    TestModel model(opset);
    model.input("x", {1, 2, 4, 5}).input("g", {1, 6, 7, 2});
    model.node("GridSample", "x g", "y").attr("mode", mode);
    EXPECT_THAT(importError(model), HasSubstr(expected));
  }
  TestModel padding(20);
  padding.input("x", {1, 2, 4, 5}).input("g", {1, 6, 7, 2});
  padding.node("GridSample", "x g", "y").attr("padding_mode", "wrap");
  EXPECT_THAT(importError(padding),
              HasSubstr("attribute 'padding_mode' is 'wrap', expected zeros, "
                        "border or reflection"));
  TestModel grid(20);
  grid.input("x", {1, 2, 4, 5}).input("g", {1, 6, 7, 3});
  grid.node("GridSample", "x g", "y");
  EXPECT_THAT(importError(grid), HasSubstr("the grid 'tensor<1x6x7x3xf32>' "
                                           "does not fit the input"));
}

TEST(AffineGrid, IsAProduct) {
  TestModel model(20);
  model.input("t", {2, 2, 3}).ints("s", {2, 1, 1, 2});
  model.node("AffineGrid", "t s", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<[[-5.000000e-01, 0.000000e+00, "
                              "1.000000e+00], [5.000000e-01, 0.000000e+00, "
                              "1.000000e+00]]>"),
                    HasSubstr("tarpon.matmul"),
                    HasSubstr("tensor<2x1x2x2xf32>")));
  TestModel corners(20);
  corners.input("t", {2, 2, 3}).ints("s", {2, 1, 1, 2});
  corners.node("AffineGrid", "t s", "y").attr("align_corners", 1);
  EXPECT_THAT(importError(corners),
              HasSubstr("a dimension of one place has no corners to align"));
  TestModel sizes(20);
  sizes.input("t", {2, 2, 3}).ints("s", {3, 1, 4, 4});
  sizes.node("AffineGrid", "t s", "y");
  EXPECT_THAT(importError(sizes), HasSubstr("the size [3, 1, 4, 4] does not "
                                            "fit the input"));
}

TEST(RoiAlign, DependsOnTheOpset) {
  for (auto [opset, half] : {std::pair(10, "false"), std::pair(16, "true")}) {
    TestModel model(opset);
    model.input("x", {1, 2, 8, 8}).input("r", {3, 4}).input("i", {3}, kI64);
    model.node("RoiAlign", "x r i", "y").attr("output_height", 5);
    EXPECT_THAT(importModel(model),
                AllOf(HasSubstr(std::string("half_pixel = ") + half),
                      HasSubstr("sizes = array<i64: 5, 1>")));
  }
}

TEST(RoiAlign, Errors) {
  for (auto [name, value, expected] :
       {std::tuple("mode", "sum", "'sum', expected avg or max"),
        std::tuple("coordinate_transformation_mode", "asymmetric",
                   "'asymmetric', expected half_pixel or output_half_pixel")}) {
    TestModel model(16);
    model.input("x", {1, 2, 8, 8}).input("r", {3, 4}).input("i", {3}, kI64);
    model.node("RoiAlign", "x r i", "y").attr(name, value);
    EXPECT_THAT(importError(model), HasSubstr(expected));
  }
}

TEST(DeformConv, SamplesAndMultiplies) {
  TestModel model(19);
  model.input("x", {1, 4, 5, 5}).input("w", {6, 2, 3, 3});
  model.input("o", {1, 36, 3, 3}).input("b", {6}).input("m", {1, 18, 3, 3});
  model.node("DeformConv", "x w o b m", "y").attr("group", 2);
  model.attr("offset_group", 2);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.grid_sample"),
                    HasSubstr("(tensor<2x2x5x5xf32>, tensor<2x9x9x2xf32>)"),
                    HasSubstr("tarpon.matmul"), HasSubstr("return %"),
                    HasSubstr("tensor<1x6x3x3xf32>")));
}

TEST(DeformConv, Errors) {
  TestModel offsets(19);
  offsets.input("x", {1, 4, 5, 5}).input("w", {6, 4, 3, 3});
  offsets.input("o", {1, 17, 3, 3}).node("DeformConv", "x w o", "y");
  EXPECT_THAT(importError(offsets),
              HasSubstr("expects offsets and mask of shape [1, 18, 3, 3], got "
                        "'tensor<1x17x3x3xf32>'"));
  TestModel group(19);
  group.input("x", {1, 4, 5, 5}).input("w", {6, 4, 3, 3});
  group.input("o", {1, 18, 3, 3}).node("DeformConv", "x w o", "y");
  group.attr("offset_group", 3);
  EXPECT_THAT(importError(group), HasSubstr("does not fit the input"));
  TestModel bias(19);
  bias.input("x", {1, 4, 5, 5}).input("w", {6, 4, 3, 3}).input("b", {5});
  bias.input("o", {1, 18, 3, 3}).node("DeformConv", "x w o b", "y");
  EXPECT_THAT(importError(bias), HasSubstr("the bias is 'tensor<5xf32>', "
                                           "expected 6 elements"));
  TestModel rank(19);
  rank.input("x", {4, 5}).input("w", {6, 4, 3, 3});
  rank.input("o", {1, 18, 3, 3}).node("DeformConv", "x w o", "y");
  EXPECT_THAT(importError(rank), HasSubstr("do not fit each other"));
}

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

TEST(ReverseSequence, GathersPlaces) {
  TestModel model;
  model.input("x", {4, 3, 2}).input("l", {3}, kI64);
  model.node("ReverseSequence", "x l", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.gather"), HasSubstr("tarpon.where")));
  TestModel axes;
  axes.input("x", {4, 3, 2}).input("l", {3}, kI64);
  axes.node("ReverseSequence", "x l", "y").attr("time_axis", 2);
  EXPECT_THAT(importError(axes),
              HasSubstr("batch_axis and time_axis are 1 and 2, expected 0 and "
                        "1"));
  TestModel lengths;
  lengths.input("x", {4, 3, 2}).input("l", {4}, kI64);
  lengths.node("ReverseSequence", "x l", "y");
  EXPECT_THAT(importError(lengths), HasSubstr("the lengths 'tensor<4xi64>' do "
                                              "not fit the data"));
}

TEST(Col2Im, AddsColumnsUp) {
  TestModel model(18);
  model.input("x", {2, 12, 4}).ints("i", {3, 3}).ints("b", {2, 2});
  model.node("Col2Im", "x i b", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<[0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, "
                              "5, 7, 8]>"),
                    HasSubstr("tarpon.scatter"),
                    HasSubstr("tensor<2x3x3x3xf32>")));
  TestModel blocks(18);
  blocks.input("x", {2, 12, 5}).ints("i", {3, 3}).ints("b", {2, 2});
  blocks.node("Col2Im", "x i b", "y");
  EXPECT_THAT(importError(blocks),
              HasSubstr("the input 'tensor<2x12x5xf32>' does not hold blocks "
                        "[2, 2] of an image [3, 3]"));
  TestModel ranks(18);
  ranks.input("x", {2, 12, 4}).ints("i", {3, 3}).ints("b", {4});
  ranks.node("Col2Im", "x i b", "y");
  EXPECT_THAT(importError(ranks), HasSubstr("do not fit the input"));
}

TEST(Det, IsExpanded) {
  TestModel model;
  model.input("x", {5, 2, 2}).node("Det", "x", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.sub"), HasSubstr("tensor<5xf32>")));
  TestModel large;
  large.input("x", {5, 5}).node("Det", "x", "y");
  EXPECT_THAT(importError(large),
              HasSubstr("determinants of more than 4 rows are not supported, "
                        "got 'tensor<5x5xf32>'"));
  TestModel square;
  square.input("x", {5, 4}).node("Det", "x", "y");
  EXPECT_THAT(importError(square),
              HasSubstr("expects square matrices of floats"));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

TEST(LpPool, IsAMeanOfPowers) {
  TestModel model(18);
  model.input("x", {1, 2, 6, 6}, kF16).node("LpPool", "x", "y");
  model.list("kernel_shape", {3, 2}).list("pads", {1, 0, 1, 0});
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.mul"), HasSubstr("tarpon.pad"),
                    HasSubstr("tarpon.avg_pool"),
                    HasSubstr("dense<6.000000e+00>"), HasSubstr("tarpon.sqrt"),
                    HasSubstr("tensor<1x2x6x5xf16>")));
  TestModel order(18);
  order.input("x", {1, 2, 6, 6}).node("LpPool", "x", "y");
  order.list("kernel_shape", {3, 2}).attr("p", 0);
  EXPECT_THAT(importError(order),
              HasSubstr("attribute 'p' is 0, expected 1 or more"));
  TestModel kernel(18);
  kernel.input("x", {1, 2, 6, 6}).node("LpPool", "x", "y");
  kernel.list("kernel_shape", {7, 2});
  EXPECT_THAT(importError(kernel),
              HasSubstr("the kernel [7, 2] does not fit the input"));
  TestModel type(18);
  type.input("x", {1, 2, 6, 6}, kI8).node("LpPool", "x", "y");
  type.list("kernel_shape", {3, 2});
  EXPECT_THAT(importError(type), HasSubstr("the input is not of floats"));
}

TEST(GlobalLpPool, IsASumOfPowers) {
  TestModel model;
  model.input("x", {1, 2, 6, 6}).node("GlobalLpPool", "x", "y").attr("p", 3);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.reduce_sum"), HasSubstr("tarpon.pow"),
                    HasSubstr("tensor<1x2x1x1xf32>")));
  TestModel rank;
  rank.input("x", {1, 2}).node("GlobalLpPool", "x", "y");
  EXPECT_THAT(importError(rank), HasSubstr("expects floats of rank 3 or more"));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

TEST(ConvInteger, AddsCellsUp) {
  TestModel model;
  model.input("x", {1, 300, 5, 5}, kU8).input("w", {6, 300, 1, 2}, kI8);
  model.input("z", {}, kU8).input("v", {6}, kI8);
  model.node("ConvInteger", "x w z v", "y").list("pads", {0, 1, 0, 0});
  std::string ir = importModel(model);
  // Two cells, of 256 and 44 channels each.
  EXPECT_EQ(llvm::StringRef(ir).count("tarpon.conv "), 4u);
  EXPECT_THAT(ir, AllOf(HasSubstr("tensor<1x6x5x5xi32>"),
                        Not(HasSubstr("array<i64: 0, 1, 0, 0>"))));
}

TEST(ConvInteger, Errors) {
  TestModel filter;
  filter.input("x", {1, 3, 5, 5}, kU8).input("w", {6, 2, 3, 3}, kI8);
  filter.node("ConvInteger", "x w", "y");
  EXPECT_THAT(importError(filter), HasSubstr("does not fit the input"));
  TestModel point;
  point.input("x", {1, 3, 5, 5}, kU8).input("w", {6, 3, 3, 3}, kI8);
  point.input("z", {4}, kU8).node("ConvInteger", "x w z", "y");
  EXPECT_THAT(importError(point), HasSubstr("the zero point 'z' does not fit"));
}

TEST(QLinearConv, IsSpeltOut) {
  TestModel model;
  model.input("x", {1, 3, 5, 5}, kU8)
      .bytes("w", {2, 3, 1, 1}, kI8, {1, 2, 3, 4, 5, 6});
  model.floats("s", {}, {0.5f}).bytes("z", {}, kU8, {128});
  model.floats("t", {2}, {0.25f, 0.5f}).bytes("v", {2}, kI8, {0, 0});
  model.input("b", {2}, kI32);
  model.node("QLinearConv", "x s z w t v s z b", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.conv "),
                    HasSubstr("!quant.uniform<u8:f32, 5.000000e-01:128>")));
  TestModel scales;
  scales.input("x", {1, 3, 5, 5}, kU8)
      .bytes("w", {2, 3, 1, 1}, kI8, {1, 2, 3, 4, 5, 6});
  scales.floats("s", {}, {0.5f}).bytes("z", {}, kU8, {128});
  scales.floats("t", {2}, {0.25f, 0.5f}).bytes("v", {2}, kI8, {0, 0});
  scales.node("QLinearConv", "x t v w s z s z", "y");
  EXPECT_THAT(importError(scales), HasSubstr("the scale of the input is "
                                             "'tensor<2xf32>', expected one"));
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

TEST(Resize, AntialiasIsAProduct) {
  TestModel model(18);
  model.input("x", {1, 1, 4, 4}).floats("s", {4}, {1, 1, 0.5f, 1});
  model.node("Resize", "x - s", "y").attr("mode", "linear");
  model.attr("antialias", 1);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<[[5.000000e-01, 3.750000e-01, "
                              "1.250000e-01, 0.000000e+00], [0.000000e+00, "
                              "1.250000e-01, 3.750000e-01, 5.000000e-01]]>"),
                    HasSubstr("tarpon.matmul"),
                    Not(HasSubstr("tarpon.resize"))));
  TestModel integers(18);
  integers.input("x", {1, 1, 4, 4}, kU8).floats("s", {4}, {1, 1, 0.5f, 1});
  integers.node("Resize", "x - s", "y").attr("mode", "linear");
  integers.attr("antialias", 1);
  EXPECT_THAT(importError(integers),
              HasSubstr("antialiasing is supported for floats"));
}

TEST(Resize, KeepsAspectRatio) {
  for (auto [policy, shape] :
       {std::pair("not_larger", "-> tensor<1x1x7x7xf32>"),
        std::pair("not_smaller", "-> tensor<1x1x8x8xf32>")}) {
    TestModel model(18);
    model.input("x", {1, 1, 4, 4}).ints("s", {8, 7});
    model.node("Resize", "x - - s", "y").list("axes", {2, 3});
    model.attr("keep_aspect_ratio_policy", policy);
    EXPECT_THAT(importModel(model), HasSubstr(shape)) << policy;
  }
}

TEST(Resize, MultipliesSizesInSinglePrecision) {
  // Rounded, both scales are smaller than what they stand for.
  TestModel model(13);
  model.input("x", {1, 1, 13, 33});
  model.floats("s", {4}, {1, 1, 19.0f / 13, 75.0f / 33});
  model.node("Resize", "x - s", "y").attr("mode", "linear");
  EXPECT_THAT(importModel(model), HasSubstr("-> tensor<1x1x19x75xf32>"));
}

TEST(Resize, HalfPixelSymmetric) {
  TestModel model(19);
  model.input("x", {1, 1, 4, 4}).floats("s", {4}, {1, 1, 0.6f, 0.6f});
  model.node("Resize", "x - s", "y").attr("mode", "linear");
  model.attr("coordinate_transformation_mode", "half_pixel_symmetric");
  EXPECT_THAT(importModel(model), HasSubstr("coordinates = 6 : i32"));
}

} // namespace
