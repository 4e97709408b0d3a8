//===- JsonReader.h - Typed access to untrusted JSON ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nlohmann::json throws on a wrong type, and we use no exceptions. This reader
// checks every access, keeps the first error with the path of the field, and
// continues with default values, so that code that reads a record needs no
// error branches.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_JSONREADER_H
#define TARPON_LIB_RUNTIME_JSONREADER_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tarpon::runtime {

/// One JSON value with its path. All readers of a document share one error
/// string, which is empty as long as there was no error.
class JsonReader {
public:
  JsonReader(const nlohmann::json &value, std::string path, std::string &error)
      : value(&value), path(std::move(path)), error(&error) {}

  /// Returns the field `key` of this object; records an error if it is missing.
  JsonReader field(const char *key) const;

  /// Returns true if this is an object that has the field, with a value other
  /// than null.
  bool has(const char *key) const;
  bool isNull() const { return value->is_null(); }

  /// The elements of this array.
  std::vector<JsonReader> elements() const;

  /// The fields of this object, in the order of their names.
  std::vector<std::pair<std::string, JsonReader>> members() const;

  std::string string() const;
  int64_t integer() const;
  uint64_t unsignedInteger() const;
  double number() const;
  bool boolean() const;
  std::vector<int64_t> integers() const;
  std::vector<std::string> strings() const;
  std::vector<double> numbers() const;

  /// Reports that this value is not `expected`, for example "an integer".
  void expect(const char *expected) const;

  bool failed() const { return !error->empty(); }

private:
  const nlohmann::json *value;
  std::string path;
  std::string *error;
};

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_JSONREADER_H
