//===- DbStoreCommands.cpp - graph-opt db stats, check, ... -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The commands on a whole store: stats, check, merge, prune.
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Files/DbStore.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Store/ImportedRecords.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

namespace tarpon {

namespace {

struct DbMergeArguments {
  StoreArguments store;
  std::string other;
};

struct DbPublishArguments {
  StoreArguments store;
  std::string output;
};

struct DbPruneArguments {
  StoreArguments store;
  bool dryRun = false;
  /// Drop the records of this imported file instead of stale ones.
  std::string imported;
};

} // namespace

using namespace runtime;
using llvm::formatv;

static Result<std::vector<ImportedSource>>
readSources(const StoreArguments &arguments) {
  Result<std::string> path = getStorePath(arguments);
  if (!path)
    return path.error();
  Result<std::unique_ptr<ImportedRecords>> records =
      ImportedRecords::openForReading(*path);
  if (!records)
    return records.error();
  return (*records)->getSources();
}

//===----------------------------------------------------------------------===//
// stats
//===----------------------------------------------------------------------===//

/// Records of any other versions are stale.
static JournalContext getBuild() {
  return JournalContext::forTarget(TargetInfo());
}

static void printStats(const StoreStats &stats,
                       const std::vector<ImportedSource> &sources) {
  llvm::outs() << formatv("{0}, {1}, {2} stale\n",
                          count(stats.measurements, "measurement"),
                          count(stats.pipelines, "pipeline"), stats.stale);
  llvm::outs() << formatv("this is tarpon {0}, LLVM {1}\n", getBuild().tarpon,
                          getBuild().llvm);
  for (const ContextCount &c : stats.contexts)
    llvm::outs() << formatv(
        "  {0}, {1}, tarpon {2}, LLVM {3}: {4} of {5}, "
        "{6}{7}\n",
        c.context.target, count(c.context.threads, "thread"), c.context.tarpon,
        c.context.llvm, count(c.measurements, "measurement"),
        count(c.problems, "problem"), count(c.pipelines, "pipeline"),
        c.isStale ? " (stale)" : "");
  auto print = [](llvm::StringRef title,
                  const std::map<std::string, int64_t> &counts) {
    if (!counts.empty())
      llvm::outs() << title << "\n";
    for (const auto &[name, number] : counts)
      llvm::outs() << formatv("  {0}: {1}\n", name, number);
  };
  print("by solver", stats.solvers);
  print("by status", stats.statuses);
  print("by stage", stats.stages);
  if (!sources.empty())
    llvm::outs() << "imported from MIOpen\n";
  for (const ImportedSource &source : sources)
    llvm::outs() << formatv(
        "  {0}: {1} with {2}, {3} posed here, imported {4}\n", source.file.name,
        count(source.problems, "problem"), count(source.solutions, "solution"),
        source.posed, source.time);
}

static nlohmann::json toJson(const StoreStats &stats,
                             const std::vector<ImportedSource> &sources) {
  nlohmann::json json = {{"measurements", stats.measurements},
                         {"pipelines", stats.pipelines},
                         {"stale", stats.stale},
                         {"tarpon", getBuild().tarpon},
                         {"llvm", getBuild().llvm},
                         {"solvers", stats.solvers},
                         {"statuses", stats.statuses},
                         {"stages", stats.stages},
                         {"contexts", nlohmann::json::array()},
                         {"imported", nlohmann::json::array()}};
  for (const ContextCount &c : stats.contexts)
    json["contexts"].push_back({{"target", c.context.target},
                                {"threads", c.context.threads},
                                {"tarpon", c.context.tarpon},
                                {"llvm", c.context.llvm},
                                {"stale", c.isStale},
                                {"problems", c.problems},
                                {"measurements", c.measurements},
                                {"pipelines", c.pipelines}});
  for (const ImportedSource &source : sources)
    json["imported"].push_back(
        {{"file", source.file.name},
         {"origin", "miopen"},
         {"format", getFormatName(source.file.format).str()},
         {"arch", source.file.arch},
         {"compute_units", source.file.computeUnits},
         {"problems", source.problems},
         {"solutions", source.solutions},
         {"posed", source.posed},
         {"time", source.time}});
  return json;
}

static int runDbStats(const StoreArguments &arguments) {
  Result<std::unique_ptr<StoreAdmin>> store = openStore(arguments);
  if (!store)
    return fail(store.message());
  Result<StoreStats> stats = (*store)->getStats();
  if (!stats)
    return fail(stats.message());
  Result<std::vector<ImportedSource>> sources = readSources(arguments);
  if (!sources)
    return fail(sources.message());
  if (Status status = writeJson(arguments, toJson(*stats, *sources)); !status)
    return fail(status.message());
  printStats(*stats, *sources);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// check, merge, prune
//===----------------------------------------------------------------------===//

static int runDbCheck(const StoreArguments &arguments) {
  Result<std::unique_ptr<StoreAdmin>> store = openStore(arguments);
  if (!store)
    return fail(store.message());
  if (Status status = (*store)->check(); !status)
    return fail(status.message());
  Result<StoreStats> stats = (*store)->getStats();
  if (!stats)
    return fail(stats.message());
  Result<std::vector<ImportedSource>> sources = readSources(arguments);
  if (!sources)
    return fail(sources.message());
  int64_t imported = 0;
  for (const ImportedSource &source : *sources)
    imported += source.problems;
  llvm::outs() << formatv(
      "sound: {0}, {1}, {2}\n", count(stats->measurements, "measurement"),
      count(stats->pipelines, "pipeline"), count(imported, "imported problem"));
  return kSuccess;
}

static int runDbMerge(const DbMergeArguments &arguments) {
  // A misspelt name leaves no empty store behind.
  if (auto other = StoreAdmin::openForReading(arguments.other); !other)
    return fail(other.message());
  Result<std::string> path = getStorePath(arguments.store);
  if (!path)
    return fail(path.message());
  // The records of a GPU that was elsewhere are the first of its kind here.
  Result<std::unique_ptr<StoreAdmin>> store = StoreAdmin::openOrMake(*path);
  if (!store)
    return fail(store.message());
  Result<MergeSummary> summary = (*store)->merge(arguments.other);
  if (!summary)
    return fail(summary.message());
  llvm::outs() << formatv("taken: {0}, {1}, {2}\n",
                          count(summary->measurements, "measurement"),
                          count(summary->pipelines, "pipeline"),
                          count(summary->importedProblems, "imported problem"));
  return kSuccess;
}

static int runDbPublish(const DbPublishArguments &arguments) {
  Result<std::string> path = getStorePath(arguments.store);
  if (!path)
    return fail(path.message());
  Result<PublishSummary> summary = publishStore(*path, arguments.output);
  if (!summary)
    return fail(summary.message());
  llvm::outs() << formatv("published: {0} of {1}\n",
                          count(summary->measurements, "solution"),
                          count(summary->problems, "problem"));
  return kSuccess;
}

/// Drops the records of one imported file.
static int pruneImported(const DbPruneArguments &arguments) {
  Result<std::string> path = getStorePath(arguments.store);
  if (!path)
    return fail(path.message());
  Result<std::unique_ptr<StoreAdmin>> store =
      openStoreForWriting(arguments.store);
  if (!store)
    return fail(store.message());
  Result<std::unique_ptr<ImportedRecords>> records =
      ImportedRecords::openForWriting(*path);
  if (!records)
    return fail(records.message());
  Result<int64_t> problems = (*records)->remove(arguments.imported);
  if (!problems)
    return fail(problems.message());
  llvm::outs() << formatv("dropped: {0}\n",
                          count(*problems, "imported problem"));
  return kSuccess;
}

static int runDbPrune(const DbPruneArguments &arguments) {
  if (!arguments.imported.empty())
    return pruneImported(arguments);
  Result<std::unique_ptr<StoreAdmin>> store =
      openStoreForWriting(arguments.store);
  if (!store)
    return fail(store.message());
  Result<PruneSummary> summary = (*store)->prune(arguments.dryRun);
  if (!summary)
    return fail(summary.message());
  llvm::outs() << formatv("{0}: {1}, {2}\n",
                          arguments.dryRun ? "would drop" : "dropped",
                          count(summary->measurements, "stale measurement"),
                          count(summary->pipelines, "stale pipeline"));
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addDbStats(CommandSet &commands) {
  using namespace options;
  auto [sub, dbStats] =
      commands.addVerb("db", "stats", "Count records", runDbStats);
  addStore(sub, dbStats);
  addJson(sub, dbStats.json);
}

void addDbCheck(CommandSet &commands) {
  using namespace options;
  auto [sub, dbCheck] = commands.addVerb(
      "db", "check", "Check that a store is sound", runDbCheck);
  addStore(sub, dbCheck);
}

void addDbMerge(CommandSet &commands) {
  using namespace options;
  auto [merge, dbMerge] = commands.addVerb(
      "db", "merge", "Take the records of another store that are missing",
      runDbMerge);
  addStore(merge, dbMerge.store);
  merge->add_option("OTHER", dbMerge.other, "The other store")
      ->required()
      ->type_name("");
}

void addDbPublish(CommandSet &commands) {
  using namespace options;
  auto [publish, dbPublish] = commands.addVerb(
      "db", "publish", "Write the best records as a system store",
      runDbPublish);
  addStore(publish, dbPublish.store);
  publish->add_option("OUT", dbPublish.output, "The store to write")
      ->required()
      ->type_name("");
}

void addDbPrune(CommandSet &commands) {
  using namespace options;
  auto [prune, dbPrune] = commands.addVerb(
      "db", "prune", "Drop records of other versions", runDbPrune);
  addStore(prune, dbPrune.store);
  CLI::Option *dry =
      prune->add_flag("--dry-run", dbPrune.dryRun, "Only print the number");
  prune
      ->add_option("--imported", dbPrune.imported,
                   "Drop the records of this imported file instead")
      ->type_name("NAME")
      ->excludes(dry);
}

} // namespace tarpon
