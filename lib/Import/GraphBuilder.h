//===- GraphBuilder.h - Builds @main from a checked model -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_GRAPHBUILDER_H
#define TARPON_LIB_IMPORT_GRAPHBUILDER_H

#include "OnnxNode.h"
#include "OpTable.h"
#include "tarpon/Import/OnnxImport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringSet.h"

namespace tarpon {

struct Body;

/// Builds a module with one function from a model.
class GraphBuilder {
public:
  GraphBuilder(ModelReader &model, const ImportOptions &options,
               mlir::MLIRContext *context);
  ~GraphBuilder();

  /// The module, or null after a diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  using TensorProtos = google::protobuf::RepeatedPtrField<onnx::TensorProto>;

  mlir::FailureOr<Initializers> readInitializers(TensorProtos &protos);
  void addInitializers(const Initializers &read,
                       llvm::StringMap<mlir::ElementsAttr> &initializers);
  mlir::LogicalResult createFunction();
  void assumeInput(const std::string &name, mlir::Value value);
  mlir::LogicalResult importNodes();
  mlir::LogicalResult importNode(const onnx::NodeProto &proto);
  const OpRow *checkNode(const onnx::NodeProto &proto, OnnxNode &node);
  mlir::LogicalResult checkOperands(const OpRow &row, OnnxNode &node);
  mlir::LogicalResult checkWeights(OnnxNode &node);
  mlir::LogicalResult checkResults(const onnx::NodeProto &proto,
                                   OnnxNode &node);
  mlir::FailureOr<Body *> getBody(const onnx::GraphProto &proto);
  mlir::LogicalResult importBody(OnnxNode &node, const onnx::GraphProto &proto,
                                 llvm::ArrayRef<mlir::Value> inputs,
                                 llvm::SmallVector<mlir::Value> &outputs);
  mlir::LogicalResult checkOutput(const onnx::ValueInfoProto &output,
                                  mlir::Value value);
  mlir::LogicalResult createReturn();
  mlir::LogicalResult returnSizes(llvm::SmallVector<mlir::Value> &results);
  void eraseDeadOps();
  void setAttributes();

  ModelReader &model;
  const ImportOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  OnnxNode::Graph graph;
  llvm::SmallVector<std::string> inputNames;
  llvm::SmallVector<mlir::Attribute> inputSymbols;
  /// The names of the outputs that hold sizes of others.
  llvm::SmallVector<std::string> sizeNames;
  llvm::StringSet<> nodeNames;
  /// The last number that was appended to a name.
  llvm::StringMap<int64_t> lastNumber;
  /// The sub-graphs that were imported once.
  llvm::DenseMap<const onnx::GraphProto *, std::unique_ptr<Body>> bodies;
  int64_t bodyNodes = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_GRAPHBUILDER_H
