//===- DbStore.h - What the db commands share -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_FILES_DBSTORE_H
#define TARPON_TOOLS_GRAPH_OPT_FILES_DBSTORE_H

#include "Commands/Commands.h"

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include <nlohmann/json_fwd.hpp>

namespace tarpon {

/// The store that was asked for, or that of this machine.
runtime::Result<std::string> getStorePath(const StoreArguments &arguments);

/// It, opened; whatever is wrong with it is an error.
runtime::Result<std::unique_ptr<StoreAdmin>>
openStore(const StoreArguments &arguments);
runtime::Result<std::unique_ptr<StoreAdmin>>
openStoreForWriting(const StoreArguments &arguments);

/// Writes `json` if that was asked for.
runtime::Status writeJson(const StoreArguments &arguments,
                          const nlohmann::json &json);

/// "1 problem", "2 problems".
std::string count(int64_t number, const std::string &noun);

/// "conv-igemm-v1 {tile_m=14}".
std::string describeSolution(const Measurement &measurement);

/// Where and by what it was measured, with the solution and its time.
nlohmann::json toJson(const BestSolution &solution);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_DBSTORE_H
