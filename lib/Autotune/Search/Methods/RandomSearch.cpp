//===- RandomSearch.cpp - Candidates drawn by a seed ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Methods.h"

using namespace tarpon;

namespace {

class RandomSearch : public SearchMethod {
public:
  RandomSearch(const SearchSpace &space, uint64_t seed)
      : space(space), order(drawOrder(space.candidates.size(), seed)) {}

  std::vector<size_t> propose(llvm::ArrayRef<SearchResult> results,
                              size_t max) override {
    size_t budget = getSampleBudget(space);
    if (results.size() >= budget)
      return {};
    max = std::min(max, budget - results.size());
    std::vector<bool> isMeasured = markMeasured(space, results);
    std::vector<size_t> next;
    for (size_t i = 0; i < order.size() && next.size() < max; ++i)
      if (!isMeasured[order[i]])
        next.push_back(order[i]);
    return next;
  }

private:
  const SearchSpace &space;
  std::vector<size_t> order;
};

} // namespace

std::unique_ptr<SearchMethod> tarpon::makeRandomSearch(const SearchSpace &space,
                                                       uint64_t seed) {
  return std::make_unique<RandomSearch>(space, seed);
}
