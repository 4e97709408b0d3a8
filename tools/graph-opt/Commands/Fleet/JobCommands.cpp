//===- JobCommands.cpp - graph-opt fleet jobs, log, retry, abort ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Fleet/Jobs.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetJobsArguments {
  std::string database;
  fleet::JobFilter filter;
  int64_t limit = 1000;
};

struct FleetLogArguments {
  std::string database;
  int64_t job = 0;
};

} // namespace

static int runFleetJobs(const FleetJobsArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<std::vector<fleet::JobInfo>> jobs =
      fleet::listJobs(**database, arguments.filter, arguments.limit);
  if (!jobs)
    return fail(jobs.message());
  llvm::raw_ostream &os = llvm::outs();
  for (const fleet::JobInfo &job : *jobs) {
    os << formatv("{0,6} {1,-8} {2,-7} round {3}, {4} attempts  {5} for {6}: "
                  "{7}",
                  job.id, showText(job.state), showText(job.phase), job.round,
                  job.attempts, showText(job.label), showText(job.target),
                  showText(job.problem));
    if (!job.machine.empty())
      os << "  on " << showText(job.machine);
    if (!job.reason.empty())
      os << "  (" << showText(job.reason) << ")";
    os << "\n";
  }
  os.flush();
  return kSuccess;
}

static int runFleetLog(const FleetLogArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<std::vector<fleet::AttemptInfo>> attempts =
      fleet::listAttempts(**database, arguments.job);
  if (!attempts)
    return fail(attempts.message());
  llvm::raw_ostream &os = llvm::outs();
  for (const fleet::AttemptInfo &attempt : *attempts) {
    os << formatv("--- attempt {0}: {1} of round {2} on {3}, {4:F1} s: {5}",
                  attempt.lease, attempt.phase, attempt.round,
                  showText(attempt.machine), attempt.seconds,
                  showText(attempt.cause));
    if (!attempt.reason.empty())
      os << ", " << showText(attempt.reason);
    os << "\n" << showLines(attempt.log);
  }
  os.flush();
  return kSuccess;
}

static int change(const FleetJobsArguments &arguments, const char *verb,
                  Result<int64_t> (*apply)(fleet::Database &,
                                           const fleet::JobFilter &)) {
  const fleet::JobFilter &filter = arguments.filter;
  if (filter.label.empty() && !filter.job)
    return failUsage("name the jobs by --label or --job");
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<int64_t> count = apply(**database, filter);
  if (!count)
    return fail(count.message());
  llvm::outs() << formatv("{0} jobs {1}\n", *count, verb);
  return kSuccess;
}

static int runFleetRetry(const FleetJobsArguments &arguments) {
  return change(arguments, "wait again", fleet::retryJobs);
}

static int runFleetAbort(const FleetJobsArguments &arguments) {
  return change(arguments, "aborted", fleet::abortJobs);
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

static void addFilter(CLI::App *sub, FleetJobsArguments &arguments) {
  fleet::JobFilter &filter = arguments.filter;
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--label", filter.label, "Jobs of this label")
      ->type_name("LABEL");
  sub->add_option("--job", filter.job, "The job of this number")
      ->type_name("JOB");
  sub->add_option("--state", filter.state,
                  "Jobs that are waiting, leased, done, failed or aborted")
      ->type_name("STATE")
      ->check(
          CLI::IsMember({"waiting", "leased", "done", "failed", "aborted"}));
  sub->add_option("--cause", filter.cause,
                  "Jobs whose last attempt ended so: crash, hang, lost, ...")
      ->type_name("CAUSE");
  sub->add_option("--machine", filter.machine, "Jobs that this machine has")
      ->type_name("NAME");
}

void addFleetJobs(CommandSet &commands) {
  auto [sub, arguments] =
      commands.addVerb("fleet", "jobs", "List jobs", runFleetJobs);
  addFilter(sub, arguments);
  sub->add_option("--limit", arguments.limit,
                  "List no more than this (default: 1000)")
      ->type_name("N")
      ->check(options::isPositive());
}

void addFleetLog(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "log", "Show what a job's attempts said", runFleetLog);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("JOB", arguments.job, "The job's number")
      ->required()
      ->type_name("");
}

void addFleetRetry(CommandSet &commands) {
  auto [sub, arguments] =
      commands.addVerb("fleet", "retry",
                       "Let failed and aborted jobs wait again", runFleetRetry);
  addFilter(sub, arguments);
}

void addFleetAbort(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "abort",
      "Abort jobs that have not ended; a worker that has one stops before the "
      "next candidate that it would compile or measure",
      runFleetAbort);
  addFilter(sub, arguments);
}

} // namespace tarpon
