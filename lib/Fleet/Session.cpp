//===- Session.cpp - A label's tuning for one target ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Session.h"

#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Fleet/PackageStore.h"
#include "tarpon/Fleet/Schema.h"
#include "tarpon/Fleet/WorkList.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include <nlohmann/json.hpp>

#include <array>

using namespace tarpon;
using namespace tarpon::fleet;
using nlohmann::json;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

static std::string toJson(const SessionSettings &settings) {
  json value = {{"solvers", settings.solvers},
                {"method", getSearchMethodName(settings.method).str()},
                {"candidates", settings.candidates},
                {"lease_seconds", settings.leaseSeconds},
                {"measures", settings.measures}};
  if (settings.iterations)
    value["iterations"] = *settings.iterations;
  return value.dump();
}

/// Reads what toJson has written; whoever may change the database may also
/// write anything else, which becomes the default.
static SessionSettings parseSettings(const std::string &text) {
  SessionSettings settings;
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object())
    return settings;
  auto has = [&](const char *name, bool (json::*isKind)() const noexcept) {
    return value.contains(name) && (value[name].*isKind)();
  };
  if (has("solvers", &json::is_array))
    for (const json &solver : value["solvers"])
      if (solver.is_string())
        settings.solvers.push_back(solver.get<std::string>());
  if (has("method", &json::is_string))
    if (auto method = parseSearchMethod(value["method"].get<std::string>()))
      settings.method = *method;
  if (has("iterations", &json::is_number_integer))
    settings.iterations = value["iterations"].get<int64_t>();
  if (has("candidates", &json::is_number_integer))
    settings.candidates =
        std::max<int64_t>(1, value["candidates"].get<int64_t>());
  if (has("lease_seconds", &json::is_number))
    settings.leaseSeconds = std::max(1.0, value["lease_seconds"].get<double>());
  if (has("measures", &json::is_boolean))
    settings.measures = value["measures"].get<bool>();
  return settings;
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static Result<std::shared_ptr<const Target>>
findSessionTarget(const Session &session) {
  return tarpon::findTarget(
      session.target,
      {session.threads, "native", session.usesEmulator ? "emulated" : ""});
}

/// Sets the sizes that printCacheSizes has printed: "48K/1024K/32768K".
static void setCaches(TargetInfo &info, llvm::StringRef sizes) {
  std::array<int64_t *, 3> fields = {&info.l1Bytes, &info.l2Bytes,
                                     &info.l3Bytes};
  for (int64_t *field : fields) {
    llvm::StringRef size;
    std::tie(size, sizes) = sizes.split('/');
    int64_t kilobytes;
    if (size.consume_back("K") && !size.getAsInteger(10, kilobytes))
      *field = kilobytes << 10;
  }
}

static SessionTarget makeCompiler(std::shared_ptr<const Target> target,
                                  const std::string &caches) {
  SessionTarget made;
  TargetInfo info = target->getInfo();
  if (!caches.empty())
    setCaches(info, caches);
  made.compiler = std::make_unique<KernelCompiler>(info, openKernelCache(info),
                                                   target->makeBackend());
  made.target = std::move(target);
  return made;
}

static JournalContext getContext(const Session &session,
                                 SessionTarget &target) {
  return makeMeasurerFactory(*target.compiler, /*evaluatorProgram=*/"",
                             /*onDevice=*/!session.usesEmulator)
      ->getJournalContext();
}

static Status checkSame(const Session &session, const char *what,
                        const std::string &there, const std::string &here) {
  if (there == here)
    return success();
  return Error{"label '" + session.label + "' for " + session.target +
               " needs " + what + " " + there + ", and here it is " + here};
}

Status tarpon::fleet::checkVersions(const Session &session,
                                    const Target &target) {
  const JournalContext &there = session.context;
  JournalContext here = JournalContext::forTarget(target.getInfo());
  // The context of an emulated GPU names its model, too.
  std::string name = session.usesEmulator ? there.target : here.target;
  Status checks[] = {
      checkSame(session, "LLVM", there.llvm, here.llvm),
      checkSame(session, "the code generator", there.tarpon, here.tarpon),
      checkSame(session, "the target", there.target, name),
      checkSame(session, "kernels of version", session.kernelVersion,
                getKernelVersion(target))};
  for (Status &check : checks)
    if (!check)
      return check;
  return success();
}

/// The context of an emulated GPU is known to its compiler.
static Status checkBuild(const Session &session, SessionTarget &target) {
  if (Status status = checkVersions(session, *target.target); !status)
    return status;
  return checkSame(session, "the target", session.context.target,
                   getContext(session, target).target);
}

