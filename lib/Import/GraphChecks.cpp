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
/// Walks a graph once, with the names seen so far. A sub-graph also sees those
/// of the graphs around it, and may have the same ones.
class ValueChecker {
public:
  ValueChecker(ModelReader &model, const onnx::GraphProto &graph,
               const ValueChecker *outer = nullptr)
      : model(model), graph(graph), outer(outer) {}

  LogicalResult check();

private:
  LogicalResult checkInputs();
  LogicalResult checkInitializers();
  LogicalResult checkNodes();
  LogicalResult checkOutputs();
  LogicalResult checkUses(const onnx::NodeProto &node, int index);
  LogicalResult checkSubgraphs(const onnx::NodeProto &node);
  bool isOnCycle(int start) const;
  bool isDefined(StringRef name) const {
    return defined.contains(name) || (outer && outer->isDefined(name));
  }

  ModelReader &model;
  const onnx::GraphProto &graph;
  const ValueChecker *outer;
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
    if (name.empty() || isDefined(name))
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

LogicalResult ValueChecker::checkSubgraphs(const onnx::NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g() &&
        failed(ValueChecker(model, attribute.g(), this).check()))
      return failure();
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
    if (failed(checkUses(node, index)) || failed(checkSubgraphs(node)))
      return failure();
    for (const std::string &name : node.output())
      defined.insert(name);
  }
  return success();
}

LogicalResult ValueChecker::checkOutputs() {
  if (graph.output().empty() && !outer)
    return model.emitError() << "the graph has no outputs";
  llvm::StringSet<> outputs;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    if (output.name().empty() || !isDefined(output.name()))
      return model.emitError()
             << "graph output '" << output.name()
             << "' is not defined by any node, graph input or initialiser";
    // A body may give one value to several names of the node around it.
    if (!outputs.insert(output.name()).second && !outer)
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
  return ValueChecker(model, model.getGraph()).check();
}

} // namespace tarpon
