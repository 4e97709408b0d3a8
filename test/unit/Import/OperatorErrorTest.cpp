//===- OperatorErrorTest.cpp - Errors of nodes ------------------*- C++ -*-===//
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
using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr int64_t i64 = onnx::TensorProto::INT64;

/// The error about node n, of operator `op`, whose output is y; without the
/// part that all errors share.
std::string error(TestModel &model, const std::string &op) {
  std::string text = model.output("y").error();
  std::string prefix = op + " node 'n' in MODEL: ";
  EXPECT_THAT(text, StartsWith(prefix));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  return text.substr(std::min(prefix.size(), text.size()));
}

/// A node of one input of shape 1x2x6x6.
TestModel &unary(TestModel &model, const std::string &op) {
  return model.input("x", {1, 2, 6, 6}).node(op, "x", "y");
}

/// A node that takes a constant list of integers as its second input.
std::string listError(const std::string &op, std::vector<int64_t> list) {
  TestModel model;
  model.input("x", {1, 2, 6, 6}).ints("l", list).node(op, "x l", "y");
  return error(model, op);
}

TEST(AttributeErrors, KindsAndNames) {
  TestModel unknown;
  EXPECT_EQ(error(unary(unknown, "Relu").attr("beta", 1.0f), "Relu"),
            "unknown attribute 'beta'\n");
  TestModel twice;
  unary(twice, "Flatten").attr("axis", 1).attr("axis", 2);
  EXPECT_EQ(error(twice, "Flatten"), "attribute 'axis' is set twice\n");
  TestModel kind;
  EXPECT_EQ(error(unary(kind, "Flatten").attr("axis", 1.0f), "Flatten"),
            "attribute 'axis' is not an integer\n");
  TestModel number;
  EXPECT_EQ(error(unary(number, "LeakyRelu").attr("alpha", 1), "LeakyRelu"),
            "attribute 'alpha' is not a float\n");
  TestModel ints;
  EXPECT_EQ(error(unary(ints, "Transpose").attr("perm", 1), "Transpose"),
            "attribute 'perm' is not a list of integers\n");
  TestModel axis;
  EXPECT_EQ(error(unary(axis, "Flatten").attr("axis", 5), "Flatten"),
            "axis 5 is out of range for rank 4\n");
}

TEST(AttributeErrors, Windows) {
  auto poolError = [](auto set) {
    TestModel model;
    set(unary(model, "MaxPool"));
    return error(model, "MaxPool");
  };
  EXPECT_EQ(poolError([](TestModel &) {}),
            "attribute 'kernel_shape' is missing\n");
  EXPECT_EQ(poolError([](TestModel &m) { m.list("kernel_shape", {3}); }),
            "attribute 'kernel_shape' has 1 entries, expected 2\n");
  EXPECT_EQ(poolError([](TestModel &m) { m.list("kernel_shape", {3, 0}); }),
            "attribute 'kernel_shape' has the entry 0, which is out of "
            "range\n");
  EXPECT_EQ(poolError([](TestModel &m) {
              m.list("kernel_shape", {3, 3}).list("pads", {0, -1, 0, 0});
            }),
            "attribute 'pads' has the entry -1, which is out of range\n");
  EXPECT_EQ(poolError([](TestModel &m) {
              m.list("kernel_shape", {3, 3}).attr("auto_pad", "SAME");
            }),
            "attribute 'auto_pad' is 'SAME', expected NOTSET, SAME_UPPER, "
            "SAME_LOWER or VALID\n");
  EXPECT_EQ(poolError([](TestModel &m) {
              m.list("kernel_shape", {3, 3}).attr("auto_pad", 1);
            }),
            "attribute 'auto_pad' is not a string\n");
  EXPECT_EQ(poolError([](TestModel &m) {
              m.list("kernel_shape", {3, 3}).attr("ceil_mode", 2);
            }),
            "attribute 'ceil_mode' is 2, expected 0 or 1\n");
  // The dialect's own checks come with the node's name too.
  EXPECT_THAT(poolError([](TestModel &m) { m.list("kernel_shape", {9, 9}); }),
              HasSubstr("kernel"));
}

