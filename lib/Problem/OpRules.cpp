//===- OpRules.cpp - Rules for the problems of an operation ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/OpRules.h"

#include "Rules/RuleTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace mlir;
using namespace tarpon;

std::vector<const OpRule *> tarpon::getOpRules() {
  std::vector<const OpRule *> rules;
  for (ArrayRef<OpRule> table :
       {getConvRules(), getConvBackwardRules(), getElementwiseRules(),
        getGemmRules(), getIndexRules(), getMovementRules(), getNormRules(),
        getPoolRules(), getPoolGradientRules(), getPoolIndicesRules(),
        getRecurrentRules(), getReduceRules(), getResizeRules(),
        getSampleRules()})
    for (const OpRule &rule : table)
      rules.push_back(&rule);
  return rules;
}

using RuleTable = std::array<const OpRule *, kNumOpKinds>;

static RuleTable indexRules() {
  RuleTable rules = {};
  for (const OpRule *rule : getOpRules()) {
    const OpRule *&place = rules[static_cast<size_t>(rule->op)];
    assert(!place && "an operation has two rules");
    place = rule;
  }
  assert(!llvm::is_contained(rules, nullptr) && "an operation has no rule");
  return rules;
}

const OpRule &tarpon::getOpRule(OpKind op) {
  static const RuleTable rules = indexRules();
  return *rules[static_cast<size_t>(op)];
}

std::string tarpon::printShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "rank 0";
  return llvm::join(
      llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }),
      "x");
}
