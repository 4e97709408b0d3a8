//===- BodyScope.h - The names of a sub-graph -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sub-graphs (the branches of If, the bodies of Loop and Scan) are imported
// into the function of the graph around them, a body once for each iteration.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_BODYSCOPE_H
#define TARPON_LIB_IMPORT_BODYSCOPE_H

#include "OnnxNode.h"

namespace tarpon {

/// The properties of a sub-graph that all iterations share.
struct Body {
  llvm::StringMap<mlir::ElementsAttr> initializers;
  /// The number of uses of each name in the sub-graph and those inside it.
  llvm::StringMap<int> useCounts;
  /// All names that the sub-graph defines.
  std::vector<std::string> names;
  /// The values that are the same in every iteration.
  llvm::StringMap<mlir::Value> constants;
};

/// Adds the uses of values by the nodes and outputs of a graph, and by the
/// sub-graphs of its nodes.
void countUses(const onnx::GraphProto &graph, llvm::StringMap<int> &counts);

/// Lists the names that a graph defines, without those of sub-graphs.
std::vector<std::string> listDefinitions(const onnx::GraphProto &graph);

/// Hides the names of the graphs around a body that the body defines, too,
/// until the scope ends.
class BodyScope {
public:
  BodyScope(OnnxNode::Graph &graph, Body &body);
  ~BodyScope();
  BodyScope(const BodyScope &) = delete;
  BodyScope &operator=(const BodyScope &) = delete;

private:
  struct Hidden {
    mlir::Value value;
    mlir::ElementsAttr initializer;
    int useCount;
  };

  OnnxNode::Graph &graph;
  Body &body;
  /// In the order of the body's names.
  std::vector<Hidden> hidden;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_BODYSCOPE_H
