//===- BlockMatMulTest.cpp - Products with weights of a few bits ----------===//
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

constexpr int u8 = onnx::TensorProto::UINT8, i8 = onnx::TensorProto::INT8,
              u4 = 21, i4 = 22;

/// The module of a model whose output is y, or the error.
std::string import(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_NE(result.ir.empty(), result.diagnostics.empty());
  return result.ir + result.diagnostics;
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// Weights of two columns and a depth of 20, which is one block of 16 and a
/// part of another one.
TestModel &addProduct(TestModel &model, const char *inputs, int bits = 4) {
  int blockBytes = 2 * bits;
  model.input("x", {3, 20});
  model.bytes("w", {2, 2, blockBytes}, u8, std::vector<int>(4 * blockBytes, 7));
  model.floats("s", {4}, {1, 2, 3, 4}).node("MatMulNBits", inputs, "y");
  model.attr("K", int64_t(20)).attr("N", int64_t(2));
  model.attr("bits", int64_t(bits)).attr("block_size", int64_t(16));
  model.getGraph().mutable_node(0)->set_domain("com.microsoft");
  return model;
}

TEST(MatMulNBits, IsAProductInBlocks) {
  TestModel model;
  EXPECT_THAT(
      import(addProduct(model, "x w s")),
      AllOf(HasSubstr("tarpon.block_matmul"),
            HasSubstr("{bits = 4 : i64, block_size = 16 : i64}"),
            HasSubstr("(tensor<3x20xf32>, tensor<2x2x8xui8>, tensor<2x2xf32>) "
                      "-> tensor<3x2xf32>")));
  TestModel bytes;
  EXPECT_THAT(import(addProduct(bytes, "x w s", /*bits=*/8)),
              HasSubstr("{bits = 8 : i64, block_size = 16 : i64}"));
}

/// Two zero points are in a byte, the first in its lowest bits.
TEST(MatMulNBits, UnpacksZeroPoints) {
  TestModel model;
  model.bytes("z", {2, 1}, u8, {0x21, 0x43});
  EXPECT_THAT(import(addProduct(model, "x w s z")),
              HasSubstr("dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>"));
  // Those that are meant without an input are left out.
  TestModel middle;
  middle.bytes("z", {2}, u8, {0x88, 0x88});
  EXPECT_THAT(import(addProduct(middle, "x w s z")),
              Not(HasSubstr("tensor<2x2xui8>")));
  TestModel bytes;
  bytes.bytes("z", {2, 2}, u8, {1, 2, 3, 128});
  EXPECT_THAT(import(addProduct(bytes, "x w s z", /*bits=*/8)),
              HasSubstr("dense<[[1, 2], [3, 128]]> : tensor<2x2xui8>"));
}

TEST(MatMulNBits, AddsABias) {
  TestModel model;
  model.floats("b", {2}, {1, 2});
  EXPECT_THAT(import(addProduct(model, "x w s - - b")),
              HasSubstr("tarpon.add"));
}

TEST(MatMulNBits, Errors) {
  TestModel order;
  order.bytes("g", {20}, u8, std::vector<int>(20, 0));
  EXPECT_THAT(import(addProduct(order, "x w s - g")),
              HasSubstr("MatMulNBits node 'n' in MODEL: weights in another "
                        "order ('g_idx') are not supported"));
  TestModel bits;
  EXPECT_THAT(import(addProduct(bits, "x w s", /*bits=*/2)),
              HasSubstr("attribute 'bits' is 2, expected 4 or 8"));
  TestModel block;
  addProduct(block, "x w s")
      .getGraph()
      .mutable_node(0)
      ->mutable_attribute(3)
      ->set_i(24);
  EXPECT_THAT(import(block), HasSubstr("attribute 'block_size' is 24, expected "
                                       "a power of two from 16 to 256"));
  TestModel depth;
  addProduct(depth, "x w s")
      .getGraph()
      .mutable_node(0)
      ->mutable_attribute(0)
      ->set_i(32);
  EXPECT_THAT(import(depth),
              HasSubstr("the input A is 'tensor<3x20xf32>', expected rows of "
                        "32 floats"));
  TestModel columns;
  addProduct(columns, "x w s")
      .getGraph()
      .mutable_node(0)
      ->mutable_attribute(1)
      ->set_i(3);
  EXPECT_THAT(import(columns),
              HasSubstr("the weights are 'tensor<2x2x8xui8>', expected 48 "
                        "elements"));
  TestModel none;
  addProduct(none, "x w s")
      .getGraph()
      .mutable_node(0)
      ->mutable_attribute(1)
      ->set_i(0);
  EXPECT_THAT(import(none), HasSubstr("attributes 'N' and 'K' are 0 and 20, "
                                      "expected positive ones"));
}

TEST(MatMulNBits, ZeroPointErrors) {
  TestModel floats;
  floats.floats("z", {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(import(addProduct(floats, "x w s z")),
              HasSubstr("the zero points are 'tensor<2x2xf32>', expected "
                        "packed ones of ui8"));
  TestModel many;
  many.bytes("z", {2, 2}, u8, {1, 2, 3, 4});
  EXPECT_THAT(import(addProduct(many, "x w s z")),
              HasSubstr("the zero points are 'tensor<2x2xui8>', expected 2 "
                        "elements"));
  TestModel computed;
  computed.input("z", {2, 1}, u8);
  EXPECT_THAT(import(addProduct(computed, "x w s z")),
              HasSubstr("the zero points"));
}

//===----------------------------------------------------------------------===//
// Products by dequantised constants
//===----------------------------------------------------------------------===//

/// A matrix of 8 x 2, or 2 x 8, in one block along the depth.
std::string importDequantized(int type, std::vector<int> packed,
                              const char *product, bool isTransposed) {
  TestModel model(21);
  std::vector<int64_t> shape = {8, 2}, scales = {1, 2};
  if (isTransposed) {
    std::swap(shape[0], shape[1]);
    std::swap(scales[0], scales[1]);
  }
  model.input("x", {3, 8}).bytes("q", shape, type, std::move(packed));
  model.floats("s", scales, {0.5f, 2});
  model.node("DequantizeLinear", "q s", "w", "d");
  model.attr("axis", int64_t(isTransposed)).attr("block_size", int64_t(8));
  model.node(product, "x w", "y");
  if (isTransposed)
    model.attr("transB", int64_t(1));
  return import(model);
}

/// Two elements of a row, of different columns, are in a byte of the model. The
/// signed ones from -8 to 7 become unsigned ones from 0 to 15.
TEST(DequantizedProduct, PacksColumns) {
  std::vector<int> packed = {0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7};
  EXPECT_THAT(importDequantized(u4, packed, "MatMul", false),
              AllOf(HasSubstr("[[16, 50, 84, 118]], [[152, 186, 220, 254]]"),
                    HasSubstr("dense<0> : tensor<2x1xui8>"),
                    HasSubstr("{bits = 4 : i64, block_size = 8 : i64}"),
                    Not(HasSubstr("tarpon.matmul"))));
  EXPECT_THAT(importDequantized(i4, packed, "MatMul", false),
              AllOf(HasSubstr("[[152, 186, 220, 254]], [[16, 50, 84, 118]]"),
                    Not(HasSubstr("tensor<2x1xui8>"))));
}

TEST(DequantizedProduct, ReadsTransposedBytes) {
  std::vector<int> bytes;
  for (int i = 0; i < 16; ++i)
    bytes.push_back(i);
  EXPECT_THAT(importDequantized(i8, bytes, "Gemm", true),
              AllOf(HasSubstr("[[128, 129, 130, 131, 132, 133, 134, 135]], "
                              "[[136, 137, 138, 139, 140, 141, 142, 143]]"),
                    HasSubstr("dense<[[5.000000e-01], [2.000000e+00]]>"),
                    HasSubstr("{bits = 8 : i64, block_size = 8 : i64}")));
}

/// Blocks along the columns, and a left-hand side that is dequantised.
TEST(DequantizedProduct, LeavesOthersAlone) {
  auto importOther = [](std::vector<int64_t> scales, int64_t axis,
                        std::vector<int64_t> other, const char *inputs) {
    TestModel model(21);
    model.input("x", std::move(other));
    model.bytes("q", {8, 2}, u8, std::vector<int>(16, 1));
    size_t count = scales[0] * scales[1];
    model.floats("s", std::move(scales), std::vector<float>(count, 0.5f));
    model.node("DequantizeLinear", "q s", "w", "d");
    model.attr("axis", axis).attr("block_size", int64_t(8));
    model.node("MatMul", inputs, "y");
    return import(model);
  };
  auto isPlain = AllOf(HasSubstr("tarpon.matmul"), Not(HasSubstr("block_")));
  EXPECT_THAT(importOther({8, 1}, 1, {3, 8}, "x w"), isPlain);
  EXPECT_THAT(importOther({1, 2}, 0, {2, 3}, "w x"), isPlain);
  EXPECT_THAT(importOther({1, 2}, 0, {3, 8}, "x w"),
              HasSubstr("tarpon.block_matmul"));
}

} // namespace
