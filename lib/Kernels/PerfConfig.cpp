//===- PerfConfig.cpp - The tunable fields of a solver --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/Solver.h"

using namespace mlir;
using namespace tarpon;

int64_t PerfConfig::get(StringRef name) const {
  auto field = fields.find(name.str());
  assert(field != fields.end() && "no such field in the config");
  return field->second;
}

bool PerfConfig::has(StringRef name) const { return fields.count(name.str()); }

void PerfConfig::set(StringRef name, int64_t value) {
  fields[name.str()] = value;
}

std::string PerfConfig::str() const {
  std::string text;
  for (const auto &[name, value] : fields)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
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
