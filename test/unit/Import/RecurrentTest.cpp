//===- RecurrentTest.cpp - Imported LSTM, GRU and RNN -----------*- C++ -*-===//
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

/// An input of 5 steps, a batch of 2 and 4 features, and weights of 3 units for
/// that many gates and directions.
TestModel &recurrent(TestModel &model, const std::string &op, int64_t gates,
                     const std::string &outputs, int64_t directions = 1) {
  model.input("x", {5, 2, 4});
  model.input("w", {directions, gates * 3, 4});
  model.input("r", {directions, gates * 3, 3});
  return model.node(op, "x w r", outputs);
}

std::string import(TestModel &model, const std::string &output) {
  Imported result = model.output(output).import();
  EXPECT_EQ(result.diagnostics, "");
  return result.ir;
}

TEST(Lstm, InputIsOneProduct) {
  TestModel model(14);
  recurrent(model, "LSTM", 4, "y");
  EXPECT_THAT(import(model, "y"),
              AllOf(HasSubstr("tarpon.matmul"),
                    HasSubstr("(tensor<10x4xf32>, tensor<12x4xf32>) -> "
                              "tensor<10x12xf32>"),
                    HasSubstr("activations = array<i64: 0, 1, 1>"),
                    HasSubstr("reversed = array<i64: 0>"),
                    HasSubstr("-> tensor<7x1x2x3xf32>"),
                    HasSubstr("-> tensor<5x1x2x3xf32>")));
}

TEST(Lstm, OnlyReadStatesAreCutOut) {
  TestModel model(14);
  recurrent(model, "LSTM", 4, "- - c");
  EXPECT_THAT(import(model, "c"), AllOf(HasSubstr("-> tensor<1x1x2x3xf32>"),
                                        HasSubstr("-> tensor<1x2x3xf32>"),
                                        Not(HasSubstr("tensor<5x1x2x3xf32>"))));
}

TEST(Gru, BidirectionalAndBatchFirst) {
  TestModel model(14);
  model.input("x", {2, 5, 4}).input("w", {2, 9, 4}).input("r", {2, 9, 3});
  model.node("GRU", "x w r", "y").attr("direction", "bidirectional");
  model.attr("layout", 1).attr("linear_before_reset", 1);
  EXPECT_THAT(import(model, "y"),
              AllOf(HasSubstr("reversed = array<i64: 0, 1>"),
                    HasSubstr("linear_before_reset = 1"),
                    HasSubstr("-> tensor<10x18xf32>"),
                    HasSubstr("-> tensor<2x5x2x3xf32>")));
}

TEST(Rnn, ClipAndDirection) {
  TestModel model(14);
  recurrent(model, "RNN", 1, "y").attr("direction", "reverse");
  model.attr("clip", 0.5f);
  EXPECT_THAT(import(model, "y"), AllOf(HasSubstr("reversed = array<i64: 1>"),
                                        HasSubstr("clip = 5.000000e-01")));
}

std::string error(TestModel &model) { return model.output("y").error(); }

TEST(RecurrentErrors, ShapesAndAttributes) {
  TestModel gates(14);
  recurrent(gates, "LSTM", 3, "y");
  EXPECT_THAT(error(gates), HasSubstr("'w' is 'tensor<1x9x4xf32>', expected "
                                      "the shape [1, 12, 4]"));
  TestModel direction(14);
  recurrent(direction, "GRU", 3, "y").attr("direction", "sideways");
  EXPECT_THAT(error(direction),
              HasSubstr("the direction 'sideways' is neither forward, reverse "
                        "nor bidirectional"));
  TestModel hidden(14);
  recurrent(hidden, "RNN", 1, "y").attr("hidden_size", 4);
  EXPECT_THAT(error(hidden), HasSubstr("attribute 'hidden_size' is 4, but the "
                                       "weights have 3"));
  TestModel rank(14);
  rank.input("x", {5, 4}).input("w", {1, 3, 4}).input("r", {1, 3, 3});
  rank.node("RNN", "x w r", "y");
  EXPECT_THAT(error(rank), HasSubstr("expects an input and weights of rank 3"));
}

TEST(MatMulInteger, LongSumsAreAddedInIntegers) {
  TestModel model(13);
  model.input("a", {2, 300}, onnx::TensorProto::UINT8);
  model.input("b", {300, 4}, onnx::TensorProto::INT8);
  model.node("MatMulInteger", "a b", "y");
  EXPECT_THAT(import(model, "y"),
              AllOf(HasSubstr("(tensor<2x256xf32>, tensor<256x4xf32>)"),
                    HasSubstr("(tensor<2x44xf32>, tensor<44x4xf32>)"),
                    HasSubstr("(tensor<2x4xi32>, tensor<2x4xi32>)")));
}

/// Kernels for bytes multiply by a constant matrix, 512 products at a time.
TEST(MatMulInteger, ConstantBytesStayBytes) {
  auto importModel = [](const char *inputs, int weight) {
    TestModel model(13);
    model.input("a", {2, 600}, onnx::TensorProto::UINT8);
    model.input("za", {1}, onnx::TensorProto::UINT8);
    model.bytes("b", {600, 4}, onnx::TensorProto::INT8,
                std::vector<int>(2400, weight));
    model.bytes("zb", {}, onnx::TensorProto::INT8, {-100});
    model.node("MatMulInteger", inputs, "y");
    return import(model, "y");
  };
  EXPECT_THAT(
      importModel("a b za", 3),
      AllOf(HasSubstr("tensor<2x512x!quant.uniform<u8:f32, 1.000000e+00>>"),
            HasSubstr("tensor<88x4x!quant.uniform<i8:f32, 1.000000e+00>>"),
            HasSubstr("dense<1800> : tensor<4xi32>"), HasSubstr("tarpon.sub")));
  EXPECT_THAT(importModel("a b za zb", 27),
              HasSubstr("dense<127> : tensor<512x4xi8>"));
  // Less its zero point, the weight does not fit a byte.
  EXPECT_THAT(importModel("a b za zb", 28), Not(HasSubstr("!quant.uniform")));
}

TEST(MatMulInteger, ZeroPointsPerRowAndColumn) {
  TestModel model(13);
  model.input("a", {2, 8}, onnx::TensorProto::UINT8);
  model.input("b", {8, 4}, onnx::TensorProto::UINT8);
  model.input("za", {2}, onnx::TensorProto::UINT8);
  model.input("zb", {4}, onnx::TensorProto::UINT8);
  model.node("MatMulInteger", "a b za zb", "y");
  EXPECT_THAT(import(model, "y"),
              AllOf(HasSubstr("(tensor<2x8xf32>, tensor<2x1xf32>)"),
                    HasSubstr("(tensor<8x4xf32>, tensor<1x4xf32>)")));
}

} // namespace
