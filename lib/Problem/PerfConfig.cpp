//===- PerfConfig.cpp - The tunable fields of a solver --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/PerfConfigJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tarpon;

PerfConfig::PerfConfig(std::initializer_list<Field> init) : fields(init) {
  llvm::sort(fields);
}

/// The index where the field is, or belongs.
static size_t findPlace(ArrayRef<PerfConfig::Field> fields, StringRef name) {
  return llvm::find_if(fields,
                       [&](const auto &field) { return field.first >= name; }) -
         fields.begin();
}

static bool isAt(ArrayRef<PerfConfig::Field> fields, size_t place,
                 StringRef name) {
  return place < fields.size() && fields[place].first == name;
}

int64_t PerfConfig::get(StringRef name) const {
  size_t place = findPlace(fields, name);
  assert(isAt(fields, place, name) && "no such field in the config");
  return fields[place].second;
}

bool PerfConfig::has(StringRef name) const {
  return isAt(fields, findPlace(fields, name), name);
}

void PerfConfig::set(StringRef name, int64_t value) {
  size_t place = findPlace(fields, name);
  if (isAt(fields, place, name))
    fields[place].second = value;
  else
    fields.emplace(fields.begin() + static_cast<ptrdiff_t>(place), name.str(),
                   value);
}

std::string PerfConfig::str() const {
  std::string text;
  for (const auto &[name, value] : fields)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

llvm::hash_code tarpon::hash_value(const PerfConfig &config) {
  auto fields = config.getFields();
  return llvm::hash_combine_range(fields.begin(), fields.end());
}

FailureOr<PerfConfig> PerfConfig::parse(StringRef text) {
  PerfConfig config;
  while (!text.empty()) {
    auto [field, rest] = text.split(',');
    auto [name, number] = field.split('=');
    int64_t value;
    if (name.empty() || number.getAsInteger(10, value) || config.has(name))
      return failure();
    config.set(name, value);
    text = rest;
  }
  return config;
}

std::string tarpon::toJson(const PerfConfig &config) {
  std::string text;
  for (const auto &[name, value] : config.getFields())
    text +=
        (text.empty() ? "\"" : ", \"") + name + "\": " + std::to_string(value);
  return "{" + text + "}";
}

runtime::Result<PerfConfig> tarpon::parseJsonConfig(StringRef text) {
  runtime::Error error{"'" + text.str() + "' is no perf config"};
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json) {
    llvm::consumeError(json.takeError());
    return error;
  }
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return error;
  PerfConfig config;
  for (const auto &[name, field] : *object) {
    std::optional<int64_t> value = field.getAsInteger();
    if (!value)
      return error;
    config.set(name, *value);
  }
  return config;
}
