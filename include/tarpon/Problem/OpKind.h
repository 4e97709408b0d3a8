//===- OpKind.h - The operations of problems --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops.def lists them. A mnemonic becomes an OpKind where a key, the IR or a
// database is read; it is printed only in keys, symbols and messages.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_OPKIND_H
#define TARPON_PROBLEM_OPKIND_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tarpon {

enum class OpKind : uint8_t {
#define TARPON_OP(NAME, MNEMONIC) NAME,
#include "tarpon/Problem/Ops.def"
};

inline constexpr OpKind kOpKinds[] = {
#define TARPON_OP(NAME, MNEMONIC) OpKind::NAME,
#include "tarpon/Problem/Ops.def"
};

inline constexpr size_t kNumOpKinds = std::size(kOpKinds);

/// The mnemonic: "conv", "max_pool", "relu_backward", ...
llvm::StringRef getOpName(OpKind op);

/// The operation of that mnemonic, or none.
std::optional<OpKind> parseOp(llvm::StringRef mnemonic);

/// The gradient of a unary elementwise operation; none for others.
std::optional<OpKind> getGradient(OpKind op);

/// Returns the row of an operation in a table whose rows have a member `op`, or
/// null.
template <typename Row, size_t size>
constexpr const Row *findRow(const Row (&table)[size], OpKind op) {
  for (const Row &row : table)
    if (row.op == op)
      return &row;
  return nullptr;
}

/// Print the mnemonic; the second one is for tests' messages.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, OpKind op);
std::ostream &operator<<(std::ostream &os, OpKind op);

} // namespace tarpon

#endif // TARPON_PROBLEM_OPKIND_H
