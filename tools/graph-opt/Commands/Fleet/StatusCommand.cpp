//===- StatusCommand.cpp - graph-opt fleet status, machines, drain --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"
#include "SafeText.h"

#include "tarpon/Fleet/FleetStatus.h"

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

/// Seconds as "2 h 5 min", "40 s".
static std::string describeSeconds(double seconds) {
  auto whole = static_cast<int64_t>(seconds);
  if (whole < 120)
    return formatv("{0} s", whole);
  if (whole < 7200)
    return formatv("{0} min", whole / 60);
  return formatv("{0} h {1} min", whole / 3600, whole % 3600 / 60);
}

static void printSession(llvm::raw_ostream &os,
                         const fleet::SessionStatus &session) {
  os << formatv("{0} for {1}: {2} of {3} jobs have ended", session.label,
                showText(session.target), session.ended, session.total);
  if (session.rate > 0)
    os << formatv(", {0:F2} per second", session.rate);
  if (session.secondsLeft && session.ended < session.total)
    os << ", " << describeSeconds(*session.secondsLeft) << " left";
  os << "\n";
  for (const auto &[state, count] : session.counts)
    os << formatv("  {0,7} {1}\n", count, state);
}

static void printMachines(llvm::raw_ostream &os,
                          const std::vector<fleet::MachineStatus> &machines) {
  if (!machines.empty())
    os << "machine            builders evaluators jobs  heard of\n";
  for (const fleet::MachineStatus &machine : machines) {
    os << formatv("{0,-18} {1,8} {2,10} {3,4}  {4} ago", showText(machine.name),
                  machine.builders, machine.evaluators, machine.jobs,
                  describeSeconds(machine.silence));
    if (machine.state != "ready")
      os << ", " << showText(machine.state);
    if (!machine.reason.empty())
      os << " (" << showText(machine.reason) << ")";
    os << "\n";
  }
}

static void printCauses(llvm::raw_ostream &os,
                        const std::vector<fleet::CauseStatus> &causes) {
  if (!causes.empty())
    os << "attempts that failed\n";
  for (const fleet::CauseStatus &cause : causes)
    os << formatv("  {0,7} {1,-8} of {2} jobs; last: {3}\n", cause.attempts,
                  showText(cause.cause), cause.jobs, showText(cause.reason));
}

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
  if (Status status = fleet::setDraining(**database, arguments.machine,
                                         !arguments.isBack);
      !status)
    return fail(status.message());
  llvm::outs() << arguments.machine
               << (arguments.isBack ? ": takes jobs again\n"
                                    : ": takes no more jobs\n");
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addFleetStatus(CommandSet &commands) {
  auto [sub, arguments] =
      commands.addVerb("fleet", "status", "Count jobs, machines and failures",
                       runFleetStatus);
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
