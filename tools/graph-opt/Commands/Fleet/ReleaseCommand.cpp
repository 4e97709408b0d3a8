//===- ReleaseCommand.cpp - graph-opt fleet release -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "Commands/SharedOptions.h"
#include "Files/DbStore.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Fleet/Release.h"
#include "tarpon/Fleet/ReleaseReport.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetReleaseArguments {
  std::string database;
  fleet::ReleaseRequest request;
};

struct FleetReleasesArguments {
  std::string database, json;
};

} // namespace

//===----------------------------------------------------------------------===//
// release
//===----------------------------------------------------------------------===//

/// The most rows of each kind that say why a release is refused.
static constexpr size_t kRowsShown = 20;

static int runFleetRelease(const FleetReleaseArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  const fleet::ReleaseRequest &request = arguments.request;
  Result<fleet::ReleaseOutcome> outcome =
      fleet::makeRelease(**database, request);
  if (!outcome)
    return fail(showText(outcome.message()));
  std::string faults = outcome->describeFaults();
  if (!faults.empty())
    fleet::printFaults(outcome->diff, kRowsShown, llvm::outs());
  llvm::outs().flush();
  if (outcome->isRefused)
    return fail("release '" + request.name + "' is refused: " + faults +
                " (--accept makes it nevertheless)");
  if (!faults.empty())
    remark("accepted: " + faults);
  llvm::outs() << formatv("{0}: {1} problems, {2} of them of label {3}\n",
                          showText(request.name), outcome->records,
                          outcome->fromLabel, showText(request.label));
  return kSuccess;
}

void addFleetRelease(CommandSet &commands) {
  auto [sub, arguments] =
      commands.addVerb("fleet", "release",
                       "Make a release of a label's results", runFleetRelease);
  sub->add_option("NAME", arguments.request.name, "The name of the release")
      ->required()
      ->type_name("");
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--base", arguments.request.base,
                  "The release that the label's results are laid over "
                  "(default: none)")
      ->type_name("NAME");
  sub->add_option("--label", arguments.request.label, "The label")
      ->required()
      ->type_name("LABEL");
  sub->add_flag("--accept", arguments.request.accept,
                "Make it although problems are lost, times rose, or jobs have "
                "not ended");
  sub->add_option("--remark", arguments.request.remark,
                  "A remark that is kept with it")
      ->type_name("TEXT");
}

//===----------------------------------------------------------------------===//
// releases
//===----------------------------------------------------------------------===//

/// "2026-11-23T20:30:00Z".
static std::string printTime(double seconds) {
  llvm::sys::UtcTime<std::chrono::seconds> time(
      std::chrono::seconds(static_cast<int64_t>(seconds)));
  return formatv("{0:%Y-%m-%dT%H:%M:%SZ}", time);
}

static void print(const fleet::ReleaseInfo &release) {
  llvm::outs() << formatv("{0}: {1}, label {2}", showText(release.name),
                          printTime(release.created), showText(release.label));
  if (!release.base.empty())
    llvm::outs() << " over " << showText(release.base);
  if (!release.remark.empty())
    llvm::outs() << ": " << showText(release.remark);
  llvm::outs() << "\n";
  for (const auto &[target, problems] : release.targets)
    llvm::outs() << formatv("  {0}: {1} problems\n", showText(target),
                            problems);
}

static nlohmann::json toJson(const fleet::ReleaseInfo &release) {
  return {{"name", release.name},
          {"base", release.base},
          {"label", release.label},
          {"remark", release.remark},
          {"time", printTime(release.created)},
          {"targets", release.targets}};
}

static int runFleetReleases(const FleetReleasesArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<std::vector<fleet::ReleaseInfo>> releases =
      fleet::listReleases(**database);
  if (!releases)
    return fail(releases.message());
  nlohmann::json json = nlohmann::json::array();
  for (const fleet::ReleaseInfo &release : *releases) {
    print(release);
    json.push_back(toJson(release));
  }
  llvm::outs().flush();
  if (Status status = writeJson(arguments.json, json); !status)
    return fail(status.message());
  return kSuccess;
}

void addFleetReleases(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "releases", "List the releases", runFleetReleases);
  options::addFleetDatabase(sub, arguments.database);
  options::addJson(sub, arguments.json);
}

} // namespace tarpon
