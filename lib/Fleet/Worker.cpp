//===- Worker.cpp - Takes jobs until there are none -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Worker.h"

#include "BuildWork.h"
#include "Claim.h"
#include "ClaimSize.h"
#include "Heartbeat.h"
#include "Machine.h"
#include "MeasureWork.h"
#include "WorkerPauses.h"

#include "tarpon/Fleet/FleetStatus.h"
#include "tarpon/Fleet/Schema.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::fleet;
using llvm::formatv;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

using Clock = std::chrono::steady_clock;

namespace {

/// The prospects of a worker without a job.
enum class Outlook : uint8_t {
  Nothing, ///< all jobs have ended
  Later,   ///< jobs wait for their next attempt
  Soon     ///< others have jobs, which they may hand over
};

/// A session that this machine can work for.
struct ServedSession {
  Session session;
  std::unique_ptr<PhaseWork> work;
  ClaimSize claimSize;
};

class WorkerRun {
public:
  WorkerRun(const WorkerOptions &options,
            llvm::function_ref<void(llvm::StringRef)> say)
      : options(options), say(say) {}

  Result<WorkerSummary> run();

private:
  Status connect();
  Status open();
  Status registerWorker();
  Status serve(const std::vector<Session> &sessions);
  Status takeAll();
  Result<bool> takeSome();
  std::string getReasonToReturn(const ServedSession &served, size_t position,
                                Clock::time_point begin) const;
  bool takeTurn(const std::function<bool()> &isLost);
  Status doJob(ServedSession &served, const Lease &lease);
  Status report(const Lease &lease, const PhaseResult &result,
                const std::string &log);
  Result<Outlook> lookAhead();
  Result<bool> isAlone();
  Result<std::chrono::milliseconds> getLongestIdle(Outlook outlook);
  void waitIdly(std::chrono::milliseconds pause);
  Status ask(bool looksForOthers, Outlook &outlook,
             std::chrono::milliseconds &longestIdle);
  Status persist(llvm::function_ref<Status()> action, Clock::duration patience);
  void endWorker(const std::string &reason);
  bool isTimeUp() const;
  void rest();

  const WorkerOptions &options;
  llvm::function_ref<void(llvm::StringRef)> say;
  std::unique_ptr<Database> database;
  std::string packages;
  int64_t worker = 0;
  /// The shortest lease of the sessions that are served, in seconds.
  double shortestLease = std::numeric_limits<double>::max();
  Clock::time_point start = Clock::now();
  std::vector<ServedSession> served;
  std::unique_ptr<Heartbeat> heartbeat;
  /// The cores that workers of this machine share.
  DeviceLock turn{"cores"};
  /// The sessions that this machine cannot work for, and why.
  std::vector<std::string> refusals;
  /// Jobs are left, but nobody who could hand them over.
  bool isLonely = false;
  /// The number of the label's workers, and when it was true.
  int64_t crowd = 1;
  Clock::time_point counted = Clock::time_point::min();
  WorkerSummary summary;
  /// The pause that the machine's faults ask for; 0 after a job without any.
  std::chrono::milliseconds restTime{0};
};

} // namespace

//===----------------------------------------------------------------------===//
// The database
//===----------------------------------------------------------------------===//

/// Tries an action again on a new connection while the database does not
/// answer, or takes no changes.
Status WorkerRun::persist(llvm::function_ref<Status()> action,
                          Clock::duration patience) {
  Clock::time_point giveUp = Clock::now() + patience;
  auto pause = std::chrono::milliseconds(100);
  constexpr auto kLongestPause = std::chrono::milliseconds(5000);
  Status status = action();
  if (!status && database->isDisconnected() && Clock::now() < giveUp)
    say(formatv("{0}: tried again for {1} s", status.message(),
                std::chrono::ceil<std::chrono::seconds>(patience).count())
            .str());
  while (!status && database->isDisconnected() && Clock::now() < giveUp &&
         !options.shouldEnd()) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
    status = database->reconnect();
    if (status)
      status = action();
  }
  return status;
}

