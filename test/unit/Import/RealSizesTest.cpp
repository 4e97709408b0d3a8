//===- RealSizesTest.cpp - Sizes that depend on data ----------------------===//
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

constexpr int kBool = onnx::TensorProto::BOOL;

/// The module of a model whose output is y.
std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

std::string importError(TestModel &model) { return model.output("y").error(); }

TEST(NonMaxSuppression, HasARealSize) {
  TestModel model;
  model.input("b", {1, 9, 4}).input("s", {1, 2, 9}).floats("i", {}, {0.5f});
  model.ints("m", {3}).floats("t", {1}, {0.25f});
  model.node("NonMaxSuppression", "b s m i t", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.output_names = [\"y\", \"y.size\"]"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>"),
                    HasSubstr("-> (tensor<6x3xi64>, tensor<1xi64>)"),
                    HasSubstr("has_least = true, least_score = 2.500000e-01")));
}

TEST(NonMaxSuppression, SelectsNothingByDefault) {
  TestModel model;
  model.input("b", {1, 9, 4}).input("s", {1, 2, 9});
  model.node("NonMaxSuppression", "b s", "y");
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tensor<0x3xi64>"),
                                        Not(HasSubstr("output_sizes"))));
}

TEST(NonMaxSuppression, Errors) {
  TestModel boxes;
  boxes.input("b", {1, 8, 4}).input("s", {1, 2, 9});
  boxes.node("NonMaxSuppression", "b s", "y");
  EXPECT_THAT(importError(boxes), HasSubstr("the boxes 'tensor<1x8x4xf32>' do "
                                            "not fit the scores"));
  TestModel overlap;
  overlap.input("b", {1, 9, 4}).input("s", {1, 2, 9}).ints("m", {3});
  overlap.floats("i", {}, {1.5f}).node("NonMaxSuppression", "b s m i", "y");
  EXPECT_THAT(importError(overlap), HasSubstr("the iou_threshold is 1.5"));
}

TEST(RealSizes, GoAlongWithTheirSlices) {
  // The places are one below another, and two columns of them select.
  TestModel model;
  model.input("x", {2, 3}).input("data", {4, 7}).ints("two", {2});
  model.ints("flat", {-1}).ints("column", {1}).ints("row", {0});
  model.node("NonZero", "x", "z").node("Transpose", "z", "rows");
  model.node("Slice", "rows row column column", "first");
  model.node("Reshape", "first flat", "places");
  model.node("Mul", "places two", "doubled");
  model.node("Gather", "data doubled", "y").attr("axis", 1);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tensor<4x6xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 1, 1>")));
}

TEST(RealSizes, LeaveNoOtherDimension) {
  TestModel model;
  model.input("x", {2, 3}).node("NonZero", "x", "z");
  model.ints("row", {0}).ints("end", {4}).ints("axis", {1});
  model.ints("step", {-1}).node("Slice", "z end row axis step", "y");
  EXPECT_THAT(importError(model),
              HasSubstr("the slice of dimension 1, whose size depends on data, "
                        "has the step -1, expected 1 or more"));
  TestModel fixed;
  fixed.input("x", {2, 3}).node("NonZero", "x", "z").ints("s", {1, 2, 6});
  fixed.node("Reshape", "z s", "y");
  EXPECT_THAT(importError(fixed),
              HasSubstr("dimension 1 of 'z' has a size that depends on data, "
                        "and does not become one of the result"));
  TestModel others;
  others.input("x", {2, 3}).input("w", {2, 3});
  others.node("NonZero", "x", "z").node("NonZero", "w", "v");
  others.node("Add", "z v", "y");
  EXPECT_THAT(importError(others), HasSubstr("dimension 1 of 'v'"));
}

TEST(RealSizes, AreNotTakenByAll) {
  TestModel model;
  model.input("x", {2, 3}).node("NonZero", "x", "z");
  model.node("Hardmax", "z", "y");
  EXPECT_THAT(importError(model),
              HasSubstr("the size of 'z' depends on data, which the operator "
                        "does not take"));
}

/// The same selection, made twice, has one size.
TEST(RealSizes, AreTheSameIfComputedAlike) {
  TestModel model;
  model.input("x", {2, 3}).node("NonZero", "x", "z").node("NonZero", "x", "v");
  model.node("Add", "z v", "y");
  EXPECT_THAT(importModel(model),
              HasSubstr("tarpon.output_sizes = array<i64: 0, 1, 1>"));
}

