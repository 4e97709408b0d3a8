//===- FindPolicyTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/FindPolicy.h"

#include "FindFixture.h"
#include "StoreTestFiles.h"

#include "gmock/gmock.h"

#include <algorithm>
#include <cstdlib>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

TEST(FindPolicyNamesTest, NamesAndNumbersAreMIOpens) {
  const std::pair<const char *, FindMode> modes[] = {
      {"1", FindMode::Normal},
      {"Normal", FindMode::Normal},
      {"2", FindMode::Fast},
      {"FAST", FindMode::Fast},
      {"3", FindMode::Hybrid},
      {"hybrid", FindMode::Hybrid},
      {"5", FindMode::DynamicHybrid},
      {"dynamic-hybrid", FindMode::DynamicHybrid},
      {"6", FindMode::TrustVerify},
      {"trust-verify", FindMode::TrustVerify}};
  for (auto [text, mode] : modes) {
    auto parsed = parseFindMode(text);
    ASSERT_TRUE(parsed) << parsed.message();
    EXPECT_EQ(*parsed, mode);
  }
  for (int i = 1; i <= 5; ++i) {
    auto number = parseTuningPolicy(std::to_string(i));
    ASSERT_TRUE(number) << number.message();
    auto name = parseTuningPolicy(getTuningPolicyName(*number));
    ASSERT_TRUE(name) << name.message();
    EXPECT_EQ(*name, *number);
  }
  // 4 was MIOpen's FastHybrid, which it has given up.
  for (const char *text : {"4", "0", "7", "", "1 ", "norma"})
    EXPECT_EQ(parseFindMode(text) ? "" : parseFindMode(text).message(),
              std::string("unknown find mode '") + text +
                  "', expected normal (1), fast (2), hybrid (3), "
                  "dynamic-hybrid (5) or trust-verify (6)");
  auto policy = parseTuningPolicy("sometimes");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.message(),
            "unknown tuning policy 'sometimes', expected none (1), db-update "
            "(2), search (3), search-db-update (4) or db-clean (5)");
}

TEST(FindPolicyNamesTest, WhatIsGivenGoesBeforeTheEnvironment) {
  setenv("TARPON_FIND_MODE", "hybrid", 1);
  setenv("TARPON_FIND_ENFORCE", "4", 1);
  FindPolicy expected = {FindMode::Hybrid, TuningPolicy::SearchDbUpdate};
  EXPECT_EQ(*resolveFindPolicy({}, {}), expected);
  expected = {FindMode::Fast, TuningPolicy::None};
  EXPECT_EQ(*resolveFindPolicy(FindMode::Fast, TuningPolicy::None), expected);
  setenv("TARPON_FIND_MODE", "quick", 1);
  auto resolved = resolveFindPolicy({}, {});
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.message(),
              HasSubstr("TARPON_FIND_MODE: unknown find mode 'quick'"));
  setenv("TARPON_FIND_MODE", "", 1);
  setenv("TARPON_FIND_ENFORCE", "9", 1);
  resolved = resolveFindPolicy({}, {});
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.message(),
              HasSubstr("TARPON_FIND_ENFORCE: unknown tuning policy '9'"));
  unsetenv("TARPON_FIND_MODE");
  unsetenv("TARPON_FIND_ENFORCE");
  expected = {FindMode::Fast, TuningPolicy::None};
  EXPECT_EQ(*resolveFindPolicy({}, {}, FindMode::Fast), expected);
}

TEST(FindPolicyNamesTest, TheTableIsThatOfTheDocumentation) {
  EXPECT_EQ(getFindRules().size(), 25u);
  EXPECT_THAT(readText(TARPON_SOURCE_DIR "/docs/tuning.md"),
              HasSubstr(printFindRules()));
}

//===----------------------------------------------------------------------===//
// Actions: measuring, storing and answering
//===----------------------------------------------------------------------===//

