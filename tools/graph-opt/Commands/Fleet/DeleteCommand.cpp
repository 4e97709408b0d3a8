//===- DeleteCommand.cpp - graph-opt fleet delete -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Fleet/Session.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;

namespace {

struct FleetDeleteArguments {
  std::string database, label;
};

} // namespace

static int runFleetDelete(const FleetDeleteArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  if (Status status = fleet::deleteLabel(**database, arguments.label); !status)
    return fail(status.message());
  llvm::outs() << showText(arguments.label)
               << ": its jobs are deleted, and what was measured stays\n";
  return kSuccess;
}

void addFleetDelete(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "delete", "Delete a label's jobs, and keep what was measured",
      runFleetDelete);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--label", arguments.label, "The label")
      ->required()
      ->type_name("LABEL");
}

} // namespace tarpon
