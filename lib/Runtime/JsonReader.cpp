//===- JsonReader.cpp - Typed access to untrusted JSON ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"

#include <limits>

namespace tarpon::runtime {

using nlohmann::json;

/// The value to which a reader points after an error.
static const json &nothing() {
  static const json null;
  return null;
}

void JsonReader::expect(const char *expected) const {
  if (!failed())
    *error = "'" + path + "' is not " + expected;
}

JsonReader JsonReader::field(const char *key) const {
  std::string child = path.empty() ? key : path + "." + key;
  if (!value->is_object()) {
    expect("an object");
    return {nothing(), child, *error};
  }
  auto found = value->find(key);
  if (found == value->end()) {
    if (!failed())
      *error = "'" + child + "' is missing";
    return {nothing(), child, *error};
  }
  return {*found, child, *error};
}

bool JsonReader::has(const char *key) const {
  if (!value->is_object())
    return false;
  auto found = value->find(key);
  return found != value->end() && !found->is_null();
}

std::vector<JsonReader> JsonReader::elements() const {
  std::vector<JsonReader> result;
  if (!value->is_array()) {
    expect("an array");
    return result;
  }
  result.reserve(value->size());
  for (size_t index = 0; index < value->size(); ++index)
    result.emplace_back((*value)[index],
                        path + "[" + std::to_string(index) + "]", *error);
  return result;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> result;
  if (!value->is_object()) {
    expect("an object");
    return result;
  }
  for (const auto &[key, member] : value->items())
    result.emplace_back(key, JsonReader(member, path + "." + key, *error));
  return result;
}

std::string JsonReader::string() const {
  if (const auto *text = value->get_ptr<const json::string_t *>())
    return *text;
  expect("a string");
  return {};
}

int64_t JsonReader::integer() const {
  if (const auto *number = value->get_ptr<const json::number_unsigned_t *>())
    if (*number <= uint64_t(std::numeric_limits<int64_t>::max()))
      return static_cast<int64_t>(*number);
  if (!value->is_number_unsigned())
    if (const auto *number = value->get_ptr<const json::number_integer_t *>())
      return *number;
  expect("a 64-bit integer");
  return 0;
}

uint64_t JsonReader::unsignedInteger() const {
  if (const auto *number = value->get_ptr<const json::number_unsigned_t *>())
    return *number;
  expect("an integer that is not negative");
  return 0;
}

double JsonReader::number() const {
  if (value->is_number())
    return value->get<double>();
  expect("a number");
  return 0;
}

bool JsonReader::boolean() const {
  if (const auto *truth = value->get_ptr<const json::boolean_t *>())
    return *truth;
  expect("true or false");
  return false;
}

std::vector<int64_t> JsonReader::integers() const {
  std::vector<int64_t> result;
  for (const JsonReader &element : elements())
    result.push_back(element.integer());
  return result;
}

std::vector<std::string> JsonReader::strings() const {
  std::vector<std::string> result;
  for (const JsonReader &element : elements())
    result.push_back(element.string());
  return result;
}

std::vector<double> JsonReader::numbers() const {
  std::vector<double> result;
  for (const JsonReader &element : elements())
    result.push_back(element.number());
  return result;
}

} // namespace tarpon::runtime
