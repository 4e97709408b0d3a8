//===- RegionAssignment.cpp - The best choice of each region --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions/RegionAssignment.h"

#include "Regions/IntegerProgram.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

static size_t findState(const RegionCosts &costs, const RegionChoice &choice) {
  auto found = llvm::find(costs.states, choice);
  assert(found != costs.states.end() && "a dtype lacks a layout");
  return static_cast<size_t>(found - costs.states.begin());
}

/// Returns the state in which a reader whose region is in `state` reads.
static size_t getWanted(const RegionCosts &costs,
                        const RegionValue::Reader &reader, size_t state) {
  if (!reader.isRowMajor)
    return state;
  return findState(costs, {costs.states[state].dtype, Layout()});
}

//===----------------------------------------------------------------------===//
// Expectation
//===----------------------------------------------------------------------===//

/// Returns the time of the conversions of a value. It is stored in the wanted
/// state that costs most to convert to.
static double getConversionMs(const RegionCosts &costs,
                              const RegionValue &value,
                              llvm::ArrayRef<size_t> states) {
  std::vector<bool> isWanted(costs.states.size());
  for (const RegionValue::Reader &reader : value.readers)
    isWanted[getWanted(costs, reader, states[reader.region])] = true;
  if (value.isReturned)
    isWanted[0] = true;
  auto mayStore = [&](size_t state) {
    return value.producer ? costs.states[state].layout ==
                                costs.states[states[*value.producer]].layout
                          : state == 0;
  };
  double sum = 0, saved = 0;
  for (size_t state = 0; state < costs.states.size(); ++state) {
    if (!isWanted[state])
      continue;
    sum += value.conversionMs[state];
    if (mayStore(state))
      saved = std::max(saved, value.conversionMs[state]);
  }
  return sum - saved;
}

RegionAssignment tarpon::evaluateAssignment(const RegionCosts &costs,
                                            std::vector<size_t> states) {
  RegionAssignment assignment;
  for (auto [region, state] : llvm::zip_equal(costs.regions, states)) {
    assert(region[state] && "a region cannot be in its state");
    assignment.milliseconds += region[state]->milliseconds;
    assignment.squaredError += region[state]->squaredError;
  }
  for (const RegionValue &value : costs.values)
    assignment.milliseconds += getConversionMs(costs, value, states);
  assignment.states = std::move(states);
  return assignment;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {

using Term = IntegerProgram::Term;

class AssignmentProgram {
public:
  AssignmentProgram(const RegionCosts &costs, double budget)
      : costs(costs), budget(budget) {}

  Result<RegionAssignment> solve();

private:
  void addRegions();
  void addBudget();
  void addValue(const RegionValue &value);
  std::vector<size_t> addStorage(const RegionValue &value);
  void addReads(const RegionValue &value, size_t state, size_t stored);

  const RegionCosts &costs;
  double budget;
  IntegerProgram program;
  /// The variable of each region and state; none where there is none.
  std::vector<std::vector<std::optional<size_t>>> isIn;
};

} // namespace

/// Each region is in one state.
void AssignmentProgram::addRegions() {
  for (const auto &region : costs.regions) {
    std::vector<Term> all;
    auto &variables = isIn.emplace_back(costs.states.size());
    for (auto [state, cost] : llvm::enumerate(region))
      if (cost) {
        variables[state] = program.addBinary(cost->milliseconds);
        all.push_back({*variables[state], 1});
      }
    program.addRow(all, 1, 1);
  }
}

/// Squares are tiny numbers: the row is in units of the budget.
void AssignmentProgram::addBudget() {
  std::vector<Term> sum;
  for (auto [region, variables] : llvm::zip_equal(costs.regions, isIn))
    for (auto [cost, variable] : llvm::zip_equal(region, variables))
      if (cost && cost->squaredError > 0)
        sum.push_back({*variable, cost->squaredError / budget});
  program.addRow(sum, -IntegerProgram::kInfinity, 1);
}

/// Adds in which state a value is stored: in its region's layout. Being the
/// cheapest, it is a whole number without being asked.
std::vector<size_t> AssignmentProgram::addStorage(const RegionValue &value) {
  std::vector<size_t> stored;
  std::vector<Term> all;
  for (size_t state = 0; state < costs.states.size(); ++state) {
    stored.push_back(program.addFraction(0));
    all.push_back({stored.back(), 1});
  }
  program.addRow(all, 1, 1);
  if (!value.producer) {
    program.addRow({{stored[0], 1}}, 1, 1);
    return stored;
  }
  std::vector<Layout> layouts;
  for (const RegionChoice &choice : costs.states)
    if (!llvm::is_contained(layouts, choice.layout))
      layouts.push_back(choice.layout);
  for (const Layout &layout : layouts) {
    std::vector<Term> same;
    for (auto [state, choice] : llvm::enumerate(costs.states)) {
      if (choice.layout != layout)
        continue;
      same.push_back({stored[state], 1});
      if (auto variable = isIn[*value.producer][state])
        same.push_back({*variable, -1});
    }
    program.addRow(same, 0, 0);
  }
  return stored;
}

/// A value that is read in the state, and not stored in it, is converted.
void AssignmentProgram::addReads(const RegionValue &value, size_t state,
                                 size_t stored) {
  std::optional<size_t> converted;
  auto getConverted = [&] {
    if (!converted)
      converted = program.addFraction(value.conversionMs[state]);
    return *converted;
  };
  for (const RegionValue::Reader &reader : value.readers) {
    std::vector<Term> terms;
    for (size_t own = 0; own < costs.states.size(); ++own)
      if (auto variable = isIn[reader.region][own];
          variable && getWanted(costs, reader, own) == state)
        terms.push_back({*variable, 1});
    if (terms.empty())
      continue;
    terms.push_back({stored, -1});
    terms.push_back({getConverted(), -1});
    program.addRow(terms, -IntegerProgram::kInfinity, 0);
  }
  if (value.isReturned && state == 0)
    program.addRow({{stored, 1}, {getConverted(), 1}}, 1,
                   IntegerProgram::kInfinity);
}

void AssignmentProgram::addValue(const RegionValue &value) {
  for (auto [state, stored] : llvm::enumerate(addStorage(value)))
    addReads(value, state, stored);
}

Result<RegionAssignment> AssignmentProgram::solve() {
  addRegions();
  addBudget();
  for (const RegionValue &value : costs.values)
    addValue(value);
  std::optional<IntegerProgram::Answer> answer = program.minimise();
  if (!answer)
    return Error{"no precisions of the regions are within the budget"};
  std::vector<size_t> states;
  for (const auto &variables : isIn) {
    auto isChosen = [&](const std::optional<size_t> &variable) {
      return variable && answer->values[*variable] > 0.5;
    };
    states.push_back(llvm::find_if(variables, isChosen) - variables.begin());
  }
  RegionAssignment assignment = evaluateAssignment(costs, std::move(states));
  assignment.leastMilliseconds = answer->bound;
  return assignment;
}

Result<RegionAssignment> tarpon::assignRegions(const RegionCosts &costs,
                                               double budget) {
  assert(budget > 0 && "without a budget there is nothing to choose");
  return AssignmentProgram(costs, budget).solve();
}
