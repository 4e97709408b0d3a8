//===- ModelTest.cpp - Files, graphs and inputs of models -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FailingThreads.h"
#include "TestModel.h"

#include "llvm/Support/FileSystem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

TestModel &relu(TestModel &model) {
  return model.node("Relu", "x", "y").output("y");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(ModelFile, SaysWhatItWasImportedFrom) {
  TestModel model;
  relu(model.input("x", {1, 4}));
  Imported result = model.import();
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(result.info.name, "g");
  EXPECT_EQ(result.info.sha256.size(), 64u);
  EXPECT_THAT(result.info.inputs, ElementsAre("x"));
  EXPECT_THAT(result.info.outputs, ElementsAre("y"));
}

/// The digest is computed all the same.
TEST(ModelFile, IsReadWithoutThreads) {
  TestModel model;
  relu(model.input("x", {1, 4}));
  std::string digest = model.import().info.sha256;
  FailingThreads faults(0);
  Imported result = model.import();
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(result.info.sha256, digest);
  EXPECT_GT(FailingThreads::countRefused(), 0);
}

TEST(ModelFile, MissingFile) {
  EXPECT_EQ(importFile("/nowhere/m.onnx").diagnostics,
            "MODEL: cannot read the file: No such file or directory\n");
}

/// Hundred thousands of layers of one name, or without names, are an exporter's
/// doing. Work that grows by the square of their number takes half a minute.
TEST(ModelFile, ManyNodesOfOneNameAreNamedQuickly) {
  TestModel model;
  model.input("x", {1, 4});
  std::string last = "x";
  for (int i = 0; i < 20000; ++i) {
    std::string next = "y" + std::to_string(i);
    model.node("Relu", last, next, i % 2 ? "" : "n");
    last = next;
  }
  model.output(last);
  ImportOptions options;
  auto start = std::chrono::steady_clock::now();
  Imported result = model.import(options);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_LT(seconds.count(), 3);
}

TEST(ModelFile, Folder) {
  TemporaryFolder folder;
  EXPECT_EQ(importFile(folder.getPath("")).diagnostics,
            "MODEL: is a folder, not a model file\n");
}

TEST(ModelFile, EveryTruncationIsAnError) {
  TestModel model;
  relu(model.input("x", {1, 4}));
  // The graph last, as a truncation behind it would go unnoticed.
  std::string bytes = model.getProto().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    model.getFolder().write("t.onnx", bytes.substr(0, size));
    Imported result = importFile(model.getFolder().getPath("t.onnx"));
    EXPECT_EQ(result.ir, "") << size;
    EXPECT_THAT(result.diagnostics, StartsWith("MODEL: ")) << size;
  }
}

/// As protobuf has it: fields in any order, and what stands twice is merged.
TEST(ModelFile, GraphsInPiecesAreMerged) {
  TestModel whole;
  relu(whole.input("x", {1, 2}).floats("a", {2}, {1, 2}))
      .floats("b", {2}, {3, 4});
  whole.node("Add", "a b", "c").output("c");

  onnx::ModelProto first = whole.getProto(), second;
  onnx::GraphProto &nodes = *first.mutable_graph();
  onnx::GraphProto &weights = *second.mutable_graph();
  weights.mutable_initializer()->Swap(nodes.mutable_initializer());
  for (const auto &[one, other] : {std::pair{first, second}, {second, first}}) {
    whole.getFolder().write("p.onnx", one.SerializeAsString() +
                                          other.SerializeAsString());
    Imported pieces = importFile(whole.getFolder().getPath("p.onnx"));
    EXPECT_EQ(pieces.diagnostics, "");
    EXPECT_THAT(pieces.ir, HasSubstr("dense<[4.000000e+00, 6.000000e+00]>"));
  }
}

TEST(ModelFile, BrokenInitialiser) {
  TestModel model;
  relu(model.input("x", {1, 2}).floats("a", {2}, {1, 2}));
  std::string bytes = model.getProto().SerializeAsString();
  // A length-delimited field of 127 bytes where there are fewer.
  std::string name = "\x42\x01"
                     "a";
  size_t at = bytes.find(name);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = 127;
  model.getFolder().write("b.onnx", bytes);
  EXPECT_EQ(importFile(model.getFolder().getPath("b.onnx")).diagnostics,
            "MODEL: not an ONNX model: it is truncated or not a protobuf\n");
}

