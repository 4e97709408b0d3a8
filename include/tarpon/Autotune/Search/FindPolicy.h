//===- FindPolicy.h - When to measure, and what to overwrite ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The find mode says whether a problem is measured at all, the tuning policy
// how thoroughly, and what happens to what is known of it. Their names and
// numbers are MIOpen's (MIOPEN_FIND_MODE, MIOPEN_FIND_ENFORCE); what they mean
// here is one table of all combinations, which the tuner goes by and which
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

/// Whether to measure. The numbers are MIOpen's.
enum class FindMode : uint8_t {
  Normal = 1,
  Fast = 2,
  Hybrid = 3,
  DynamicHybrid = 5,
  TrustVerify = 6
};

/// How thoroughly, and what to overwrite. The numbers are MIOpen's.
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

/// What is known of a problem, as far as the request may use it: a find or a
/// search of this machine that was finished, a record of the system store, or
/// neither. Single measurements, which an interrupted search or one under a
/// restriction has left, are no answer; they are only not measured again.
enum class KnownRecord : uint8_t { User, System, None };

enum class FindAction : uint8_t {
  /// What the stores know, else a guess. Nothing is measured or stored.
  Answer,
  /// Measures each solver of which nothing is known, with its default config.
  Find,
  /// Searches configs, except for what is known. A solver that only the system
  /// store knows was searched where that was made.
  Search,
  /// Searches configs, whatever is known, and replaces the user's records.
  SearchAgain,
  /// Measures the system store's best once: if it takes as long as recorded, it
  /// is adopted into the user's store; else everything is searched, the system
  /// store being ignored.
  Verify,
  /// Deletes the user's records of the problem, then answers.
  Clean
};

inline bool measures(FindAction action) {
  return action != FindAction::Answer && action != FindAction::Clean;
}

/// One row of the table.
struct FindRule {
  FindPolicy policy;
  /// What to do if the best record is the user's, the system store's, or if
  /// there is none.
  FindAction user, system, none;

  FindAction getAction(KnownRecord record) const;
  /// Only solvers whose kernels serve any shape are measured.
  bool measuresDynamicOnly() const {
    return policy.mode == FindMode::DynamicHybrid;
  }
  bool mayMeasureOrStore() const;
};

/// All of them, by mode and policy.
llvm::ArrayRef<FindRule> getFindRules();
const FindRule &getFindRule(FindPolicy policy);

/// The policy where the caller asks for tuning itself: none becomes search, and
/// db-update search-db-update, which is all that it ever does.
FindPolicy withTuning(FindPolicy policy);

/// "trust-verify", "search-db-update".
llvm::StringRef getFindModeName(FindMode mode);
llvm::StringRef getTuningPolicyName(TuningPolicy policy);
llvm::StringRef getFindActionName(FindAction action);

/// A name, in any case, or a number.
runtime::Result<FindMode> parseFindMode(llvm::StringRef text);
runtime::Result<TuningPolicy> parseTuningPolicy(llvm::StringRef text);

/// What is given, else $TARPON_FIND_MODE and $TARPON_FIND_ENFORCE, else
/// `otherwise` and none. An error names the variable.
runtime::Result<FindPolicy>
resolveFindPolicy(std::optional<FindMode> mode,
                  std::optional<TuningPolicy> tuning,
                  FindMode otherwise = FindMode::Normal);

/// The table in Markdown, as docs/tuning.md has it.
std::string printFindRules();

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_FINDPOLICY_H
