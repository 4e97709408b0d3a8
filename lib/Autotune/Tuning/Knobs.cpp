//===- Knobs.cpp - Parses the command line's choices ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

static constexpr llvm::StringLiteral kPickGlobal = "pick_global";
static constexpr llvm::StringLiteral kPick = "pick";

namespace {
/// A value of a knob, as the command line spells it.
template <typename Value>
struct NamedValue {
  std::string name;
  Value value;
};
} // namespace

template <typename Value>
static Result<Knob<Value>>
parseKnob(llvm::StringRef text, const std::string &what,
          const std::vector<NamedValue<Value>> &known,
          llvm::ArrayRef<Value> tried = {}) {
  Knob<Value> knob = {text.str(), {}, text == kPick};
  if (text == kPickGlobal || knob.perRegion) {
    for (const NamedValue<Value> &each : known)
      if (tried.empty() || llvm::is_contained(tried, each.value))
        knob.values.push_back(each.value);
    return knob;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto found = llvm::find_if(known, [&](const NamedValue<Value> &each) {
      return part.trim() == each.name;
    });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const NamedValue<Value> &each : known)
        names.push_back(each.name);
      return Error{"unknown " + what + " '" + part.trim().str() +
                   "', expected " + llvm::join(names, ", ") + ", " +
                   kPick.str() + " or " + kPickGlobal.str()};
    }
    if (!llvm::is_contained(knob.values, found->value))
      knob.values.push_back(found->value);
  }
  return knob;
}

Result<DtypeKnob> tarpon::parseDtypeKnob(llvm::StringRef text) {
  std::vector<NamedValue<runtime::Precision>> known;
  for (runtime::Precision precision : runtime::kPrecisions)
    known.push_back({std::string(getPrecisionName(precision)), precision});
  return parseKnob(text, "dtype", known);
}

Result<LayoutKnob> tarpon::parseLayoutKnob(llvm::StringRef text) {
  std::vector<NamedValue<Layout>> known;
  for (Layout layout : kChoiceLayouts)
    known.push_back({layout.name(), layout});
  return parseKnob(text, "layout", known);
}

Result<FusionKnob> tarpon::parseFusionKnob(llvm::StringRef text) {
  std::vector<NamedValue<Fusion>> known;
  for (Fusion fusion : kFusions)
    known.push_back({std::string(getFusionName(fusion)), fusion});
  return parseKnob(text, "fusion", known,
                   llvm::ArrayRef<Fusion>(kTriedFusions));
}
