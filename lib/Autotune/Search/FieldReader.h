//===- FieldReader.h - Reads the fields of JSON objects ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_FIELDREADER_H
#define TARPON_LIB_AUTOTUNE_SEARCH_FIELDREADER_H

#include "llvm/ADT/StringRef.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tarpon {

/// Reads fields; the first one that is missing or of another type is the error.
class FieldReader {
public:
  /// `where` names the object in errors. The object must outlive the reader.
  FieldReader(const nlohmann::json &object, std::string where)
      : object(object), where(std::move(where)) {}

  void read(const char *name, std::string &value) {
    if (const Json *field = get(name, &Json::is_string, "a string"))
      value = field->get<std::string>();
  }
  void read(const char *name, int64_t &value) {
    if (const Json *field = get(name, &Json::is_number_integer, "an integer"))
      value = field->get<int64_t>();
  }
  void read(const char *name, bool &value) {
    if (const Json *field = get(name, &Json::is_boolean, "a boolean"))
      value = field->get<bool>();
  }
  void read(const char *name, std::optional<double> &value) {
    if (object.contains(name))
      if (const Json *field = get(name, &Json::is_number, "a number"))
        value = field->get<double>();
  }

  std::string error;

private:
  using Json = nlohmann::json;

  const Json *get(const char *name, bool (Json::*isRight)() const noexcept,
                  const char *expected) {
    if (!error.empty())
      return nullptr;
    auto field = object.find(name);
    if (field != object.end() && ((*field).*isRight)())
      return &*field;
    error =
        (where.empty() ? "" : where + ": ") + name + ": expected " + expected;
    return nullptr;
  }

  const Json &object;
  std::string where;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_FIELDREADER_H
