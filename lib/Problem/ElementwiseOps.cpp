//===- ElementwiseOps.cpp - The elementwise operations --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/ElementwiseOps.h"

#include "tarpon/Problem/OpRules.h"

#include <array>

using namespace mlir;
using namespace tarpon;

bool tarpon::isSwapped(const EpilogueStep &step) {
  return step.swapped && !getOpRule(step.op).commutes;
}

bool tarpon::isElementwiseOp(OpKind op) {
  return getOpRule(op).elementwise != Elementwise::No;
}

bool tarpon::isBinaryOp(OpKind op) {
  return getOpRule(op).elementwise == Elementwise::Binary;
}

bool tarpon::isRealOp(OpKind op) { return getOpRule(op).needsFloats; }

std::optional<OpKind> tarpon::getForward(OpKind op) {
  return getOpRule(op).forward;
}

/// Each op's names of attributes.
using AttrTable = std::array<SmallVector<StringLiteral>, kNumOpKinds>;

static AttrTable collectAttrs() {
  AttrTable names;
  for (const OpRule *rule : getOpRules())
    if (rule->elementwise != Elementwise::No)
      for (const AttrRule &attr : rule->attrs)
        names[static_cast<size_t>(rule->op)].push_back(attr.name);
  return names;
}

ArrayRef<StringLiteral> tarpon::getStepAttrs(OpKind op) {
  static const AttrTable names = collectAttrs();
  return names[static_cast<size_t>(op)];
}