Status WorkerRun::connect() {
  auto opened = Database::open(options.url);
  if (!opened)
    return opened.error();
  database = std::move(*opened);
  if (Status status = checkSchema(*database); !status)
    return status;
  Result<std::string> folder = getSetting(*database, "packages");
  if (!folder)
    return folder.error();
  packages = *folder;
  return success();
}

static std::string getRoleName(Phase phase) {
  return phase == Phase::Compile ? "builder" : "evaluator";
}

Status WorkerRun::registerWorker() {
  return database->transact([&]() -> Status {
    Result<Row> machine = takeRow(
        database->query(
            "INSERT INTO machine (name, cpu, cores, seen) VALUES (:p1, :p2, "
            ":p3, $NOW) ON CONFLICT (name) DO UPDATE SET cpu = excluded.cpu, "
            "cores = excluded.cores, seen = excluded.seen RETURNING id",
            {getMachineName(), getCpuModel(),
             static_cast<int64_t>(getCores().size())}),
        "the machine cannot be recorded");
    if (!machine)
      return machine.error();
    Result<Row> row = takeRow(
        database->query(
            "INSERT INTO worker (machine_id, role, label, device, process, "
            "slurm_job, started, seen) VALUES (:p1, :p2, :p3, '', :p4, :p5, "
            "$NOW, $NOW) RETURNING id",
            {machine->integer(0), getRoleName(options.phase), options.label,
             static_cast<int64_t>(getpid()), options.slurmJob}),
        "the worker cannot be recorded");
    if (!row)
      return row.error();
    worker = row->integer(0);
    return success();
  });
}

