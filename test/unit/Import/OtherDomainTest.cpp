//===- OtherDomainTest.cpp - Operators that are not of the default domain -===//
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

constexpr int kInt64 = onnx::TensorProto::INT64;

/// The module of a model whose output is y, or the error.
std::string import(TestModel &model) {
  Imported result = model.output("y").import();
  EXPECT_NE(result.ir.empty(), result.diagnostics.empty());
  return result.ir + result.diagnostics;
}

/// Puts the only node of a model into a domain, beside which it imports none.
TestModel &setDomain(TestModel &model, const char *domain) {
  model.getGraph().mutable_node(0)->set_domain(domain);
  model.getProto().mutable_opset_import(0)->set_domain(domain);
  model.getProto().mutable_opset_import(0)->set_version(1);
  return model;
}

//===----------------------------------------------------------------------===//
// FlexAttention
//===----------------------------------------------------------------------===//

/// Attention with 4 heads of queries and 2 of keys, and a sub-graph that
/// applies `op` to the scores.
std::string importFlex(const char *op,
                       std::vector<int64_t> query = {1, 4, 3, 8}) {
  TestModel model(26);
  model.input("q", std::move(query)).input("k", {1, 2, 5, 8});
  model.input("v", {1, 2, 5, 6}).node("FlexAttention", "q k v", "y");
  TestModel body;
  body.input("s", {1, 4, 3, 5}).node(op, "s", "t").output("t");
  model.attr("score_mod", body.getGraph());
  model.getGraph().mutable_node(0)->set_domain("ai.onnx.preview");
  return import(model);
}

TEST(FlexAttention, AppliesItsModifier) {
  EXPECT_THAT(importFlex("Tanh"),
              AllOf(HasSubstr("tensor<1x2x6x8xf32>, tensor<1x2x5x8xf32>"),
                    HasSubstr("tarpon.tanh"), HasSubstr("tarpon.softmax"),
                    HasSubstr("-> tensor<1x4x3x6xf32>")));
}

TEST(FlexAttention, Errors) {
  EXPECT_THAT(
      importFlex("Size"),
      HasSubstr("FlexAttention node 'n' in MODEL: attribute 'score_mod' "
                "does not give one value of type "
                "'tensor<1x4x3x5xf32>'"));
  EXPECT_THAT(importFlex("Tanh", {1, 3, 3, 8}),
              HasSubstr("do not fit each other"));
  TestModel precision(26);
  precision.input("q", {1, 2, 3, 8}).node("FlexAttention", "q q q", "y");
  precision.attr("softmax_precision", 7);
  precision.getGraph().mutable_node(0)->set_domain("ai.onnx.preview");
  EXPECT_THAT(
      import(precision),
      HasSubstr("attribute 'softmax_precision' is 7 (INT64), expected a "
                "float type"));
}

//===----------------------------------------------------------------------===//
// Optimisers
//===----------------------------------------------------------------------===//

/// A step with two tensors of weights.
std::string importStep(const char *op, const std::string &inputs,
                       const std::string &outputs) {
  TestModel model(13);
  model.input("r", {}).input("t", {}, kInt64);
  for (const char *name : {"x0", "g0", "v0", "h0"})
    model.input(name, {2});
  for (const char *name : {"x1", "g1", "v1", "h1"})
    model.input(name, {3});
  model.node(op, inputs, outputs);
  if (std::string(op) == "Momentum")
    model.attr("mode", "nesterov");
  model.output("a");
  return import(setDomain(model, "ai.onnx.preview.training"));
}

TEST(Optimisers, UpdateAllWeights) {
  EXPECT_THAT(importStep("Adagrad", "r t x0 x1 g0 g1 h0 h1", "y a b c"),
              AllOf(HasSubstr("tarpon.sqrt"),
                    HasSubstr("tensor<3xf32>) -> tensor<3xf32>")));
  EXPECT_THAT(importStep("Adam", "r t x0 x1 g0 g1 v0 v1 h0 h1", "y a b c d e"),
              AllOf(HasSubstr("tarpon.pow"), HasSubstr("tarpon.where")));
  EXPECT_THAT(importStep("Momentum", "r t x0 g0 v0", "y a"),
              AllOf(HasSubstr("tarpon.where"), Not(HasSubstr("tarpon.sqrt"))));
}

