//===- FleetDatabase.h - The database of fleet commands ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_FLEETDATABASE_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_FLEETDATABASE_H

#include "NumberRange.h"

#include "tarpon/Fleet/Database.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace tarpon {

/// Connects to a database that has a fleet's tables of this version.
runtime::Result<std::unique_ptr<fleet::Database>>
openFleet(const std::string &url);

namespace options {

/// Numbers of jobs, workers, minutes, ...: from 0 or from 1.
inline CLI::Validator isCount() {
  return isBetween(int64_t(0), int64_t(1) << 40);
}
inline CLI::Validator isPositive() {
  return isBetween(int64_t(1), int64_t(1) << 40);
}

/// Adds the argument DB, which $TARPON_FLEET replaces.
void addFleetDatabase(CLI::App *command, std::string &database);

} // namespace options

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_FLEETDATABASE_H
