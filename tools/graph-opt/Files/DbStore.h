//===- DbStore.h - Opens stores for the db commands -------------*- C++ -*-===//
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

/// Returns the path of the given store, or of this machine's.
runtime::Result<std::string> getStorePath(const StoreArguments &arguments);

/// Opens that store; any fault of it is an error.
runtime::Result<std::unique_ptr<StoreAdmin>>
openStore(const StoreArguments &arguments);
runtime::Result<std::unique_ptr<StoreAdmin>>
openStoreForWriting(const StoreArguments &arguments);

/// Writes `json`, whose texts need not be text, to a file; "" for none.
runtime::Status writeJson(const std::string &path, const nlohmann::json &json);
/// Writes it if the arguments name a file for it.
runtime::Status writeJson(const StoreArguments &arguments,
                          const nlohmann::json &json);

/// Returns "1 problem", "2 problems".
std::string count(int64_t number, const std::string &noun);

/// Returns "conv-igemm-v1 {tile_m=14}".
std::string describeSolution(const Measurement &measurement);

/// Describes where and by which version it was measured, with the solution and
/// its time.
nlohmann::json toJson(const BestSolution &solution);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_DBSTORE_H
