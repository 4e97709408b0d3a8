//===- TestModel.cpp - Small ONNX models made in memory ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace llvm;

namespace tarpon::test {

TemporaryFolder::TemporaryFolder() {
  SmallString<128> created;
  EXPECT_FALSE(sys::fs::createUniqueDirectory("tarpon-import", created));
  path = created.str().str();
}

TemporaryFolder::~TemporaryFolder() { (void)sys::fs::remove_directories(path); }

std::string TemporaryFolder::getPath(StringRef name) const {
  return path + "/" + name.str();
}

void TemporaryFolder::write(StringRef name, StringRef bytes) const {
  std::error_code error;
  raw_fd_ostream(getPath(name), error) << bytes;
  EXPECT_FALSE(error) << error.message();
}

static std::vector<std::string> splitNames(const std::string &names) {
  SmallVector<StringRef> parts;
  StringRef(names).split(parts, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> result;
  for (StringRef part : parts)
    result.push_back(part == "-" ? "" : part.str());
  return result;
}

TestModel::TestModel(int64_t opset) {
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(opset);
  getGraph().set_name("g");
}

TestModel &TestModel::input(const std::string &name, std::vector<int64_t> shape,
                            int type) {
  onnx::ValueInfoProto &info = *getGraph().add_input();
  info.set_name(name);
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (int64_t size : shape) {
    auto &dim = *tensor.mutable_shape()->add_dim();
    if (size < 0)
      dim.set_dim_param("N");
    else
      dim.set_dim_value(size);
  }
  return *this;
}

TestModel &TestModel::output(const std::string &name) {
  getGraph().add_output()->set_name(name);
  return *this;
}

TestModel &TestModel::floats(const std::string &name,
                             std::vector<int64_t> shape,
                             std::vector<float> values) {
  onnx::TensorProto &tensor = *getGraph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  tensor.mutable_float_data()->Add(values.begin(), values.end());
  return *this;
}

TestModel &TestModel::ints(const std::string &name,
                           std::vector<int64_t> values) {
  onnx::TensorProto &tensor = *getGraph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(values.size());
  tensor.mutable_int64_data()->Add(values.begin(), values.end());
  return *this;
}

TestModel &TestModel::bytes(const std::string &name, std::vector<int64_t> shape,
                            int type, std::vector<int> values) {
  onnx::TensorProto &tensor = *getGraph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  tensor.mutable_int32_data()->Add(values.begin(), values.end());
  return *this;
}

TestModel &TestModel::node(const std::string &op, const std::string &inputs,
                           const std::string &outputs,
                           const std::string &name) {
  onnx::NodeProto &node = *getGraph().add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string &input : splitNames(inputs))
    node.add_input(input);
  for (const std::string &output : splitNames(outputs))
    node.add_output(output);
  return *this;
}

onnx::AttributeProto &TestModel::addAttribute(const std::string &name,
                                              int type) {
  auto &nodes = *getGraph().mutable_node();
  onnx::AttributeProto &attribute =
      *nodes.Mutable(nodes.size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(type));
  return attribute;
}

TestModel &TestModel::attr(const std::string &name, int value) {
  return attr(name, int64_t(value));
}

TestModel &TestModel::attr(const std::string &name, int64_t value) {
  addAttribute(name, onnx::AttributeProto::INT).set_i(value);
  return *this;
}

TestModel &TestModel::attr(const std::string &name, float value) {
  addAttribute(name, onnx::AttributeProto::FLOAT).set_f(value);
  return *this;
}

TestModel &TestModel::attr(const std::string &name, const char *value) {
  addAttribute(name, onnx::AttributeProto::STRING).set_s(value);
  return *this;
}

TestModel &TestModel::list(const std::string &name,
                           std::vector<int64_t> values) {
  addAttribute(name, onnx::AttributeProto::INTS)
      .mutable_ints()
      ->Add(values.begin(), values.end());
  return *this;
}

TestModel &TestModel::attr(const std::string &name,
                           const onnx::TensorProto &value) {
  *addAttribute(name, onnx::AttributeProto::TENSOR).mutable_t() = value;
  return *this;
}

TestModel &TestModel::attr(const std::string &name,
                           const onnx::GraphProto &value) {
  *addAttribute(name, onnx::AttributeProto::GRAPH).mutable_g() = value;
  return *this;
}

Imported importFile(const std::string &path, const ImportOptions &options) {
  mlir::MLIRContext context;
  Imported result;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diag) {
    result.diagnostics += diag.str() + "\n";
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = importOnnx(context, path, options);
  if (module) {
    raw_string_ostream(result.ir) << *module;
    result.info = getModelInfo(*module);
  }
  for (size_t at = 0;
       (at = result.diagnostics.find(path, at)) != std::string::npos;)
    result.diagnostics.replace(at, path.size(), "MODEL");
  return result;
}

Imported TestModel::import(const ImportOptions &options) {
  folder.write("m.onnx", proto.SerializeAsString());
  return importFile(folder.getPath("m.onnx"), options);
}

std::string TestModel::error(const ImportOptions &options) {
  Imported result = import(options);
  EXPECT_EQ(result.ir, "");
  return result.diagnostics;
}

} // namespace tarpon::test
