//===- LocalSearch.cpp - Random, then neighbours of the best --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Half of the budget is drawn; then the neighbours of the best candidate are
// measured, until none of them is better (a local optimum). The rest of the
// budget goes to the neighbours of the next best candidate that has unmeasured
// ones, and so on.
//
//===----------------------------------------------------------------------===//

#include "Methods.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>

using namespace tarpon;

namespace {

class LocalSearch : public SearchMethod {
public:
  LocalSearch(const SearchSpace &space, uint64_t seed);

  std::vector<size_t> propose(llvm::ArrayRef<SearchResult> results,
                              size_t max) override;

private:
  using FieldKey = std::pair<std::string, std::string>;

  bool areNeighbours(size_t a, size_t b) const;

  const SearchSpace &space;
  std::vector<size_t> order;
  /// The values of each field of each solver, ascending.
  std::map<FieldKey, std::vector<int64_t>> values;
};

} // namespace

LocalSearch::LocalSearch(const SearchSpace &space, uint64_t seed)
    : space(space), order(drawOrder(space.candidates.size(), seed)) {
  for (const SearchCandidate &candidate : space.candidates)
    for (const auto &[name, value] : candidate.config.getFields())
      values[{candidate.solver, name}].push_back(value);
  for (auto &[key, list] : values) {
    llvm::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

/// Returns true for configs of one solver that differ in one field by one step
/// of its values.
bool LocalSearch::areNeighbours(size_t a, size_t b) const {
  const SearchCandidate &one = space.candidates[a],
                        &other = space.candidates[b];
  const auto &fields = one.config.getFields();
  if (one.solver != other.solver ||
      fields.size() != other.config.getFields().size())
    return false;
  int64_t steps = 0;
  for (const auto &[name, value] : fields) {
    if (!other.config.has(name))
      return false;
    const auto &list = values.at({one.solver, name});
    steps += std::abs(llvm::lower_bound(list, value) -
                      llvm::lower_bound(list, other.config.get(name)));
  }
  return steps == 1;
}

std::vector<size_t> LocalSearch::propose(llvm::ArrayRef<SearchResult> results,
                                         size_t max) {
  size_t budget = getSampleBudget(space);
  if (results.size() >= budget)
    return {};
  max = std::min(max, budget - results.size());
  std::vector<bool> isMeasured = markMeasured(space, results);
  std::vector<size_t> next;
  auto take = [&](size_t index) {
    if (!isMeasured[index] && next.size() < max) {
      next.push_back(index);
      isMeasured[index] = true;
    }
  };
  if (results.size() < budget / 2) {
    max = std::min(max, budget / 2 - results.size());
    llvm::for_each(order, take);
    return next;
  }
  std::vector<SearchResult> ranked(results.begin(), results.end());
  llvm::stable_sort(ranked, [](const SearchResult &a, const SearchResult &b) {
    return a.milliseconds < b.milliseconds;
  });
  // One centre at a time: any of its neighbours may be the better one.
  for (const SearchResult &centre : ranked) {
    for (size_t index : order)
      if (centre.isOk() && areNeighbours(centre.candidate, index))
        take(index);
    if (!next.empty())
      return next;
  }
  llvm::for_each(order, take);
  return next;
}

std::unique_ptr<SearchMethod> tarpon::makeLocalSearch(const SearchSpace &space,
                                                      uint64_t seed) {
  return std::make_unique<LocalSearch>(space, seed);
}
