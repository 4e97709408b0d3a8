//===- DiffCommand.cpp - graph-opt fleet diff -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandLineValues.h"
#include "Commands/CommandSet.h"
#include "Commands/SharedOptions.h"
#include "Files/DbStore.h"
#include "Files/OutputFiles.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Fleet/ReleaseReport.h"
#include "tarpon/Runtime/File.h"

#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

namespace tarpon {

using namespace runtime;

namespace {

struct FleetDiffArguments {
  std::string newer, older, database;
  /// Files to write; "" for none.
  std::string json, html;
  int64_t limit = 20;
};

} // namespace

/// A page with more rows takes long to show; the file of JSON has all.
static constexpr size_t kPageRows = 500;

static Status writeFiles(const fleet::ReleaseDiff &diff,
                         const FleetDiffArguments &arguments) {
  if (!arguments.json.empty())
    if (Status status = writeJson(arguments.json, toJson(diff)); !status)
      return status;
  if (arguments.html.empty())
    return success();
  std::string page;
  llvm::raw_string_ostream os(page);
  fleet::printPage(diff, kPageRows, os);
  return writeFileAtomically(arguments.html, {page});
}

static int runFleetDiff(const FleetDiffArguments &arguments) {
  if (Status status = checkOutputs(
          {}, {{"--json", arguments.json}, {"--html", arguments.html}});
      !status)
    return failUsage(status.message());
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<fleet::ResultSet> sets[] = {
      fleet::readResultSet(**database,
                           fleet::ResultsName::parse(arguments.older)),
      fleet::readResultSet(**database,
                           fleet::ResultsName::parse(arguments.newer))};
  for (const Result<fleet::ResultSet> &set : sets)
    if (!set)
      return fail(set.message());
  Result<fleet::ReleaseDiff> diff =
      fleet::compareResults(**database, *sets[0], *sets[1]);
  if (!diff)
    return fail(diff.message());
  fleet::printDiff(*diff, static_cast<size_t>(arguments.limit), llvm::outs());
  llvm::outs().flush();
  if (Status status = writeFiles(*diff, arguments); !status)
    return fail(status.message());
  return kSuccess;
}

void addFleetDiff(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "diff", "Compare two releases, or labels", runFleetDiff);
  sub->add_option("NEW", arguments.newer,
                  "The newer release, or label:L for the results of a label")
      ->required()
      ->type_name("");
  sub->add_option("OLD", arguments.older, "The older one")
      ->required()
      ->type_name("");
  options::addFleetDatabase(sub, arguments.database);
  options::addJson(sub, arguments.json);
  sub->add_option("--html", arguments.html,
                  "Write a page with plots, which needs no other file")
      ->type_name("FILE");
  sub->add_option("--limit", arguments.limit,
                  "Print at most N rows of each kind (default: 20)")
      ->check(options::isBetween(int64_t(0), int64_t(1) << 40))
      ->type_name("N");
}

} // namespace tarpon
