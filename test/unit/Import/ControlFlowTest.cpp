//===- ControlFlowTest.cpp - Imported sub-graphs --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

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

std::string importError(TestModel &model) { return model.output("y").error(); }

TestModel &scalar(TestModel &model, const std::string &name, int type,
                  int64_t value) {
  onnx::TensorProto &tensor = *model.getGraph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  if (type == kInt64)
    tensor.add_int64_data(value);
  else
    tensor.add_int32_data(static_cast<int32_t>(value));
  return model;
}

/// A tensor whose first element is `value`, in little endian.
runtime::HostTensor makeNumber(runtime::DType dtype, std::vector<int64_t> shape,
                               int8_t value) {
  auto tensor = runtime::HostTensor::create(dtype, std::move(shape));
  EXPECT_TRUE(tensor);
  std::memcpy(tensor->data.data(), &value, sizeof(value));
  return std::move(*tensor);
}

/// The number of times that `part` is in `text`.
size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// If with the condition c, whose branches apply operators to x.
TestModel &addIf(TestModel &model, const char *whenTrue,
                 const char *whenFalse) {
  model.node("If", "c", "y");
  for (auto [name, op] :
       {std::pair("then_branch", whenTrue), {"else_branch", whenFalse}}) {
    TestModel branch;
    branch.node(op, "x", "b", "").output("b");
    model.attr(name, branch.getGraph());
  }
  return model;
}

TEST(If, ImportsOnlyTheBranchThatIsTaken) {
  for (bool isTrue : {true, false}) {
    TestModel model;
    scalar(model.input("x", {2}), "c", kBool, isTrue);
    std::string ir = importModel(isTrue ? addIf(model, "Relu", "Frobnicate")
                                        : addIf(model, "Frobnicate", "Exp"));
    EXPECT_THAT(ir, HasSubstr(isTrue ? "tarpon.relu" : "tarpon.exp"));
  }
}

TEST(If, ComputesBothBranchesOfARunTimeCondition) {
  TestModel model;
  addIf(model.input("x", {2}).input("c", {1}, kBool), "Relu", "Exp");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.relu"), HasSubstr("tarpon.exp"),
                    HasSubstr("tarpon.where")));
}

/// Values of one shape are selected at run time; others need the condition.
TEST(If, BranchesOfTwoTypesNeedTheCondition) {
  TestModel model;
  model.input("x", {2, 3}).input("c", {}, kBool);
  addIf(model, "Relu", "Size").output("y");
  EXPECT_EQ(model.error(),
            "If node 'n' in MODEL: the branches give 'tensor<2x3xf32>' and "
            "'tensor<i64>', and the condition 'c' is not a constant\n");
  runtime::HostTensor truth = makeNumber(runtime::DType::Bool, {}, 1);
  ImportOptions options;
  options.assumedInputs["c"] = &truth;
  Imported result = model.import(options);
  EXPECT_THAT(result.ir, HasSubstr("tarpon.relu"));
  EXPECT_THAT(result.info.assumedInputs, testing::ElementsAre("c"));
}

TEST(If, Errors) {
  TestModel kind;
  addIf(kind.input("x", {2}).input("c", {2}, kBool), "Relu", "Exp");
  EXPECT_EQ(importError(kind), "If node 'n' in MODEL: the condition is "
                               "'tensor<2xi1>', expected one bool\n");
  TestModel missing;
  missing.input("c", {}, kBool).node("If", "c", "y");
  EXPECT_EQ(importError(missing),
            "If node 'n' in MODEL: attribute 'then_branch' is missing\n");
  // Nodes without names are counted in their sub-graph.
  TestModel unknown;
  addIf(unknown.input("x", {2}).input("c", {}, kBool), "Frobnicate", "Exp");
  EXPECT_EQ(importError(unknown), "Frobnicate node 'n/Frobnicate_0' in MODEL: "
                                  "the operator is not supported\n");
  TestModel undefined;
  addIf(undefined.input("c", {}, kBool), "Relu", "Exp");
  EXPECT_EQ(importError(undefined),
            "Relu node 'n/Relu_0' in MODEL: input 'x' is not defined by any "
            "node, graph input or initialiser\n");
}

