//===- BodyScope.cpp - The names of a sub-graph ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyScope.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tarpon {

void countUses(const onnx::GraphProto &graph, llvm::StringMap<int> &counts) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.input())
      ++counts[name];
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        countUses(attribute.g(), counts);
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    ++counts[output.name()];
}

std::vector<std::string> listDefinitions(const onnx::GraphProto &graph) {
  std::vector<std::string> names;
  llvm::StringSet<> seen;
  auto add = [&](const std::string &name) {
    if (!name.empty() && seen.insert(name).second)
      names.push_back(name);
  };
  for (const onnx::ValueInfoProto &input : graph.input())
    add(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    add(tensor.name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      add(name);
  return names;
}

/// Makes `initializer` the one of that name; null removes it.
static void setInitializer(OnnxNode::Graph &graph, const std::string &name,
                           ElementsAttr initializer) {
  if (initializer)
    graph.initializers[name] = initializer;
  else
    graph.initializers.erase(name);
}

BodyScope::BodyScope(OnnxNode::Graph &graph, Body &body)
    : graph(graph), body(body) {
  for (const std::string &name : body.names) {
    hidden.push_back({graph.values.lookup(name),
                      graph.initializers.lookup(name),
                      graph.useCounts.lookup(name)});
    graph.values[name] = body.constants.lookup(name);
    setInitializer(graph, name, body.initializers.lookup(name));
    graph.useCounts[name] = body.useCounts.lookup(name);
  }
}

BodyScope::~BodyScope() {
  for (const auto &entry : body.initializers)
    if (Value value = graph.values.lookup(entry.getKey()))
      body.constants[entry.getKey()] = value;
  for (auto [name, outer] : llvm::zip_equal(body.names, hidden)) {
    graph.values[name] = outer.value;
    setInitializer(graph, name, outer.initializer);
    graph.useCounts[name] = outer.useCount;
  }
}

} // namespace tarpon
