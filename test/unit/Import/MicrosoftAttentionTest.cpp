//===- MicrosoftAttentionTest.cpp - Import of ONNX Runtime's attentions ---===//
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

#include <functional>
#include <map>

using namespace tarpon;
using namespace tarpon::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT, i32 = onnx::TensorProto::INT32,
              i64 = onnx::TensorProto::INT64;

struct Shape {
  std::vector<int64_t> sizes;
  int type = kFloat;
};

/// The inputs of a node in order; an empty type leaves one out.
using Inputs = std::vector<std::optional<Shape>>;

/// Imports a node of com.microsoft whose inputs are x0, x1 and so on; `edit`
/// adds attributes. Returns the module or the error.
std::string importNode(const std::string &op, const Inputs &inputs,
                       const std::function<void(TestModel &)> &edit) {
  TestModel model(17);
  std::string names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = "x" + std::to_string(i);
    names += (inputs[i] ? name : "-") + " ";
    if (inputs[i])
      model.input(name, inputs[i]->sizes, inputs[i]->type);
  }
  model.node(op, names, "y k v");
  edit(model);
  model.getGraph().mutable_node(0)->set_domain("com.microsoft");
  onnx::OperatorSetIdProto &opset = *model.getProto().add_opset_import();
  opset.set_domain("com.microsoft");
  opset.set_version(1);
  Imported result = model.output("y").import();
  EXPECT_NE(result.ir.empty(), result.diagnostics.empty());
  return result.ir + result.diagnostics;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Attention of two heads with 4 channels, with other inputs in some places.
std::string importAttention(const std::map<unsigned, Shape> &others,
                            const char *attribute = "unidirectional",
                            int value = 0) {
  Inputs inputs = {Shape{{2, 3, 5}}, Shape{{5, 24}}};
  inputs.resize(7);
  for (const auto &[index, shape] : others)
    inputs[index] = shape;
  return importNode("Attention", inputs, [&](TestModel &model) {
    model.attr("num_heads", 2).attr(attribute, value);
  });
}