/// The record of a worker helps people; a worker that cannot write it ends all
/// the same.
void WorkerRun::endWorker(const std::string &reason) {
  (void)persist(
      [&]() -> Status {
        auto done = database->execute(
            "UPDATE worker SET ended = $NOW, reason = :p1 WHERE id = :p2",
            {reason, worker});
        return done ? success() : Status(done.error());
      },
      std::chrono::seconds(10));
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

/// Opens the sessions that this build and this machine fit. An error if none of
/// them does.
Status WorkerRun::serve(const std::vector<Session> &sessions) {
  std::string refusal;
  for (const Session &session : sessions) {
    bool isWanted = options.target.empty() || options.target == session.target;
    if (!isWanted ||
        (options.phase == Phase::Measure && !session.settings.measures))
      continue;
    Result<std::unique_ptr<PhaseWork>> work =
        options.phase == Phase::Compile
            ? BuildWork::create(*database, session, packages)
            : MeasureWork::create(*database, session, packages,
                                  options.evaluatorProgram);
    if (work) {
      served.push_back({session, std::move(*work),
                        ClaimSize(session.settings.leaseSeconds)});
      continue;
    }
    say(kLeftAlone.str() + work.message());
    refusal = work.message();
    refusals.push_back(kLeftAlone.str() + refusal);
  }
  if (served.empty())
    return Error{refusal.empty() ? "label '" + options.label +
                                       "' has nothing to be measured"
                                 : refusal};
  for (const ServedSession &each : served)
    shortestLease = std::min(shortestLease, each.session.settings.leaseSeconds);
  return success();
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

Status WorkerRun::report(const Lease &lease, const PhaseResult &result,
                         const std::string &log) {
  JobQueue queue(*database, worker, lease.seconds);
  bool isOk = result.end.cause == Cause::Ok;
  AttemptEnd end = result.end;
  end.log = log;
  Result<bool> owned = false;
  Status status = persist(
      [&]() -> Status {
        owned = isOk ? queue.complete(lease, result.next, log, result.write)
                     : queue.fail(lease, end);
        return owned ? success() : Status(owned.error());
      },
      std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(lease.seconds)) +
          kPatience);
  // A refusal of a live server (a missing right, a constraint) is tried again
  // by whoever gets the job next, and not for ever.
  if (!status && !database->isDisconnected())
    status = persist(
        [&]() -> Status {
          owned =
              queue.fail(lease, AttemptEnd::forRefusal(status.message(), log));
          return owned ? success() : Status(owned.error());
        },
        kPatience);
  if (!status)
    return status;
  ++(*owned ? (isOk ? summary.completed : summary.failed) : summary.lost);
  say(formatv("job {0}: {1}{2}", lease.job,
              *owned ? llvm::StringRef(getRule(result.end.cause).name)
                     : llvm::StringRef("refused, as the lease was lost"),
              result.end.reason.empty() ? "" : ", " + result.end.reason)
          .str());
  return success();
}

/// Returns false if the lease is lost meanwhile, or the worker is to end.
bool WorkerRun::takeTurn(const std::function<bool()> &isLost) {
  // Others of this machine look as often: whoever has just worked comes last.
  std::this_thread::sleep_for(2 * kShortestIdle);
  while (!turn.tryTake()) {
    if (isLost() || options.shouldEnd())
      return false;
    std::this_thread::sleep_for(kShortestIdle);
  }
  return true;
}

Status WorkerRun::doJob(ServedSession &each, const Lease &lease) {
  say(formatv("job {0}, round {1}: {2} {3}", lease.job, lease.round,
              getPhaseName(lease.phase), lease.key)
          .str());
  auto isLost = [&] { return heartbeat->isLost(lease); };
  if (isLost()) {
    ++summary.lost;
    return success();
  }
  std::string log;
  PhaseResult result;
  if (options.takesTurns && !takeTurn(isLost)) {
    result = PhaseResult::fail(Cause::Returned, "its turn did not come");
  } else {
    auto takeErrors = [&] {
      return options.takeErrors ? options.takeErrors() : std::string();
    };
    // They were said before this job.
    (void)takeErrors();
    Clock::time_point begin = Clock::now();
    result = each.work->run(lease, log, isLost);
    log += takeErrors();
    // A job that fails at once says nothing about the time of others.
    if (result.end.cause == Cause::Ok)
      each.claimSize.note(Clock::now() - begin);
    turn.release();
  }
  Status status = report(lease, result, log);
  restTime = getRule(result.end.cause).pauses
                 ? std::clamp(restTime * 2, kShortestRest, kLongestRest)
                 : std::chrono::milliseconds(0);
  return status;
}

/// Why a job that was claimed with others is not begun; "" if it is.
std::string WorkerRun::getReasonToReturn(const ServedSession &each,
                                         size_t position,
                                         Clock::time_point begin) const {
  if (options.shouldEnd() || isTimeUp())
    return "time was up";
  if (heartbeat->isDraining())
    return "the machine is drained";
  if (position > 0 && restTime.count() > 0)
    return "the machine had a fault";
  bool isLate = each.claimSize.isLate(position, Clock::now() - begin);
  return isLate ? "jobs before it took too long" : "";
}

/// Returns false if there was no job. Sessions take turns, so that none waits
/// for all jobs of another.
Result<bool> WorkerRun::takeSome() {
  bool any = false;
  for (ServedSession &each : served) {
    JobQueue queue(*database, worker, each.session.settings.leaseSeconds);
    Result<std::vector<Lease>> leases = std::vector<Lease>();
    Status claimed = persist(
        [&]() -> Status {
          leases =
              queue.claim(each.session.id, options.phase, each.claimSize.get());
          return leases ? success() : Status(leases.error());
        },
        kPatience);
    if (!claimed)
      return claimed.error();
    any |= !leases->empty();
    Clock::time_point begin = Clock::now();
    Claim claim(*heartbeat, std::move(*leases));
    Status done = claim.forEach([&](size_t position, const Lease &lease) {
      std::string reason = getReasonToReturn(each, position, begin);
      return reason.empty()
                 ? doJob(each, lease)
                 : report(lease, PhaseResult::fail(Cause::Returned, reason),
                          "");
    });
    if (!done)
      return done.error();
  }
  return any;
}

bool WorkerRun::isTimeUp() const {
  return options.seconds &&
         Clock::now() - start > std::chrono::duration<double>(*options.seconds);
}

/// As long as a job of a session that is served has not ended, another worker
/// may hand it over, or lose it.
Result<Outlook> WorkerRun::lookAhead() {
  Outlook outlook = Outlook::Nothing;
  Phase other =
      options.phase == Phase::Compile ? Phase::Measure : Phase::Compile;
  for (const ServedSession &each : served) {
    Result<Row> row = takeRow(
        database->query(
            "SELECT CASE WHEN EXISTS (SELECT 1 FROM job WHERE session_id = :p1 "
            "AND state = 'leased') OR EXISTS (SELECT 1 FROM job WHERE "
            "session_id = :p1 AND state = 'waiting' AND phase = :p2) THEN 2 "
            "WHEN EXISTS (SELECT 1 FROM job WHERE session_id = :p1 AND state "
            "= 'waiting') THEN 1 ELSE 0 END",
            {each.session.id, getPhaseName(other).str()}),
        "the jobs cannot be counted");
    if (!row)
      return row.error();
    outlook = std::max(outlook, static_cast<Outlook>(row->integer(0)));
  }
  return outlook;
}

Result<std::chrono::milliseconds> WorkerRun::getLongestIdle(Outlook outlook) {
  if (outlook != Outlook::Soon)
    return kLongestIdle;
  if (counted == Clock::time_point::min() ||
      Clock::now() - counted > kCrowdAge) {
    Result<Row> row = takeRow(
        database->query("SELECT count(*) FROM worker WHERE label = :p1 AND "
                        "ended IS NULL",
                        {options.label}),
        "the workers cannot be counted");
    if (!row)
      return row.error();
    crowd = row->integer(0);
    counted = Clock::now();
  }
  return std::clamp(kIdlePerWorker * crowd, kShortestLongIdle, kLongestIdle);
}

/// A worker that takes turns does not even look for jobs while another one has
/// the cores, and may be measuring.
void WorkerRun::waitIdly(std::chrono::milliseconds pause) {
  bool isFree = true;
  do {
    std::this_thread::sleep_for(pause);
    if (options.takesTurns) {
      isFree = turn.tryTake();
      turn.release();
    }
  } while (!isFree && !options.shouldEnd() && !isTimeUp());
}

/// Returns true if no live worker of the other role is left, and nobody has a
/// job: nothing will ever become claimable.
Result<bool> WorkerRun::isAlone() {
  Result<double> longestLease = getLongestLease(*database, options.label);
  if (!longestLease)
    return longestLease.error();
  Result<Rows> others = database->query(
      "SELECT 1 FROM worker WHERE label = :p1 AND role <> :p2 AND ended IS "
      "NULL AND seen > $NOW - 2 * :p3 LIMIT 1",
      {options.label, getRoleName(options.phase), *longestLease});
  if (!others)
    return others.error();
  if (!others->empty())
    return false;
  for (const ServedSession &each : served) {
    // A job that failed waits for its next attempt.
    Result<Rows> own = database->query(
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM job WHERE session_id = :p1 AND "
        "state = 'leased') OR EXISTS (SELECT 1 FROM job WHERE session_id = :p1 "
        "AND state = 'waiting' AND phase = :p2)",
        {each.session.id, getPhaseName(options.phase).str()});
    if (!own)
      return own.error();
    if (!own->empty())
      return false;
  }
  return true;
}

void WorkerRun::rest() {
  constexpr auto kLook = std::chrono::milliseconds(100);
  Clock::time_point end = Clock::now() + restTime;
  while (Clock::now() < end && !options.shouldEnd() && !isTimeUp())
    std::this_thread::sleep_for(kLook);
}

Status WorkerRun::takeAll() {
  std::chrono::milliseconds idle = kShortestIdle, longest = kLongestIdle;
  Clock::time_point lastJob = Clock::now();
  while (!options.shouldEnd() && !isTimeUp() && !heartbeat->isDraining()) {
    Result<bool> any = takeSome();
    if (!any)
      return any.error();
    if (*any) {
      idle = kShortestIdle;
      lastJob = Clock::now();
      rest();
      continue;
    }
    Outlook outlook = Outlook::Nothing;
    bool looksForOthers = Clock::now() - lastJob > kLoneliness;
    if (Status asked = ask(looksForOthers, outlook, longest); !asked)
      return asked;
    if (outlook == Outlook::Nothing || isLonely)
      return success();
    waitIdly(std::min(idle, longest));
    idle = std::min(idle * 2, kLongestIdle);
  }
  return success();
}

/// Asks the database what a worker without a job asks.
Status WorkerRun::ask(bool looksForOthers, Outlook &outlook,
                      std::chrono::milliseconds &longestIdle) {
  return persist(
      [&]() -> Status {
        Result<Outlook> found = lookAhead();
        if (!found)
          return found.error();
        outlook = *found;
        Result<std::chrono::milliseconds> longest = getLongestIdle(outlook);
        if (!longest)
          return longest.error();
        longestIdle = *longest;
        if (outlook == Outlook::Nothing || !looksForOthers)
          return success();
        Result<bool> alone = isAlone();
        if (!alone)
          return alone.error();
        isLonely = *alone;
        return success();
      },
      kPatience);
}

/// Connects, and finds out what this machine can serve. What Slurm starts waits
/// for a database that is away; a person is told at once.
Status WorkerRun::open() {
  Clock::time_point giveUp = Clock::now();
  if (!options.slurmJob.empty())
    giveUp += kPatience;
  Status status = connect();
  while (!status && Clock::now() < giveUp && !options.shouldEnd() &&
         (!database || database->isDisconnected())) {
    std::this_thread::sleep_for(kLongestIdle);
    status = connect();
  }
  if (!status)
    return status;
  Result<std::vector<Session>> sessions =
      findSessions(*database, options.label);
  if (!sessions)
    return sessions.error();
  if (Status registered = registerWorker(); !registered)
    return registered;
  if (Status served = serve(*sessions); !served) {
    endWorker(served.message());
    return served;
  }
  return database->limitIdleTransactions(getIdleLimit(shortestLease));
}

/// Gives everything back from the thread of the heartbeat, since the other one
/// may be measuring for minutes.
static void giveBack(JobQueue &queue, Database &database, int64_t worker) {
  (void)queue.giveBackAll("the worker was told to end");
  (void)database.execute("UPDATE worker SET ended = $NOW, reason = 'it was "
                         "told to end' WHERE id = :p1",
                         {worker});
}

Result<WorkerSummary> WorkerRun::run() {
  hideProcess();
  if (Status pinned = pinToCores(options.cores); !pinned)
    return pinned.error();
  if (Status status = open(); !status)
    return status.error();
  heartbeat = std::make_unique<Heartbeat>(
      options.url, worker, shortestLease, options.shouldEnd,
      [this](JobQueue &queue, Database &own) {
        giveBack(queue, own, worker);
        std::_Exit(0);
      });
  Status status = takeAll();
  std::string reason =
      !status                   ? status.message()
      : options.shouldEnd()     ? "it was told to end"
      : heartbeat->isDraining() ? "the machine is drained"
      : isTimeUp()              ? "time was up"
      : isLonely ? "jobs are left for the other role, of which no worker lives"
                 : "no job was left";
  heartbeat.reset();
  std::string full = reason;
  for (const std::string &refusal : refusals)
    full += "; " + refusal;
  endWorker(full);
  say(reason);
  if (!status)
    return status.error();
  if (isLonely)
    return Error{reason};
  return summary;
}

Result<WorkerSummary>
tarpon::fleet::runWorker(const WorkerOptions &options,
                         llvm::function_ref<void(llvm::StringRef)> say) {
  return WorkerRun(options, say).run();
}
