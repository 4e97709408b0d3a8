//===- ExhaustiveSearch.cpp - Every candidate, best guess first -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Methods.h"

using namespace tarpon;

namespace {

class ExhaustiveSearch : public SearchMethod {
public:
  explicit ExhaustiveSearch(const SearchSpace &space) : space(space) {}

  std::vector<size_t> propose(llvm::ArrayRef<SearchResult> results,
                              size_t max) override {
    std::vector<bool> isMeasured = markMeasured(space, results);
    std::vector<size_t> next;
    for (size_t i = 0; i < isMeasured.size() && next.size() < max; ++i)
      if (!isMeasured[i])
        next.push_back(i);
    return next;
  }

private:
  const SearchSpace &space;
};

} // namespace

std::unique_ptr<SearchMethod>
tarpon::makeExhaustiveSearch(const SearchSpace &space, uint64_t /*seed*/) {
  return std::make_unique<ExhaustiveSearch>(space);
}