Result<SessionTarget> tarpon::fleet::openTarget(const Session &session) {
  Result<std::shared_ptr<const Target>> found = findSessionTarget(session);
  if (!found)
    return found.error();
  SessionTarget target = makeCompiler(*found, session.context.caches);
  if (Status status = checkBuild(session, target); !status)
    return status.error();
  return std::move(target);
}

double tarpon::fleet::getOperationsPerMillisecond(const Session &session) {
  Result<std::shared_ptr<const Target>> target = findSessionTarget(session);
  const TargetInfo &info = target ? (*target)->getInfo() : TargetInfo();
  return info.traits->getFlopsPerMs(info);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr const char *kColumns =
    "SELECT id, label, target, is_emulated, threads, context_target, "
    "context_tarpon, context_llvm, context_caches, kernel_version, device, "
    "settings FROM session";

static Session readSession(const Row &row) {
  Session session;
  session.id = row.integer(0);
  session.label = row.text(1);
  session.target = row.text(2);
  session.usesEmulator = row.integer(3) != 0;
  session.threads = row.integer(4);
  session.context.target = row.text(5);
  session.context.threads = session.threads;
  session.context.tarpon = row.text(6);
  session.context.llvm = row.text(7);
  session.context.caches = row.text(8);
  session.kernelVersion = row.text(9);
  session.device = row.text(10);
  session.settings = parseSettings(row.text(11));
  return session;
}

static std::vector<Session> readSessions(const Rows &rows) {
  std::vector<Session> sessions;
  for (const Row &row : rows)
    sessions.push_back(readSession(row));
  return sessions;
}

Result<std::vector<Session>>
tarpon::fleet::findSessions(Database &database, const std::string &label) {
  Result<Rows> rows = database.query(
      std::string(kColumns) + " WHERE deleted IS NULL AND (:p1 = '' OR label = "
                              ":p1) ORDER BY id",
      {label});
  if (!rows)
    return rows.error();
  if (rows->empty() && !label.empty())
    return Error{"there is no label '" + label + "'"};
  return readSessions(*rows);
}

/// Workers of a label that is deleted meanwhile live on for a while.
Result<double> tarpon::fleet::getLongestLease(Database &database,
                                              const std::string &label) {
  Result<Rows> rows =
      database.query("SELECT settings FROM session WHERE label = :p1", {label});
  if (!rows)
    return rows.error();
  if (rows->empty())
    return SessionSettings().leaseSeconds;
  double longest = 0;
  for (const Row &row : *rows)
    longest = std::max(longest, parseSettings(row.text(0)).leaseSeconds);
  return longest;
}

Result<std::vector<Session>>
tarpon::fleet::findReleaseSessions(Database &database,
                                   const std::string &release) {
  Result<Rows> rows = database.query(
      std::string(kColumns) + " WHERE id IN (SELECT session_id FROM "
                              "release_record WHERE release = :p1) ORDER BY id",
      {release});
  if (!rows)
    return rows.error();
  return readSessions(*rows);
}

static Status insert(Database &database, const Session &session) {
  auto done = database.execute(
      "INSERT INTO session (label, target, is_emulated, threads, "
      "context_target, context_tarpon, context_llvm, context_caches, "
      "kernel_version, settings, created) VALUES (:p1, :p2, :p3, :p4, :p5, "
      ":p6, :p7, :p8, :p9, :p10, $NOW) ON CONFLICT DO NOTHING",
      {session.label, session.target, int64_t(session.usesEmulator),
       session.threads, session.context.target, session.context.tarpon,
       session.context.llvm, session.context.caches, session.kernelVersion,
       toJson(session.settings)});
  return done ? success() : Status(done.error());
}

static Result<std::optional<Session>> findSession(Database &database,
                                                  const Session &like) {
  Result<Rows> rows = database.query(
      std::string(kColumns) +
          " WHERE deleted IS NULL AND label = :p1 AND target = :p2",
      {like.label, like.target});
  if (!rows)
    return rows.error();
  if (rows->empty())
    return std::optional<Session>();
  return std::optional<Session>(readSession(rows->front()));
}

static Status checkSolvers(const SessionSettings &settings,
                           const TargetInfo &target) {
  for (const std::string &id : settings.solvers)
    if (!findSolver(target, id))
      return Error{"--solver: " + target.name() + " has no solver '" + id +
                   "'"};
  return success();
}

Result<Session> tarpon::fleet::openSession(Database &database,
                                           const SessionRequest &request) {
  if (Status status = checkName("the label", request.label); !status)
    return status.error();
  Session wanted;
  wanted.label = request.label;
  wanted.target = request.target;
  wanted.usesEmulator = request.usesEmulator;
  wanted.threads = std::max<int64_t>(1, request.threads);
  wanted.settings = request.settings;
  Result<std::shared_ptr<const Target>> found = findSessionTarget(wanted);
  if (!found)
    return found.error();
  if (Status status = checkSolvers(wanted.settings, (*found)->getInfo());
      !status)
    return status.error();
  SessionTarget target = makeCompiler(*found, /*caches=*/"");
  wanted.context = getContext(wanted, target);
  wanted.kernelVersion = getKernelVersion(*target.target);
  if (Status status = insert(database, wanted); !status)
    return status.error();
  Result<std::optional<Session>> session = findSession(database, wanted);
  if (!session)
    return session.error();
  if (!*session)
    return Error{"label '" + wanted.label +
                 "' was deleted: what was measured under it stays, and so "
                 "does its name"};
  if (Status status = checkBuild(**session, target); !status)
    return status.error();
  if ((*session)->usesEmulator != wanted.usesEmulator ||
      (*session)->threads != wanted.threads ||
      (*session)->settings != wanted.settings)
    return Error{"label '" + wanted.label + "' for " + wanted.target +
                 " has other settings: " + toJson((*session)->settings) +
                 " and " + std::to_string((*session)->threads) + " threads"};
  return **session;
}

/// Drops the packages of a session's jobs from the shared folder, if there is
/// one. A file that stays is swept later.
static Status dropPackages(Database &database, const Session &session) {
  Result<std::string> folder = getSetting(database, "packages");
  if (!folder || folder->empty())
    return folder ? success() : Status(folder.error());
  Result<Rows> rows = database.query(
      "SELECT job_id, digest FROM package WHERE job_id IN (SELECT id FROM job "
      "WHERE session_id = :p1)",
      {session.id});
  if (!rows)
    return rows.error();
  PackageStore packages(database, *folder);
  for (const Row &row : *rows) {
    Lease lease;
    lease.job = row.integer(0);
    lease.package = row.text(1);
    if (Status status = packages.drop(lease); !status)
      return status;
  }
  return success();
}

Status tarpon::fleet::deleteLabel(Database &database,
                                  const std::string &label) {
  Result<std::vector<Session>> sessions = findSessions(database, label);
  if (!sessions)
    return sessions.error();
  Status deleted = database.transact([&]() -> Status {
    for (const Session &session : *sessions) {
      // Aborted first: a worker must not write an attempt in between.
      constexpr const char *kStatements[] = {
          "UPDATE job SET state = 'aborted', lease_until = NULL, finished = "
          "$NOW WHERE session_id = :p1 AND state IN ('waiting', 'leased')",
          "DELETE FROM attempt WHERE job_id IN (SELECT id FROM job WHERE "
          "session_id = :p1)",
          "DELETE FROM package_part WHERE job_id IN (SELECT id FROM job WHERE "
          "session_id = :p1)",
          "DELETE FROM package WHERE job_id IN (SELECT id FROM job WHERE "
          "session_id = :p1)",
          "DELETE FROM job WHERE session_id = :p1",
          "UPDATE session SET deleted = $NOW WHERE id = :p1"};
      if (Status dropped = dropPackages(database, session); !dropped)
        return dropped;
      for (const char *statement : kStatements)
        if (auto done = database.execute(statement, {session.id}); !done)
          return done.error();
    }
    return success();
  });
  if (!deleted)
    return deleted;
  // Files whose builders died before they recorded them belong to no label.
  Result<int64_t> swept = sweepPackages(database);
  return swept ? success() : Status(swept.error());
}

Status tarpon::fleet::bindDevice(Database &database, Session &session,
                                 const std::string &device) {
  if (session.device.empty()) {
    auto done = database.execute(
        "UPDATE session SET device = :p1 WHERE id = :p2 AND device = ''",
        {device, session.id});
    if (!done)
      return done.error();
    Result<Row> row =
        takeRow(database.query("SELECT device FROM session WHERE id = :p1",
                               {session.id}),
                "label '" + session.label + "' is gone");
    if (!row)
      return row.error();
    session.device = row->text(0);
  }
  return checkSame(session, "the device", session.device, device);
}
