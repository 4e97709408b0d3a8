//===- ElementwiseOps.cpp - The elementwise operations --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/ElementwiseOps.h"

#include "tarpon/Problem/OpRules.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tarpon;

bool tarpon::isSwapped(const EpilogueStep &step) {
  return step.swapped && !findOpRule(step.op)->commutes;
}

bool tarpon::isElementwiseOp(StringRef op) {
  const OpRule *rule = findOpRule(op);
  return rule && rule->elementwise != Elementwise::No;
}

bool tarpon::isBinaryOp(StringRef op) {
  const OpRule *rule = findOpRule(op);
  return rule && rule->elementwise == Elementwise::Binary;
}

bool tarpon::isRealOp(StringRef op) {
  const OpRule *rule = findOpRule(op);
  return rule && rule->needsFloats;
}

bool tarpon::consumeBackward(StringRef &op) {
  const OpRule *rule = findOpRule(op);
  bool isGradient = rule && !rule->forward.empty();
  if (isGradient)
    op = rule->forward;
  return isGradient;
}

/// The names of the rules' attributes.
static llvm::StringMap<SmallVector<StringLiteral>> mapAttrs() {
  llvm::StringMap<SmallVector<StringLiteral>> names;
  for (const OpRule *rule : getOpRules())
    if (rule->elementwise != Elementwise::No)
      for (const AttrRule &attr : rule->attrs)
        names[rule->op].push_back(attr.name);
  return names;
}

ArrayRef<StringLiteral> tarpon::getStepAttrs(StringRef op) {
  static const llvm::StringMap<SmallVector<StringLiteral>> names = mapAttrs();
  auto found = names.find(op);
  if (found == names.end())
    return {};
  return found->second;
}
