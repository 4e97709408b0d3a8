//===- Methods.cpp - The table of search methods --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Methods.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

struct Method {
  SearchMethodKind kind;
  const char *name;
  std::unique_ptr<SearchMethod> (*make)(const SearchSpace &, uint64_t);
};

} // namespace

static constexpr Method kMethods[] = {
    {SearchMethodKind::Exhaustive, "exhaustive", makeExhaustiveSearch},
    {SearchMethodKind::Random, "random", makeRandomSearch},
    {SearchMethodKind::Local, "local", makeLocalSearch},
    {SearchMethodKind::Guided, "guided", makeGuidedSearch},
};

static const Method &getMethod(SearchMethodKind kind) {
  return kMethods[static_cast<size_t>(kind)];
}

std::unique_ptr<SearchMethod> tarpon::makeSearchMethod(SearchMethodKind kind,
                                                       const SearchSpace &space,
                                                       uint64_t seed) {
  return getMethod(kind).make(space, seed);
}

//===----------------------------------------------------------------------===//
// Names and options
//===----------------------------------------------------------------------===//

llvm::StringRef tarpon::getSearchMethodName(SearchMethodKind kind) {
  return getMethod(kind).name;
}

std::vector<std::string> tarpon::getSearchMethodNames() {
  std::vector<std::string> names;
  for (const Method &method : kMethods)
    names.emplace_back(method.name);
  return names;
}

Result<SearchMethodKind> tarpon::parseSearchMethod(llvm::StringRef text) {
  for (const Method &method : kMethods)
    if (text.equals_insensitive(method.name))
      return method.kind;
  return Error{"unknown search method '" + text.str() +
               "', expected exhaustive, random, local or guided"};
}

/// The variable's text, or null if it is not set or empty.
static const char *getVariable(const char *name) {
  const char *text = std::getenv(name);
  return text && *text ? text : nullptr;
}

/// Parses a whole number of the environment that is at least `least`.
template <typename T>
static runtime::Status readNumber(const char *name, T least,
                                  std::optional<T> &value) {
  const char *text = getVariable(name);
  if (value || !text)
    return runtime::success();
  T number;
  if (llvm::StringRef(text).getAsInteger(10, number) || number < least)
    return Error{std::string(name) + ": expected a whole number from " +
                 std::to_string(least) + ", got '" + text + "'"};
  value = number;
  return runtime::success();
}

Result<SearchOptions>
tarpon::resolveSearchOptions(const SearchOverrides &overrides) {
  SearchOptions options;
  SearchOverrides given = overrides;
  std::optional<int64_t> problemMs;
  const char *method = getVariable("TARPON_SEARCH_METHOD");
  if (!given.method && method) {
    Result<SearchMethodKind> kind = parseSearchMethod(method);
    if (!kind)
      return Error{"TARPON_SEARCH_METHOD: " + kind.message()};
    given.method = *kind;
  }
  for (const runtime::Status &status :
       {readNumber<int64_t>("TARPON_TUNING_ITERATIONS_MAX", 1,
                            given.iterations),
        readNumber<int64_t>("TARPON_TUNING_PATIENCE", 1, given.patience),
        readNumber<int64_t>("TARPON_TUNING_TIME_MS_MAX", 1, problemMs),
        readNumber<uint64_t>("TARPON_SEARCH_SEED", 0, given.seed)})
    if (!status)
      return status.error();
  options.method = given.method.value_or(options.method);
  options.iterations = given.iterations;
  options.patience = given.patience;
  options.seed = given.seed.value_or(options.seed);
  if (problemMs)
    options.problemSeconds = static_cast<double>(*problemMs) / 1000;
  return options;
}

//===----------------------------------------------------------------------===//
// Functions that several methods share
//===----------------------------------------------------------------------===//

std::vector<bool> tarpon::markMeasured(const SearchSpace &space,
                                       llvm::ArrayRef<SearchResult> results) {
  std::vector<bool> isMeasured(space.candidates.size());
  for (const SearchResult &result : results)
    isMeasured[result.candidate] = true;
  return isMeasured;
}

std::vector<size_t> tarpon::drawOrder(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  std::mt19937_64 random(seed);
  for (size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

size_t tarpon::getSampleBudget(const SearchSpace &space) {
  auto count = static_cast<double>(space.candidates.size());
  auto share = static_cast<size_t>(std::ceil(count * policy::kSampleShare));
  return std::max(share, policy::kMinSampleBudget);
}

bool tarpon::isPatienceOver(llvm::ArrayRef<SearchResult> results,
                            int64_t patience) {
  double best = std::numeric_limits<double>::infinity();
  int64_t since = 0;
  for (const SearchResult &result : results) {
    ++since;
    if (!(result.milliseconds < best * (1 - policy::kImprovement)))
      continue;
    best = result.milliseconds;
    since = 0;
  }
  return since >= patience;
}