namespace {

class FindTest : public FindFixture {};

class FindRuleTest : public FindTest,
                     public testing::WithParamInterface<FindRule> {
protected:
  /// Does what the rule says and checks that it is `action`.
  void check(FindAction action, KnownRecord record);
  void checkMeasured(FindAction action, KnownRecord record,
                     const SearchStatistics &statistics, const Keys &before);
  void checkAnswer(FindAction action, KnownRecord record,
                   const Solution &solution);
};

} // namespace

void FindRuleTest::checkMeasured(FindAction action, KnownRecord record,
                                 const SearchStatistics &statistics,
                                 const Keys &before) {
  bool dynamicOnly = GetParam().measuresDynamicOnly();
  // A solver that the system store knows is not measured again.
  const char *known = record == KnownRecord::System ? "first-v1" : "";
  Keys after = getKeys();
  switch (action) {
  case FindAction::Answer:
    EXPECT_EQ(statistics.measured, 0);
    EXPECT_EQ(after, before);
    return;
  case FindAction::Clean:
    EXPECT_EQ(statistics.measured, 0);
    EXPECT_TRUE(after.empty());
    return;
  case FindAction::Verify:
    EXPECT_EQ(statistics.measured, 1);
    EXPECT_EQ(after, (Keys{{"first-v1", "variant=1"}}));
    return;
  case FindAction::Find:
  case FindAction::Search:
    if (record == KnownRecord::User) {
      EXPECT_EQ(statistics.measured, 0);
      EXPECT_EQ(after, before);
    } else {
      EXPECT_EQ(after, getCandidates(action == FindAction::Search, dynamicOnly,
                                     known));
    }
    return;
  case FindAction::SearchAgain: {
    Keys all = getCandidates(true, dynamicOnly);
    EXPECT_GE(statistics.measured, static_cast<int64_t>(all.size()));
    EXPECT_EQ(statistics.reused, 0);
    Keys left = before;
    left.insert(all.begin(), all.end());
    EXPECT_EQ(after, left);
    return;
  }
  }
}

void FindRuleTest::checkAnswer(FindAction action, KnownRecord record,
                               const Solution &solution) {
  ASSERT_TRUE(solution.solver);
  bool isFromSystem = record == KnownRecord::System;
  switch (action) {
  case FindAction::Clean:
    EXPECT_EQ(solution.source, isFromSystem ? "system-db" : "default");
    return;
  case FindAction::Answer:
    EXPECT_EQ(solution.source, record == KnownRecord::User ? "user-db"
                               : isFromSystem              ? "system-db"
                                                           : "default");
    return;
  case FindAction::Verify:
    EXPECT_EQ(solution.source, "measured");
    EXPECT_EQ(solution.solver, &first);
    EXPECT_EQ(solution.config.str(), "variant=1");
    return;
  case FindAction::Find:
  case FindAction::Search:
    EXPECT_EQ(solution.source,
              record == KnownRecord::User ? "user-db" : "measured");
    return;
  case FindAction::SearchAgain:
    EXPECT_EQ(solution.source, "measured");
    return;
  }
}

void FindRuleTest::check(FindAction action, KnownRecord record) {
  Keys before = getKeys();
  int64_t lastRow = openUser()->getLastRow();
  SearchStatistics statistics;
  Solution solution = find(GetParam().policy, &statistics);
  checkMeasured(action, record, statistics, before);
  checkAnswer(action, record, solution);
  // The repeated measurements have replaced the old ones.
  if (action == FindAction::SearchAgain && record == KnownRecord::User) {
    auto journal = openUser();
    Keys again = getCandidates(true, GetParam().measuresDynamicOnly());
    ASSERT_TRUE(journal->forgetSolvers(problem.key(), {"first-v1"}, lastRow));
    EXPECT_EQ(getKeys().size(), before.size());
    EXPECT_GE(before.size(), again.size());
  }
  // Whatever was found is known from now on.
  if (action == FindAction::Verify) {
    solution = find(GetParam().policy, &statistics);
    EXPECT_EQ(statistics.measured, 0);
    EXPECT_EQ(solution.source, "user-db");
    EXPECT_EQ(solution.solver, &first);
  }
}

