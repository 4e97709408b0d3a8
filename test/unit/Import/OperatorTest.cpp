//===- OperatorTest.cpp - Imported operators --------------------*- C++ -*-===//
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

/// The module of a model whose output is y.
std::string importModel(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

onnx::TensorProto makeTensor(int type, int value) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  tensor.add_dims(1);
  tensor.add_int32_data(value);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Convolution and pooling
//===----------------------------------------------------------------------===//

TEST(Conv, BiasIsAnAdd) {
  TestModel model;
  model.input("x", {1, 2, 5, 5}).input("w", {4, 1, 3, 3}).input("b", {4});
  model.node("Conv", "x w b", "y").attr("group", 2);
  model.list("pads", {0, 1, 2, 3}).list("strides", {2, 1});
  std::string ir = importModel(model);
  EXPECT_THAT(ir, AllOf(HasSubstr("group = 2"),
                        HasSubstr("pads = array<i64: 0, 1, 2, 3>"),
                        HasSubstr("strides = array<i64: 2, 1>"),
                        HasSubstr("-> tensor<1x4x1x1xf32>"),
                        HasSubstr("tarpon.add")));
}

TEST(Conv, AutoPad) {
  for (auto [mode, pads] : {std::pair("SAME_UPPER", "pads = array<i64: 0, 1>"),
                            std::pair("SAME_LOWER", "pads = array<i64: 1, 0>"),
                            std::pair("VALID", "pads = array<i64: 0, 0>"),
                            std::pair("NOTSET", "pads = array<i64: 0, 0>")}) {
    TestModel model;
    model.input("x", {1, 1, 6}).input("w", {1, 1, 3});
    model.node("Conv", "x w", "y").attr("auto_pad", mode).list("strides", {2});
    EXPECT_THAT(importModel(model), HasSubstr(pads)) << mode;
  }
}

TEST(Conv, HalfPrecisionGivesHalfPrecision) {
  TestModel model;
  model.input("x", {1, 1, 4, 4, 4}, onnx::TensorProto::FLOAT16)
      .input("w", {1, 1, 2, 2, 2}, onnx::TensorProto::FLOAT16)
      .input("b", {1}, onnx::TensorProto::FLOAT16)
      .node("Conv", "x w b", "y");
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("-> tensor<1x1x3x3x3xf32>"),
                                        HasSubstr("-> tensor<1x1x3x3x3xf16>")));
}

/// Imports ConvTranspose of a 1x2x3x4 input and a 2x3x3x3 filter.
std::string
importTransposed(llvm::function_ref<void(TestModel &)> addAttributes) {
  TestModel model;
  model.input("x", {1, 2, 3, 4}).input("w", {2, 3, 3, 3});
  model.node("ConvTranspose", "x w", "y");
  addAttributes(model);
  return importModel(model);
}

TEST(ConvTranspose, AttributesAndBias) {
  TestModel model;
  model.input("x", {1, 4, 5}).input("w", {4, 3, 3}).input("b", {6});
  model.node("ConvTranspose", "x w b", "y").attr("group", 2);
  model.list("pads", {1, 0}).list("strides", {2}).list("dilations", {3});
  model.list("output_padding", {1});
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.conv_transpose"), HasSubstr("group = 2"),
                    HasSubstr("output_padding = array<i64: 1>"),
                    HasSubstr("pads = array<i64: 1, 0>"),
                    HasSubstr("-> tensor<1x6x15xf32>"),
                    HasSubstr("tarpon.add")));
}

TEST(ConvTranspose, AutoPadGivesStrideTimesTheSize) {
  for (auto [mode, pads] :
       {std::pair("SAME_UPPER", "pads = array<i64: 0, 0, 1, 1>"),
        std::pair("SAME_LOWER", "pads = array<i64: 1, 1, 0, 0>")})
    EXPECT_THAT(importTransposed([&](TestModel &model) {
                  model.attr("auto_pad", mode).list("strides", {2, 2});
                }),
                AllOf(HasSubstr(pads), HasSubstr("-> tensor<1x3x6x8xf32>")))
        << mode;
  EXPECT_THAT(importTransposed([&](TestModel &model) {
                model.attr("auto_pad", "VALID").list("strides", {2, 2});
              }),
              HasSubstr("-> tensor<1x3x7x9xf32>"));
}