TEST(MicrosoftAttention, Errors) {
  EXPECT_THAT(importAttention({{6, {{}, i32}}}),
              HasSubstr("the input past_sequence_length is not supported"));
  EXPECT_THAT(importAttention({}, "do_rotary", 1),
              HasSubstr("attribute 'do_rotary' is 1, expected 0"));
  EXPECT_THAT(importAttention({}, "past_present_share_buffer", 1),
              HasSubstr("attribute 'past_present_share_buffer' is 1, expected "
                        "0"));
  EXPECT_THAT(importAttention({{0, {{2, 5}}}}),
              HasSubstr("expects an input of rank 3 and weights of rank 2, got "
                        "'tensor<2x5xf32>' and 'tensor<5x24xf32>'"));
  EXPECT_THAT(importAttention({{1, {{5, 25}}}}),
              HasSubstr("the 25 columns of the weights are not those of "
                        "queries, keys and values"));
  EXPECT_THAT(importAttention({{1, {{5, 27}}}}),
              HasSubstr("attribute 'num_heads' is 2, which does not divide the "
                        "9 channels"));
  EXPECT_THAT(importAttention({{3, {{8}, i32}}}),
              HasSubstr("the mask 'tensor<8xi32>' of 2 batches, 3 queries and "
                        "3 keys is not supported"));
  EXPECT_THAT(importAttention({{4, {{2, 2, 7, 4}}}}),
              HasSubstr("the past 'tensor<2x2x7x4xf32>' is not of keys and "
                        "values"));
  EXPECT_THAT(importAttention({{5, {{1, 2, 3, 4}}}}),
              HasSubstr("the attention_bias 'tensor<1x2x3x4xf32>' of 3 queries "
                        "and 3 keys is not supported"));
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

std::string importMultiHead(const std::map<unsigned, Shape> &others,
                            std::initializer_list<unsigned> missing = {}) {
  Inputs inputs = {Shape{{2, 3, 8}}, Shape{{2, 5, 8}}, Shape{{2, 5, 8}}};
  inputs.resize(10);
  for (const auto &[index, shape] : others)
    inputs[index] = shape;
  for (unsigned index : missing)
    inputs[index].reset();
  return importNode("MultiHeadAttention", inputs,
                    [](TestModel &model) { model.attr("num_heads", 2); });
}

TEST(MultiHeadAttention, TakesPackedTensors) {
  EXPECT_THAT(importMultiHead({{0, {{2, 3, 2, 3, 4}}}}, {1, 2}),
              HasSubstr("-> tensor<2x3x8xf32>"));
  EXPECT_THAT(importMultiHead({{1, {{2, 5, 2, 2, 4}}}}, {2}),
              HasSubstr("-> tensor<2x3x8xf32>"));
}

TEST(MultiHeadAttention, Errors) {
  EXPECT_THAT(importMultiHead({{8, {{1}, i32}}}),
              HasSubstr("the input past_sequence_length is not supported"));
  EXPECT_THAT(importMultiHead({{9, {{2, 1, 9}, i32}}}),
              HasSubstr("the input cache_indirection is not supported"));
  EXPECT_THAT(importMultiHead({{6, {{2, 2, 4, 4}}}}),
              HasSubstr("only one of past_key and past_value is there"));
  EXPECT_THAT(importMultiHead({{6, {{2, 8}}}, {7, {{2, 8}}}}),
              HasSubstr("past_key is 'tensor<2x8xf32>', expected the rank 4"));
  EXPECT_THAT(importMultiHead({}, {2}),
              HasSubstr("input 2 is missing or does not have the rank 3"));
  EXPECT_THAT(importMultiHead({{0, {{2, 3, 2, 2, 4}}}}, {1, 2}),
              HasSubstr("the packed input 'tensor<2x3x2x2x4xf32>' has 2 parts, "
                        "expected more than 2"));
  EXPECT_THAT(importMultiHead({{3, {{16}}}}),
              HasSubstr("the bias 'tensor<16xf32>' is not that of queries, "
                        "keys and values"));
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

std::string importRotary(const Shape &input, const Shape &positions,
                         const Shape &cache, const char *attribute = "scale",
                         int value = 0) {
  return importNode("RotaryEmbedding", {input, positions, cache, cache},
                    [&](TestModel &model) {
                      if (std::string(attribute) != "scale")
                        model.attr(attribute, value);
                    });
}

TEST(MicrosoftRotary, Errors) {
  const Shape x = {{2, 3, 8}}, ids = {{2, 3}, i64}, cache = {{9, 2}};
  EXPECT_THAT(importRotary(x, ids, cache), HasSubstr("tensor<2x3x2x2x2xf32>"));
  EXPECT_THAT(importRotary(x, ids, cache, "is_packed_batching", 1),
              HasSubstr("attribute 'is_packed_batching' is 1, expected 0"));
  EXPECT_THAT(importRotary(x, {{3}, i64}, cache),
              HasSubstr("the positions 'tensor<3xi64>' do not fit 2 x 3"));
  EXPECT_THAT(importRotary(x, ids, {{9}}),
              HasSubstr("the cache 'tensor<9xf32>' does not have the rank 2"));
  EXPECT_THAT(importRotary(x, ids, cache, "num_heads", 3),
              HasSubstr("the input 'tensor<2x3x8xf32>' does not have 3 heads"));
  EXPECT_THAT(importRotary(x, ids, cache, "rotary_embedding_dim", 6),
              HasSubstr("attribute 'rotary_embedding_dim' is 6, expected an "
                        "even number up to 4"));
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// A step of one position with four heads of queries and two of keys, after 6
/// positions of which `total`, a constant, counts some.
std::string importGroups(const std::map<unsigned, Shape> &others,
                         std::initializer_list<unsigned> missing = {},
                         const char *attribute = "causal", int value = 1,
                         std::optional<int64_t> total = {}) {
  Inputs inputs = {Shape{{1, 1, 16}},   Shape{{1, 1, 8}},    Shape{{1, 1, 8}},
                   Shape{{1, 2, 6, 4}}, Shape{{1, 2, 6, 4}}, Shape{{1}, i32},
                   Shape{{1}, i64}};
  inputs.resize(17);
  for (const auto &[index, shape] : others)
    inputs[index] = shape;
  for (unsigned index : missing)
    inputs[index].reset();
  return importNode("GroupQueryAttention", inputs, [&](TestModel &model) {
    model.attr("num_heads", 4).attr("kv_num_heads", 2).attr(attribute, value);
    if (total)
      model.ints("total", {*total})
          .getGraph()
          .mutable_node(0)
          ->set_input(6, "total");
    model.output("k");
  });
}

/// The total says how long the present is, not how many keys there are before
/// the new ones; without it, the present is the buffer of the past.
TEST(GroupQueryAttention, KnowsWhatItCan) {
  EXPECT_THAT(
      importGroups({}, {}, "causal", 1, 7),
      AllOf(HasSubstr("-> tensor<1x2x7x4xf32>"), HasSubstr("tarpon.gather")));
  EXPECT_THAT(importGroups({}, {}, "causal", 1, 1),
              AllOf(HasSubstr("-> tensor<1x2x6x4xf32>"),
                    Not(HasSubstr("tarpon.gather"))));
  EXPECT_THAT(importGroups({}), AllOf(HasSubstr("-> tensor<1x2x6x4xf32>"),
                                      HasSubstr("tarpon.gather")));
}

TEST(GroupQueryAttention, Errors) {
  EXPECT_THAT(importGroups({{12, {{1}}}}),
              HasSubstr("the input k_scale is not supported"));
  EXPECT_THAT(importGroups({{16, {{1}, i32}}}),
              HasSubstr("the input query_seqlens is not supported"));
  EXPECT_THAT(importGroups({}, {}, "sliding_window_cache", 1),
              HasSubstr("attribute 'sliding_window_cache' is 1, expected 0"));
  EXPECT_THAT(importGroups({}, {}, "qk_output", 1),
              HasSubstr("attribute 'qk_output' is 1, expected 0"));
  EXPECT_THAT(importGroups({}, {4}),
              HasSubstr("only one of past_key and past_value is there"));
  EXPECT_THAT(importGroups({}, {2}),
              HasSubstr("only one of key and value is there"));
  EXPECT_THAT(importGroups({}, {6}), HasSubstr("input 6 is missing"));
  EXPECT_THAT(importGroups({{0, {{1, 1, 32}}}}, {1, 2}),
              HasSubstr("-> tensor<1x1x16xf32>"));
  EXPECT_THAT(importGroups({{0, {{1, 1, 12}}}}, {1, 2}),
              HasSubstr("the packed query 'tensor<1x1x12xf32>' does not have 4 "
                        "and twice 2 heads"));
  EXPECT_THAT(importGroups({{1, {{1, 8}}}}),
              HasSubstr("input 1 is 'tensor<1x8xf32>', expected the rank 3"));
  EXPECT_THAT(importGroups({{1, {{1, 3, 8}}}, {2, {{1, 3, 8}}}}),
              HasSubstr("there are 3 keys for 1 queries, expected as many"));
  EXPECT_THAT(importGroups({{3, {{2, 6, 4}}}}),
              HasSubstr("past_key is 'tensor<2x6x4xf32>', expected the rank "
                        "4"));
  EXPECT_THAT(importGroups({{5, {{3}, i32}}}),
              HasSubstr("seqlens_k is 'tensor<3xi32>', expected 1 numbers"));
  EXPECT_THAT(importGroups({}, {}, "causal", 1, 0),
              HasSubstr("total_sequence_length is 0, expected from 1 to 7, as "
                        "there are 1 new keys"));
  EXPECT_THAT(importGroups({}, {}, "causal", 1, 8),
              HasSubstr("total_sequence_length is 8, expected from 1 to 7"));
  EXPECT_THAT(importGroups({{4, {{1, 2, 5, 4}}}}),
              HasSubstr("past_value is 'tensor<1x2x5x4xf32>', expected the "
                        "shape of past_key"));
  EXPECT_THAT(importGroups({}, {}, "do_rotary", 1),
              HasSubstr("attribute 'do_rotary' is 1, but cos_cache or "
                        "sin_cache is missing"));
  EXPECT_THAT(importGroups({{7, {{9, 4}}}, {8, {{9, 4}}}}, {}, "do_rotary", 1),
              HasSubstr("the cache 'tensor<9x4xf32>' has more angles than the "
                        "4 channels of a head"));
  EXPECT_THAT(importGroups({{10, {{1, 1, 1, 9}}}}),
              HasSubstr("the attention_bias 'tensor<1x1x1x9xf32>' of 1 queries "
                        "and 7 keys is not supported"));
  EXPECT_THAT(importGroups({}, {}, "local_window_size", 0),
              HasSubstr("attribute 'local_window_size' is 0, expected -1 or a "
                        "positive number"));
}

TEST(GroupQueryAttention, ErrorsOfPairs) {
  Inputs inputs = {Shape{{1, 1, 16}}, Shape{{1, 1, 8}}, Shape{{1, 1, 8}},
                   std::nullopt,      std::nullopt,     Shape{{1}, i32},
                   Shape{{1}, i32}};
  auto importWith = [&](const std::function<void(TestModel &)> &edit) {
    return importNode("GroupQueryAttention", inputs, [&](TestModel &model) {
      edit(model.attr("num_heads", 4).attr("kv_num_heads", 2));
    });
  };
  EXPECT_THAT(importWith([](TestModel &model) {
                model.attr("causal", 0).attr("local_window_size", 3);
              }),
              HasSubstr("attribute 'local_window_size' is 3, expected -1 where "
                        "'causal' is 0"));
  EXPECT_THAT(importWith([](TestModel &model) {
                model.attr("k_quant_type", "PER_TENSOR");
              }),
              HasSubstr("attribute 'k_quant_type' is 'PER_TENSOR', expected "
                        "NONE"));
}

} // namespace
