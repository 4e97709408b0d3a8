//===- CommandLineValues.h - The values of options --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Validators for CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDLINEVALUES_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDLINEVALUES_H

#include "NumberRange.h"

#include "tarpon/Autotune/Choice/GlobalChoice.h"
#include "tarpon/Autotune/Choice/RangeMethod.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace tarpon::options {

/// The knobs of a global choice and their values.
struct OptionValues {
  const char *name;
  std::vector<std::string> values;
};

/// The words that a list may be instead: all values, for each region or for the
/// whole model.
inline const std::vector<std::string> kListWords = {"pick", "pick_global"};

/// Lists the names of all values of a knob.
template <typename Values, typename GetName>
OptionValues listValues(const char *name, const Values &values,
                        GetName getName) {
  OptionValues listed = {name, {}};
  for (const auto &value : values)
    listed.values.emplace_back(getName(value));
  return listed;
}

inline const OptionValues kDtype =
    listValues("dtype", runtime::kPrecisions, runtime::getPrecisionName);
inline const OptionValues kRangeMethod = [] {
  OptionValues listed =
      listValues("range method", kRangeMethods, getRangeMethodName);
  listed.values.insert(listed.values.begin(), "pick");
  return listed;
}();
inline const OptionValues kLayout = listValues(
    "layout", kChoiceLayouts, [](const Layout &each) { return each.name(); });
inline const OptionValues kOrder = {"order", {"time", "workspace"}};
inline const OptionValues kFusion =
    listValues("fusion", kFusions, getFusionName);

inline std::string join(const std::vector<std::string> &values,
                        const std::string &separator, const std::string &last) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0)
      text += i + 1 == values.size() ? last : separator;
    text += values[i];
  }
  return text;
}

inline std::string checkValue(const OptionValues &knob,
                              const std::string &value) {
  if (std::count(knob.values.begin(), knob.values.end(), value))
    return "";
  return std::string("unknown ") + knob.name + " '" + value + "', expected " +
         join(knob.values, ", ", " or ");
}

/// Accepts one value. The option's type name in the help lists the values.
inline CLI::Validator isOneOf(const OptionValues &knob) {
  return CLI::Validator(
      [knob](const std::string &text) { return checkValue(knob, text); }, "");
}

/// Accepts several values, separated by commas, or a word for all.
inline CLI::Validator isListOf(const OptionValues &knob) {
  return CLI::Validator(
      [&knob](const std::string &text) -> std::string {
        if (std::count(kListWords.begin(), kListWords.end(), text))
          return "";
        std::vector<std::string> seen;
        std::istringstream stream(text + ",");
        for (std::string value; std::getline(stream, value, ',');) {
          std::string error = checkValue(knob, value);
          if (!error.empty())
            return error + ", a list of them, " +
                   join(kListWords, ", ", " or ");
          if (std::count(seen.begin(), seen.end(), value))
            return std::string(knob.name) + " '" + value + "' is given twice";
          seen.push_back(value);
        }
        return "";
      },
      "");
}

inline std::string getTypeName(const OptionValues &knob) {
  return join(knob.values, "|", "|");
}

inline std::string getListTypeName(const OptionValues &knob) {
  return join(knob.values, ",", ",") + "|" + join(kListWords, "|", "|");
}

/// Accepts a number of candidates of at least two, or "all".
inline CLI::Validator isCandidateCount() {
  return CLI::Validator(
      [](const std::string &text) -> std::string {
        int64_t value = 0;
        if (text == "all" || (parseNumber(text, value) && value >= 2))
          return "";
        return "expected a number from 2 on or all, got '" + text + "'";
      },
      "");
}

/// Checks a value with a parser of the library.
template <typename T>
inline CLI::Validator
isParsedBy(tarpon::runtime::Result<T> (*parse)(llvm::StringRef)) {
  return CLI::Validator(
      [parse](const std::string &text) -> std::string {
        tarpon::runtime::Result<T> value = parse(text);
        return value ? "" : value.message();
      },
      "");
}

} // namespace tarpon::options

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDLINEVALUES_H
