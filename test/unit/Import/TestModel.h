//===- TestModel.h - Small ONNX models made in memory -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_IMPORT_TESTMODEL_H
#define TARPON_TEST_UNIT_IMPORT_TESTMODEL_H

#include "tarpon/Import/OnnxImport.h"

#include "onnx/onnx_pb.h"

#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace tarpon::test {

/// The result of an import: the module printed, or nothing; each diagnostic on
/// a line of its own. The file's path is printed as MODEL.
struct Imported {
  std::string ir;
  std::string diagnostics;
  ModelInfo info;
};

/// A folder that goes when the test ends.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string getPath(llvm::StringRef name) const;
  void write(llvm::StringRef name, llvm::StringRef bytes) const;

private:
  std::string path;
};

/// A model to add to. Names of inputs and outputs are parted by blanks; "-" is
/// one that is left out.
class TestModel {
public:
  explicit TestModel(int64_t opset = 13);

  onnx::GraphProto &getGraph() { return *proto.mutable_graph(); }
  onnx::ModelProto &getProto() { return proto; }
  const TemporaryFolder &getFolder() const { return folder; }

  /// A negative dimension is symbolic and called "N".
  TestModel &input(const std::string &name, std::vector<int64_t> shape,
                   int type = onnx::TensorProto::FLOAT);
  /// An output without a declared type.
  TestModel &output(const std::string &name);
  TestModel &floats(const std::string &name, std::vector<int64_t> shape,
                    std::vector<float> values);
  TestModel &ints(const std::string &name, std::vector<int64_t> values);
  TestModel &bytes(const std::string &name, std::vector<int64_t> shape,
                   int type, std::vector<int> values);
  TestModel &node(const std::string &op, const std::string &inputs,
                  const std::string &outputs, const std::string &name = "n");

  // Attributes of the last node.
  TestModel &attr(const std::string &name, int value);
  TestModel &attr(const std::string &name, int64_t value);
  TestModel &attr(const std::string &name, float value);
  TestModel &attr(const std::string &name, const char *value);
  TestModel &list(const std::string &name, std::vector<int64_t> values);
  TestModel &attr(const std::string &name, const onnx::TensorProto &value);
  TestModel &attr(const std::string &name, const onnx::GraphProto &value);

  Imported import(const ImportOptions &options = {});
  /// The diagnostics of an import that must fail.
  std::string error(const ImportOptions &options = {});

private:
  onnx::AttributeProto &addAttribute(const std::string &name, int type);

  TemporaryFolder folder;
  onnx::ModelProto proto;
};

/// Imports a file and prints what comes of it.
Imported importFile(const std::string &path, const ImportOptions &options = {});

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_IMPORT_TESTMODEL_H
