//===- OpTable.h - The table of importers -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_OPTABLE_H
#define TARPON_LIB_IMPORT_OPTABLE_H

#include "llvm/ADT/StringRef.h"

#include <limits>

namespace tarpon {

class OnnxNode;

/// Imports one node. The node was checked against its row before, so that all
/// required inputs are present.
using OpImporter = void (*)(OnnxNode &node);

/// The treatment of tensors that hold quantised values.
enum class Quantized { Refuses, Takes };

/// OpRow::maxInputs of an operator that takes any number, of which none may be
/// left out.
constexpr unsigned anyNumber = std::numeric_limits<unsigned>::max();

/// OpRow::maxInputs of an operator that takes any number, some of which may be
/// left out.
constexpr unsigned anyOptional = anyNumber - 1;

struct OpRow {
  /// Empty for the default domain.
  llvm::StringRef domain;
  llvm::StringRef name;
  int64_t minOpset;
  int64_t maxOpset;
  unsigned minInputs;
  unsigned maxInputs;
  OpImporter import;
  Quantized quantized;
  /// All attributes of the operator, separated by blanks.
  llvm::StringRef attributes;
};

/// Returns the row of an operator, or null. The default domain is empty.
const OpRow *findOp(llvm::StringRef domain, llvm::StringRef name);

#define OP(NAME, ...) void import##NAME(OnnxNode &node);
#include "OpTable.def"
#define DOMAIN_OP(DOMAIN, NAME, ...) void import##NAME(OnnxNode &node);
#include "DomainOps.def"
#define MICROSOFT_OP(NAME, IMPORTER, ...) void import##IMPORTER(OnnxNode &node);
#include "MicrosoftOps.def"

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_OPTABLE_H
