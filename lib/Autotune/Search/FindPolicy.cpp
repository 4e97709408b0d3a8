//===- FindPolicy.cpp - When to measure, and what to overwrite ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/FindPolicy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>
#include <cstdlib>
#include <vector>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The table follows three rules. The mode decides about existing records:
/// normal completes them, the others use them, trust-verify after a check. The
/// policy decides what a miss costs: none leaves it to the mode, search asks
/// for a search in every mode. The last two policies are orders and ignore
/// modes.
llvm::ArrayRef<FindRule> tarpon::getFindRules() {
  using enum FindMode;
  using enum FindAction;
  using Tuning = TuningPolicy;
  // clang-format off
  static constexpr FindRule kRules[] = {
      // policy                                 user         system       none
      {{Normal, Tuning::None},                  Find,        Find,        Find},
      {{Normal, Tuning::DbUpdate},              Find,        Find,        Find},
      {{Normal, Tuning::Search},                Search,      Search,      Search},
      {{Normal, Tuning::SearchDbUpdate},        SearchAgain, SearchAgain, SearchAgain},
      {{Normal, Tuning::DbClean},               Clean,       Clean,       Clean},
      {{Fast, Tuning::None},                    Answer,      Answer,      Answer},
      {{Fast, Tuning::DbUpdate},                Answer,      Answer,      Answer},
      {{Fast, Tuning::Search},                  Answer,      Answer,      Search},
      {{Fast, Tuning::SearchDbUpdate},          SearchAgain, SearchAgain, SearchAgain},
      {{Fast, Tuning::DbClean},                 Clean,       Clean,       Clean},
      {{Hybrid, Tuning::None},                  Answer,      Answer,      Find},
      {{Hybrid, Tuning::DbUpdate},              Answer,      Answer,      Find},
      {{Hybrid, Tuning::Search},                Answer,      Answer,      Search},
      {{Hybrid, Tuning::SearchDbUpdate},        SearchAgain, SearchAgain, SearchAgain},
      {{Hybrid, Tuning::DbClean},               Clean,       Clean,       Clean},
      {{DynamicHybrid, Tuning::None},           Answer,      Answer,      Find},
      {{DynamicHybrid, Tuning::DbUpdate},       Answer,      Answer,      Find},
      {{DynamicHybrid, Tuning::Search},         Answer,      Answer,      Search},
      {{DynamicHybrid, Tuning::SearchDbUpdate}, SearchAgain, SearchAgain, SearchAgain},
      {{DynamicHybrid, Tuning::DbClean},        Clean,       Clean,       Clean},
      {{TrustVerify, Tuning::None},             Answer,      Verify,      Search},
      {{TrustVerify, Tuning::DbUpdate},         Answer,      Verify,      Search},
      {{TrustVerify, Tuning::Search},           Answer,      Verify,      Search},
      {{TrustVerify, Tuning::SearchDbUpdate},   SearchAgain, SearchAgain, SearchAgain},
      {{TrustVerify, Tuning::DbClean},          Clean,       Clean,       Clean},
  };
  // clang-format on
  return kRules;
}

const FindRule &tarpon::getFindRule(FindPolicy policy) {
  const auto *rule =
      llvm::find_if(getFindRules(), [&](const FindRule &candidate) {
        return candidate.policy == policy;
      });
  assert(rule != getFindRules().end() && "every combination has a rule");
  return *rule;
}

FindAction FindRule::getAction(KnownRecord record) const {
  switch (record) {
  case KnownRecord::User:
    return user;
  case KnownRecord::System:
    return system;
  case KnownRecord::None:
    return none;
  }
  assert(false && "unknown record");
  return none;
}

bool FindRule::mayMeasureOrStore() const {
  return llvm::any_of(
      std::initializer_list<FindAction>{user, system, none},
      [](FindAction action) { return action != FindAction::Answer; });
}

FindPolicy tarpon::withTuning(FindPolicy policy) {
  if (policy.tuning == TuningPolicy::None)
    policy.tuning = TuningPolicy::Search;
  else if (policy.tuning == TuningPolicy::DbUpdate)
    policy.tuning = TuningPolicy::SearchDbUpdate;
  return policy;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

template <typename T>
struct Name {
  T value;
  const char *text;
};

} // namespace

static constexpr Name<FindMode> kModes[] = {
    {FindMode::Normal, "normal"},
    {FindMode::Fast, "fast"},
    {FindMode::Hybrid, "hybrid"},
    {FindMode::DynamicHybrid, "dynamic-hybrid"},
    {FindMode::TrustVerify, "trust-verify"}};