TEST(ConvTranspose, OutputShapeDecidesThePadding) {
  EXPECT_THAT(importTransposed([&](TestModel &model) {
                model.list("output_shape", {4, 6}).list("strides", {2, 2});
              }),
              AllOf(HasSubstr("pads = array<i64: 2, 2, 1, 1>"),
                    HasSubstr("output_padding = array<i64: 0, 0>"),
                    HasSubstr("-> tensor<1x3x4x6xf32>")));
  EXPECT_THAT(importTransposed([&](TestModel &model) {
                model.list("output_shape", {10, 9}).list("strides", {2, 2});
              }),
              AllOf(HasSubstr("pads = array<i64: 0, 0, 0, 0>"),
                    HasSubstr("output_padding = array<i64: 3, 0>"),
                    HasSubstr("-> tensor<1x3x10x9xf32>")));
}

TEST(Pool, CeilMode) {
  TestModel model;
  model.input("x", {1, 1, 6, 6}).node("MaxPool", "x y unused", "y");
  model.getGraph().mutable_node(0)->clear_input();
  model.getGraph().mutable_node(0)->add_input("x");
  model.list("kernel_shape", {3, 3}).list("strides", {2, 2});
  model.attr("ceil_mode", 1);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("ceil_mode = true"),
                                        HasSubstr("-> tensor<1x1x3x3xf32>")));
}

TEST(Pool, MaxPoolWithIndices) {
  TestModel model;
  model.input("x", {1, 1, 6, 6}).node("MaxPool", "x", "z y");
  model.list("kernel_shape", {3, 3}).attr("storage_order", 1);
  EXPECT_THAT(
      importModel(model),
      AllOf(HasSubstr("tarpon.max_pool_indices"),
            HasSubstr("column_major = true"),
            HasSubstr("-> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xi64>)")));
}

TEST(Pool, MaxUnpoolHasZerosBehindTheInvertedWindow) {
  TestModel model;
  model.input("x", {1, 2, 3}).input("i", {1, 2, 3}, onnx::TensorProto::INT64);
  model.ints("s", {1, 2, 7}).node("MaxUnpool", "x i s", "y");
  model.list("kernel_shape", {2}).list("strides", {2}).list("pads", {1, 0});
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.max_unpool"),
                    HasSubstr("sizes = array<i64: 5>"),
                    HasSubstr("pads = array<i64: 0, 0, 0, 0, 0, 2>"),
                    HasSubstr("-> tensor<1x2x7xf32>")));
}

TEST(Pool, AveragePool) {
  TestModel model(19);
  model.input("x", {1, 1, 8}).node("AveragePool", "x", "y");
  model.list("kernel_shape", {3}).list("dilations", {2});
  model.list("pads", {1, 1}).attr("count_include_pad", 1);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("count_include_pad = true"),
                                        HasSubstr("dilations = array<i64: 2>"),
                                        HasSubstr("-> tensor<1x1x6xf32>")));
}

TEST(Pool, ReduceMeanOverSpace) {
  TestModel model;
  model.input("x", {1, 3, 4, 4}).node("ReduceMean", "x", "y");
  model.list("axes", {-1, 2}).attr("keepdims", 0);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tarpon.global_avg_pool"),
                                        HasSubstr("-> tensor<1x3xf32>")));
}

TEST(Pool, GlobalMax) {
  TestModel model;
  model.input("x", {1, 3, 4, 5}).node("GlobalMaxPool", "x", "y");
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tarpon.global_max_pool"),
                                        HasSubstr("-> tensor<1x3x1x1xf32>")));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

TEST(Elementwise, ClipVersions) {
  TestModel attributes(7);
  attributes.input("x", {2}).node("Clip", "x", "y").attr("max", 6.0f);
  EXPECT_THAT(importModel(attributes),
              AllOf(HasSubstr("high = 6.000000e+00"),
                    HasSubstr("low = 0xFFF0000000000000")));
  TestModel inputs;
  inputs.input("x", {2}).floats("lo", {}, {-1});
  inputs.node("Clip", "x lo -", "y");
  EXPECT_THAT(importModel(inputs), HasSubstr("low = -1.000000e+00"));
  TestModel none;
  none.input("x", {2}).node("Clip", "x", "y");
  EXPECT_THAT(importModel(none), Not(HasSubstr("tarpon.clip")));
}

