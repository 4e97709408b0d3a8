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
    {"ok", kAlways, 0, false},       {"compile", 1, 0, true},
    {"wrong", 1, 0, false},          {"crash", 2, 5, false},
    {"hang", 2, 5, false},           {"memory", 3, 30, false},
    {"disk", 10, 10, false},         {"package", 5, 2, true},
    {"device", 10, 30, false},       {"lost", 10, 1, false},
    {"database", kAlways, 1, false}, {"returned", kAlways, 0, false},
    {"aborted", kAlways, 0, false}};

const CauseRule &tarpon::fleet::getRule(Cause cause) {
  return kRules[static_cast<size_t>(cause)];
}

std::optional<Cause> tarpon::fleet::parseCause(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kRules); ++i)
    if (kRules[i].name == name)
      return static_cast<Cause>(i);
  return std::nullopt;
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
