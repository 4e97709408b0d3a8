//===- ForestTraining.cpp - Grows regression trees ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/ForestTraining.h"

#include "FeatureBins.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>

using namespace tarpon;

namespace {

/// The sums over the rows of one bin or leaf.
struct Sums {
  double gradient = 0, weight = 0;

  Sums operator-(const Sums &other) const {
    return {gradient - other.gradient, weight - other.weight};
  }
  /// The decrease of the squared error when these rows get their best answer.
  double gain(double shrinkage) const {
    return gradient * gradient / (weight + shrinkage);
  }
};

struct Cut {
  double gain = 0;
  size_t column = 0, bin = 0;
};

struct Leaf {
  size_t node = 0;
  std::vector<uint32_t> rows;
  Sums sums;
  Cut best;
};

/// Grows one tree on the gradients of a round.
class TreeGrower {
public:
  TreeGrower(const FeatureBins &bins, const TrainingRows &rows,
             const BoostingOptions &options,
             const std::vector<double> &gradients)
      : bins(bins), rows(rows), options(options), gradients(gradients) {}

  std::vector<TreeNode> grow(std::vector<uint32_t> sample,
                             std::vector<size_t> sampledColumns);

private:
  Leaf makeLeaf(size_t node, std::vector<uint32_t> sample) const;
  Cut findCut(const Leaf &leaf) const;
  Cut findCut(const Leaf &leaf, size_t column) const;
  void split(Leaf &leaf, std::vector<Leaf> &leaves);

  const FeatureBins &bins;
  const TrainingRows &rows;
  const BoostingOptions &options;
  const std::vector<double> &gradients;
  std::vector<size_t> columns;
  std::vector<TreeNode> nodes;
};

} // namespace

Leaf TreeGrower::makeLeaf(size_t node, std::vector<uint32_t> sample) const {
  Leaf leaf;
  leaf.node = node;
  leaf.rows = std::move(sample);
  for (uint32_t row : leaf.rows) {
    leaf.sums.gradient += gradients[row];
    leaf.sums.weight += rows.weights[row];
  }
  leaf.best = findCut(leaf);
  return leaf;
}

Cut TreeGrower::findCut(const Leaf &leaf, size_t column) const {
  std::array<Sums, FeatureBins::kMaxBins> bin = {};
  for (uint32_t row : leaf.rows) {
    Sums &sums = bin[bins.row(row)[column]];
    sums.gradient += gradients[row];
    sums.weight += rows.weights[row];
  }
  Cut best;
  Sums below;
  double whole = leaf.sums.gain(options.shrinkage);
  for (size_t b = 0; b < bins.getCuts(column).size(); ++b) {
    below.gradient += bin[b].gradient;
    below.weight += bin[b].weight;
    Sums above = leaf.sums - below;
    if (below.weight < options.minLeafWeight)
      continue;
    if (above.weight < options.minLeafWeight)
      break;
    double gain =
        below.gain(options.shrinkage) + above.gain(options.shrinkage) - whole;
    if (gain > best.gain)
      best = {gain, column, b};
  }
  return best;
}

Cut TreeGrower::findCut(const Leaf &leaf) const {
  Cut best;
  if (leaf.sums.weight < 2 * options.minLeafWeight)
    return best;
  for (size_t column : columns)
    if (Cut cut = findCut(leaf, column); cut.gain > best.gain)
      best = cut;
  return best;
}

/// Turns the leaf into a test; the leaf becomes the first of its two parts.
void TreeGrower::split(Leaf &leaf, std::vector<Leaf> &leaves) {
  auto [gain, column, bin] = leaf.best;
  std::vector<uint32_t> below, above;
  for (uint32_t row : leaf.rows)
    (bins.row(row)[column] <= bin ? below : above).push_back(row);
  size_t yes = nodes.size();
  nodes[leaf.node] = {bins.getCuts(column)[bin], static_cast<uint16_t>(column),
                      static_cast<uint16_t>(yes)};
  nodes.resize(yes + 2);
  leaf = makeLeaf(yes, std::move(below));
  leaves.push_back(makeLeaf(yes + 1, std::move(above)));
}