TEST(Elementwise, ClipOfIntegers) {
  // A bound that is absent is the type's.
  TestModel bytes;
  bytes.input("x", {2}, onnx::TensorProto::INT8);
  bytes.bytes("lo", {}, onnx::TensorProto::INT8, {-3});
  bytes.node("Clip", "x lo -", "y");
  EXPECT_THAT(importModel(bytes), AllOf(HasSubstr("low = -3.000000e+00"),
                                        HasSubstr("high = 1.270000e+02")));
  TestModel words;
  words.input("x", {2}, onnx::TensorProto::UINT16);
  words.bytes("hi", {}, onnx::TensorProto::UINT16, {9});
  words.node("Clip", "x - hi", "y");
  EXPECT_THAT(importModel(words), AllOf(HasSubstr("low = 0.000000e+00"),
                                        HasSubstr("high = 9.000000e+00")));
  // No double holds 2^53 + 1.
  TestModel large;
  large.input("x", {2}, onnx::TensorProto::INT64);
  large.ints("lo", {(int64_t(1) << 53) + 1}).node("Clip", "x lo -", "y");
  EXPECT_THAT(importModel(large),
              AllOf(HasSubstr("9007199254740993"), HasSubstr("tarpon.max"),
                    Not(HasSubstr("tarpon.clip"))));
}

TEST(Elementwise, SumOfMany) {
  TestModel model;
  model.input("x", {2, 1}).input("z", {3}).node("Sum", "x z x", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("(tensor<2x1xf32>, tensor<3xf32>)"),
                    HasSubstr("(tensor<2x3xf32>, tensor<2x1xf32>)")));
}

TEST(Elementwise, Activations) {
  struct Case {
    const char *op;
    const char *printed;
  };
  for (auto [op, printed] :
       {Case{"Relu", "tarpon.relu"}, Case{"Sigmoid", "tarpon.sigmoid"},
        Case{"HardSwish", "tarpon.hard_swish"},
        Case{"LeakyRelu", "alpha = 0.00999999977"},
        Case{"HardSigmoid", "beta = 5.000000e-01"},
        Case{"Identity", "return %arg0"}}) {
    TestModel model(14);
    model.input("x", {2}).node(op, "x", "y");
    EXPECT_THAT(importModel(model), HasSubstr(printed));
  }
}

/// No attribute that a newer opset may add is ignored.
TEST(Opsets, NewAttributesAreRefused) {
  for (const char *op : {"Cast", "QuantizeLinear", "DequantizeLinear"}) {
    TestModel model(25);
    model.input("x", {2}).floats("s", {}, {0.5f});
    model.node(op, llvm::StringRef(op) == "Cast" ? "x" : "x s", "y");
    model.attr("to", 10).attr("from_the_future", 1);
    EXPECT_THAT(model.output("y").error(), HasSubstr("unknown attribute"));
  }
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

TEST(MatMul, Vectors) {
  struct Case {
    std::vector<int64_t> lhs, rhs;
    const char *result;
  };
  for (const Case &test : {Case{{3}, {3}, "-> tensor<f32>"},
                           Case{{3}, {2, 3, 4}, "-> tensor<2x4xf32>"},
                           Case{{2, 4, 3}, {3}, "-> tensor<2x4xf32>"},
                           Case{{5, 3}, {2, 3, 4}, "-> tensor<2x5x4xf32>"}}) {
    TestModel model;
    model.input("a", test.lhs).input("b", test.rhs).node("MatMul", "a b", "y");
    EXPECT_THAT(importModel(model), HasSubstr(test.result));
  }
}

TEST(Gemm, ScalesAndAdds) {
  TestModel model;
  model.input("a", {3, 2}).input("b", {4, 3}).input("c", {4});
  model.node("Gemm", "a b c", "y").attr("transA", 1).attr("transB", 1);
  model.attr("alpha", 0.5f).attr("beta", 2.0f);
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("transpose_lhs = true"),
                    HasSubstr("transpose_rhs = true"),
                    HasSubstr("dense<5.000000e-01>"),
                    HasSubstr("dense<2.000000e+00>"),
                    HasSubstr("(tensor<2x4xf32>, tensor<4xf32>)")));
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

TEST(Softmax, IsFlatBeforeOpset13) {
  TestModel old(12);
  old.input("x", {2, 3, 4}).node("Softmax", "x", "y");
  EXPECT_THAT(importModel(old),
              AllOf(HasSubstr("axis = 1 : i64} : (tensor<2x12xf32>)"),
                    HasSubstr("-> tensor<2x3x4xf32>")));
  TestModel recent(13);
  recent.input("x", {2, 3, 4}).node("Softmax", "x", "y");
  EXPECT_THAT(importModel(recent),
              HasSubstr("axis = 2 : i64} : (tensor<2x3x4xf32>)"));
}

