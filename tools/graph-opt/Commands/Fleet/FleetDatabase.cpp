//===- FleetDatabase.cpp - The database of fleet commands -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetDatabase.h"

#include "tarpon/Fleet/Schema.h"

namespace tarpon {

using namespace runtime;

Result<std::unique_ptr<fleet::Database>> openFleet(const std::string &url) {
  auto database = fleet::Database::open(url);
  if (!database)
    return database.error();
  if (Status status = fleet::checkSchema(**database); !status)
    return status.error();
  return database;
}

namespace options {

void addFleetDatabase(CLI::App *command, std::string &database) {
  command
      ->add_option(
          "DB", database,
          "The fleet's database: sqlite:FILE or postgresql://HOST/NAME "
          "(default: $TARPON_FLEET)")
      ->envname("TARPON_FLEET")
      ->required()
      ->type_name("");
}

} // namespace options

} // namespace tarpon
