//===- Forest.h - A sum of regression trees ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trees of binary tests "feature <= threshold", whose leaves hold numbers. The
// answer is the sum of one leaf of each tree and a constant (Friedman, "Greedy
// Function Approximation: A Gradient Boosting Machine", Annals of Statistics
// 29(5), 2001). ForestTraining.h grows them.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_FOREST_H
#define TARPON_AUTOTUNE_LEARN_FOREST_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tarpon {

/// One test or leaf, in 8 bytes: a forest of 200 trees stays in the L2 cache.
struct TreeNode {
  static constexpr uint16_t kLeaf = 0xffff;

  /// The threshold of a test; the answer of a leaf.
  float value = 0;
  /// The feature that is tested; kLeaf for a leaf.
  uint16_t feature = kLeaf;
  /// The node to go to if the test holds, counted from the root of the tree;
  /// otherwise the next node is taken.
  uint16_t yes = 0;

  bool isLeaf() const { return feature == kLeaf; }
};

/// Immutable and thread-safe.
class Forest {
public:
  Forest() = default;
  /// `roots` are indices into `nodes`, ascending from 0; a tree ends where the
  /// next one begins. `columns` is the number of features of a row. Returns an
  /// error if a test leads out of its tree or backwards, or a number is not
  /// finite.
  static runtime::Result<Forest> create(float base, size_t columns,
                                        std::vector<uint32_t> roots,
                                        std::vector<TreeNode> nodes);

  /// Returns the answer for one row of `columns` features.
  float predict(llvm::ArrayRef<float> row) const;
  /// Answers for many consecutive rows, tree by tree.
  void predict(llvm::ArrayRef<float> rows,
               llvm::MutableArrayRef<float> answers) const;

  float getBase() const { return base; }
  size_t getColumns() const { return columns; }
  const std::vector<uint32_t> &getRoots() const { return roots; }
  const std::vector<TreeNode> &getNodes() const { return nodes; }

private:
  float base = 0;
  size_t columns = 0;
  std::vector<uint32_t> roots;
  std::vector<TreeNode> nodes;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_FOREST_H
