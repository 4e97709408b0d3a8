//===- PerfConfigJson.h - Perf configs as JSON ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What packages and tuning files hold; PerfConfig::str is what keys and command
// lines hold. In memory there is PerfConfig alone.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_PERFCONFIGJSON_H
#define TARPON_SOLVER_PERFCONFIGJSON_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// An object of integers, sorted by name: {"tile_m": 14, "tile_n": 32}.
std::string toJson(const PerfConfig &config);

/// The error names a text that is not an object of integers.
runtime::Result<PerfConfig> parseJsonConfig(llvm::StringRef text);

} // namespace tarpon

#endif // TARPON_SOLVER_PERFCONFIGJSON_H