static constexpr Name<TuningPolicy> kPolicies[] = {
    {TuningPolicy::None, "none"},
    {TuningPolicy::DbUpdate, "db-update"},
    {TuningPolicy::Search, "search"},
    {TuningPolicy::SearchDbUpdate, "search-db-update"},
    {TuningPolicy::DbClean, "db-clean"}};

static constexpr Name<FindAction> kActions[] = {
    {FindAction::Answer, "answer"}, {FindAction::Find, "find"},
    {FindAction::Search, "search"}, {FindAction::SearchAgain, "search again"},
    {FindAction::Verify, "verify"}, {FindAction::Clean, "clean"}};

template <typename T>
static llvm::StringRef getName(llvm::ArrayRef<Name<T>> names, T value) {
  for (const Name<T> &name : names)
    if (name.value == value)
      return name.text;
  assert(false && "every value has a name");
  return "";
}

/// Lists the names: "normal (1), fast (2) or hybrid (3)".
template <typename T>
static std::string listNames(llvm::ArrayRef<Name<T>> names) {
  std::string text;
  for (const Name<T> &name : names) {
    if (!text.empty())
      text += &name == &names.back() ? " or " : ", ";
    text += std::string(name.text) + " (" +
            std::to_string(static_cast<int>(name.value)) + ")";
  }
  return text;
}

template <typename T>
static Result<T> parseName(llvm::StringRef text, const char *what,
                           llvm::ArrayRef<Name<T>> names) {
  for (const Name<T> &name : names)
    if (text.equals_insensitive(name.text) ||
        text == std::to_string(static_cast<int>(name.value)))
      return name.value;
  return Error{std::string("unknown ") + what + " '" + text.str() +
               "', expected " + listNames(names)};
}

llvm::StringRef tarpon::getFindModeName(FindMode mode) {
  return getName<FindMode>(kModes, mode);
}

llvm::StringRef tarpon::getTuningPolicyName(TuningPolicy policy) {
  return getName<TuningPolicy>(kPolicies, policy);
}

llvm::StringRef tarpon::getFindActionName(FindAction action) {
  return getName<FindAction>(kActions, action);
}

Result<FindMode> tarpon::parseFindMode(llvm::StringRef text) {
  return parseName<FindMode>(text, "find mode", kModes);
}

Result<TuningPolicy> tarpon::parseTuningPolicy(llvm::StringRef text) {
  return parseName<TuningPolicy>(text, "tuning policy", kPolicies);
}

//===----------------------------------------------------------------------===//
// The environment
//===----------------------------------------------------------------------===//

/// Returns the given value, else that of the variable, else `otherwise`.
template <typename T>
static Result<T> resolve(std::optional<T> given, const char *variable,
                         Result<T> (*parse)(llvm::StringRef), T otherwise) {
  if (given)
    return *given;
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return otherwise;
  Result<T> value = parse(text);
  if (!value)
    return Error{std::string(variable) + ": " + value.message()};
  return value;
}

Result<FindPolicy> tarpon::resolveFindPolicy(std::optional<FindMode> mode,
                                             std::optional<TuningPolicy> tuning,
                                             FindMode otherwise) {
  Result<FindMode> resolvedMode =
      resolve(mode, "TARPON_FIND_MODE", parseFindMode, otherwise);
  if (!resolvedMode)
    return resolvedMode.error();
  Result<TuningPolicy> resolvedTuning = resolve(
      tuning, "TARPON_FIND_ENFORCE", parseTuningPolicy, TuningPolicy::None);
  if (!resolvedTuning)
    return resolvedTuning.error();
  return FindPolicy{*resolvedMode, *resolvedTuning};
}

//===----------------------------------------------------------------------===//
// The table in Markdown
//===----------------------------------------------------------------------===//

std::string tarpon::printFindRules() {
  std::string text =
      "| find mode | tuning policy | the user's record | only the system "
      "store's | none |\n|---|---|---|---|---|\n";
  for (const FindRule &rule : getFindRules()) {
    auto describe = [&](FindAction action) {
      bool isDynamic = measures(action) && rule.measuresDynamicOnly();
      return getFindActionName(action).str() + (isDynamic ? " (dynamic)" : "");
    };
    text += "| " + getFindModeName(rule.policy.mode).str() + " | " +
            getTuningPolicyName(rule.policy.tuning).str() + " | " +
            describe(rule.user) + " | " + describe(rule.system) + " | " +
            describe(rule.none) + " |\n";
  }
  return text;
}
