//===- FindPolicy.h - When to measure, and what to overwrite ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The find mode says whether a problem is measured at all, the tuning policy
// how thoroughly it is searched and what happens to its records. Their names
// and numbers are MIOpen's (MIOPEN_FIND_MODE, MIOPEN_FIND_ENFORCE); their
// meaning here is one table of all combinations, which the tuner follows and
// docs/tuning.md shows.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_FINDPOLICY_H
#define TARPON_AUTOTUNE_SEARCH_FINDPOLICY_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tarpon {

/// When a problem is measured. The numbers are MIOpen's.
enum class FindMode : uint8_t {
  Normal = 1,
  Fast = 2,
  Hybrid = 3,
  DynamicHybrid = 5,
  TrustVerify = 6
};

/// How thoroughly a problem is searched, and which records are overwritten. The
/// numbers are MIOpen's.
enum class TuningPolicy : uint8_t {
  None = 1,
  DbUpdate = 2,
  Search = 3,
  SearchDbUpdate = 4,
  DbClean = 5
};

struct FindPolicy {
  FindMode mode = FindMode::Normal;
  TuningPolicy tuning = TuningPolicy::None;

  bool operator==(const FindPolicy &) const = default;
};

/// The best record of a problem that the request may use: a find or a search of
/// this machine that was finished, a record of the system store, or none.
/// Single measurements, left by an interrupted search or by one under a
/// restriction, are no answer; they are only not measured again.
enum class KnownRecord : uint8_t { User, System, None };

enum class FindAction : uint8_t {
  /// Answers from the stores, else with a guess. Nothing is measured or stored.
  Answer,
  /// Measures each solver without a record, with its default config.
  Find,
  /// Searches all configs without a record. A solver that only the system store
  /// knows was searched where that store was made.
  Search,
  /// Searches all configs, whatever is known, and replaces the user's records.
  SearchAgain,
  /// Measures the system store's best once. If it takes as long as recorded, it
  /// is adopted into the user's store; otherwise everything is searched and the
  /// system store is ignored.
  Verify,
  /// Deletes the user's records of the problem, then answers.
  Clean
};

inline bool measures(FindAction action) {
  return action != FindAction::Answer && action != FindAction::Clean;
}

/// A row of the table.
struct FindRule {
  FindPolicy policy;
  /// The action if the best record is the user's, the system store's, or if
  /// there is none.
  FindAction user, system, none;

  FindAction getAction(KnownRecord record) const;
  /// Returns true if only solvers whose kernels serve any shape are measured.
  bool measuresDynamicOnly() const {
    return policy.mode == FindMode::DynamicHybrid;
  }
  bool mayMeasureOrStore() const;
};

/// All rows of the table, by mode and policy.
llvm::ArrayRef<FindRule> getFindRules();
const FindRule &getFindRule(FindPolicy policy);

/// The policy for a caller who asks for tuning: none becomes search, and
/// db-update becomes search-db-update.
FindPolicy withTuning(FindPolicy policy);

/// "trust-verify", "search-db-update".
llvm::StringRef getFindModeName(FindMode mode);
llvm::StringRef getTuningPolicyName(TuningPolicy policy);
llvm::StringRef getFindActionName(FindAction action);

/// Parses a name, in any case, or a number.
runtime::Result<FindMode> parseFindMode(llvm::StringRef text);
runtime::Result<TuningPolicy> parseTuningPolicy(llvm::StringRef text);

/// Resolves the policy: the given values, else $TARPON_FIND_MODE and
/// $TARPON_FIND_ENFORCE, else `otherwise` and none. An error names the
/// variable.
runtime::Result<FindPolicy>
resolveFindPolicy(std::optional<FindMode> mode,
                  std::optional<TuningPolicy> tuning,
                  FindMode otherwise = FindMode::Normal);

/// Prints the table in Markdown, as docs/tuning.md has it.
std::string printFindRules();

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_FINDPOLICY_H