TEST(Dropout, IsTheIdentity) {
  TestModel model;
  model.input("x", {2, 3}).node("Dropout", "x", "z y");
  EXPECT_THAT(importModel(model.output("z")),
              AllOf(HasSubstr("dense<true> : tensor<2x3xi1>"),
                    HasSubstr("return %arg0, ")));
}

TEST(Norm, BatchNormAndLrn) {
  TestModel model;
  model.input("x", {1, 2, 3}).input("p", {2});
  model.node("BatchNormalization", "x p p p p", "z", "bn");
  model.attr("epsilon", 0.5f).node("LRN", "z", "y", "lrn").attr("size", 3);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("epsilon = 5.000000e-01"),
                                        HasSubstr("size = 3 : i64")));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST(Shapes, ReshapeFromShapeArithmetic) {
  // PyTorch writes this for x.view(x.size(0), -1).
  TestModel model(11);
  model.input("x", {2, 3, 4}).ints("zero", {0}).ints("minus", {-1});
  model.node("Shape", "x", "s", "a").node("Gather", "s zero", "n", "b");
  model.node("Squeeze", "n", "n0", "c").node("Unsqueeze", "n0", "n1", "d");
  model.list("axes", {0}).node("Concat", "n1 minus", "t", "e");
  model.attr("axis", 0).node("Reshape", "x t", "y", "f");
  std::string ir = importModel(model);
  EXPECT_THAT(ir, HasSubstr("tarpon.reshape %arg0 : (tensor<2x3x4xf32>) -> "
                            "tensor<2x12xf32>"));
  EXPECT_THAT(ir, Not(HasSubstr("tarpon.constant")));
}

TEST(Shapes, ReshapeZeroAndMinusOne) {
  TestModel model;
  model.input("x", {2, 3, 4}).ints("s", {0, -1, 2});
  model.node("Reshape", "x s", "y");
  EXPECT_THAT(importModel(model), HasSubstr("-> tensor<2x6x2xf32>"));
}

TEST(Shapes, FlattenSqueezeUnsqueezeTranspose) {
  TestModel model;
  model.input("x", {2, 1, 4}).ints("one", {1}).ints("ends", {0, -1});
  model.node("Squeeze", "x one", "a", "s")
      .node("Unsqueeze", "a ends", "b", "u");
  model.node("Transpose", "b", "c", "t").list("perm", {0, 2, 1, 3});
  model.node("Flatten", "c", "y", "f").attr("axis", -2);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("-> tensor<1x2x4x1xf32>"),
                                        HasSubstr("-> tensor<1x4x2x1xf32>"),
                                        HasSubstr("-> tensor<4x2xf32>")));
}

TEST(Shapes, ConstantsAreComputed) {
  TestModel model(15);
  model.input("x", {5, 6, 7}).ints("two", {2});
  model.node("Shape", "x", "s", "s").attr("start", -2);
  model.node("Size", "x", "z", "z").node("Mul", "s two", "m", "m");
  model.node("Div", "m s", "d", "d").node("Add", "m d", "e", "e");
  model.node("Cast", "e", "f", "c").attr("to", onnx::TensorProto::INT32);
  model.node("Identity", "f", "y", "i");
  EXPECT_THAT(importModel(model.output("z")),
              AllOf(HasSubstr("dense<[14, 16]> : tensor<2xi32>"),
                    HasSubstr("dense<210> : tensor<i64>")));
}

TEST(Shapes, ConstantOfShapeAndRange) {
  TestModel model;
  model.ints("s", {2, 70}).node("ConstantOfShape", "s", "y", "c");
  model.attr("value", makeTensor(onnx::TensorProto::UINT8, 9));
  auto scalar = [&](const char *name, int64_t value) {
    model.node("Constant", "", name, name).attr("value_int", value);
  };
  scalar("a", 10), scalar("b", 3), scalar("d", -3);
  model.node("Range", "a b d", "r", "r");
  EXPECT_THAT(importModel(model.output("r")),
              AllOf(HasSubstr("dense<9> : tensor<2x70xui8>"),
                    HasSubstr("dense<[10, 7, 4]> : tensor<3xi64>")));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

TEST(Select, SliceOfAValueIsAPad) {
  TestModel model;
  model.input("x", {4, 9}).ints("from", {1, -3}).ints("to", {3, 1 << 30});
  model.node("Slice", "x from to", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("pads = array<i64: -1, 0, -1, 0>"),
                    HasSubstr("pads = array<i64: 0, -6, 0, 0>"),
                    HasSubstr("-> tensor<2x3xf32>")));
}

