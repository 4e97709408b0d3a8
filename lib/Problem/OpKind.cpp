//===- OpKind.cpp - The operations of problems ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/OpKind.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <ostream>

using namespace tarpon;
using llvm::StringLiteral;
using llvm::StringRef;

static_assert(kNumOpKinds <= 256, "an OpKind has 8 bits");

/// In the order of the enumerators.
static constexpr StringLiteral kNames[] = {
#define TARPON_OP(NAME, MNEMONIC) MNEMONIC,
#include "tarpon/Problem/Ops.def"
};

StringRef tarpon::getOpName(OpKind op) {
  return kNames[static_cast<size_t>(op)];
}

static llvm::StringMap<OpKind> mapNames() {
  llvm::StringMap<OpKind> ops;
  for (size_t i = 0; i < kNumOpKinds; ++i) {
    bool isNew = ops.insert({kNames[i], static_cast<OpKind>(i)}).second;
    assert(isNew && "two operations have one mnemonic");
    (void)isNew;
  }
  return ops;
}

std::optional<OpKind> tarpon::parseOp(StringRef mnemonic) {
  static const llvm::StringMap<OpKind> ops = mapNames();
  auto found = ops.find(mnemonic);
  if (found == ops.end())
    return std::nullopt;
  return found->second;
}

namespace {
/// A unary operation and its gradient.
struct UnaryRow {
  OpKind op, gradient;
};
} // namespace

static constexpr UnaryRow kUnary[] = {
#define TARPON_UNARY_OP(NAME, MNEMONIC) {OpKind::NAME, OpKind::NAME##Backward},
#include "tarpon/Problem/Ops.def"
};

std::optional<OpKind> tarpon::getGradient(OpKind op) {
  const UnaryRow *row = findRow(kUnary, op);
  return row ? std::optional(row->gradient) : std::nullopt;
}

llvm::raw_ostream &tarpon::operator<<(llvm::raw_ostream &os, OpKind op) {
  return os << getOpName(op);
}

std::ostream &tarpon::operator<<(std::ostream &os, OpKind op) {
  return os << getOpName(op).str();
}