/// A name of a branch hides that of the graph around it, and no longer.
TEST(If, BranchesHaveNamesOfTheirOwn) {
  TestModel model;
  scalar(model.input("x", {2}), "c", kBool, 1);
  model.floats("w", {2}, {1, 2}).node("Add", "x w", "b");
  TestModel branch;
  branch.floats("w", {2}, {3, 4}).node("Mul", "b w", "t").output("t");
  model.node("If", "c", "d").attr("then_branch", branch.getGraph());
  model.attr("else_branch", branch.getGraph());
  model.node("Sub", "d w", "y");
  std::string ir = importModel(model);
  EXPECT_EQ(count(ir, "dense<[1.000000e+00, 2.000000e+00]>"), 1u);
  EXPECT_EQ(count(ir, "dense<[3.000000e+00, 4.000000e+00]>"), 1u);
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// A body that adds its state `a` and x, and gives the sum as state and for a
/// stack; the condition that it computes is that `op` of the iteration and `m`
/// is true.
onnx::GraphProto makeBody(const char *op = nullptr, int64_t m = 0) {
  TestModel body;
  body.input("i", {}, kInt64).input("go", {}, kBool).input("a", {2});
  if (op)
    scalar(body, "m", kInt64, m).node(op, "i m", "next");
  else
    body.node("Identity", "go", "next");
  body.node("Add", "a x", "sum", "add").node("Identity", "sum", "each");
  return body.output("next").output("sum").output("each").getGraph();
}

TEST(Loop, IsUnrolled) {
  TestModel model;
  scalar(model.input("x", {2}), "n", kInt64, 3);
  model.node("Loop", "n - x", "last y").attr("body", makeBody());
  std::string ir = importModel(model.output("last"));
  EXPECT_EQ(count(ir, "tarpon.add"), 3u);
  EXPECT_THAT(
      ir, AllOf(HasSubstr("tarpon.concat"), HasSubstr("-> tensor<3x2xf32>")));
}

TEST(Loop, EndsByItsCondition) {
  TestModel model;
  scalar(scalar(model.input("x", {2}), "n", kInt64, 100), "c", kBool, 1);
  model.node("Loop", "n c x", "y -").attr("body", makeBody("Less", 4));
  EXPECT_EQ(count(importModel(model), "tarpon.add"), 5u);
  // Without one, the body's does not count.
  TestModel counted;
  scalar(counted.input("x", {2}), "n", kInt64, 7);
  counted.node("Loop", "n - x", "y -").attr("body", makeBody("Less", 4));
  EXPECT_EQ(count(importModel(counted), "tarpon.add"), 7u);
}

TEST(Loop, ThatDoesNotRunGivesItsInputs) {
  TestModel model;
  scalar(model.input("x", {2}), "n", kInt64, 0);
  model.node("Loop", "n - x", "y s").attr("body", makeBody());
  EXPECT_THAT(importModel(model), Not(HasSubstr("tarpon.add")));
  TestModel stack;
  scalar(stack.input("x", {2}), "n", kInt64, 0);
  stack.node("Loop", "n - x", "s y").attr("body", makeBody());
  EXPECT_EQ(importError(stack),
            "Loop node 'n' in MODEL: the loop does not run, and output 'each' "
            "of its body has no known shape\n");
}

/// Constants of a body are those of all iterations.
TEST(Loop, SharesConstants) {
  TestModel body;
  body.getGraph() = makeBody();
  body.floats("x", {2}, {5, 7});
  TestModel model;
  scalar(model.input("v", {2}), "n", kInt64, 3);
  model.node("Loop", "n - v", "y -").attr("body", body.getGraph());
  std::string ir = importModel(model);
  EXPECT_EQ(count(ir, "tarpon.add"), 3u);
  EXPECT_EQ(count(ir, "tarpon.constant"), 1u);
}

TEST(Loop, Errors) {
  auto loopError = [](TestModel &model, const onnx::GraphProto &body) {
    model.node("Loop", "n c x", "y s").attr("body", body);
    return importError(model);
  };
  TestModel trips;
  scalar(trips.input("x", {2}).input("n", {}, kInt64), "c", kBool, 1);
  EXPECT_EQ(loopError(trips, makeBody()),
            "Loop node 'n' in MODEL: the trip count 'n' is not a constant\n");
  TestModel condition;
  scalar(condition.input("x", {2}).input("c", {}, kBool), "n", kInt64, 2);
  EXPECT_EQ(loopError(condition, makeBody()),
            "Loop node 'n' in MODEL: the condition 'c' is not a constant\n");
  TestModel later;
  scalar(scalar(later.input("x", {2}).input("m", {}, kInt64), "n", kInt64, 2),
         "c", kBool, 1);
  onnx::GraphProto body = makeBody("Less", 4);
  body.clear_initializer();
  EXPECT_EQ(loopError(later, body),
            "Loop node 'n' in MODEL: the condition that iteration 0 computes "
            "is not known while compiling\n");
  TestModel endless;
  scalar(scalar(endless.input("x", {2}), "n", kInt64, int64_t(1) << 62), "c",
         kBool, 1);
  EXPECT_EQ(loopError(endless, makeBody()),
            "Loop node 'n' in MODEL: the sub-graphs make more than 16384 nodes "
            "when loops are unrolled\n");
  TestModel inputs;
  scalar(scalar(inputs.input("x", {2}), "n", kInt64, 2), "c", kBool, 1);
  onnx::GraphProto wide = makeBody();
  wide.add_input()->set_name("b");
  EXPECT_EQ(loopError(inputs, wide),
            "Loop node 'n' in MODEL: the sub-graph 'g' has 4 inputs, expected "
            "3\n");
  TestModel stacks;
  scalar(scalar(stacks.input("x", {2}), "n", kInt64, 3), "c", kBool, 1);
  TestModel growing;
  growing.input("i", {}, kInt64).input("go", {}, kBool).input("a", {2});
  growing.node("Concat", "a x", "sum").attr("axis", 0);
  growing.output("go").output("sum").output("sum");
  stacks.output("s");
  EXPECT_EQ(loopError(stacks, growing.getGraph()),
            "Loop node 'n' in MODEL: iterations give both 'tensor<4xf32>' and "
            "'tensor<6xf32>'\n");
}

//===----------------------------------------------------------------------===//
// Loops over sizes that depend on data
//===----------------------------------------------------------------------===//

/// Adds the number n of the elements of four that are not 0.
TestModel &addCount(TestModel &model) {
  model.input("x", {2}).input("w", {4});
  return model.node("NonZero", "w", "places").node("Size", "places", "n");
}

/// Each iteration computes as if it took place; the results are selected.
TEST(Loop, RunsAsOftenAsASizeSays) {
  TestModel model;
  addCount(model).node("Loop", "n - x", "last y").attr("body", makeBody());
  std::string ir = importModel(model);
  EXPECT_EQ(count(ir, "tarpon.add"), 4u);
  EXPECT_THAT(ir,
              AllOf(HasSubstr("tensor<4x2xf32>, tensor<1xi64>)"),
                    HasSubstr("tarpon.output_sizes = array<i64: 0, 0, 1>")));
  TestModel last;
  addCount(last).node("Loop", "n - x", "y -").attr("body", makeBody());
  EXPECT_EQ(count(importModel(last), "tarpon.where"), 4u);
}

/// Iterations that take place in any case need no selection.
TEST(Loop, SelectsWhatMayNotTakePlace) {
  TestModel model;
  addCount(model);
  scalar(model, "two", kInt64, 2).node("Add", "n two", "more");
  model.node("Loop", "more - x", "y -").attr("body", makeBody());
  EXPECT_EQ(count(importModel(model), "tarpon.where"), 4u);
  TestModel fewer;
  addCount(fewer);
  scalar(fewer, "two", kInt64, 2).node("Sub", "n two", "less");
  fewer.node("Loop", "less - x", "y -").attr("body", makeBody());
  EXPECT_EQ(count(importModel(fewer), "tarpon.add"), 2u);
}

/// A condition that the body computes ends the loop, too.
TEST(Loop, EndsBeforeItsSize) {
  TestModel model;
  scalar(addCount(model), "c", kBool, 1);
  model.node("Loop", "n c x", "- y").attr("body", makeBody("Less", 1));
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("tarpon.min"), HasSubstr("tensor<2x2xf32>")));
}