TEST(Select, SliceBackwards) {
  TestModel model;
  model.ints("x", {0, 1, 2, 3, 4, 5}).ints("from", {-1}).ints("axis", {0});
  model.ints("to", {INT64_MIN}).ints("step", {-2});
  model.node("Slice", "x from to axis step", "y");
  EXPECT_THAT(importModel(model), HasSubstr("dense<[5, 3, 1]>"));
}

TEST(Select, NothingBackwards) {
  TestModel model;
  model.floats("x", {0}, {}).ints("from", {-1}).ints("axis", {0});
  model.ints("to", {INT64_MIN}).ints("step", {-1});
  model.node("Slice", "x from to axis step", "y");
  EXPECT_THAT(importModel(model), HasSubstr("tensor<0xf32>"));
}

TEST(Select, SliceOfOldOpset) {
  TestModel model(9);
  model.input("x", {4}).node("Slice", "x", "y").list("starts", {1});
  model.list("ends", {-1});
  EXPECT_THAT(importModel(model), HasSubstr("pads = array<i64: -1, -1>"));
}

TEST(Select, NothingIsAnEmptyConstant) {
  TestModel model;
  model.input("x", {4}).ints("from", {9}).ints("to", {9});
  model.node("Slice", "x from to", "y");
  EXPECT_THAT(importModel(model), HasSubstr("tensor<0xf32>"));
}

TEST(Select, GatherOfAValue) {
  TestModel model;
  model.input("x", {2, 5}).ints("i", {3, 4, -5});
  model.node("Gather", "x i", "y").attr("axis", 1);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("tarpon.concat"),
                                        HasSubstr("-> tensor<2x3xf32>")));
}

TEST(Select, ManyPlacesAreGathered) {
  TestModel parts;
  std::vector<int64_t> odd;
  for (int64_t i = 1; i < 200; i += 2)
    odd.push_back(i);
  parts.input("x", {200}).ints("i", odd).node("Gather", "x i", "y");
  EXPECT_THAT(importModel(parts), AllOf(HasSubstr("tarpon.gather"),
                                        Not(HasSubstr("tarpon.concat"))));
}

TEST(Select, Split) {
  TestModel even;
  even.input("x", {1, 4}).node("Split", "x", "y z").attr("axis", 1);
  EXPECT_THAT(importModel(even.output("z")),
              HasSubstr("-> (tensor<1x2xf32>, tensor<1x2xf32>)"));
  TestModel given;
  given.input("x", {4}).ints("parts", {1, 3}).node("Split", "x parts", "y z");
  EXPECT_THAT(importModel(given.output("z")),
              HasSubstr("-> (tensor<3xf32>, tensor<1xf32>)"));
  TestModel uneven(18);
  uneven.input("x", {5}).node("Split", "x", "y z").attr("num_outputs", 2);
  EXPECT_THAT(importModel(uneven.output("z")),
              HasSubstr("-> (tensor<2xf32>, tensor<3xf32>)"));
}

TEST(Pad, Versions) {
  TestModel old(10);
  old.input("x", {3, 3}).node("Pad", "x", "y").list("pads", {1, -1, 0, 0});
  old.attr("value", 2.5f);
  EXPECT_THAT(importModel(old), AllOf(HasSubstr("value = 2.500000e+00"),
                                      HasSubstr("-> tensor<4x2xf32>")));
  TestModel recent(18);
  recent.input("x", {3, 3}).ints("p", {1, 2}).ints("axes", {-1});
  recent.node("Pad", "x p - axes", "y").attr("mode", "reflect");
  EXPECT_THAT(importModel(recent),
              AllOf(HasSubstr("pads = array<i64: 0, 1, 0, 2>"),
                    HasSubstr("-> tensor<3x6xf32>")));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST(Locations, NameTheNode) {
  TestModel model;
  model.input("x", {2}).node("Relu", "x", "a", "act");
  model.node("Relu", "a", "b", "").node("Relu", "b", "y", "act").output("y");
  model.import();
  mlir::MLIRContext context;
  auto module = importOnnx(context, model.getFolder().getPath("m.onnx"));
  ASSERT_TRUE(module);
  std::vector<std::string> names;
  module->walk([&](mlir::Operation *op) {
    if (auto loc = llvm::dyn_cast<mlir::NameLoc>(op->getLoc()))
      names.push_back(loc.getName().str());
  });
  EXPECT_THAT(names, testing::ElementsAre("act", "Relu_1", "act_1"));
}

} // namespace
