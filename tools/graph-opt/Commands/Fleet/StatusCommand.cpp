//===- StatusCommand.cpp - graph-opt fleet status, machines, drain --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"
#include "StatusReport.h"

#include "tarpon/Fleet/FleetStatus.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <thread>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetStatusArguments {
  std::string database, label;
  bool isWatching = false;
};

struct FleetDrainArguments {
  std::string database, machine;
  bool isBack = false;
};

} // namespace

static int runFleetStatus(const FleetStatusArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  llvm::raw_ostream &os = llvm::outs();
  while (true) {
    Result<fleet::FleetStatus> status =
        fleet::getStatus(**database, arguments.label);
    if (!status)
      return fail(status.message());
    bool isOver = true;
    // Clears the terminal.
    if (arguments.isWatching && os.has_colors())
      os << "\x1b[2J\x1b[H";
    for (const fleet::SessionStatus &session : status->sessions) {
      printSession(os, session);
      isOver &= session.ended == session.total;
    }
    printMachines(os, status->machines);
    printCauses(os, status->causes);
    printCandidates(os, status->candidates);
    os.flush();
    if (!arguments.isWatching || isOver)
      return kSuccess;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

static int runFleetMachines(const FleetStatusArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<fleet::FleetStatus> status = fleet::getStatus(**database, "");
  if (!status)
    return fail(status.message());
  printMachines(llvm::outs(), status->machines);
  for (const fleet::MachineStatus &machine : status->machines)
    llvm::outs() << formatv("{0}: {1} cores, {2}\n", showText(machine.name),
                            machine.cores, showText(machine.cpu));
  llvm::outs().flush();
  return kSuccess;
}

static int runFleetDrain(const FleetDrainArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  if (Status status =
          fleet::setDraining(**database, arguments.machine, !arguments.isBack);
      !status)
    return fail(status.message());
  llvm::outs() << showText(arguments.machine)
               << (arguments.isBack ? ": takes jobs again\n"
                                    : ": takes no more jobs\n");
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addFleetStatus(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "status", "Count jobs, machines and failures", runFleetStatus);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--label", arguments.label, "Of this label only")
      ->type_name("LABEL");
  sub->add_flag("--watch", arguments.isWatching,
                "Show it again every two seconds, until all jobs have ended");
}

void addFleetMachines(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "machines", "List the machines of workers", runFleetMachines);
  options::addFleetDatabase(sub, arguments.database);
}

void addFleetDrain(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "drain", "Let a machine take no more jobs", runFleetDrain);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("MACHINE", arguments.machine, "The machine's name")
      ->required()
      ->type_name("");
  sub->add_flag("--back", arguments.isBack, "Let it take jobs again");
}

} // namespace tarpon