/// Fields of other kinds than they should be, and lengths that are none.
TEST(ModelFile, BrokenGraphFields) {
  TemporaryFolder folder;
  const std::string cases[] = {
      {"\x38\x05"},    // the graph as a number
      {"\x3b\x3c", 2}, // as a group
      {"\x3a\x85\x80\x80\x80\x10"
       "abcde"},                    // of 2^32 + 5 bytes
      {"\x3a\xff\xff\xff\xff\x07"}, // longer than the file
      {"\x02\x00", 2},              // field number 0
      {"\x3a\x03\x2a\x7f"
       "a"}, // an initialiser longer than it
  };
  for (const std::string &bytes : cases) {
    folder.write("f.onnx", bytes);
    EXPECT_THAT(importFile(folder.getPath("f.onnx")).diagnostics,
                StartsWith("MODEL: not an ONNX model: "))
        << testing::PrintToString(bytes);
  }
}

TEST(ModelFile, DigestsAreComputedOnRequest) {
  TestModel model;
  relu(model.input("x", {1, 4}));
  ImportOptions options;
  options.digest = false;
  Imported result = model.import(options);
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(result.info.name, "g");
  EXPECT_EQ(result.info.sha256, "");
}

TEST(ModelFile, Garbage) {
  TemporaryFolder folder;
  folder.write("g.onnx", "this is not a model at all");
  EXPECT_EQ(importFile(folder.getPath("g.onnx")).diagnostics,
            "MODEL: not an ONNX model: it is truncated or not a protobuf\n");
}

TEST(ModelFile, NoGraph) {
  TemporaryFolder folder;
  folder.write("g.onnx", "");
  EXPECT_EQ(importFile(folder.getPath("g.onnx")).diagnostics,
            "MODEL: not an ONNX model: it has no graph\n");
}

TEST(ModelFile, Opset) {
  TestModel newer(29);
  EXPECT_EQ(relu(newer.input("x", {1})).error(),
            "MODEL: opset 29 is not supported; expected 7 to 28\n");
  TestModel none;
  none.getProto().clear_opset_import();
  EXPECT_EQ(relu(none.input("x", {1})).error(),
            "MODEL: the model imports no opset of the default domain\n");
  TestModel old(5);
  EXPECT_EQ(relu(old.input("x", {1})).error(),
            "Relu node 'n' in MODEL: the operator is not supported in opset 5, "
            "only in 6 to 28\n");
}