std::vector<TreeNode> TreeGrower::grow(std::vector<uint32_t> sample,
                                       std::vector<size_t> sampledColumns) {
  columns = std::move(sampledColumns);
  nodes.assign(1, TreeNode());
  std::vector<Leaf> leaves;
  // split() appends to the list while it holds a reference to one of its
  // leaves.
  leaves.reserve(options.leaves);
  leaves.push_back(makeLeaf(0, std::move(sample)));
  while (static_cast<int>(leaves.size()) < options.leaves) {
    auto best = std::max_element(
        leaves.begin(), leaves.end(),
        [](const Leaf &a, const Leaf &b) { return a.best.gain < b.best.gain; });
    if (best->best.gain <= 0)
      break;
    split(*best, leaves);
  }
  for (const Leaf &leaf : leaves)
    nodes[leaf.node].value =
        static_cast<float>(options.learningRate * leaf.sums.gradient /
                           (leaf.sums.weight + options.shrinkage));
  return std::move(nodes);
}

/// Draws `count` of the numbers 0 to size - 1, in ascending order. The shuffle
/// is our own, since the standard's differs between libraries.
template <typename T>
static std::vector<T> draw(size_t size, size_t count, std::mt19937_64 &random) {
  std::vector<T> list(size);
  std::iota(list.begin(), list.end(), T(0));
  for (size_t i = 0; i < count; ++i)
    std::swap(list[i], list[i + random() % (size - i)]);
  list.resize(count);
  std::sort(list.begin(), list.end());
  return list;
}

static size_t takeShare(size_t size, double share) {
  auto count =
      static_cast<size_t>(std::lround(share * static_cast<double>(size)));
  return std::clamp<size_t>(count, 1, size);
}

Forest tarpon::growForest(const TrainingRows &rows,
                          const BoostingOptions &options) {
  size_t size = rows.size();
  assert(size > 0 && "nothing to learn from");
  assert(options.leaves >= 1 && options.leaves <= 1 << 14 &&
         "a tree numbers its nodes in 16 bits");
  double weight = 0, sum = 0;
  for (size_t i = 0; i < size; ++i) {
    weight += rows.weights[i];
    sum += static_cast<double>(rows.weights[i]) * rows.targets[i];
  }
  auto base = static_cast<float>(sum / weight);
  FeatureBins bins(rows);
  std::mt19937_64 random(options.seed);
  std::vector<double> answers(size, base), gradients(size);
  std::vector<uint32_t> roots;
  std::vector<TreeNode> nodes;
  for (int tree = 0; tree < options.trees; ++tree) {
    for (size_t i = 0; i < size; ++i)
      gradients[i] = rows.weights[i] * (rows.targets[i] - answers[i]);
    auto sample =
        draw<uint32_t>(size, takeShare(size, options.rowShare), random);
    auto columns = draw<size_t>(
        rows.columns, takeShare(rows.columns, options.columnShare), random);
    std::vector<TreeNode> grown =
        TreeGrower(bins, rows, options, gradients)
            .grow(std::move(sample), std::move(columns));
    auto one = Forest::create(0, rows.columns, {0}, grown);
    assert(one && "a tree that was grown is sound");
    for (size_t i = 0; i < size; ++i)
      answers[i] += one->predict(llvm::ArrayRef(
          rows.features.data() + i * rows.columns, rows.columns));
    roots.push_back(static_cast<uint32_t>(nodes.size()));
    nodes.insert(nodes.end(), grown.begin(), grown.end());
  }
  auto forest =
      Forest::create(base, rows.columns, std::move(roots), std::move(nodes));
  assert(forest && "trees that were grown are sound");
  return std::move(*forest);
}