TEST(OperatorErrors, Conv) {
  TestModel ranks;
  ranks.input("x", {1, 2, 6, 6}).input("w", {4, 2, 3});
  EXPECT_EQ(error(ranks.node("Conv", "x w", "y"), "Conv"),
            "the input 'tensor<1x2x6x6xf32>' and the filter "
            "'tensor<4x2x3xf32>' differ in rank\n");
  TestModel rank;
  rank.input("x", {1, 2}).input("w", {4, 2});
  EXPECT_EQ(error(rank.node("Conv", "x w", "y"), "Conv"),
            "the input has rank 2, expected 3 to 5\n");
  TestModel kernel;
  kernel.input("x", {1, 2, 6, 6}).input("w", {4, 2, 3, 3});
  kernel.node("Conv", "x w", "y").list("kernel_shape", {5, 5});
  EXPECT_EQ(error(kernel, "Conv"), "attribute 'kernel_shape' is [5, 5], but "
                                   "the filter's kernel is [3, 3]\n");
  TestModel bias;
  bias.input("x", {1, 2, 6, 6}).input("w", {4, 2, 3, 3}).input("b", {3});
  EXPECT_EQ(error(bias.node("Conv", "x w b", "y"), "Conv"),
            "the bias is 'tensor<3xf32>', expected 4 elements in one "
            "dimension\n");
  for (int64_t group : {0, 3, -1}) {
    TestModel model;
    model.input("x", {1, 2, 6, 6}).input("w", {4, 2, 3, 3});
    model.node("Conv", "x w", "y").attr("group", group);
    EXPECT_THAT(error(model, "Conv"), HasSubstr("group"));
  }
  TestModel integers;
  integers.input("x", {1, 2, 6}, i64).input("w", {4, 2, 3}, i64);
  EXPECT_THAT(error(integers.node("Conv", "x w", "y"), "Conv"),
              HasSubstr("float"));
}

TEST(OperatorErrors, ConvTranspose) {
  auto transposedError = [](llvm::function_ref<void(TestModel &)> add) {
    TestModel model;
    model.input("x", {1, 2, 6, 6}).input("w", {2, 4, 3, 3});
    model.node("ConvTranspose", "x w", "y");
    add(model);
    return error(model, "ConvTranspose");
  };
  EXPECT_EQ(transposedError([](TestModel &m) { m.list("output_shape", {9}); }),
            "attribute 'output_shape' has 1 entries, expected 2\n");
  EXPECT_EQ(
      transposedError([](TestModel &m) { m.list("output_padding", {0, -1}); }),
      "attribute 'output_padding' has the entry -1, which is out of range\n");
  EXPECT_EQ(transposedError([](TestModel &m) { m.attr("auto_pad", "SAME"); }),
            "attribute 'auto_pad' is 'SAME', expected NOTSET, SAME_UPPER, "
            "SAME_LOWER or VALID\n");
  EXPECT_THAT(transposedError([](TestModel &m) { m.attr("group", 3); }),
              HasSubstr("expects a positive group that divides 2 input "
                        "channels, got 3"));
  EXPECT_THAT(
      transposedError([](TestModel &m) { m.list("pads", {4, 0, 4, 0}); }),
      HasSubstr("expects a result of at least one place"));
  TestModel ranks;
  ranks.input("x", {1, 2, 6, 6}).input("w", {2, 4, 3});
  EXPECT_EQ(error(ranks.node("ConvTranspose", "x w", "y"), "ConvTranspose"),
            "the input 'tensor<1x2x6x6xf32>' and the filter "
            "'tensor<2x4x3xf32>' differ in rank\n");
}

TEST(OperatorErrors, Pools) {
  TestModel unpool;
  unpool.input("x", {1, 1, 3}).input("i", {1, 1, 3}, i64);
  unpool.ints("s", {1, 1, 5}).node("MaxUnpool", "x i s", "y");
  unpool.list("kernel_shape", {2}).list("strides", {2});
  EXPECT_EQ(error(unpool, "MaxUnpool"),
            "the output_shape [1, 1, 5] is smaller than the shape [1, 1, 6] "
            "that the indices are those of\n");
  TestModel empty;
  empty.input("x", {1, 1, 1}).input("i", {1, 1, 1}, i64);
  empty.node("MaxUnpool", "x i", "y").list("kernel_shape", {2});
  EXPECT_THAT(error(empty.list("pads", {1, 1}), "MaxUnpool"),
              HasSubstr("expects entries of at least 1 in sizes, got 0"));
}

TEST(OperatorErrors, Elementwise) {
  TestModel shapes;
  shapes.input("x", {2}).input("z", {3}).node("Add", "x z", "y");
  EXPECT_THAT(error(shapes, "Add"), HasSubstr("broadcast"));
  TestModel types;
  types.input("x", {2}).input("z", {2}, i64).node("Add", "x z", "y");
  EXPECT_THAT(error(types, "Add"), HasSubstr("element type"));
  TestModel bound;
  bound.input("x", {2}).input("lo", {2}).node("Clip", "x lo", "y");
  EXPECT_EQ(error(bound, "Clip"),
            "the bound 'lo' has 2 elements, expected 1\n");
  TestModel bounds;
  bounds.input("x", {2}).ints("lo", {1, 2}).node("Clip", "x lo", "y");
  EXPECT_EQ(error(bounds, "Clip"),
            "the bound 'lo' has 2 elements, expected 1\n");
  TestModel nan(7);
  nan.input("x", {2}).node("Clip", "x", "y").attr("min", NAN);
  EXPECT_EQ(error(nan, "Clip"), "attribute 'min' contains NaN\n");
}

