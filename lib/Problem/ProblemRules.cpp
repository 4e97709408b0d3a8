//===- ProblemRules.cpp - What problems of an operation look like ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules/RuleTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tarpon;

static llvm::StringMap<const OpRule *> collectRules() {
  llvm::StringMap<const OpRule *> rules;
  for (ArrayRef<OpRule> table :
       {getConvBackwardRules(), getNormRules(), getPoolGradientRules(),
        getPoolIndicesRules(), getRecurrentRules(), getReduceRules()})
    for (const OpRule &rule : table)
      rules[rule.op] = &rule;
  return rules;
}

const OpRule *tarpon::findOpRule(StringRef op) {
  static const llvm::StringMap<const OpRule *> rules = collectRules();
  return rules.lookup(op);
}

std::string tarpon::printShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "rank 0";
  return llvm::join(
      llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }),
      "x");
}
