//===- FindingTest.cpp - Findings that are out of date --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FindFixture.h"
#include "ScopedBehaviourVersion.h"
#include "StoreTestFiles.h"

#include "Search/Methods/ConfigSpace.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "gmock/gmock.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::test;

//===----------------------------------------------------------------------===//
// Candidates as text
//===----------------------------------------------------------------------===//

TEST(CandidateDigestsTest, AreReadAsTheyWereWritten) {
  CandidateDigests digests;
  EXPECT_TRUE(digests.areUnknown());
  EXPECT_EQ(digests.str(), "");
  digests.add("b-v1", 2, "00ff");
  digests.add("a-v1", 1, "1234");
  EXPECT_FALSE(digests.areUnknown());
  EXPECT_EQ(digests.str(), "a-v1/1/1234 b-v1/2/00ff");
  EXPECT_EQ(CandidateDigests::parse(digests.str()), digests);
  EXPECT_TRUE(CandidateDigests::parse("").areUnknown());
  EXPECT_TRUE(CandidateDigests::parse("a-v1 a-v1/x/1 /").areUnknown());
}

TEST(CandidateDigestsTest, AreComparedBySolver) {
  CandidateDigests one = CandidateDigests::parse("a-v1/1/12 b-v1/1/34");
  CandidateDigests two = CandidateDigests::parse("a-v1/1/12 b-v1/2/34");
  EXPECT_NE(one, two);
  EXPECT_TRUE(one.haveSame(two, "a-v1"));
  EXPECT_FALSE(one.haveSame(two, "b-v1"));
  EXPECT_FALSE(one.haveSame(two, "c-v1"));
  EXPECT_TRUE(one.areOfThisBuild());
  EXPECT_FALSE(two.areOfThisBuild());
  ScopedBehaviourVersion raised("b-v1", 2);
  EXPECT_FALSE(one.areOfThisBuild());
  EXPECT_TRUE(two.areOfThisBuild());
}

namespace {

/// A solver with any list of configs, which accepts values up to a limit.
class ListSolver final : public HostileSolver {
public:
  ListSolver() : HostileSolver("list-v1", Right) {}

  std::vector<int64_t> list = {16, 4, 8};
  int64_t largest = 16;

  std::vector<PerfConfig> configs(const Problem &,
                                  const TargetInfo &) const override {
    std::vector<PerfConfig> configs;
    for (int64_t value : list)
      configs.push_back({{"variant", value}});
    return configs;
  }
  bool isValidConfig(const Problem &, const TargetInfo &,
                     const PerfConfig &config) const override {
    return config.has("variant") && config.get("variant") <= largest;
  }
};

} // namespace

TEST(DescribeCandidatesTest, HoldsEveryPart) {
  TargetInfo target = *getHostTarget(1);
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  auto describe = [&](const ListSolver &solver) {
    ScopedExtraSolvers extra({&solver});
    return describeCandidates(problem, target);
  };
  ListSolver solver;
  CandidateDigests known = describe(solver);
  EXPECT_EQ(known, describe(solver));
  EXPECT_THAT(known.str(), testing::HasSubstr("list-v1/1/"));
  // The reference is no candidate.
  EXPECT_THAT(known.str(),
              testing::Not(testing::HasSubstr(getReferenceSolver().id())));
  // Ranks are no part of it.
  solver.list = {4, 8, 16};
  solver.fraction = 0.001;
  EXPECT_EQ(known, describe(solver));
  using Change = std::function<void(ListSolver &)>;
  for (const Change &change :
       std::vector<Change>{[](ListSolver &s) { s.applies = false; },
                           [](ListSolver &s) { s.list.push_back(2); },
                           [](ListSolver &s) { s.list.pop_back(); },
                           [](ListSolver &s) { s.largest = 32; }}) {
    ListSolver other;
    change(other);
    CandidateDigests changed = describe(other);
    EXPECT_NE(known, changed);
    EXPECT_FALSE(known.haveSame(changed, "list-v1"));
    EXPECT_TRUE(known.haveSame(changed, "elementwise-v1"));
  }
  ScopedBehaviourVersion raised("list-v1", 2);
  EXPECT_FALSE(known.haveSame(describe(solver), "list-v1"));
}

//===----------------------------------------------------------------------===//
// In all modes that measure what has no record
//===----------------------------------------------------------------------===//

namespace {

/// What a search by an older build has measured.
class OutOfDateTest : public FindFixture {
protected:
  HostileSolver added{"added-v1", HostileSolver::Right, 2};

