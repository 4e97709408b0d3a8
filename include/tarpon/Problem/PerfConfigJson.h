//===- PerfConfigJson.h - Perf configs as JSON ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packages and tuning files hold perf configs as JSON. Keys, command lines and
// the IR hold the text of PerfConfig::str; in memory there is PerfConfig alone.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_PERFCONFIGJSON_H
#define TARPON_PROBLEM_PERFCONFIGJSON_H

#include "tarpon/Problem/PerfConfig.h"
#include "tarpon/Runtime/Result.h"

namespace tarpon {

/// Prints an object of integers, sorted by name: {"tile_m": 14, "tile_n": 32}.
std::string toJson(const PerfConfig &config);

/// Parses such an object; the error quotes a text that is none.
runtime::Result<PerfConfig> parseJsonConfig(llvm::StringRef text);

} // namespace tarpon

#endif // TARPON_PROBLEM_PERFCONFIGJSON_H
