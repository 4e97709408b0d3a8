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

static Result<TextKnob> parseKnob(llvm::StringRef text, const std::string &what,
                                  const std::vector<std::string> &known) {
  TextKnob knob = {text.str(), {}};
  if (text == kPickGlobal) {
    knob.values = known;
    return knob;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    std::string value = part.trim().str();
    if (!llvm::is_contained(known, value))
      return Error{"unknown " + what + " '" + value + "', expected " +
                   llvm::join(known, ", ") + " or " + kPickGlobal.str()};
    if (!llvm::is_contained(knob.values, value))
      knob.values.push_back(value);
  }
  return knob;
}

Result<DtypeKnob> tarpon::parseDtypeKnob(llvm::StringRef text) {
  std::vector<std::string> known;
  for (runtime::Precision precision : runtime::kPrecisions)
    known.emplace_back(getPrecisionName(precision));
  Result<TextKnob> names = parseKnob(text, "dtype", known);
  if (!names)
    return names.error();
  DtypeKnob knob = {names->text, {}};
  for (const std::string &name : names->values)
    knob.values.push_back(*runtime::parsePrecision(name));
  return knob;
}

Result<TextKnob> tarpon::parseLayoutKnob(llvm::StringRef text) {
  return parseKnob(text, "layout", {"nchw", "nhwc"});
}

Result<TextKnob> tarpon::parseFusionKnob(llvm::StringRef text) {
  return parseKnob(text, "fusion", {"on", "off"});
}