  void SetUp() override {
    offer({&first});
    find({FindMode::Normal, TuningPolicy::Search});
    known = getKeys();
    ASSERT_EQ(known, getCandidates(true, false));
  }

  void offer(std::vector<const Solver *> solvers) {
    extra.reset();
    extra.emplace(std::move(solvers));
  }

  std::string query(const std::string &sql) {
    return queryStore(directory.file("user"), sql);
  }

  std::string countFirstResults(const std::string &condition) {
    return query("SELECT count(*) FROM measurement WHERE status <> 'started' "
                 "AND origin = 'race' AND " +
                 condition);
  }

  Keys known;
};

class OutOfDateRuleTest : public OutOfDateTest,
                          public testing::WithParamInterface<FindRule> {
protected:
  bool isSearch() const { return GetParam().none == FindAction::Search; }

  /// Does what the rule says twice. The first time, `solver` is measured again
  /// or for the first time, and nothing else; then all of it is known.
  Solution check(const Keys &measured, const std::string &solver) {
    std::string others = "solver <> '" + solver + "'";
    std::string before = countFirstResults(others);
    SearchStatistics statistics;
    Solution solution = find(GetParam().policy, &statistics);
    if (measured.empty()) {
      EXPECT_EQ(statistics.measured, 0);
    }
    Keys all = getKeys();
    for (const auto &key : measured)
      EXPECT_TRUE(all.count(key)) << key.first << " " << key.second;
    EXPECT_EQ(countFirstResults(others), before);
    find(GetParam().policy, &statistics);
    EXPECT_EQ(statistics.measured, 0);
    // An answer does not look at single records.
    if (GetParam().user == FindAction::Answer) {
      EXPECT_EQ(statistics.reused, 0);
    }
    EXPECT_EQ(getKeys(), all);
    return solution;
  }
};

} // namespace

TEST_P(OutOfDateRuleTest, NothingIsOutOfDateWithoutAChange) {
  EXPECT_EQ(check({}, "none-v1").source, "user-db");
  EXPECT_EQ(getKeys(), known);
  EXPECT_EQ(query("SELECT count(*) FROM finding WHERE kind = 'searched'"), "1");
}

TEST_P(OutOfDateRuleTest, ANewSolverIsMeasured) {
  offer({&first, &added});
  Keys measured = {{"added-v1", "variant=0"}};
  if (isSearch())
    measured.insert({"added-v1", "variant=1"});
  check(measured, "added-v1");
  measured.insert(known.begin(), known.end());
  EXPECT_EQ(getKeys(), measured);
}

/// One config of each solver is enough for a find.
TEST_P(OutOfDateRuleTest, ANewConfigIsSearched) {
  HostileSolver more("first-v1", HostileSolver::Right, 4);
  offer({&more});
  Keys measured;
  if (isSearch())
    measured.insert({"first-v1", "variant=3"});
  check(measured, "first-v1");
  measured.insert(known.begin(), known.end());
  EXPECT_EQ(getKeys(), measured);
  EXPECT_EQ(countFirstResults("solver = 'first-v1'"), isSearch() ? "4" : "3");
}

TEST_P(OutOfDateRuleTest, ANewVersionIsMeasured) {
  ScopedBehaviourVersion raised("first-v1", 2);
  Keys measured = {{"first-v1", "variant=0"}};
  if (isSearch())
    measured.insert({{"first-v1", "variant=1"}, {"first-v1", "variant=2"}});
  check(measured, "first-v1");
}

TEST_P(OutOfDateRuleTest, ANewVersionThatAppliesNoMoreIsLeftOut) {
  ScopedBehaviourVersion raised("first-v1", 2);
  first.applies = false;
  Solution solution = check({}, "first-v1");
  EXPECT_EQ(solution.source, "user-db");
  EXPECT_NE(solution.solver, &first);
}

/// As they are after the migration of an older file.
TEST_P(OutOfDateRuleTest, FindingsWithoutCandidatesAreRenewed) {
  for (bool isNew : {false, true}) {
    ASSERT_EQ(changeStore(directory.file("user"),
                          "DELETE FROM finding WHERE id > 1; "
                          "UPDATE finding SET candidates = ''"),
              "");
    Keys measured;
    if (isNew) {
      offer({&first, &added});
      measured.insert({"added-v1", "variant=0"});
    }
    check(measured, isNew ? "added-v1" : "none-v1");
    EXPECT_EQ(query("SELECT count(*) FROM finding WHERE candidates <> ''"),
              "1");
  }
}

