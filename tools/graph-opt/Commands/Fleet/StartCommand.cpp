//===- StartCommand.cpp - graph-opt fleet start ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"
#include "StatusReport.h"

#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Fleet/FleetStatus.h"
#include "tarpon/Fleet/LocalWorkers.h"
#include "tarpon/Fleet/Session.h"
#include "tarpon/Fleet/SlurmScript.h"
#include "tarpon/Fleet/Worker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetStartArguments {
  std::string database, label, where = "here", partition;
  /// For all targets, or "TARGET=VALUE".
  std::vector<std::string> gres, constraint;
  std::string logs = ".";
  int64_t builders = 1, evaluators = 1;
  std::optional<int64_t> minutes;
  std::optional<int64_t> cores;
  bool isDryRun = false;
};

} // namespace

static std::vector<std::string>
makeCommand(const FleetStartArguments &arguments, const char *role) {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  std::vector<std::string> command = {
      program,   "fleet",         "worker", arguments.database,
      "--label", arguments.label, "--role", role};
  if (arguments.minutes) {
    // Nothing is begun in the last minute.
    int64_t seconds = std::max<int64_t>(30, *arguments.minutes * 60 - 60);
    command.insert(command.end(), {"--time", std::to_string(seconds)});
  }
  return command;
}

/// Workers of this machine are quiet: the logs of their jobs have it all.
static std::vector<std::string>
makeLocalCommand(const FleetStartArguments &arguments, const char *role) {
  std::vector<std::string> command = makeCommand(arguments, role);
  command.emplace_back("--quiet");
  return command;
}

//===----------------------------------------------------------------------===//
// On this machine
//===----------------------------------------------------------------------===//

namespace {

/// Shows how many jobs have ended while workers run.
class FleetProgress {
public:
  FleetProgress(fleet::Database &database, const std::string &label)
      : database(database), label(label),
        progress(llvm::errs(), Progress::detectStyle(/*quiet=*/false)) {
    look();
  }

  void look();
  void finish();

private:
  fleet::Database &database;
  std::string label;
  Progress progress;
  int64_t total = 0, ended = 0;
};

} // namespace

void FleetProgress::look() {
  Result<std::vector<fleet::SessionStatus>> sessions =
      fleet::getSessionStatus(database, label);
  if (!sessions)
    return;
  int64_t nowTotal = 0, nowEnded = 0;
  for (const fleet::SessionStatus &session : *sessions) {
    nowTotal += session.total;
    nowEnded += session.ended;
  }
  progress.expect(static_cast<double>(nowTotal - total));
  total = nowTotal;
  progress.setPhase(formatv("{0} of {1} jobs", nowEnded, nowTotal));
  progress.advance(static_cast<double>(nowEnded - ended));
  ended = nowEnded;
}

void FleetProgress::finish() {
  look();
  progress.finish();
  Result<fleet::FleetStatus> status = fleet::getStatus(database, label);
  if (!status)
    return;
  for (const fleet::SessionStatus &session : status->sessions)
    printSession(llvm::outs(), session);
  printCauses(llvm::outs(), status->causes);
  printCandidates(llvm::outs(), status->candidates);
  llvm::outs().flush();
}

static int startHere(const FleetStartArguments &arguments,
                     fleet::Database &database,
                     const std::vector<fleet::Session> &sessions) {
  std::vector<fleet::LocalWorker> workers;
  int64_t threads = 1;
  for (const fleet::Session &session : sessions)
    threads = std::max(threads, session.threads);
  for (int64_t i = 0; i < arguments.builders; ++i)
    workers.push_back({makeLocalCommand(arguments, "builder"), 0});
  bool measures = std::any_of(
      sessions.begin(), sessions.end(),
      [](const fleet::Session &session) { return session.settings.measures; });
  for (int64_t i = 0; measures && i < arguments.evaluators; ++i)
    workers.push_back({makeLocalCommand(arguments, "evaluator"), threads});
  Result<int64_t> last = fleet::getLastWorker(database);
  if (!last)
    return fail(last.message());
  FleetProgress progress(database, arguments.label);
  auto reportBusy = [](int core) {
    remark(formatv("core {0} has workers of another 'fleet start': waits for "
                   "their end",
                   core));
  };
  Status status = fleet::runLocalWorkers(
      std::move(workers), [&] { progress.look(); }, reportBusy);
  progress.finish();
  // The workers were quiet.
  if (auto refusals = fleet::listRefusals(database, arguments.label, *last))
    for (const std::string &refusal : *refusals)
      remark(fleet::kLeftAlone.str() + refusal);
  return status ? kSuccess : fail(status.message());
}

//===----------------------------------------------------------------------===//
// On Slurm
//===----------------------------------------------------------------------===//

/// Submits a script; sbatch says on its output which job it became.
static Status submit(const std::string &script) {
  llvm::ErrorOr<std::string> sbatch = llvm::sys::findProgramByName("sbatch");
  if (!sbatch)
    return Error{"there is no Slurm here: sbatch is not on the PATH"};
  llvm::SmallString<128> path;
  int file;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tarpon", "sbatch", file, path))
    return Error{"no temporary file can be made: " + code.message()};
  {
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    os << script;
  }
  std::string message;
  int code = llvm::sys::ExecuteAndWait(*sbatch, {*sbatch, path}, std::nullopt,
                                       {}, /*SecondsToWait=*/60,
                                       /*MemoryLimit=*/0, &message);
  (void)llvm::sys::fs::remove(path);
  if (code != 0)
    return Error{"sbatch failed" + (message.empty() ? "" : ": " + message)};
  return success();
}

