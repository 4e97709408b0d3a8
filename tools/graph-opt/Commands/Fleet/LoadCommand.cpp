//===- LoadCommand.cpp - graph-opt fleet load -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandLineValues.h"
#include "Commands/CommandSet.h"
#include "Commands/SharedOptions.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Fleet/Jobs.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetLoadArguments {
  std::string database, tag;
  fleet::SessionRequest request;
  std::string policy = "search", method = "guided";
  std::vector<std::string> phases = {"compile", "measure"};
  std::optional<double> priority;
  bool isDryRun = false;
};

} // namespace

static int runFleetLoad(const FleetLoadArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  fleet::SessionRequest request = arguments.request;
  if (!llvm::is_contained(arguments.phases, "compile"))
    return failUsage("--phase: what is measured has to be compiled, too");
  request.settings.measures = llvm::is_contained(arguments.phases, "measure");
  request.settings.method = *parseSearchMethod(arguments.method);
  bool again = arguments.policy == "search-db-update";
  if (arguments.isDryRun) {
    Result<fleet::LoadCount> count = fleet::countLoad(
        **database, request.label, request.target, arguments.tag, again);
    if (!count)
      return fail(count.message());
    llvm::outs() << formatv("{0}: {1} jobs of {2} problems would be made",
                            showText(request.label), count->made,
                            count->tagged);
    if (count->begun)
      llvm::outs() << formatv(", {0} begun anew", count->begun);
    llvm::outs() << "\n";
    return kSuccess;
  }
  Result<fleet::Session> session = fleet::openSession(**database, request);
  if (!session)
    return fail(session.message());
  Result<fleet::LoadCount> count = fleet::loadJobs(
      **database, *session, arguments.tag, arguments.priority, again);
  if (!count)
    return fail(count.message());
  llvm::outs() << formatv("{0} for {1}: {2} jobs made of {3} problems",
                          showText(session->label), showText(session->target),
                          count->made, count->tagged);
  if (count->begun)
    llvm::outs() << formatv(", {0} begun anew", count->begun);
  if (count->moved)
    llvm::outs() << formatv(", {0} have another priority", count->moved);
  llvm::outs() << "\n";
  return kSuccess;
}

void addFleetLoad(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "load", "Make jobs of the problems of a tag", runFleetLoad);
  fleet::SessionRequest &request = arguments.request;
  fleet::SessionSettings &settings = request.settings;
  request.target = "host";
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--tag", arguments.tag, "The problems to be tuned")
      ->required()
      ->type_name("TAG");
  sub->add_option("--label", request.label, "The name of this tuning")
      ->required()
      ->type_name("LABEL");
  options::addTarget(sub, request.target, "Target to tune for (default: host)");
  sub->add_flag("--emulated", request.usesEmulator,
                "Verify on the emulated device, with a model's times");
  sub->add_option("--threads", request.threads,
                  "Threads of a problem on the host (default: 1)")
      ->type_name("N")
      ->check(options::isPositive());
  sub->add_option("--solver", settings.solvers,
                  "Try this solver, and no other than those named")
      ->type_name("ID");
  sub->add_option("--policy", arguments.policy,
                  "search what has not been, or everything anew "
                  "(search-db-update)")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"search", "search-db-update"}));
  sub->add_option("--phase", arguments.phases,
                  "compile, or compile,measure (default)")
      ->delimiter(',')
      ->type_name("PHASE,...")
      ->check(CLI::IsMember({"compile", "measure"}));
  sub->add_option("--search-method", arguments.method,
                  "How configs are searched (default: guided)")
      ->type_name("METHOD")
      ->check(CLI::IsMember(getSearchMethodNames()));
  sub->add_option("--search-iterations", settings.iterations,
                  "Measure no more candidates of a problem than this")
      ->type_name("N")
      ->check(options::isPositive());
  sub->add_option("--candidates", settings.candidates,
                  "Candidates of one round (default: 16)")
      ->type_name("N")
      ->check(options::isBetween(int64_t(1), int64_t(256)));
  sub->add_option("--lease", settings.leaseSeconds,
                  "Seconds without a sign of life after which a worker loses "
                  "its jobs (default: 60)")
      ->type_name("SECONDS")
      ->check(options::isBetween(2.0, 86400.0));
  sub->add_option(
         "--priority", arguments.priority,
         "Jobs with more go first, also those that have not ended (default: 0)")
      ->type_name("X");
  sub->add_flag("--dry-run", arguments.isDryRun, "Only count the jobs");
}

} // namespace tarpon