TEST(ModelFile, ImportsTheCheckedInModels) {
  std::error_code error;
  std::string folder = TARPON_MODELS "/tiny";
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    if (!llvm::StringRef(it->path()).ends_with(".onnx"))
      continue;
    EXPECT_NE(importFile(it->path()).ir, "") << it->path();
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST(Graph, DanglingInput) {
  TestModel model;
  model.input("x", {1}).node("Add", "x z", "y").output("y");
  EXPECT_EQ(model.error(),
            "Add node 'n' in MODEL: input 'z' is not defined by any node, "
            "graph input or initialiser\n");
}

TEST(Graph, Cycle) {
  TestModel model;
  model.input("x", {1})
      .node("Add", "x c", "a", "first")
      .node("Relu", "a", "b", "second")
      .node("Relu", "b", "c", "third")
      .output("c");
  EXPECT_EQ(model.error(), "Add node 'first' in MODEL: input 'c' depends on "
                           "the node's own output: the graph has a cycle\n");
}

TEST(Graph, NotSorted) {
  TestModel model;
  model.input("x", {1})
      .node("Relu", "a", "y", "")
      .node("Relu", "x", "a", "late")
      .output("y");
  EXPECT_EQ(model.error(),
            "Relu node 'Relu_0' in MODEL: input 'a' is defined only later, by "
            "Relu node 'late' in MODEL; the nodes must be sorted\n");
}

TEST(Graph, DefinedTwice) {
  TestModel nodes;
  nodes.input("x", {1}).node("Relu", "x", "y").node("Relu", "x", "y", "m");
  EXPECT_EQ(nodes.output("y").error(),
            "Relu node 'm' in MODEL: output 'y' is defined twice\n");
  TestModel inputs;
  EXPECT_EQ(relu(inputs.input("x", {1}).input("x", {1})).error(),
            "MODEL: value 'x' is defined twice\n");
  TestModel tensors;
  tensors.floats("w", {1}, {1}).floats("w", {1}, {1});
  EXPECT_EQ(relu(tensors.input("x", {1})).error(),
            "MODEL: initialiser 'w' is defined twice\n");
}

TEST(Graph, Outputs) {
  TestModel none;
  EXPECT_EQ(none.input("x", {1}).error(), "MODEL: the graph has no outputs\n");
  TestModel unknown;
  EXPECT_EQ(unknown.input("x", {1}).output("z").error(),
            "MODEL: graph output 'z' is not defined by any node, graph input "
            "or initialiser\n");
  TestModel twice;
  EXPECT_EQ(twice.input("x", {1}).output("x").output("x").error(),
            "MODEL: graph output 'x' is listed twice\n");
}

TEST(Graph, OutputOfAnotherType) {
  TestModel model;
  relu(model.input("x", {1, 4}));
  auto &type = *model.getGraph().mutable_output(0)->mutable_type();
  type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  EXPECT_EQ(model.error(), "MODEL: output 'y' is 'tensor<1x4xf32>', which is "
                           "not what the model declares\n");
}

TEST(Graph, MissingNames) {
  TestModel model;
  EXPECT_EQ(model.input("", {1}).error(), "MODEL: a graph input has no name\n");
  TestModel tensor;
  EXPECT_EQ(tensor.floats("", {1}, {1}).error(),
            "MODEL: an initialiser has no name\n");
  TestModel node;
  EXPECT_EQ(node.input("x", {1}).node("", "x", "y").error(),
            "MODEL: node 'n' has no operator\n");
}

TEST(Graph, SparseInitialiser) {
  TestModel model;
  model.getGraph().add_sparse_initializer();
  EXPECT_EQ(relu(model.input("x", {1})).error(),
            "MODEL: sparse initialisers are not supported\n");
}

TEST(Graph, UnsupportedOperators) {
  TestModel unknown;
  EXPECT_EQ(unknown.input("x", {1})
                .node("Frobnicate", "x", "y", "e")
                .output("y")
                .error(),
            "Frobnicate node 'e' in MODEL: the operator is not supported\n");
  TestModel domain;
  relu(domain.input("x", {1})).getGraph().mutable_node(0)->set_domain("a.b");
  EXPECT_EQ(domain.error(), "Relu node 'n' in MODEL: the operator of domain "
                            "'a.b' is not supported\n");
}

TEST(Graph, NumberOfInputs) {
  TestModel few;
  EXPECT_EQ(few.input("x", {1}).node("Add", "x", "y").output("y").error(),
            "Add node 'n' in MODEL: has 1 inputs, expected 2 or more\n");
  TestModel many;
  EXPECT_EQ(many.input("x", {1}).node("Relu", "x x", "y").output("y").error(),
            "Relu node 'n' in MODEL: has 2 inputs, expected at most 1\n");
  TestModel missing;
  EXPECT_EQ(missing.input("x", {1}).node("Add", "x -", "y").output("y").error(),
            "Add node 'n' in MODEL: input 1 is missing\n");
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

TEST(Inputs, SymbolicBatch) {
  TestModel model;
  relu(model.input("x", {-1, 4}));
  Imported result = model.import();
  EXPECT_THAT(result.ir, HasSubstr("tensor<1x4xf32>"));
  EXPECT_EQ(result.diagnostics,
            "MODEL: input 'x' has a symbolic leading dimension, which becomes "
            "1; a batch size binds it\n");
  Imported bound = model.import({.batch = 8, .assumedInputs = {}});
  EXPECT_THAT(bound.ir, HasSubstr("tensor<8x4xf32>"));
  EXPECT_EQ(bound.diagnostics, "");
}

TEST(Inputs, TheSameSymbolIsTheSameSize) {
  TestModel model;
  relu(model.input("x", {-1, 4}).input("z", {2, -1}));
  EXPECT_THAT(model.import({.batch = 8, .assumedInputs = {}}).ir,
              HasSubstr("%arg1: tensor<2x8xf32>"));
}

TEST(Inputs, OtherSymbolicDimension) {
  TestModel model;
  EXPECT_EQ(relu(model.input("x", {1, -1})).error(),
            "MODEL: input 'x' has the unknown dimension 1 ('N'), whose size "
            "is not given\n");
}

TEST(Inputs, SizesOfSymbols) {
  TestModel model;
  relu(model.input("x", {1, -1}).input("z", {-1, 2}));
  Imported result =
      model.import({.batch = {}, .dims = {{"N", 7}}, .assumedInputs = {}});
  EXPECT_THAT(result.ir, HasSubstr("%arg0: tensor<1x7xf32>"));
  EXPECT_THAT(result.ir, HasSubstr("%arg1: tensor<7x2xf32>"));
  EXPECT_THAT(result.ir,
              HasSubstr("tarpon.input_symbols = [[\"\", \"N\"], [\"N\", "
                        "\"\"]]"));
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(model.error({.batch = {}, .dims = {{"M", 7}}, .assumedInputs = {}}),
            "MODEL: no input has a dimension called 'M', only 'N'\n");
  EXPECT_EQ(
      model.error({.batch = {}, .dims = {{"N", -1}}, .assumedInputs = {}}),
      "MODEL: the size of 'N' is -1, expected 0 or more\n");
  TestModel fixed;
  EXPECT_EQ(relu(fixed.input("x", {1}))
                .error({.batch = {}, .dims = {{"N", 7}}, .assumedInputs = {}}),
            "MODEL: no input has a dimension called 'N'\n");
}

TEST(Inputs, SumsOfSymbols) {
  TestModel model;
  relu(model.input("x", {1, -1}).input("z", {-1, 2}).input("w", {1, -1}));
  auto nameDim = [&](int input, int dim, const std::string &name) {
    model.getGraph()
        .mutable_input(input)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(dim)
        ->set_dim_param(name);
  };
  nameDim(1, 0, "N + 1+N");
  EXPECT_THAT(
      model.import({.batch = {}, .dims = {{"N", 7}}, .assumedInputs = {}}).ir,
      HasSubstr("%arg1: tensor<15x2xf32>"));
  // Numbers alone are names, and so are sums that no tensor could have.
  nameDim(0, 1, "4 + 4");
  EXPECT_THAT(
      model.error({.batch = {}, .dims = {{"N", 7}}, .assumedInputs = {}}),
      HasSubstr("the unknown dimension 1 ('4 + 4')"));
  nameDim(0, 1, "N + 9223372036854775807");
  EXPECT_THAT(
      model.error({.batch = {}, .dims = {{"N", 7}}, .assumedInputs = {}}),
      HasSubstr("the unknown dimension 1 ('N + 9223372036854775807')"));
  nameDim(0, 1, "N + M");
  EXPECT_EQ(
      model.error({.batch = {}, .dims = {{"N + 1+N", 7}}, .assumedInputs = {}}),
      "MODEL: input 'x' has the unknown dimension 1 ('N + M'), whose size is "
      "not given\n");
}

TEST(Inputs, DimensionWithoutAName) {
  TestModel model;
  relu(model.input("x", {1, -1}));
  model.getGraph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->clear_dim_param();
  EXPECT_EQ(model.error(), "MODEL: input 'x' has the unknown dimension 1, "
                           "which has no name to give its size by\n");
}

TEST(Inputs, BatchOfAFixedModel) {
  TestModel model;
  EXPECT_EQ(
      relu(model.input("x", {2, 4})).error({.batch = 8, .assumedInputs = {}}),
      "MODEL: input 'x' has the fixed leading dimension 2, so that the "
      "batch cannot be 8\n");
  EXPECT_EQ(model.error({.batch = 0, .assumedInputs = {}}),
            "MODEL: the batch is 0, expected 1 or more\n");
}

TEST(Inputs, BadTypes) {
  TestModel text;
  EXPECT_EQ(relu(text.input("x", {1}, onnx::TensorProto::STRING)).error(),
            "MODEL: input 'x' has the unsupported data type 8 (STRING)\n");
  TestModel huge;
  EXPECT_EQ(relu(huge.input("x", {int64_t(1) << 40, int64_t(1) << 40})).error(),
            "MODEL: input 'x' is too large\n");
  TestModel shapeless;
  relu(shapeless.input("x", {1}));
  auto &type = *shapeless.getGraph().mutable_input(0)->mutable_type();
  type.mutable_tensor_type()->clear_shape();
  EXPECT_EQ(shapeless.error(), "MODEL: input 'x' has no shape\n");
  type.mutable_sequence_type();
  EXPECT_EQ(shapeless.error(), "MODEL: input 'x' is not a tensor\n");
}

TEST(Inputs, InitialisersAreConstants) {
  TestModel model;
  model.input("x", {2}).input("w", {2}).floats("w", {2}, {1, 2});
  Imported result = model.node("Add", "x w", "y").output("y").import();
  EXPECT_THAT(result.info.inputs, ElementsAre("x"));
  EXPECT_THAT(result.ir, HasSubstr("dense<[1.000000e+00, 2.000000e+00]>"));
}

TEST(Inputs, AssumedValues) {
  TestModel model;
  model.input("x", {2, 3}).input("s", {1}, onnx::TensorProto::INT64);
  model.node("Reshape", "x s", "y").output("y");
  EXPECT_EQ(model.error(),
            "Reshape node 'n' in MODEL: the shape 's' is not a constant\n");
  auto shape = runtime::HostTensor::create(runtime::DType::I64, {1});
  ASSERT_TRUE(shape);
  *reinterpret_cast<int64_t *>(shape->data.data()) = -1;
  Imported result =
      model.import({.batch = std::nullopt, .assumedInputs = {{"s", &*shape}}});
  EXPECT_THAT(result.ir, HasSubstr("-> tensor<6xf32>"));
  EXPECT_THAT(result.info.inputs, ElementsAre("x", "s"));
  EXPECT_THAT(result.info.assumedInputs, ElementsAre("s"));
}

TEST(Inputs, AssumedValuesThatNothingNeeds) {
  TestModel model;
  model.input("x", {2}).node("Relu", "x", "y").output("y");
  auto value = runtime::HostTensor::create(runtime::DType::F32, {2});
  ASSERT_TRUE(value);
  Imported result =
      model.import({.batch = std::nullopt, .assumedInputs = {{"x", &*value}}});
  EXPECT_THAT(result.info.assumedInputs, ElementsAre());
}

} // namespace
