//===- JsonSchema.cpp - Checks a document against a schema ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonSchema.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace tarpon;
using nlohmann::json;

namespace {

class SchemaChecker {
public:
  explicit SchemaChecker(const json &root) : root(root) {}

  /// Returns the error, or "". Recurses as deep as the schema, which is ours.
  std::string check(const json &value, const json &schema,
                    const std::string &path);

private:
  std::string checkScalar(const json &value, const json &schema,
                          const std::string &path);
  std::string checkObject(const json &value, const json &schema,
                          const std::string &path);
  std::string checkArray(const json &value, const json &schema,
                         const std::string &path);

  const json &root;
};

} // namespace

static std::string dump(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

static std::string describe(const json &value) {
  switch (value.type()) {
  case json::value_t::null:
    return "null";
  case json::value_t::object:
    return "an object";
  case json::value_t::array:
    return "an array";
  case json::value_t::string:
    return "a string";
  case json::value_t::boolean:
    return "a boolean";
  default:
    return "a number";
  }
}

static std::string describeType(const std::string &type) {
  return (type[0] == 'o' || type[0] == 'a' || type[0] == 'i' ? "an " : "a ") +
         type;
}

/// Returns true for integers of 64 bits, which all readers use.
static bool isInteger(const json &value) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || value.get<uint64_t>() <= kMax);
}

static bool hasType(const json &value, llvm::StringRef type) {
  return llvm::StringSwitch<bool>(type)
      .Case("object", value.is_object())
      .Case("array", value.is_array())
      .Case("string", value.is_string())
      .Case("number", value.is_number())
      .Case("integer", isInteger(value))
      .Case("boolean", value.is_boolean())
      .Default(false);
}

static bool isKnownKeyword(llvm::StringRef keyword) {
  return llvm::StringSwitch<bool>(keyword)
      .Cases({"$schema", "$id", "$defs", "$ref"}, true)
      .Cases({"title", "description"}, true)
      .Cases({"type", "const", "enum", "pattern", "minimum"}, true)
      .Cases({"properties", "required", "additionalProperties"}, true)
      .Cases({"items", "minItems"}, true)
      .Default(false);
}

static std::string say(const std::string &path, const std::string &what) {
  return (path.empty() ? "the document" : path) + ": " + what;
}

static std::string join(const std::string &path, const std::string &field) {
  return path.empty() ? field : path + "." + field;
}

std::string SchemaChecker::checkScalar(const json &value, const json &schema,
                                       const std::string &path) {
  if (schema.contains("const") && value != schema["const"])
    return say(path,
               "expected " + dump(schema["const"]) + ", got " + dump(value));
  if (schema.contains("enum")) {
    std::string choices;
    for (const json &choice : schema["enum"]) {
      if (choice == value)
        return "";
      choices += (choices.empty() ? "" : ", ") + dump(choice);
    }
    return say(path, "expected one of " + choices + ", got " + dump(value));
  }
  if (schema.contains("minimum") &&
      value.get<double>() < schema["minimum"].get<double>())
    return say(path, "expected at least " + dump(schema["minimum"]) + ", got " +
                         dump(value));
  if (schema.contains("pattern")) {
    std::string pattern = schema["pattern"].get<std::string>();
    if (!llvm::Regex(pattern).match(value.get_ref<const std::string &>()))
      return say(path, "expected text that matches " + pattern + ", got " +
                           dump(value));
  }
  return "";
}

std::string SchemaChecker::checkObject(const json &value, const json &schema,
                                       const std::string &path) {
  if (schema.contains("required"))
    for (const json &field : schema["required"])
      if (!value.contains(field.get<std::string>()))
        return say(join(path, field.get<std::string>()), "missing");
  for (const auto &[name, member] : value.items()) {
    std::string memberPath = join(path, name);
    std::string error;
    if (schema.contains("properties") && schema["properties"].contains(name))
      error = check(member, schema["properties"][name], memberPath);
    else if (!schema.contains("additionalProperties"))
      continue;
    else if (schema["additionalProperties"].is_object())
      error = check(member, schema["additionalProperties"], memberPath);
    else if (!schema["additionalProperties"].get<bool>())
      error = say(memberPath, "unknown field");
    if (!error.empty())
      return error;
  }
  return "";
}

std::string SchemaChecker::checkArray(const json &value, const json &schema,
                                      const std::string &path) {
  if (schema.contains("minItems") &&
      value.size() < schema["minItems"].get<size_t>())
    return say(path, "expected at least " + dump(schema["minItems"]) +
                         " elements, got " + std::to_string(value.size()));
  if (!schema.contains("items"))
    return "";
  for (size_t i = 0; i < value.size(); ++i) {
    std::string error =
        check(value[i], schema["items"], path + "[" + std::to_string(i) + "]");
    if (!error.empty())
      return error;
  }
  return "";
}

std::string SchemaChecker::check(const json &value, const json &schema,
                                 const std::string &path) {
  for (const auto &[keyword, unused] : schema.items())
    if (!isKnownKeyword(keyword))
      return say(path, "the schema has the unknown keyword '" + keyword + "'");
  if (schema.contains("$ref")) {
    // "#/$defs/layer"
    json::json_pointer target(
        schema["$ref"].get_ref<const std::string &>().substr(1));
    return check(value, root[target], path);
  }
  if (schema.contains("type")) {
    std::string type = schema["type"].get<std::string>();
    if (!hasType(value, type))
      return say(path, "expected " + describeType(type) + ", got " +
                           (type == "integer" && value.is_number()
                                ? dump(value)
                                : describe(value)));
  }
  if (std::string error = checkScalar(value, schema, path); !error.empty())
    return error;
  if (value.is_object())
    return checkObject(value, schema, path);
  if (value.is_array())
    return checkArray(value, schema, path);
  return "";
}

runtime::Status tarpon::checkJson(const json &document, const json &schema) {
  std::string error = SchemaChecker(schema).check(document, schema, "");
  if (!error.empty())
    return runtime::Error{error};
  return runtime::success();
}
