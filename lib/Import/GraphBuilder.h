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

/// Builds a module with one function from a model.
class GraphBuilder {
public:
  GraphBuilder(ModelReader &model, const ImportOptions &options,
               mlir::MLIRContext *context);

  /// The module, or null after a diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  mlir::LogicalResult readInitializers();
  mlir::LogicalResult createFunction();
  void assumeInput(const std::string &name, mlir::Value value);
  void countUses();
  mlir::LogicalResult importNodes();
  mlir::LogicalResult importNode(const onnx::NodeProto &proto);
  const OpRow *checkNode(const onnx::NodeProto &proto, OnnxNode &node);
  mlir::LogicalResult checkOperands(const OpRow &row, OnnxNode &node);
  mlir::LogicalResult checkWeights(OnnxNode &node);
  mlir::LogicalResult checkResults(const onnx::NodeProto &proto,
                                   OnnxNode &node);
  mlir::LogicalResult checkOutput(const onnx::ValueInfoProto &output,
                                  mlir::Value value);
  mlir::LogicalResult createReturn();
  void eraseDeadOps();
  void setAttributes();

  ModelReader &model;
  const ImportOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  OnnxNode::Graph graph;
  llvm::SmallVector<std::string> inputNames;
  llvm::StringSet<> nodeNames;
  /// The last number that was appended to a name.
  llvm::StringMap<int64_t> lastNumber;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_GRAPHBUILDER_H
