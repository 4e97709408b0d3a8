//===- OpRules.cpp - What problems of an operation look like --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/OpRules.h"

#include "Rules/RuleTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tarpon;

std::vector<const OpRule *> tarpon::getOpRules() {
  std::vector<const OpRule *> rules;
  for (ArrayRef<OpRule> table :
       {getConvRules(), getConvBackwardRules(), getElementwiseRules(),
        getGemmRules(), getMovementRules(), getNormRules(), getPoolRules(),
        getPoolGradientRules(), getPoolIndicesRules(), getRecurrentRules(),
        getReduceRules(), getResizeRules()})
    for (const OpRule &rule : table)
      rules.push_back(&rule);
  return rules;
}

static llvm::StringMap<const OpRule *> mapRules() {
  llvm::StringMap<const OpRule *> rules;
  for (const OpRule *rule : getOpRules()) {
    bool isNew = rules.insert({rule->op, rule}).second;
    assert(isNew && "an operation has two rules");
    (void)isNew;
  }
  return rules;
}

const OpRule *tarpon::findOpRule(StringRef op) {
  static const llvm::StringMap<const OpRule *> rules = mapRules();
  return rules.lookup(op);
}

std::string tarpon::printShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "rank 0";
  return llvm::join(
      llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }),
      "x");
}
