//===- GraphChecks.cpp - Checks the values of a graph ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphChecks.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::StringMap;

namespace tarpon {

namespace {
/// Walks the graph once, with the names seen so far.
class ValueChecker {
public:
  explicit ValueChecker(ModelReader &model)
      : model(model), graph(model.getGraph()) {}

  LogicalResult check();

private:
  LogicalResult checkInputs();
  LogicalResult checkInitializers();
  LogicalResult checkNodes();
  LogicalResult checkOutputs();
  LogicalResult checkUses(const onnx::NodeProto &node, int index);
  bool isOnCycle(int start) const;

  ModelReader &model;
  const onnx::GraphProto &graph;
  llvm::StringSet<> defined;
  /// The node that defines a value.
  StringMap<int> producer;
};
} // namespace

LogicalResult ValueChecker::checkInputs() {
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (input.name().empty())
      return model.emitError() << "a graph input has no name";
    if (!defined.insert(input.name()).second)
      return model.emitError()
             << "value '" << input.name() << "' is defined twice";
  }
  return success();
}

LogicalResult ValueChecker::checkInitializers() {
  // An initialiser may share its name with an input; it is that input's value
  // then.
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    if (tensor.name().empty())
      return model.emitError() << "an initialiser has no name";
    if (!initializers.insert(tensor.name()).second)
      return model.emitError()
             << "initialiser '" << tensor.name() << "' is defined twice";
    defined.insert(tensor.name());
  }
  return success();
}

/// Returns true if the inputs of node `start` depend on its outputs.
bool ValueChecker::isOnCycle(int start) const {
  llvm::BitVector visited(graph.node_size());
  SmallVector<int> worklist = {start};
  while (!worklist.empty()) {
    for (const std::string &name :
         graph.node(worklist.pop_back_val()).input()) {
      auto it = producer.find(name);
      if (it == producer.end())
        continue;
      if (it->second == start)
        return true;
      if (!visited.test(it->second)) {
        visited.set(it->second);
        worklist.push_back(it->second);
      }
    }
  }
  return false;
}

LogicalResult ValueChecker::checkUses(const onnx::NodeProto &node, int index) {
  for (const std::string &name : node.input()) {
    if (name.empty() || defined.contains(name))
      continue;
    InFlightDiagnostic diag = mlir::emitError(model.getLoc())
                              << model.describe(node) << ": input '" << name
                              << "' ";
    auto it = producer.find(name);
    if (it == producer.end())
      return diag << "is not defined by any node, graph input or initialiser";
    if (isOnCycle(index))
      return diag << "depends on the node's own output: the graph has a cycle";
    return diag << "is defined only later, by "
                << model.describe(graph.node(it->second))
                << "; the nodes must be sorted";
  }
  return success();
}

LogicalResult ValueChecker::checkNodes() {
  for (auto [index, node] : llvm::enumerate(graph.node()))
    for (const std::string &name : node.output())
      if (!name.empty() &&
          (defined.contains(name) || !producer.try_emplace(name, index).second))
        return mlir::emitError(model.getLoc())
               << model.describe(node) << ": output '" << name
               << "' is defined twice";
  for (auto [index, node] : llvm::enumerate(graph.node())) {
    if (failed(checkUses(node, index)))
      return failure();
    for (const std::string &name : node.output())
      defined.insert(name);
  }
  return success();
}

LogicalResult ValueChecker::checkOutputs() {
  if (graph.output().empty())
    return model.emitError() << "the graph has no outputs";
  llvm::StringSet<> outputs;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    if (output.name().empty() || !defined.contains(output.name()))
      return model.emitError()
             << "graph output '" << output.name()
             << "' is not defined by any node, graph input or initialiser";
    if (!outputs.insert(output.name()).second)
      return model.emitError()
             << "graph output '" << output.name() << "' is listed twice";
  }
  return success();
}

LogicalResult ValueChecker::check() {
  if (failed(checkInputs()) || failed(checkInitializers()) ||
      failed(checkNodes()))
    return failure();
  return checkOutputs();
}

LogicalResult checkValues(ModelReader &model) {
  return ValueChecker(model).check();
}

} // namespace tarpon