/// Returns the value that is for this target, "TARGET=VALUE", else the last one
/// that is for all.
static std::string pickForTarget(const std::vector<std::string> &values,
                                 const std::string &target,
                                 const std::vector<fleet::Session> &sessions) {
  std::string forAll;
  for (llvm::StringRef value : values) {
    if (value.consume_front(target + "="))
      return value.str();
    if (llvm::none_of(sessions, [&](const fleet::Session &session) {
          return value.starts_with(session.target + "=");
        }))
      forAll = value.str();
  }
  return forAll;
}

/// One array of builders, which need no device, and one of evaluators per
/// session, since targets need other nodes.
static std::vector<fleet::SlurmArray>
makeArrays(const FleetStartArguments &arguments,
           const std::vector<fleet::Session> &sessions,
           const std::string &logs) {
  fleet::SlurmArray common;
  common.label = arguments.label;
  common.partition = arguments.partition;
  common.minutes = arguments.minutes;
  common.logs = logs;
  std::vector<fleet::SlurmArray> arrays;
  auto add = [&](const fleet::SlurmArray &array) {
    for (fleet::SlurmArray &part : fleet::splitArray(array))
      arrays.push_back(std::move(part));
  };
  if (arguments.builders > 0) {
    fleet::SlurmArray builders = common;
    builders.workers = arguments.builders;
    builders.cores = arguments.cores.value_or(1);
    builders.command = makeCommand(arguments, "builder");
    add(builders);
  }
  for (const fleet::Session &session : sessions) {
    if (!session.settings.measures || arguments.evaluators == 0)
      continue;
    fleet::SlurmArray evaluators = common;
    evaluators.phase = fleet::Phase::Measure;
    evaluators.workers = arguments.evaluators;
    evaluators.cores = session.threads;
    evaluators.gres = pickForTarget(arguments.gres, session.target, sessions);
    if (evaluators.gres.empty())
      evaluators.gres = fleet::getGres(session);
    evaluators.constraint =
        pickForTarget(arguments.constraint, session.target, sessions);
    evaluators.command = makeCommand(arguments, "evaluator");
    evaluators.command.insert(evaluators.command.end(),
                              {"--target", session.target});
    add(evaluators);
  }
  return arrays;
}

static int startOnSlurm(const FleetStartArguments &arguments,
                        const std::vector<fleet::Session> &sessions) {
  llvm::SmallString<256> logs(arguments.logs);
  if (std::error_code code = llvm::sys::fs::make_absolute(logs))
    return fail("--logs: there is no working folder: " + code.message());
  for (const fleet::SlurmArray &array :
       makeArrays(arguments, sessions, logs.str().str())) {
    Result<std::string> script = fleet::writeSlurmScript(array);
    if (!script)
      return fail(script.message());
    if (arguments.isDryRun)
      llvm::outs() << *script << "\n";
    else if (Status status = submit(*script); !status)
      return fail(status.message());
  }
  llvm::outs().flush();
  return kSuccess;
}

static int runFleetStart(const FleetStartArguments &arguments) {
  fleet::hideProcess();
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  Result<std::vector<fleet::Session>> sessions =
      fleet::findSessions(**database, arguments.label);
  if (!sessions)
    return fail(sessions.message());
  return arguments.where == "slurm"
             ? startOnSlurm(arguments, *sessions)
             : startHere(arguments, **database, *sessions);
}

void addFleetStart(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "start", "Start workers, here or by Slurm", runFleetStart);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("--label", arguments.label, "The label whose jobs to do")
      ->required()
      ->type_name("LABEL");
  sub->add_option(
         "--on", arguments.where,
         "here (default): run them until no job is left; slurm: submit "
         "them as job arrays")
      ->type_name("WHERE")
      ->check(CLI::IsMember({"here", "slurm"}));
  sub->add_option("--builders", arguments.builders,
                  "The number of builders (default: 1)")
      ->type_name("N")
      ->check(options::isCount());
  sub->add_option("--evaluators", arguments.evaluators,
                  "The number of evaluators (default: 1): here for all targets "
                  "of the label, on Slurm for each of them")
      ->type_name("N")
      ->check(options::isCount());
  sub->add_option("--minutes", arguments.minutes, "The time that they may take")
      ->type_name("N")
      ->check(options::isPositive());
  sub->add_option("--partition", arguments.partition, "Slurm's partition")
      ->type_name("P");
  sub->add_option("--gres", arguments.gres,
                  "What evaluators need of a node (default: one GPU that is "
                  "named like the target's chip, \"gpu:gfx942:1\"); one for "
                  "all targets, or TARGET=GRES, several times")
      ->type_name("GRES")
      ->allow_extra_args(false);
  sub->add_option("--constraint", arguments.constraint,
                  "The features that evaluators need of a node: for all "
                  "targets, or TARGET=FEATURES, several times")
      ->type_name("FEATURES")
      ->allow_extra_args(false);
  sub->add_option("--builder-cores", arguments.cores,
                  "The cores of a builder on Slurm (default: 1)")
      ->type_name("N")
      ->check(options::isPositive());
  sub->add_option("--logs", arguments.logs,
                  "The shared folder of the workers' output on Slurm (default: "
                  "this one)")
      ->type_name("DIR");
  sub->add_flag("--dry-run", arguments.isDryRun,
                "Print the scripts for Slurm, and submit nothing");
}

} // namespace tarpon