/// The most that sizes may be is told by the arithmetic of shapes.
TEST(RealSizes, HaveTheirMostInShapes) {
  TestModel model;
  model.input("x", {2, 3}).node("NonZero", "x", "z").node("Shape", "z", "s");
  model.ints("four", {1, 4}).node("Min", "s four", "m");
  model.node("ConstantOfShape", "m", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tensor<1x4xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 1, 1>")));
}

/// Values of the graph may have several, outputs one.
TEST(RealSizes, AreOneOfEachOutput) {
  TestModel model;
  model.input("x", {2, 3}).node("NonZero", "x", "z").node("Shape", "z", "s");
  model.ints("i", {1, 1}).node("Gather", "s i", "t");
  model.node("ConstantOfShape", "t", "y");
  EXPECT_THAT(importError(model),
              HasSubstr("the sizes of dimensions 0 and 1 of output 'y' depend "
                        "on data, and only one may"));
  TestModel below;
  below.input("x", {2, 3}).node("NonZero", "x", "z").node("Shape", "z", "s");
  below.ints("two", {2, 2}).node("Sub", "s two", "t");
  below.node("ConstantOfShape", "t", "y");
  EXPECT_THAT(importError(below), HasSubstr("the size of dimension 1 depends "
                                            "on data, and may be below 0"));
}

/// Operators that would take what does not count for what does, or give their
/// results a size that is not theirs.
TEST(RealSizes, AreRefusedWhereTheyWouldBeWrong) {
  auto start = [](std::vector<int64_t> data) {
    TestModel model(17);
    model.input("x", {6}).input("d", std::move(data)).ints("flat", {-1});
    model.node("NonZero", "x", "z").node("Reshape", "z flat", "i");
    model.node("Gather", "d i", "g");
    return model;
  };
  TestModel trained = start({6, 4});
  for (const char *name : {"a", "b", "m", "v"})
    trained.floats(name, {4}, {1, 1, 1, 1});
  trained.node("BatchNormalization", "g a b m v", "y p q");
  trained.attr("training_mode", int64_t(1));
  EXPECT_THAT(importError(trained), HasSubstr("dimension 0 of 'g'"));
  TestModel last = start({6, 4});
  last.node("ArgMax", "g", "y").attr("select_last_index", int64_t(1));
  EXPECT_THAT(importError(last), HasSubstr("dimension 0 of 'g'"));
  TestModel flat = start({6, 4});
  flat.input("c", {24}, kBool).node("Transpose", "g", "t");
  flat.node("Compress", "t c", "y");
  EXPECT_THAT(importError(flat), HasSubstr("dimension 1 of 't'"));
  TestModel other = start({6, 6});
  other.node("Shape", "i", "n").node("Concat", "flat n", "w").attr("axis", 0);
  other.node("Reshape", "g w", "y");
  EXPECT_THAT(importError(other), HasSubstr("dimension 0 of 'g'"));
  TestModel repeated = start({6, 2, 2});
  repeated.ints("zero", {0}).ints("one", {1}).input("w", {6, 2, 3});
  repeated.node("Slice", "g zero one", "p").node("MatMul", "p w", "y");
  EXPECT_THAT(importError(repeated), HasSubstr("dimension 0 of 'p'"));
  TestModel ends = start({6, 4});
  ends.ints("zero", {0}).ints("one", {1}).node("Shape", "i", "n");
  ends.node("Slice", "g zero n one", "y");
  EXPECT_THAT(importError(ends),
              HasSubstr("the sizes of dimensions 0 and 1 of output 'y'"));
}

/// A model with the n places `i` of x, and the number of them.
TestModel makePlaces(int opset = 17) {
  TestModel model(opset);
  model.input("x", {6}).ints("flat", {-1}).node("NonZero", "x", "z");
  model.node("Reshape", "z flat", "i").node("Shape", "i", "n");
  model.node("Gather", "x i", "g");
  return model;
}

/// The products of the n selected elements of x and the m of w.
void addProducts(TestModel &model) {
  model.input("x", {6}).input("w", {6}).ints("flat", {-1}).ints("first", {0});
  model.ints("second", {1});
  for (const char *name : {"x", "w"}) {
    std::string x = name;
    model.node("NonZero", x, x + "z").node("Reshape", x + "z flat", x + "i");
    model.node("Gather", x + " " + x + "i", x + "g");
    model.node("Shape", x + "i", x + "n");
  }
  model.node("Unsqueeze", "xg second", "c").node("Unsqueeze", "wg first", "r");
  model.node("Mul", "c r", "p");
}

/// Each has to stay where it is in a shape, whatever else it may be as well.
TEST(RealSizes, AreNotSwappedByShapes) {
  auto addReshape = [](TestModel &model, const char *shape) {
    addProducts(model);
    model.node("Concat", shape, "shape").attr("axis", 0);
    model.node("Reshape", "p shape", "q").node("ReduceSum", "q second", "y");
  };
  for (const char *shape : {"xn wn", "xn flat", "flat wn"}) {
    TestModel model(17);
    addReshape(model, shape);
    EXPECT_THAT(importModel(model),
                HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>"));
  }
  for (const char *shape : {"wn xn", "wn flat"}) {
    TestModel model(17);
    addReshape(model, shape);
    EXPECT_THAT(importError(model), HasSubstr("dimension 0 of 'p'"));
  }
}

/// The rest of the shape would be that of another number of elements.
TEST(RealSizes, AreNotBesideAnInferredOne) {
  TestModel model(17);
  addProducts(model);
  model.input("b", {6, 4}).node("Gather", "b xi", "g");
  model.node("Concat", "wn flat", "shape").attr("axis", 0);
  model.node("Reshape", "g shape", "y");
  EXPECT_THAT(importError(model), HasSubstr("dimension 0 of 'g'"));
}

/// An input of a fixed number of elements has no other size to give.
TEST(RealSizes, AreNotThoseOfFixedInputs) {
  TestModel model = makePlaces();
  model.input("b", {6, 4}).node("Concat", "n flat", "shape").attr("axis", 0);
  model.node("Reshape", "b shape", "y");
  EXPECT_THAT(importError(model),
              HasSubstr("the size of dimension 0 depends on data, and so would "
                        "the one that is -1, but none of the input does"));
}

/// A value that is used elsewhere keeps its size there.
TEST(RealSizes, AreNotThoseOfOthers) {
  TestModel model;
  model.input("x", {6}).node("NonZero", "x", "z").node("Shape", "z", "s");
  model.ints("place", {1}).node("Gather", "s place", "n");
  model.ints("zero", {0}).node("Slice", "x zero n", "y");
  model.node("Identity", "x", "v").output("v");
  EXPECT_THAT(importModel(model),
              HasSubstr("tarpon.output_sizes = array<i64: 1, 0, 2>"));
}

/// What does not count changes no sum, and is written nowhere.
TEST(RealSizes, AreOfWhatCounts) {
  TestModel sum;
  sum.input("x", {6}).node("NonZero", "x", "z").node("ReduceSum", "z", "y");
  EXPECT_THAT(importModel(sum), HasSubstr("tarpon.where"));
  TestModel again;
  again.input("x", {6}).node("NonZero", "x", "z").node("NonZero", "z", "y");
  EXPECT_THAT(importModel(again), HasSubstr("tarpon.where"));
  TestModel written;
  written.input("x", {6}).node("NonZero", "x", "z").ints("flat", {-1});
  written.node("Reshape", "z flat", "i").node("Gather", "x i", "u");
  written.node("ScatterElements", "x i u", "y");
  EXPECT_THAT(importModel(written), HasSubstr("tarpon.where"));
}

/// Each value is met along twice as many ways as the next one.
TEST(RealSizes, AreNotSoughtForever) {
  TestModel model;
  model.input("x", {6}).node("NonZero", "x", "z").node("Shape", "z", "s0");
  for (int i = 0; i < 60; ++i) {
    std::string from = "s" + std::to_string(i);
    model.node("Min", from + " " + from, "s" + std::to_string(i + 1));
  }
  model.node("ConstantOfShape", "s60", "y");
  EXPECT_THAT(importError(model),
              HasSubstr("the sizes of dimensions 0 and 1 of output 'y'"));
}

TEST(RealSizes, BoundRanges) {
  TestModel model;
  model.input("x", {6}).node("NonZero", "x", "z").node("Size", "z", "n");
  model.node("Constant", "", "from").attr("value_int", int64_t(2));
  model.node("Constant", "", "by").attr("value_int", int64_t(1));
  model.node("Range", "from n by", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tensor<4xi64>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
  TestModel steps;
  steps.input("x", {6}).node("NonZero", "x", "z").node("Size", "z", "n");
  steps.node("Constant", "", "from").attr("value_int", int64_t(0));
  steps.node("Constant", "", "by").attr("value_int", int64_t(2));
  steps.node("Range", "from n by", "y");
  EXPECT_THAT(importError(steps),
              HasSubstr("to at most 6 by 2.000000e+00, whose size depends on "
                        "data, is not supported"));
}

/// Slices that count from the end, or from a place that depends on data, are
/// gathered; a step divides their number.
TEST(RealSizes, AreCutFromTheEnd) {
  TestModel last = makePlaces();
  last.ints("start", {-2}).ints("end", {100}).node("Slice", "g start end", "y");
  EXPECT_THAT(importModel(last),
              AllOf(HasSubstr("tensor<2xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
  TestModel from = makePlaces();
  from.ints("end", {4}).node("Slice", "x n end", "y");
  EXPECT_THAT(importModel(from),
              AllOf(HasSubstr("tensor<4xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
  TestModel steps = makePlaces();
  steps.ints("start", {1}).ints("end", {100}).ints("axis", {0});
  steps.ints("step", {2}).node("Slice", "g start end axis step", "y");
  EXPECT_THAT(importModel(steps),
              AllOf(HasSubstr("tensor<3xf32>"), HasSubstr("tarpon.div")));
}

/// The number of the slices that count divides their sum.
TEST(RealSizes, DivideMeans) {
  TestModel model = makePlaces();
  model.node("ReduceMean", "g", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.reduce_sum"), HasSubstr("tarpon.div"),
                    Not(HasSubstr("reduce_mean"))));
}

/// Numbers of the graph are sizes within their bounds.
TEST(RealSizes, HaveTheBoundsOfNumbers) {
  TestModel model = makePlaces();
  model.floats("low", {}, {0}).floats("high", {}, {5}).ints("first", {2});
  model.node("Clip", "x low high", "c").node("Floor", "c", "f");
  model.node("Cast", "f", "k").attr("to", int64_t(onnx::TensorProto::INT64));
  model.node("Gather", "k first", "s").node("ConstantOfShape", "s", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tensor<5xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
}

TEST(RealSizes, OfResizes) {
  auto resize = [](const char *mode, int64_t added) {
    TestModel model = makePlaces();
    model.input("image", {1, 1, 2, 3}).ints("front", {1, 1, 2});
    model.ints("added", {added}).node("Add", "n added", "m");
    model.node("Concat", "front m", "sizes").attr("axis", 0);
    model.node("Resize", "image - - sizes", "y").attr("mode", mode);
    return model;
  };
  TestModel linear = resize("linear", 1);
  EXPECT_THAT(importModel(linear),
              AllOf(HasSubstr("tensor<1x1x2x7xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 3, 1>")));
  TestModel nearest = resize("nearest", 1);
  EXPECT_THAT(importError(nearest),
              HasSubstr("resizes dimension 3 to a size that depends on data, "
                        "which is supported for floats in the mode linear"));
  TestModel empty = resize("linear", 0);
  EXPECT_THAT(importError(empty), HasSubstr("the size of dimension 3 depends "
                                            "on data, and may be below 1"));
}

/// Only what is resized by no scale at all keeps its size.
TEST(RealSizes, AreKeptByResizes) {
  auto resize = [](const char *inputs, const char *coordinates) {
    TestModel model = makePlaces(18);
    model.ints("shape", {1, 1, -1, 1}).node("Reshape", "g shape", "image");
    model.ints("sizes", {6, 8}).ints("wide", {8});
    model.floats("more", {2}, {1.1f, 1}).floats("same", {2}, {1, 8});
    model.floats("crop", {4}, {0.2f, 0, 0.8f, 1});
    model.node("Resize", inputs, "y").attr("mode", "linear");
    model.attr("coordinate_transformation_mode", coordinates);
    return model;
  };
  TestModel named = resize("image - - sizes", "half_pixel"),
            more = resize("image - more", "half_pixel_symmetric"),
            crop = resize("image crop same", "tf_crop_and_resize");
  for (TestModel *model : {&named, &more, &crop})
    EXPECT_THAT(importError(model->list("axes", {2, 3})),
                HasSubstr("dimension 2 of 'image'"));
  TestModel same = resize("image - same", "half_pixel"),
            wide = resize("image - - wide", "half_pixel");
  same.list("axes", {2, 3});
  wide.list("axes", {3});
  for (TestModel *model : {&same, &wide})
    EXPECT_THAT(importModel(*model),
                AllOf(HasSubstr("tensor<1x1x6x8xf32>"),
                      HasSubstr("tarpon.output_sizes = array<i64: 0, 2, 1>")));
}

/// Inputs that are joined have one size in all other dimensions.
TEST(RealSizes, AreThatWhichIsKnown) {
  TestModel model = makePlaces();
  model.input("w", {2, 4}).ints("first", {0});
  model.node("Unsqueeze", "g first", "row");
  model.node("Concat", "w row", "y").attr("axis", 0);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tensor<3x4xf32>"),
                                        Not(HasSubstr("output_sizes"))));
}

/// Where another operand has several slices, one is that of all.
TEST(RealSizes, MayBeOne) {
  TestModel model = makePlaces();
  model.input("w", {6}).node("Add", "w g", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.where"), Not(HasSubstr("output_sizes"))));
  TestModel matrices = makePlaces();
  matrices.input("b", {6, 1, 4}).input("w", {6, 4, 1});
  matrices.node("Gather", "b i", "c").node("MatMul", "c w", "y");
  EXPECT_THAT(importModel(matrices),
              AllOf(HasSubstr("tarpon.where"), Not(HasSubstr("output_sizes"))));
}

/// Nothing is behind NaN.
TEST(RealSizes, AreSortedBehindNaN) {
  TestModel model = makePlaces();
  model.node("TopK", "g n", "y j").attr("largest", int64_t(0));
  EXPECT_THAT(importModel(model), HasSubstr("0x7FC00000"));
}

TEST(RealSizes, AreNotKnownToBeOne) {
  TestModel model = makePlaces();
  model.node("Squeeze", "z", "y");
  EXPECT_THAT(importError(model),
              HasSubstr("the size of dimension 1 depends on data, so that it "
                        "may be 1 or not; expected axes"));
}

TEST(RealSizes, StayWhereNothingIsAdded) {
  TestModel model = makePlaces();
  model.ints("pads", {0, 1}).node("Pad", "g pads", "y");
  EXPECT_THAT(importError(model), HasSubstr("dimension 0 of 'g'"));
  auto pad = [](std::vector<int64_t> pads) {
    TestModel model = makePlaces(18);
    model.input("b", {6, 4}).node("Gather", "b i", "c").ints("axes", {1, 0});
    model.ints("pads", std::move(pads));
    model.node("Pad", "c pads - axes", "y");
    return model;
  };
  TestModel rows = pad({0, 1, 0, 0}), columns = pad({1, 0, 0, 0});
  EXPECT_THAT(importError(rows), HasSubstr("dimension 0 of 'c'"));
  EXPECT_THAT(importModel(columns),
              AllOf(HasSubstr("tensor<6x5xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
  TestModel tiled = makePlaces();
  tiled.ints("two", {2}).node("Tile", "g two", "y");
  EXPECT_THAT(importError(tiled), HasSubstr("dimension 0 of 'g'"));
  TestModel scaled = makePlaces();
  scaled.floats("two", {1}, {2}).node("Resize", "g - two", "y");
  EXPECT_THAT(importError(scaled), HasSubstr("dimension 0 of 'g'"));
}

TEST(NonZero, SplitsPlaces) {
  TestModel model;
  model.input("x", {2, 3}).node("NonZero", "x", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.top_k"), HasSubstr("tensor<2x6xi64>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 1, 1>")));
  TestModel scalar;
  scalar.input("x", {}).node("NonZero", "x", "y");
  EXPECT_THAT(importError(scalar),
              HasSubstr("expects a tensor with elements and dimensions"));
}

TEST(Compress, OfARunTimeCondition) {
  TestModel model;
  model.input("x", {3, 2}).input("c", {2}, kBool);
  model.node("Compress", "x c", "y").attr("axis", 0);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.top_k"), HasSubstr("tensor<2x2xf32>"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
  TestModel condition;
  condition.input("x", {3, 2}).input("c", {4}, kBool);
  condition.node("Compress", "x c", "y").attr("axis", 0);
  EXPECT_THAT(importError(condition),
              HasSubstr("the condition 'tensor<4xi1>' does not fit dimension "
                        "0"));
}

TEST(Unique, HasRealSizes) {
  TestModel model;
  model.input("x", {2, 3}).node("Unique", "x", "y i v c").output("v");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.output_sizes = array<i64: 1, 0, 2>"),
                    HasSubstr("-> (tensor<6xi64>, tensor<6xf32>, "
                              "tensor<1xi64>)")));
  TestModel wide;
  wide.input("x", {2, 65}).node("Unique", "x", "y").attr("axis", 0);
  EXPECT_THAT(importError(wide), HasSubstr("are not supported, only of 1 to "
                                           "64 elements"));
}

} // namespace
