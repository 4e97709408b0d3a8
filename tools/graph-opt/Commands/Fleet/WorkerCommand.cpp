//===- WorkerCommand.cpp - graph-opt fleet worker -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Fleet/Supervisor.h"
#include "tarpon/Fleet/Worker.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetWorkerArguments {
  std::string database, label, role, target;
  std::optional<double> seconds;
  std::vector<int> cores;
  bool takesTurns = false, isQuiet = false;
};

} // namespace

static std::atomic<bool> wasToldToEnd = false;

static void handleEnd(int) { wasToldToEnd = true; }

static int runWorker(const FleetWorkerArguments &arguments,
                     const fleet::WorkerOptions &options) {
  auto say = [&](llvm::StringRef line) {
    if (arguments.isQuiet)
      return;
    llvm::errs() << showText(line) << "\n";
    llvm::errs().flush();
    // A full disk loses lines of the log, and not the worker.
    llvm::errs().clear_error();
  };
  Result<fleet::WorkerSummary> summary = fleet::runWorker(options, say);
  if (!summary)
    return fail(summary.message());
  if (arguments.isQuiet)
    return kSuccess;
  llvm::outs() << formatv("{0}: {1} phases completed, {2} failed, {3} lost\n",
                          arguments.role, summary->completed, summary->failed,
                          summary->lost);
  llvm::outs().flush();
  return kSuccess;
}

static int runFleetWorker(const FleetWorkerArguments &arguments) {
  std::signal(SIGTERM, handleEnd);
  std::signal(SIGINT, handleEnd);
  fleet::WorkerOptions options;
  options.url = arguments.database;
  options.label = arguments.label;
  options.target = arguments.target;
  options.phase = arguments.role == "builder" ? fleet::Phase::Compile
                                              : fleet::Phase::Measure;
  options.evaluatorProgram = findEvaluatorProgram();
  options.seconds = arguments.seconds;
  options.cores = arguments.cores;
  options.takesTurns = arguments.takesTurns;
  options.shouldEnd = [] { return wasToldToEnd.load(); };
  if (const char *job = std::getenv("SLURM_JOB_ID"))
    options.slurmJob = job;
  // A crash of the compiler is to end a job, and not the worker.
  if (options.phase == fleet::Phase::Compile)
    return fleet::superviseBuilder(
        options, [&](const auto &own) { return runWorker(arguments, own); });
  return runWorker(arguments, options);
}

void addFleetWorker(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "worker", "Take jobs until there are none", runFleetWorker);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--label", arguments.label, "The label whose jobs to take")
      ->required()
      ->type_name("LABEL");
  sub->add_option("--role", arguments.role,
                  "builder compiles, evaluator measures")
      ->required()
      ->type_name("ROLE")
      ->check(CLI::IsMember({"builder", "evaluator"}));
  sub->add_option("--target", arguments.target,
                  "Take the jobs for this target only")
      ->type_name("TARGET");
  sub->add_option("--time", arguments.seconds,
                  "Take no more jobs after so many seconds")
      ->type_name("SECONDS")
      ->check(options::isBetween(0.1, 1e9));
  sub->add_option("--cores", arguments.cores, "The cores to run on")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(options::isBetween(0, 1 << 20));
  sub->add_flag("--take-turns", arguments.takesTurns,
                "Work only while no other worker of this machine with this "
                "option does: builders and evaluators share cores");
  sub->add_flag("--quiet", arguments.isQuiet, "Say errors only");
}

} // namespace tarpon