TEST(OperatorErrors, Products) {
  TestModel matmul;
  matmul.input("a", {2, 3}).input("b", {4, 5}).node("MatMul", "a b", "y");
  EXPECT_THAT(error(matmul, "MatMul"), HasSubstr("tarpon.matmul"));
  TestModel rank;
  rank.input("a", {3}).input("b", {3, 5}).node("Gemm", "a b", "y");
  EXPECT_EQ(error(rank, "Gemm"), "expects matrices, got 'tensor<3xf32>' and "
                                 "'tensor<3x5xf32>'\n");
  TestModel c;
  c.input("a", {1, 3}).input("b", {3, 5}).input("c", {2, 5});
  EXPECT_EQ(error(c.node("Gemm", "a b c", "y"), "Gemm"),
            "the input C of type 'tensor<2x5xf32>' does not broadcast to "
            "'tensor<1x5xf32>'\n");
}

TEST(OperatorErrors, Norms) {
  auto batchNormError = [](const char *outputs, const char *attribute,
                           int64_t value) {
    TestModel model(attribute == std::string("spatial") ? 8 : 14);
    model.input("x", {1, 2, 3}).input("p", {2});
    model.node("BatchNormalization", "x p p p p", outputs);
    if (*attribute)
      model.attr(attribute, value);
    return error(model, "BatchNormalization");
  };
  EXPECT_EQ(batchNormError("y", "spatial", 0),
            "batch normalisation with spatial = 0 is not supported\n");
  EXPECT_EQ(batchNormError("z y", "", 0),
            "output 1 exists in training only, which is not supported\n");
  TestModel scale;
  scale.input("x", {1, 2, 3}).input("p", {3});
  scale.node("BatchNormalization", "x p p p p", "y");
  EXPECT_THAT(error(scale, "BatchNormalization"), HasSubstr("batch_norm"));
  TestModel lrn;
  EXPECT_EQ(error(unary(lrn, "LRN"), "LRN"), "attribute 'size' is missing\n");
  TestModel size;
  EXPECT_EQ(error(unary(size, "LRN").attr("size", 0), "LRN"),
            "attribute 'size' is 0, which is out of range\n");
  TestModel dropout;
  dropout.input("x", {2}).bytes("t", {}, onnx::TensorProto::BOOL, {1});
  EXPECT_EQ(error(dropout.node("Dropout", "x - t", "y"), "Dropout"),
            "training-mode dropout is not supported\n");
}

TEST(OperatorErrors, Shapes) {
  EXPECT_EQ(listError("Reshape", {1, 2, 3}),
            "the shape [1, 2, 3] does not fit the 72 elements of the input\n");
  EXPECT_EQ(listError("Reshape", {-1, -1}),
            "the shape [-1, -1] does not fit the 72 elements of the input\n");
  EXPECT_EQ(listError("Reshape", {-1, int64_t(1) << 62, 16}),
            "the shape [-1, 4611686018427387904, 16] does not fit the 72 "
            "elements of the input\n");
  EXPECT_EQ(listError("Reshape", {-1, 1, 1, 1, 0}),
            "dimension 4 of the shape [-1, 1, 1, 1, 0] is 0, but the input has "
            "rank 4\n");
  EXPECT_EQ(listError("Squeeze", {1}),
            "dimension 1 cannot be removed: it is 2, not 1\n");
  EXPECT_EQ(listError("Squeeze", {4}), "axis 4 is out of range for rank 4\n");
  EXPECT_EQ(listError("Unsqueeze", {0, -6}), "axis 0 is listed twice\n");
  EXPECT_EQ(listError("Unsqueeze", {}), "the axes are missing\n");
  TestModel list;
  list.input("x", {2}).floats("s", {1}, {2}).node("Reshape", "x s", "y");
  EXPECT_EQ(error(list, "Reshape"), "the shape 's' is not a list of "
                                    "integers\n");
  TestModel perm;
  unary(perm, "Transpose").list("perm", {0, 1, 1, 2});
  EXPECT_THAT(error(perm, "Transpose"), HasSubstr("permutation"));
}