/// Values that grow are joined once, and have the size that they grow to.
TEST(Loop, AppendsAsOftenAsASizeSays) {
  TestModel body;
  body.input("i", {}, kInt64).input("go", {}, kBool).input("a", {2, 2});
  body.node("Unsqueeze", "x first", "row").node("Concat", "a row row", "sum");
  body.attr("axis", 0).output("go").output("sum");
  TestModel model;
  addCount(model).ints("first", {0}).input("s", {2, 2});
  model.node("Loop", "n - s", "y").attr("body", body.getGraph());
  // A part that is not alone is not found.
  EXPECT_THAT(importModel(model), HasSubstr("tensor<10x2xf32>"));
  onnx::GraphProto &graph = body.getGraph();
  graph.mutable_node(1)->mutable_input()->RemoveLast();
  TestModel single;
  addCount(single).ints("first", {0}).input("s", {2, 2});
  single.node("Loop", "n - s", "y").attr("body", graph);
  std::string ir = importModel(single);
  EXPECT_EQ(count(ir, "tarpon.where"), 0u);
  EXPECT_EQ(count(ir, "tarpon.concat"), 1u);
  EXPECT_THAT(ir, HasSubstr("tensor<6x2xf32>"));
}

TEST(Loop, ErrorsOfSizes) {
  auto error = [](const char *op, const char *inputs) {
    TestModel body;
    body.input("i", {}, kInt64).input("go", {}, kBool).input("a", {2});
    body.node(op, inputs, "b", "");
    body.output("go").output("b").output("b");
    TestModel model;
    addCount(model).ints("first", {0});
    model.node("Loop", "n - x", "y s").attr("body", body.getGraph());
    return importError(model.output("s"));
  };
  EXPECT_EQ(error("Flatten", "a"),
            "Loop node 'n' in MODEL: iterations give both 'tensor<2xf32>' and "
            "'tensor<2x1xf32>', and their number depends on data\n");
  EXPECT_EQ(error("NonZero", "a"),
            "Loop node 'n' in MODEL: iterations give both 'tensor<2xf32>' and "
            "'tensor<1x2xi64>', and their number depends on data\n");
  TestModel body;
  body.input("i", {}, kInt64).input("go", {}, kBool).input("a", {2});
  body.node("NonZero", "a", "b", "").output("go").output("a").output("b");
  TestModel model;
  addCount(model).node("Loop", "n - x", "s y").attr("body", body.getGraph());
  EXPECT_EQ(importError(model), "Loop node 'n' in MODEL: iterations give "
                                "values whose size depends on data\n");
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// A body that adds its state and one item.
onnx::GraphProto makeScanBody() {
  TestModel body;
  body.input("a", {2}).input("item", {2}).node("Add", "a item", "sum", "add");
  body.node("Identity", "sum", "each").output("sum").output("each");
  return body.getGraph();
}

TEST(Scan, TakesAxesAndDirections) {
  TestModel model(11);
  model.input("a", {2}).input("x", {2, 3}).node("Scan", "a x", "- y");
  model.attr("num_scan_inputs", 1).attr("body", makeScanBody());
  model.list("scan_input_axes", {-1}).list("scan_input_directions", {1});
  model.list("scan_output_axes", {1}).list("scan_output_directions", {1});
  std::string ir = importModel(model);
  EXPECT_EQ(count(ir, "tarpon.add"), 3u);
  // The last item is the first.
  EXPECT_LT(ir.find("array<i64: 0, -2, 0, 0>"),
            ir.find("array<i64: 0, 0, 0, -2>"));
  EXPECT_THAT(ir, HasSubstr("-> tensor<2x3xf32>"));
}

TEST(Scan, OfOpset8HasABatch) {
  TestModel model(8);
  model.input("a", {4, 2}).input("x", {4, 3, 2}).node("Scan", "- a x", "- y");
  model.attr("num_scan_inputs", 1).attr("body", makeScanBody());
  std::string ir = importModel(model);
  EXPECT_EQ(count(ir, "tarpon.add"), 12u);
  EXPECT_THAT(ir, HasSubstr("-> tensor<4x3x2xf32>"));
}

TEST(Scan, Errors) {
  auto scanError = [](auto set, std::vector<int64_t> shape = {3, 2}) {
    TestModel model(11);
    model.input("a", {2}).input("x", shape).node("Scan", "a x", "- y");
    model.attr("body", makeScanBody());
    set(model);
    return importError(model);
  };
  EXPECT_EQ(scanError([](TestModel &m) { m.attr("num_scan_inputs", 3); }),
            "Scan node 'n' in MODEL: attribute 'num_scan_inputs' is 3, but "
            "there are 2 inputs\n");
  EXPECT_EQ(
      scanError([](TestModel &m) {
        m.attr("num_scan_inputs", 1).list("scan_input_axes", {0, 1});
      }),
      "Scan node 'n' in MODEL: attribute 'scan_input_axes' has 2 entries, "
      "expected 1\n");
  EXPECT_EQ(scanError([](TestModel &m) {
              m.attr("num_scan_inputs", 1).list("scan_input_directions", {2});
            }),
            "Scan node 'n' in MODEL: a direction is 2, expected 0 or 1\n");
  EXPECT_EQ(scanError([](TestModel &m) {
              m.attr("num_scan_inputs", 1).list("scan_input_axes", {2});
            }),
            "Scan node 'n' in MODEL: axis 2 is out of range for rank 2\n");
  EXPECT_EQ(
      scanError([](TestModel &m) { m.attr("num_scan_inputs", 1); }, {0, 2}),
      "Scan node 'n' in MODEL: the scanned inputs have the lengths 0 and "
      "0, expected one length above 0\n");
  EXPECT_EQ(scanError([](TestModel &m) { m.attr("num_scan_inputs", 2); }),
            "Scan node 'n' in MODEL: the scanned inputs have the lengths 2 and "
            "3, expected one length above 0\n");
  EXPECT_EQ(scanError([](TestModel &m) {
              m.attr("num_scan_inputs", 1);
              m.getGraph().mutable_node(0)->add_output("z");
            }),
            "Scan node 'n' in MODEL: the sub-graph has 2 outputs, but the node "
            "has 3\n");
  TestModel lengths(8);
  lengths.input("l", {4}, kInt64).input("a", {4, 2}).input("x", {4, 3, 2});
  lengths.node("Scan", "l a x", "- y").attr("num_scan_inputs", 1);
  lengths.attr("body", makeScanBody());
  EXPECT_EQ(importError(lengths),
            "Scan node 'n' in MODEL: sequences of several "
            "lengths are not supported\n");
  TestModel batches(8);
  batches.input("a", {3, 2}).input("x", {4, 3, 2});
  batches.node("Scan", "- a x", "- y").attr("num_scan_inputs", 1);
  batches.attr("body", makeScanBody());
  EXPECT_EQ(
      importError(batches),
      "Scan node 'n' in MODEL: an input is 'tensor<3x2xf32>', whose batch "
      "is not that of the others\n");
}

//===----------------------------------------------------------------------===//
// Optionals, and values that are computed while compiling
//===----------------------------------------------------------------------===//

TEST(Optional, IsItsElement) {
  TestModel model(18);
  model.input("x", {2}).node("Optional", "x", "o");
  model.node("OptionalHasElement", "o", "h").output("h");
  model.node("OptionalGetElement", "o", "g").node("Relu", "g", "y");
  EXPECT_THAT(importModel(model),
              AllOf(HasSubstr("dense<true>"), HasSubstr("tarpon.relu")));
  TestModel none(18);
  none.node("OptionalHasElement", "-", "y");
  EXPECT_THAT(importModel(none), HasSubstr("dense<false>"));
}

/// A loop that doubles an assumed number asks for it in each iteration, which
/// takes exponential time unless what is known is kept.
TEST(Loop, EvaluatesAssumedValuesOnce) {
  TestModel body;
  body.input("i", {}, kInt64).input("go", {}, kBool).input("a", {1}, kInt64);
  body.node("Add", "a a", "b").node("Sub", "b a", "c");
  body.node("Reshape", "x c", "d").output("go").output("c").output("d");
  TestModel model;
  scalar(model.input("x", {4}).input("v", {1}, kInt64), "n", kInt64, 200);
  model.node("Loop", "n - v", "- y").attr("body", body.getGraph());
  runtime::HostTensor start = makeNumber(runtime::DType::I64, {1}, 4);
  ImportOptions options;
  options.assumedInputs["v"] = &start;
  Imported result = model.output("y").import(options);
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_THAT(result.ir, HasSubstr("-> tensor<200x4xf32>"));
}

TEST(Concat, EmptyValuesAddNothing) {
  TestModel model;
  model.input("x", {2, 3}).input("e", {2, 0});
  model.node("Concat", "e x e x", "y").attr("axis", 1);
  EXPECT_THAT(importModel(model), AllOf(HasSubstr("-> tensor<2x6xf32>"),
                                        Not(HasSubstr("(tensor<2x0xf32>, "))));
  TestModel other;
  other.input("x", {2, 3}).input("e", {3, 0});
  other.node("Concat", "x e", "y").attr("axis", 1);
  EXPECT_THAT(importError(other), HasSubstr("Concat node 'n' in MODEL: "));
}

} // namespace
