//===- NumberRange.h - Numbers on a command line, within bounds -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_COMMON_NUMBERRANGE_H
#define TARPON_TOOLS_COMMON_NUMBERRANGE_H

#include <CLI/CLI.hpp>

#include <charconv>
#include <sstream>
#include <string>
#include <type_traits>

namespace tarpon::options {

template <typename T>
inline bool parseNumber(const std::string &text, T &value) {
  if constexpr (std::is_integral_v<T>) {
    // CLI11 reads numbers that are negative or too large for a uint64_t as
    // other numbers.
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  }
  return CLI::detail::lexical_cast(text, value);
}

/// Accepts numbers within bounds that are sensible.
template <typename T>
inline CLI::Validator isBetween(T low, T high) {
  return CLI::Validator(
      [low, high](const std::string &text) -> std::string {
        T value;
        if (parseNumber(text, value) && value >= low && value <= high)
          return "";
        std::ostringstream os;
        os << "expected a number from " << low << " to " << high << ", got '"
           << text << "'";
        return os.str();
      },
      "");
}

} // namespace tarpon::options

#endif // TARPON_TOOLS_COMMON_NUMBERRANGE_H
