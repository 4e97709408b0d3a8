//===- InitCommand.cpp - graph-opt fleet init, upgrade --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetDatabase.h"

#include "Commands/CommandSet.h"
#include "Messages.h"

#include "tarpon/Fleet/Schema.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;

namespace {

struct FleetInitArguments {
  std::string database;
  /// The folder of packages that all machines share; "" for the database.
  std::string packages;
};

struct FleetUpgradeArguments {
  std::string database;
};

} // namespace

static int runFleetInit(const FleetInitArguments &arguments) {
  llvm::SmallString<256> packages(arguments.packages);
  if (!packages.empty()) {
    if (std::error_code code = llvm::sys::fs::make_absolute(packages))
      return fail("--packages: there is no working folder: " + code.message());
    if (!llvm::sys::fs::is_directory(packages))
      return fail("--packages: there is no folder '" + packages.str().str() +
                  "'");
  }
  auto database = fleet::Database::open(arguments.database, /*create=*/true);
  if (!database)
    return fail(database.message());
  if (Status status = fleet::createSchema(**database, packages.str().str());
      !status)
    return fail(status.message());
  llvm::outs() << showText((*database)->getShownUrl()) << ": tables of version "
               << fleet::kSchemaVersion << "\n";
  return kSuccess;
}

static int runFleetUpgrade(const FleetUpgradeArguments &arguments) {
  auto database = fleet::Database::open(arguments.database);
  if (!database)
    return fail(database.message());
  Result<int64_t> version = fleet::upgradeSchema(**database);
  if (!version)
    return fail(version.message());
  llvm::outs() << showText((*database)->getShownUrl()) << ": tables of version "
               << fleet::kSchemaVersion;
  if (*version != fleet::kSchemaVersion)
    llvm::outs() << ", before " << *version;
  llvm::outs() << "\n";
  return kSuccess;
}

void addFleetInit(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "init", "Create a fleet's database", runFleetInit);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--packages", arguments.packages,
                  "Keep packages in this folder, which all machines share "
                  "(default: in the database)")
      ->type_name("DIR");
}

void addFleetUpgrade(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "upgrade", "Bring the tables up to date", runFleetUpgrade);
  options::addFleetDatabase(sub, arguments.database);
}

} // namespace tarpon
