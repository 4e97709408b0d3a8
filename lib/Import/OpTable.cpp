//===- OpTable.cpp - The table of importers ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"

#include "ModelReader.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tarpon {

static constexpr Quantized refuses = Quantized::Refuses;
static constexpr Quantized takes = Quantized::Takes;

static constexpr OpRow opTable[] = {
#define OP(NAME, MIN_OPSET, MAX_OPSET, MIN_INPUTS, MAX_INPUTS, QUANTIZED,      \
           ATTRIBUTES)                                                         \
  {"",         #NAME,        MIN_OPSET, MAX_OPSET, MIN_INPUTS,                 \
   MAX_INPUTS, import##NAME, QUANTIZED, ATTRIBUTES},
#include "OpTable.def"
};

/// The opset of the default domain says nothing about these.
static constexpr OpRow domainTable[] = {
#define DOMAIN_OP(DOMAIN, NAME, MIN_INPUTS, MAX_INPUTS, ATTRIBUTES)            \
  {DOMAIN,     #NAME,        1,       maxOpset,  MIN_INPUTS,                   \
   MAX_INPUTS, import##NAME, refuses, ATTRIBUTES},
#include "DomainOps.def"
#define MICROSOFT_OP(NAME, IMPORTER, MIN_INPUTS, MAX_INPUTS, QUANTIZED,        \
                     ATTRIBUTES)                                               \
  {"com.microsoft",  #NAME,     1,         maxOpset, MIN_INPUTS, MAX_INPUTS,   \
   import##IMPORTER, QUANTIZED, ATTRIBUTES},
#include "MicrosoftOps.def"
};

static_assert(std::ranges::all_of(opTable,
                                  [](const OpRow &row) {
                                    return row.minOpset <= row.maxOpset &&
                                           row.maxOpset <= maxOpset;
                                  }),
              "no model can reach a row of the table");

const OpRow *findOp(llvm::StringRef domain, llvm::StringRef name) {
  if (!domain.empty()) {
    const OpRow *row = llvm::find_if(domainTable, [&](const OpRow &row) {
      return row.domain == domain && row.name == name;
    });
    return row != std::end(domainTable) ? row : nullptr;
  }
  const OpRow *row = llvm::lower_bound(
      opTable, name,
      [](const OpRow &row, llvm::StringRef name) { return row.name < name; });
  return row != std::end(opTable) && row->name == name ? row : nullptr;
}

} // namespace tarpon
