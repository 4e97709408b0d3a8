//===- Forest.cpp - A sum of regression trees -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/Forest.h"

#include <cassert>
#include <cmath>
#include <string>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

/// Explains what is wrong with one tree; "" if nothing is.
static std::string describeFault(llvm::ArrayRef<TreeNode> tree,
                                 size_t columns) {
  if (tree.empty())
    return "a tree has no nodes";
  for (size_t i = 0; i < tree.size(); ++i) {
    const TreeNode &node = tree[i];
    if (!std::isfinite(node.value))
      return "a number is not finite";
    if (node.isLeaf())
      continue;
    if (node.feature >= columns)
      return "a test is of feature " + std::to_string(node.feature) + " of " +
             std::to_string(columns);
    // Nodes lead forwards only, so that every walk ends.
    if (node.yes <= i || size_t(node.yes) + 1 >= tree.size())
      return "a test leads out of its tree";
  }
  return "";
}

Result<Forest> Forest::create(float base, size_t columns,
                              std::vector<uint32_t> roots,
                              std::vector<TreeNode> nodes) {
  if (!std::isfinite(base))
    return Error{"a number is not finite"};
  if (roots.empty() ? !nodes.empty() : roots.front() != 0)
    return Error{"nodes belong to no tree"};
  for (size_t i = 0; i < roots.size(); ++i) {
    size_t end = i + 1 < roots.size() ? roots[i + 1] : nodes.size();
    if (end > nodes.size() || roots[i] >= end)
      return Error{"a tree has no nodes"};
    std::string fault = describeFault(
        llvm::ArrayRef(nodes).slice(roots[i], end - roots[i]), columns);
    if (!fault.empty())
      return Error{fault};
  }
  Forest forest;
  forest.base = base;
  forest.columns = columns;
  forest.roots = std::move(roots);
  forest.nodes = std::move(nodes);
  return forest;
}

static float walk(const TreeNode *root, const float *row) {
  const TreeNode *node = root;
  while (!node->isLeaf())
    node = root + node->yes + (row[node->feature] <= node->value ? 0 : 1);
  return node->value;
}

float Forest::predict(llvm::ArrayRef<float> row) const {
  assert(row.size() >= columns && "the row is too short");
  float sum = base;
  for (uint32_t root : roots)
    sum += walk(nodes.data() + root, row.data());
  return sum;
}

void Forest::predict(llvm::ArrayRef<float> rows,
                     llvm::MutableArrayRef<float> answers) const {
  assert(rows.size() == answers.size() * columns && "the rows do not fit");
  for (float &answer : answers)
    answer = base;
  // Trees form the outer loop: a tree stays in the L1 cache, and the walks of
  // several rows overlap.
  for (uint32_t root : roots)
    for (size_t i = 0; i < answers.size(); ++i)
      answers[i] += walk(nodes.data() + root, rows.data() + i * columns);
}