/// Once renewed, they cover nothing any more.
TEST_P(OutOfDateRuleTest, FindingsWithoutCandidatesCoverNothingOnceRenewed) {
  ASSERT_EQ(changeStore(directory.file("user"),
                        "DELETE FROM finding WHERE id > 1; "
                        "UPDATE finding SET candidates = ''"),
            "");
  find(GetParam().policy);
  HostileSolver more("first-v1", HostileSolver::Right, 4);
  offer({&more});
  find(GetParam().policy);
  EXPECT_EQ(countFirstResults("solver = 'first-v1'"), isSearch() ? "4" : "3");
}

/// The system store's records do not stand in for those of the user.
TEST_P(OutOfDateRuleTest, TheUsersComparisonIsCompleted) {
  makeSystem(1e6);
  offer({&first, &added});
  check({{"added-v1", "variant=0"}}, "added-v1");
}

static std::vector<FindRule> getMeasuringRules() {
  std::vector<FindRule> rules;
  for (const FindRule &rule : getFindRules())
    if (rule.none == FindAction::Find || rule.none == FindAction::Search)
      rules.push_back(rule);
  return rules;
}

INSTANTIATE_TEST_SUITE_P(
    All, OutOfDateRuleTest, testing::ValuesIn(getMeasuringRules()),
    [](const testing::TestParamInfo<FindRule> &info) {
      std::string name = getFindModeName(info.param.policy.mode).str() + "_" +
                         getTuningPolicyName(info.param.policy.tuning).str();
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

//===----------------------------------------------------------------------===//
// Beyond the rules
//===----------------------------------------------------------------------===//

/// Their search has come to its end; that of the others is guided.
TEST_F(OutOfDateTest, SolversThatAreAsBeforeAreNotSearchedOn) {
  HostileSolver many("many-v1", HostileSolver::Right, 200);
  offer({&first, &many});
  find({FindMode::Normal, TuningPolicy::Search});
  std::string before = countFirstResults("solver = 'many-v1'");
  EXPECT_LT(std::stoi(before), 100);
  HostileSolver more("first-v1", HostileSolver::Right, 4);
  offer({&more, &many, &added});
  find({FindMode::Hybrid, TuningPolicy::Search});
  EXPECT_EQ(countFirstResults("solver = 'many-v1'"), before);
  EXPECT_NE(countFirstResults("solver = 'added-v1'"), "0");
}

TEST_F(OutOfDateTest, FastMeasuresNothing) {
  offer({&first, &added});
  SearchStatistics statistics;
  find({FindMode::Fast, TuningPolicy::None}, &statistics);
  EXPECT_EQ(statistics.measured, 0);
  EXPECT_EQ(getKeys(), known);
  EXPECT_EQ(query("SELECT count(*) FROM finding"), "1");
}

/// The user's measurements take precedence over the system store's, even after
/// others have become possible.
TEST_F(OutOfDateTest, TheUsersRecordsHideThoseOfTheSystemStore) {
  makeSystem(1e-9);
  added.fraction = 0.001;
  FindPolicy fast = {FindMode::Fast, TuningPolicy::None};
  EXPECT_EQ(find(fast).source, "user-db");
  offer({&first, &added});
  EXPECT_EQ(find(fast).source, "user-db");
}

namespace {
class VerificationTest : public FindFixture {};
} // namespace

TEST_F(VerificationTest, IsRenewedWithoutMeasuring) {
  makeSystem(1e6);
  FindPolicy policy = {FindMode::TrustVerify, TuningPolicy::None};
  SearchStatistics statistics;
  find(policy, &statistics);
  EXPECT_EQ(statistics.measured, 1);
  HostileSolver added("added-v1", HostileSolver::Right);
  extra.reset();
  extra.emplace(std::vector<const Solver *>{&first, &second, &added});
  Solution solution = find(policy, &statistics);
  EXPECT_EQ(statistics.measured, 0);
  EXPECT_EQ(statistics.reused, 1);
  EXPECT_EQ(solution.source, "user-db");
  find(policy, &statistics);
  EXPECT_EQ(statistics.reused, 0);
  EXPECT_EQ(queryStore(directory.file("user"),
                       "SELECT count(*) FROM finding WHERE kind = 'verified'"),
            "2");
}