TEST_P(FindRuleTest, OfNoRecord) { check(GetParam().none, KnownRecord::None); }

TEST_P(FindRuleTest, OfARecordOfTheUser) {
  find({FindMode::Normal, TuningPolicy::Search});
  ASSERT_EQ(getKeys(), getCandidates(true, false));
  check(GetParam().user, KnownRecord::User);
}

TEST_P(FindRuleTest, OfARecordOfTheSystemStore) {
  // Slow enough to be kept, and to be beaten by whatever is measured.
  makeSystem(1e6);
  std::string bytes = readText(directory.file("system"));
  check(GetParam().system, KnownRecord::System);
  EXPECT_EQ(readText(directory.file("system")), bytes);
}

INSTANTIATE_TEST_SUITE_P(
    All, FindRuleTest, testing::ValuesIn(getFindRules().vec()),
    [](const testing::TestParamInfo<FindRule> &info) {
      std::string name = getFindModeName(info.param.policy.mode).str() + "_" +
                         getTuningPolicyName(info.param.policy.tuning).str();
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

//===----------------------------------------------------------------------===//
// Beyond the table
//===----------------------------------------------------------------------===//

TEST_F(FindTest, WhoAsksForTuningGetsASearch) {
  FindRequest tuning = {true, {}};
  find({FindMode::Fast, TuningPolicy::None}, nullptr, tuning);
  EXPECT_EQ(getKeys(), getCandidates(true, false));
  SearchStatistics statistics;
  find({FindMode::Hybrid, TuningPolicy::DbUpdate}, &statistics);
  EXPECT_EQ(statistics.measured, 0);
  find({FindMode::Hybrid, TuningPolicy::DbUpdate}, &statistics, tuning);
  EXPECT_GE(statistics.measured,
            static_cast<int64_t>(getCandidates(true, false).size()));
}

TEST_F(FindTest, AFindIsCompletedByASearch) {
  SearchStatistics statistics;
  find({FindMode::Normal, TuningPolicy::None});
  EXPECT_EQ(getKeys(), getCandidates(false, false));
  find({FindMode::Hybrid, TuningPolicy::None}, &statistics);
  EXPECT_EQ(statistics.measured, 0);
  // Without a search, there is no record for a caller who wants one.
  find({FindMode::Hybrid, TuningPolicy::Search}, &statistics);
  EXPECT_EQ(getKeys(), getCandidates(true, false));
  EXPECT_GT(statistics.reused, 0);
}

TEST_F(FindTest, ASystemRecordThatDoesNotHoldIsSearched) {
  makeSystem(1e-9);
  Solution solution = find({FindMode::TrustVerify, TuningPolicy::None});
  EXPECT_EQ(getKeys(), getCandidates(true, false));
  EXPECT_EQ(solution.source, "measured");
  EXPECT_GT(solution.measurement->median, 1e-9);
  SearchStatistics statistics;
  solution = find({FindMode::TrustVerify, TuningPolicy::None}, &statistics);
  EXPECT_EQ(statistics.measured, 0);
  EXPECT_EQ(solution.source, "user-db");
}

/// One config that hung, or a slow one, says nothing of the others.
TEST_F(FindTest, SingleMeasurementsDoNotHideASolverOfTheSystemStore) {
  makeSystem(1e-3);
  auto add = [&](MeasurementStatus status, const char *config, double median) {
    Measurement row;
    row.key = {problem.key(), "first-v1", config};
    row.status = status;
    row.median = median;
    ASSERT_TRUE(openUser()->record(row));
  };
  FindPolicy fast = {FindMode::Fast, TuningPolicy::None};
  add(MeasurementStatus::TimedOut, "variant=2", 0);
  EXPECT_EQ(find(fast).source, "system-db");
  add(MeasurementStatus::Ok, "variant=0", 1);
  EXPECT_EQ(find(fast).source, "system-db");
  EXPECT_EQ(find(fast).config.str(), "variant=1");
  // The same candidate, found wrong here.
  add(MeasurementStatus::Wrong, "variant=1", 0);
  EXPECT_EQ(find(fast).config.str(), "variant=0");
}

/// Better than the reference, which is slow by design.
TEST_F(FindTest, AGuessThatHungGoesBeforeTheReferenceOnly) {
  for (const char *id : {"first-v1", "second-v1"}) {
    Measurement row;
    row.key = {problem.key(), id, "variant=0"};
    row.status = MeasurementStatus::TimedOut;
    ASSERT_TRUE(openUser()->record(row));
  }
  SolutionLimits limits;
  limits.disabledSolvers = {"elementwise-v1"};
  Solution solution =
      find({FindMode::Fast, TuningPolicy::None}, nullptr, {false, limits});
  EXPECT_EQ(solution.solver, &first);
}

TEST_F(FindTest, ASearchThatIsCutShortIsNoRecord) {
  {
    auto journal = openUser();
    Measurement one;
    one.key = {problem.key(), "second-v1", "variant=0"};
    one.status = MeasurementStatus::Ok;
    one.median = 1e-6;
    ASSERT_TRUE(journal->record(one));
  }
  // The first solver, which ranks before it, was never tried.
  Solution guess = find({FindMode::Fast, TuningPolicy::None});
  EXPECT_EQ(guess.source, "default");
  EXPECT_EQ(guess.solver, &first);
  find({FindMode::Hybrid, TuningPolicy::None});
  EXPECT_EQ(getKeys(), getCandidates(false, false));
}

TEST_F(FindTest, LimitsNeverSpoilTheRecordOfThoseWithoutThem) {
  first.workspace = 1 << 20;
  first.fraction = 1.6;
  SolutionLimits noWorkspace, notFirst, dynamicOnly;
  noWorkspace.workspaceBytes = 0;
  notFirst.disabledSolvers = {"first-v1"};
  dynamicOnly.dynamicOnly = true;
  for (FindMode mode :
       {FindMode::Normal, FindMode::Hybrid, FindMode::TrustVerify})
    for (const SolutionLimits &limits : {noWorkspace, notFirst}) {
      find({FindMode::Fast, TuningPolicy::DbClean});
      Solution limited =
          find({mode, TuningPolicy::None}, nullptr, {false, limits});
      EXPECT_EQ(limited.source, "measured");
      EXPECT_NE(limited.solver, &first);
      // Nobody has compared the first solver: it is still the best guess, and
      // whoever may measure does.
      EXPECT_EQ(find({FindMode::Fast, TuningPolicy::None}).solver, &first);
      find({mode, TuningPolicy::None});
      EXPECT_TRUE(hasFinding(*openUser(), problem.key(), Finding::Found) ||
                  hasFinding(*openUser(), problem.key(), Finding::Searched));
      auto keys = getKeys();
      EXPECT_TRUE(keys.count({"first-v1", "variant=0"}));
      // And the other way round: what is known without limits serves under
      // them, without the first.
      SearchStatistics statistics;
      limited = find({FindMode::Hybrid, TuningPolicy::None}, &statistics,
                     {false, limits});
      EXPECT_EQ(limited.source, "user-db");
      EXPECT_NE(limited.solver, &first);
      EXPECT_EQ(statistics.measured, 0);
    }
  find({FindMode::Fast, TuningPolicy::DbClean});
  find({FindMode::Hybrid, TuningPolicy::None}, nullptr, {false, dynamicOnly});
  EXPECT_FALSE(hasFinding(*openUser(), problem.key(), Finding::Found));
}

TEST_F(FindTest, CleaningOneProblemLeavesTheOthers) {
  find({FindMode::Normal, TuningPolicy::None});
  Keys keys = getKeys();
  Problem kept = problem;
  problem = *parseProblem("relu(2x4x8x8xf32)->2x4x8x8xf32");
  find({FindMode::Normal, TuningPolicy::None});
  find({FindMode::Normal, TuningPolicy::DbClean});
  EXPECT_TRUE(getRows().empty());
  EXPECT_FALSE(hasFinding(*openUser(), problem.key(), Finding::Found));
  problem = kept;
  EXPECT_EQ(getKeys(), keys);
}