TEST(Optimisers, Errors) {
  EXPECT_THAT(importStep("Adagrad", "r t x0 x1 g0 g1", "y a"),
              HasSubstr("has 6 inputs and 2 outputs, which are not those of 3 "
                        "lists"));
  EXPECT_THAT(importStep("Adagrad", "r t x0 g1 h0", "y a"),
              HasSubstr("input 3 is 'tensor<3xf32>', expected the type of its "
                        "weights"));
  EXPECT_THAT(importStep("Adagrad", "x0 t x0 g0 h0", "y a"),
              HasSubstr("input 0 is 'tensor<2xf32>', expected one number"));
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

TEST(Features, AreSelectedAndCompared) {
  TestModel select;
  select.input("x", {3, 4}).input("i", {2}, kInt64);
  select.node("ArrayFeatureExtractor", "x i", "y");
  EXPECT_THAT(
      import(setDomain(select, "ai.onnx.ml")),
      AllOf(HasSubstr("tarpon.gather"), HasSubstr("-> tensor<3x2xf32>")));
  TestModel compare;
  compare.input("x", {3}).node("Binarizer", "x", "y").attr("threshold", 2.0f);
  EXPECT_THAT(import(setDomain(compare, "ai.onnx.ml")),
              HasSubstr("tarpon.less"));
  TestModel integers;
  integers.input("x", {3}, kInt64).node("Binarizer", "x", "y");
  EXPECT_THAT(import(setDomain(integers, "ai.onnx.ml")),
              HasSubstr("the input is not of floats"));
  TestModel floats;
  floats.input("x", {3, 4}).node("ArrayFeatureExtractor", "x x", "y");
  EXPECT_THAT(import(setDomain(floats, "ai.onnx.ml")),
              HasSubstr("cannot select 'tensor<3x4xf32>' of "
                        "'tensor<3x4xf32>'"));
}

/// Counts 1-grams 5 and 6, and the 2-gram 5 6.
std::string importTfIdf(const char *mode, std::vector<int64_t> columns,
                        std::vector<int64_t> starts = {0, 2}) {
  TestModel model;
  model.input("x", {2, 7}, kInt64).node("TfIdfVectorizer", "x", "y");
  model.list("pool_int64s", {5, 6, 5, 6}).list("ngram_counts", starts);
  model.list("ngram_indexes", columns).attr("mode", mode);
  model.attr("min_gram_length", 1).attr("max_gram_length", 2);
  model.attr("max_skip_count", 1);
  onnx::AttributeProto &weights =
      *model.getGraph().mutable_node(0)->add_attribute();
  weights.set_name("weights");
  weights.set_type(onnx::AttributeProto::FLOATS);
  for (float weight : {1.0f, 2.0f, 3.0f})
    weights.add_floats(weight);
  return import(model);
}

TEST(TfIdf, CountsWithGaps) {
  EXPECT_THAT(importTfIdf("TF", {2, 0, 4}),
              AllOf(HasSubstr("tensor<2x1x6xi64>"), HasSubstr("2x1x5xi64"),
                    HasSubstr("-> tensor<2x5xf32>"),
                    Not(HasSubstr("3.000000e+00]"))));
  EXPECT_THAT(importTfIdf("IDF", {0, 1, 2}),
              AllOf(HasSubstr("tarpon.less"), HasSubstr("3.000000e+00]")));
}

TEST(TfIdf, Errors) {
  EXPECT_THAT(importTfIdf("TFIDF", {2, 0, 4}),
              HasSubstr("weights are supported only where ngram_indexes counts "
                        "from 0"));
  EXPECT_THAT(importTfIdf("BM25", {0, 1, 2}),
              HasSubstr("attribute 'mode' is 'BM25', expected TF, IDF or "
                        "TFIDF"));
  EXPECT_THAT(importTfIdf("TF", {0, 1, 2}, {0, 3}),
              HasSubstr("the attributes pool_int64s, ngram_counts and "
                        "ngram_indexes do not fit each other"));
  EXPECT_THAT(importTfIdf("TF", {0, 1, -2}),
              HasSubstr("the index -2 is out of range"));
}

} // namespace
