//===- Job.cpp - The words of jobs ----------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Job.h"

#include <limits>

using namespace tarpon::fleet;

static constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();

/// In the order of Cause. What a machine or a person does is tried again for as
/// long as it takes, or nearly; what the code does is not.
static constexpr CauseRule kRules[] = {
    {"ok", kAlways, 0},
    {"compile", 1, 0, /*recompiles=*/true},
    {"wrong", 1, 0},
    {"crash", 2, 5},
    {"hang", 2, 5},
    {"memory", 3, 30},
    {"disk", 10, 10, /*recompiles=*/false, /*pauses=*/true},
    {"package", 5, 2, /*recompiles=*/true},
    {"device", 10, 30, /*recompiles=*/false, /*pauses=*/true},
    {"lost", 10, 1},
    {"database", kAlways, 1},
    {"returned", kAlways, 0},
    {"aborted", kAlways, 0}};

const CauseRule &tarpon::fleet::getRule(Cause cause) {
  return kRules[static_cast<size_t>(cause)];
}

std::optional<Cause> tarpon::fleet::parseCause(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kRules); ++i)
    if (kRules[i].name == name)
      return static_cast<Cause>(i);
  return std::nullopt;
}

std::vector<llvm::StringRef> tarpon::fleet::getCauseNames() {
  std::vector<llvm::StringRef> names;
  for (const CauseRule &rule : kRules)
    names.push_back(rule.name);
  return names;
}

static constexpr llvm::StringLiteral kPhases[] = {"compile", "measure"};

llvm::StringRef tarpon::fleet::getPhaseName(Phase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

std::optional<Phase> tarpon::fleet::parsePhase(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kPhases); ++i)
    if (kPhases[i] == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}
