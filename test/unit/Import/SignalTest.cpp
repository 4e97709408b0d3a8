//===- SignalTest.cpp - Imported transforms and recurrences ---------------===//
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

constexpr int kHalf = onnx::TensorProto::FLOAT16;
constexpr int kInt64 = onnx::TensorProto::INT64;

/// The module of a model whose output is y, or the error.
std::string import(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_NE(result.ir.empty(), result.diagnostics.empty());
  return result.ir + result.diagnostics;
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// A transform of the given shape, whose attributes `set` adds.
std::string importDft(std::vector<int64_t> shape,
                      llvm::function_ref<void(TestModel &)> set,
                      std::vector<int64_t> length = {}) {
  TestModel model(20);
  model.input("x", std::move(shape));
  if (!length.empty())
    model.ints("n", length);
  model.ints("a", {1}).node("DFT", length.empty() ? "x - a" : "x n a", "y");
  set(model);
  return import(model);
}

TEST(Dft, IsAProductWithAMatrix) {
  auto none = [](TestModel &) {};
  // The transform of two points is their sum and their difference.
  EXPECT_THAT(
      importDft({3, 2, 1}, none),
      AllOf(HasSubstr("tarpon.matmul"), HasSubstr("-> tensor<3x2x2xf32>")));
  EXPECT_THAT(importDft({3, 8, 5, 2}, none),
              HasSubstr("tensor<15x16xf32>, tensor<16x16xf32>"));
  EXPECT_THAT(importDft({3, 8, 1}, none, {6}),
              AllOf(HasSubstr("pads = array<i64: 0, 0, 0, 0, -2, 0>"),
                    HasSubstr("-> tensor<3x6x2xf32>")));
}

TEST(Dft, OfRealSignalsIsOneSided) {
  auto onesided = [](TestModel &m) { m.attr("onesided", 1); };
  EXPECT_THAT(importDft({3, 8, 1}, onesided),
              HasSubstr("-> tensor<3x5x2xf32>"));
  auto inverse = [](TestModel &m) { m.attr("onesided", 1).attr("inverse", 1); };
  EXPECT_THAT(importDft({3, 5, 2}, inverse), HasSubstr("-> tensor<3x8x1xf32>"));
  EXPECT_THAT(importDft({3, 5, 2}, inverse, {9}),
              HasSubstr("-> tensor<3x9x1xf32>"));
}

TEST(Dft, Errors) {
  auto none = [](TestModel &) {};
  EXPECT_THAT(importDft({3, 8, 3}, none),
              HasSubstr("DFT node 'n' in MODEL: the signal is "
                        "'tensor<3x8x3xf32>', expected floats and a last "
                        "dimension of 1 or 2"));
  EXPECT_THAT(importDft({3, 8, 2}, [](TestModel &m) { m.attr("onesided", 1); }),
              HasSubstr("the transform of a complex signal is not one-sided"));
  EXPECT_THAT(importDft({3, 1}, none),
              HasSubstr("axis 1 is that of real and imaginary parts"));
  EXPECT_THAT(importDft({3, 8, 1}, none, {0}),
              HasSubstr("the length of the transform is 0.000000e+00, which is "
                        "out of range"));
  EXPECT_THAT(importDft({3, 65536, 1}, none),
              HasSubstr("the transform of 65536 points needs a matrix of more "
                        "than 67108864 elements"));
}

/// A transform of a signal of 20 points in steps of 4.
std::string importStft(llvm::function_ref<void(TestModel &)> set,
                       std::vector<int64_t> signal = {2, 20, 1},
                       std::vector<int64_t> window = {8}) {
  TestModel model(17);
  model.input("x", std::move(signal)).ints("s", {4}).input("w", window);
  model.node("STFT", "x s w", "y");
  set(model);
  return import(model);
}

TEST(Stft, IsAConvolution) {
  EXPECT_THAT(importStft([](TestModel &) {}),
              AllOf(HasSubstr("tarpon.conv"),
                    HasSubstr("strides = array<i64: 4>"),
                    HasSubstr("-> tensor<2x4x5x2xf32>")));
  EXPECT_THAT(
      importStft([](TestModel &m) { m.attr("onesided", 0); }, {2, 20, 2}),
      HasSubstr("-> tensor<2x4x8x2xf32>"));
}

TEST(Stft, Errors) {
  auto none = [](TestModel &) {};
  EXPECT_THAT(importStft(none, {2, 20, 2}),
              HasSubstr("the transform of a complex signal is not one-sided"));
  EXPECT_THAT(importStft(none, {2, 20, 1}, {21}),
              HasSubstr("a frame of 21 elements is longer than the signal of "
                        "20"));
  EXPECT_THAT(importStft(none, {2, 20, 1}, {8, 1}),
              HasSubstr("the window is 'tensor<8x1xf32>', expected one "
                        "dimension"));
  EXPECT_THAT(importStft(none, {2, 2, 20, 1}),
              HasSubstr("the signal has the rank 4, expected 3"));
  TestModel both(17);
  both.input("x", {2, 20, 1}).ints("s", {4}).input("w", {8}).ints("f", {9});
  EXPECT_THAT(import(both.node("STFT", "x s w f", "y")),
              HasSubstr("the window has 8 elements, but a frame 9"));
}

/// The matrix of 2 mel bins of a transform of 8 points.
std::string importMel(float low, float high) {
  TestModel model(17);
  model.ints("n", {2}).ints("d", {8}).ints("r", {8000});
  model.floats("l", {}, {low}).floats("h", {}, {high});
  return import(model.node("MelWeightMatrix", "n d r l h", "y"));
}

TEST(Mel, IsAConstant) {
  EXPECT_THAT(importMel(0, 4000),
              AllOf(HasSubstr("tensor<5x2xf32>"), Not(HasSubstr("matmul"))));
  EXPECT_THAT(importMel(0, 20000), HasSubstr("the edges 0.000000e+00 and "
                                             "2.000000e+04 Hz are not in the "
                                             "spectrum"));
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// LinearAttention of 3 positions, 4 heads of queries and 2 of keys.
std::string importLinear(const char *rule, const std::string &inputs,
                         int64_t positions = 3) {
  TestModel model(27);
  model.input("q", {1, positions, 20}).input("k", {1, positions, 10});
  model.input("v", {1, positions, 6}).input("s", {1, 2, 5, 3}, kHalf);
  model.input("d", {1, positions, 2}).input("b", {1, positions, 1});
  model.node("LinearAttention", inputs, "y p").attr("update_rule", rule);
  model.attr("q_num_heads", 4).attr("kv_num_heads", 2).output("p");
  return import(model);
}

TEST(LinearAttention, UpdatesAState) {
  EXPECT_THAT(importLinear("linear", "q k v"),
              AllOf(HasSubstr("-> tensor<1x2x2x3xf32>"),
                    HasSubstr("-> tensor<1x3x12xf32>"),
                    Not(HasSubstr("tarpon.exp"))));
  EXPECT_THAT(importLinear("gated_delta", "q k v s d b"),
              AllOf(HasSubstr("tarpon.exp"), HasSubstr("tarpon.sub"),
                    HasSubstr("-> tensor<1x2x5x3xf16>")));
}

TEST(Attention, NamesTheInputOfAnotherRank) {
  TestModel model(23);
  model.input("q", {1, 2, 3, 8}).input("k", {1, 3, 8});
  EXPECT_THAT(import(model.node("Attention", "q k q", "y")),
              HasSubstr("input 1 has the rank 3, expected 3 or 4 as the "
                        "others"));
}

TEST(Attention, RefusesKeysWithoutHeads) {
  TestModel model(23);
  model.input("q", {2, 3, 4, 8}).input("k", {2, 0, 6, 8});
  EXPECT_THAT(import(model.node("Attention", "q k k", "y")),
              HasSubstr("the 0 heads of keys do not divide the 3 of queries"));
}

TEST(Attention, RefusesMorePositionsThanMemoryHolds) {
  TestModel model(23);
  model.input("q", {2, 3, 2147483647, 8}).input("k", {2, 3, 6, 8});
  model.node("Attention", "q k k", "y").attr("is_causal", 1);
  EXPECT_THAT(
      import(model),
      HasSubstr("needs a constant of 2147483647 elements, which are more"));
}

TEST(LinearAttention, Errors) {
  EXPECT_THAT(importLinear("slow", "q k v"),
              HasSubstr("attribute 'update_rule' is 'slow', expected linear, "
                        "gated, delta or gated_delta"));
  EXPECT_THAT(importLinear("gated", "q k v"),
              HasSubstr("the inputs decay and beta do not fit the update_rule "
                        "'gated'"));
  EXPECT_THAT(importLinear("linear", "q v k"),
              HasSubstr("do not fit each other and the numbers of heads"));
  EXPECT_THAT(importLinear("linear", "q k v d"),
              HasSubstr("the state is 'tensor<1x3x2xf32>', expected "
                        "'tensor<1x2x5x3xf32>'"));
  EXPECT_THAT(
      importLinear("gated", "q k v - q"),
      HasSubstr("input 4 is 'tensor<1x3x20xf32>', expected 1 x 3 x 2 or "
                "10 elements"));
  EXPECT_THAT(importLinear("linear", "q k v", 1025),
              HasSubstr("there are 1025 positions, which are computed one by "
                        "one; at most 1024 are supported"));
}

/// A causal convolution with a kernel of that size.
std::string importCausal(int64_t kernel, const std::string &inputs,
                         const char *activation = "none") {
  TestModel model(27);
  model.input("x", {2, 3, 5}).input("w", {3, 1, kernel}).input("b", {3});
  model.input("p", {2, 3, 2}).node("CausalConvWithState", inputs, "y s");
  return import(model.attr("activation", activation).output("s"));
}

TEST(CausalConv, KeepsTheLastInputs) {
  EXPECT_THAT(importCausal(3, "x w b p", "silu"),
              AllOf(HasSubstr("group = 3"), HasSubstr("tarpon.swish"),
                    HasSubstr("-> tensor<2x3x7xf32>"),
                    HasSubstr("-> tensor<2x3x2xf32>")));
  EXPECT_THAT(importCausal(1, "x w"), HasSubstr("tensor<2x3x0xf32>"));
}

TEST(CausalConv, Errors) {
  EXPECT_THAT(importCausal(3, "x w", "relu"),
              HasSubstr("attribute 'activation' is 'relu', expected none, silu "
                        "or swish"));
  EXPECT_THAT(importCausal(4, "x w b p"),
              HasSubstr("the bias and the state do not fit each other"));
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

std::string importCache(std::vector<int64_t> update, const char *mode,
                        std::vector<int64_t> indices = {2}) {
  TestModel model(24);
  model.input("c", {2, 3, 4, 5}).input("u", std::move(update));
  model.input("i", std::move(indices), kInt64);
  return import(model.node("TensorScatter", "c u i", "y").attr("mode", mode));
}

TEST(TensorScatter, WritesRows) {
  EXPECT_THAT(importCache({2, 3, 2, 5}, "linear"),
              AllOf(HasSubstr("tensor<24x5xf32>, tensor<12xi64>, "
                              "tensor<12x5xf32>"),
                    Not(HasSubstr("tarpon.div"))));
  EXPECT_THAT(importCache({2, 3, 2, 5}, "circular"), HasSubstr("tarpon.div"));
}

TEST(TensorScatter, Errors) {
  EXPECT_THAT(importCache({2, 3, 2, 5}, "round"),
              HasSubstr("attribute 'mode' is 'round', expected linear or "
                        "circular"));
  EXPECT_THAT(importCache({2, 3, 5, 5}, "linear"),
              HasSubstr("or its indices do not fit the cache "
                        "'tensor<2x3x4x5xf32>' along axis 2"));
  EXPECT_THAT(importCache({2, 3, 2, 5}, "linear", {3}),
              HasSubstr("or its indices do not fit the cache"));
}

} // namespace
