//===- Methods.h - One function per search method ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_METHODS_METHODS_H
#define TARPON_LIB_AUTOTUNE_SEARCH_METHODS_METHODS_H

#include "tarpon/Autotune/Search/SearchMethod.h"

#include <vector>

namespace tarpon {

std::unique_ptr<SearchMethod> makeExhaustiveSearch(const SearchSpace &space,
                                                   uint64_t seed);
std::unique_ptr<SearchMethod> makeRandomSearch(const SearchSpace &space,
                                               uint64_t seed);
std::unique_ptr<SearchMethod> makeLocalSearch(const SearchSpace &space,
                                              uint64_t seed);
std::unique_ptr<SearchMethod> makeGuidedSearch(const SearchSpace &space,
                                               uint64_t seed);

/// Marks the candidates that have a result, by index.
std::vector<bool> markMeasured(const SearchSpace &space,
                               llvm::ArrayRef<SearchResult> results);

/// The numbers below `count` in an order that depends on the seed only: the
/// standard's shuffle differs between libraries.
std::vector<size_t> drawOrder(size_t count, uint64_t seed);

/// The number of candidates that random and local search measure.
size_t getSampleBudget(const SearchSpace &space);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_METHODS_H