TEST(OperatorErrors, Selection) {
  EXPECT_EQ(listError("Gather", {1}),
            "index 1 is out of range for dimension 0 of size 1\n");
  TestModel floats;
  floats.input("x", {2}).floats("i", {1}, {0}).node("Gather", "x i", "y");
  EXPECT_EQ(error(floats, "Gather"), "the indices are not integers\n");
  TestModel counts;
  counts.input("x", {4}).ints("a", {0}).ints("b", {1, 2});
  EXPECT_EQ(error(counts.node("Slice", "x a b", "y"), "Slice"),
            "starts, ends, axes and steps have 1, 2, 1 and 1 entries\n");
  TestModel step;
  step.input("x", {4}).ints("a", {0}).ints("b", {2});
  EXPECT_EQ(error(step.node("Slice", "x a b a a", "y"), "Slice"),
            "a step is 0\n");
  EXPECT_EQ(listError("Split", {2}),
            "the parts [2] do not make up a dimension of 1 in 1 outputs\n");
  TestModel even;
  even.input("x", {3}).node("Split", "x", "y z");
  EXPECT_EQ(error(even, "Split"),
            "cannot split a dimension of 3 into 2 parts\n");
  TestModel outputs(18);
  outputs.input("x", {3}).node("Split", "x", "y").attr("num_outputs", 3);
  EXPECT_EQ(error(outputs, "Split"),
            "attribute 'num_outputs' is 3, but there are 1 outputs\n");
  TestModel concat;
  EXPECT_EQ(error(unary(concat, "Concat"), "Concat"),
            "attribute 'axis' is missing\n");
}

TEST(OperatorErrors, Pad) {
  EXPECT_EQ(listError("Pad", {1, 2}), "the pads have 2 entries, expected 8\n");
  EXPECT_EQ(listError("Pad", {0, 0, 0, 0, 0, 0, 0, int64_t(1) << 40}),
            "the pad 1099511627776 is out of range\n");
  EXPECT_THAT(listError("Pad", {0, 0, -6, 0, 0, 0, 0, 0}),
              HasSubstr("positive result dimensions"));
  TestModel mode(10);
  unary(mode, "Pad").attr("mode", "mirror");
  mode.list("pads", {0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_EQ(error(mode, "Pad"), "the mode 'mirror' is not supported; expected "
                                "constant, edge, reflect or wrap\n");
}

TEST(OperatorErrors, Constants) {
  TestModel none;
  EXPECT_EQ(error(none.node("Constant", "", "y"), "Constant"),
            "expects a dense tensor of numbers as its value; strings and "
            "sparse tensors are not supported\n");
  onnx::TensorProto nan;
  nan.set_data_type(onnx::TensorProto::FLOAT);
  nan.add_float_data(NAN);
  TestModel model;
  model.node("Constant", "", "y").attr("value", nan);
  EXPECT_EQ(error(model, "Constant"), "attribute 'value' contains NaN\n");
  onnx::TensorProto broken;
  broken.set_data_type(onnx::TensorProto::FLOAT);
  TestModel size;
  size.node("Constant", "", "y").attr("value", broken);
  EXPECT_EQ(error(size, "Constant"), "attribute 'value': the shape needs 4 "
                                     "bytes of data, but there are 0\n");
  TestModel shape;
  shape.ints("s", {1 << 20, 1 << 20}).node("ConstantOfShape", "s", "y");
  EXPECT_EQ(error(shape, "ConstantOfShape"),
            "the shape [1048576, 1048576] is too large or negative\n");
  onnx::TensorProto two;
  two.set_data_type(onnx::TensorProto::FLOAT);
  two.add_dims(2);
  two.add_float_data(1);
  two.add_float_data(2);
  TestModel value;
  value.ints("s", {1}).node("ConstantOfShape", "s", "y").attr("value", two);
  EXPECT_EQ(error(value, "ConstantOfShape"),
            "attribute 'value' has 2 elements, expected 1\n");
  TestModel range;
  range.ints("a", {0}).ints("b", {5}).node("Range", "a b a", "y");
  EXPECT_EQ(error(range, "Range"), "the range from 0.000000e+00 to "
                                   "5.000000e+00 by 0.000000e+00 is not "
                                   "supported\n");
  TestModel cast;
  EXPECT_EQ(error(unary(cast, "Cast").attr("to", 8), "Cast"),
            "cannot cast to the data type 8 (STRING)\n");
}

TEST(OperatorErrors, Results) {
  TestModel large;
  large.input("x", {1 << 30, 1}).input("z", {1, 1 << 30});
  EXPECT_EQ(error(large.node("Add", "x z", "y"), "Add"),
            "the result 'tensor<1073741824x1073741824xf32>' is too large\n");
  TestModel extra;
  extra.input("x", {1}).node("Relu", "x", "z y");
  EXPECT_EQ(error(extra, "Relu"), "output 1 ('y') is not supported\n");
}

} // namespace
