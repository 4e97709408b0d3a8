//===- SearchOptions.h - Options of a search --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Method and limits of a search, as the command line, the environment and the
// API give them. Names of the environment are MIOpen's with TARPON in front.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SEARCHOPTIONS_H
#define TARPON_AUTOTUNE_SEARCH_SEARCHOPTIONS_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The order in which candidates are measured, and the rule that ends the
/// search.
enum class SearchMethodKind : uint8_t {
  Exhaustive, ///< every candidate, best guess first
  Random,     ///< a tenth of them, drawn by the seed
  Local,      ///< as many: half drawn, then neighbours of the best
  Guided      ///< by expected improvement, until that is too small
};

/// The options of one search. Limits count the results of earlier runs, so that
/// a search continues where it was; one that a limit has ended does not count
/// as finished.
struct SearchOptions {
  SearchMethodKind method = SearchMethodKind::Guided;
  /// The largest number of measurements of one problem.
  std::optional<int64_t> iterations;
  /// The largest number of measurements in a row without a better one.
  std::optional<int64_t> patience;
  /// Seconds for one problem, compiling included.
  std::optional<double> problemSeconds;
  /// The same seed gives the same proposals for the same results.
  uint64_t seed = 0;
};

/// The caller's options, which take precedence over the environment.
struct SearchOverrides {
  std::optional<SearchMethodKind> method;
  std::optional<int64_t> iterations, patience;
  std::optional<uint64_t> seed;
};

/// "exhaustive", "random", "local", "guided".
llvm::StringRef getSearchMethodName(SearchMethodKind method);
std::vector<std::string> getSearchMethodNames();
/// Parses a name, in any case.
runtime::Result<SearchMethodKind> parseSearchMethod(llvm::StringRef text);

/// Resolves the options: the given ones, else $TARPON_SEARCH_METHOD,
/// $TARPON_TUNING_ITERATIONS_MAX, $TARPON_TUNING_PATIENCE,
/// $TARPON_TUNING_TIME_MS_MAX (of one problem) and $TARPON_SEARCH_SEED, else
/// the defaults above. An error names the variable.
runtime::Result<SearchOptions>
resolveSearchOptions(const SearchOverrides &overrides);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SEARCHOPTIONS_H
