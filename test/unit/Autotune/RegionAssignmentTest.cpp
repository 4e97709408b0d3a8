//===- RegionAssignmentTest.cpp -------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The integer program against all assignments of small models.
//
//===----------------------------------------------------------------------===//

#include "Regions/RegionAssignment.h"

#include "gtest/gtest.h"

#include <random>

using namespace tarpon;
using runtime::Precision;

static const Layout kNhwc{Layout::NHWC};

/// fp32 and int8 in both layouts.
static std::vector<RegionChoice> makeStates() {
  return {{Precision::F32, {}},
          {Precision::I8, {}},
          {Precision::F32, kNhwc},
          {Precision::I8, kNhwc}};
}

/// A chain of regions, each of which reads the one before it.
static RegionCosts makeChain(std::vector<std::vector<double>> milliseconds,
                             double squaredError, double conversion) {
  RegionCosts costs;
  costs.states = makeStates();
  std::optional<size_t> before;
  for (const std::vector<double> &times : milliseconds) {
    size_t region = costs.regions.size();
    auto &states = costs.regions.emplace_back();
    for (auto [state, time] : llvm::enumerate(times))
      states.push_back(RegionCost{
          time, costs.states[state].dtype == Precision::I8 ? squaredError : 0});
    costs.values.push_back({before,
                            {{region, false}},
                            /*isReturned=*/false,
                            std::vector<double>(4, conversion)});
    before = region;
  }
  costs.values.push_back(
      {before, {}, /*isReturned=*/true, std::vector<double>(4, conversion)});
  return costs;
}

TEST(RegionAssignment, TakesTheFastestStates) {
  RegionCosts costs = makeChain({{4, 4, 3, 1}, {4, 4, 3, 1}}, 0.25, 0.1);
  auto assignment = assignRegions(costs, 1);
  ASSERT_TRUE(assignment) << assignment.message();
  EXPECT_EQ(assignment->states, (std::vector<size_t>{3, 3}));
  // The argument is converted, and the result.
  EXPECT_NEAR(assignment->milliseconds, 2.2, 1e-9);
  EXPECT_NEAR(assignment->squaredError, 0.5, 1e-9);
  EXPECT_NEAR(assignment->leastMilliseconds, 2.2, 1e-3);
}

TEST(RegionAssignment, KeepsTheBudget) {
  RegionCosts costs = makeChain({{4, 4, 3, 1}, {4, 4, 3, 2}}, 0.25, 0.1);
  auto assignment = assignRegions(costs, 0.3);
  ASSERT_TRUE(assignment) << assignment.message();
  EXPECT_EQ(assignment->states, (std::vector<size_t>{3, 2}));
}

TEST(RegionAssignment, PaysForConversions) {
  RegionCosts costs = makeChain({{4, 4, 3, 1}, {1, 4, 3, 3}}, 0, 1);
  auto assignment = assignRegions(costs, 1);
  ASSERT_TRUE(assignment) << assignment.message();
  EXPECT_EQ(assignment->states, (std::vector<size_t>{3, 0}));
  for (RegionValue &value : costs.values)
    value.conversionMs.assign(4, 2);
  assignment = assignRegions(costs, 1);
  ASSERT_TRUE(assignment) << assignment.message();
  EXPECT_EQ(assignment->states, (std::vector<size_t>{0, 0}));
}

TEST(RegionAssignment, SaysThatTheBudgetIsTooSmall) {
  RegionCosts costs = makeChain({{4, 1, 3, 1}}, 0.25, 0);
  costs.regions[0][0].reset();
  costs.regions[0][2].reset();
  auto assignment = assignRegions(costs, 0.2);
  ASSERT_FALSE(assignment);
  EXPECT_EQ(assignment.message(),
            "no precisions of the regions are within the budget");
}

namespace {

/// Models with values that several regions read.
class RandomCosts {
public:
  explicit RandomCosts(unsigned seed) : random(seed) {}

  RegionCosts make() {
    RegionCosts costs;
    costs.states = makeStates();
    size_t count = pick(2, 5);
    for (size_t region = 0; region < count; ++region) {
      auto &states = costs.regions.emplace_back(4);
      for (size_t state = 0; state < 4; ++state)
        if (state == 0 || pick(0, 4))
          states[state] = RegionCost{number(), state % 2 ? number() : 0};
    }
    for (size_t producer = 0; producer <= count; ++producer) {
      RegionValue value;
      if (producer < count)
        value.producer = producer;
      size_t first = producer < count ? producer + 1 : 0;
      for (size_t reader = first; reader < count; ++reader)
        if (pick(0, 1))
          value.readers.push_back({reader, pick(0, 3) == 0});
      value.isReturned = producer < count && pick(0, 2) == 0;
      for (size_t state = 0; state < 4; ++state)
        value.conversionMs.push_back(number() / 2);
      costs.values.push_back(std::move(value));
    }
    return costs;
  }

  double number() { return std::uniform_real_distribution<>(0, 1)(random); }

private:
  size_t pick(size_t from, size_t to) {
    return std::uniform_int_distribution<size_t>(from, to)(random);
  }

  std::mt19937 random;
};

} // namespace

/// Calls `visit` with every assignment.
static void
forEachAssignment(const RegionCosts &costs,
                  llvm::function_ref<void(const std::vector<size_t> &)> visit) {
  std::vector<size_t> states(costs.regions.size());
  while (true) {
    bool isPossible = true;
    for (auto [region, state] : llvm::zip_equal(costs.regions, states))
      isPossible &= region[state].has_value();
    if (isPossible)
      visit(states);
    size_t region = 0;
    while (region < states.size() && ++states[region] == costs.states.size())
      states[region++] = 0;
    if (region == states.size())
      return;
  }
}

TEST(RegionAssignment, IsAsGoodAsAllAssignments) {
  RandomCosts random(1);
  for (int round = 0; round < 200; ++round) {
    RegionCosts costs = random.make();
    double budget = 0.05 + random.number();
    double least = std::numeric_limits<double>::infinity();
    forEachAssignment(costs, [&](const std::vector<size_t> &states) {
      RegionAssignment one = evaluateAssignment(costs, states);
      if (one.squaredError <= budget)
        least = std::min(least, one.milliseconds);
    });
    auto assignment = assignRegions(costs, budget);
    ASSERT_TRUE(assignment) << round << ": " << assignment.message();
    EXPECT_LE(assignment->squaredError, budget * (1 + 1e-6)) << round;
    EXPECT_NEAR(assignment->milliseconds, least, 1e-3 * least) << round;
    EXPECT_LE(assignment->leastMilliseconds, least * (1 + 1e-6)) << round;
  }
}
