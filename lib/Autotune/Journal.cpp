//===- Journal.cpp - Everything that was ever measured --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Journal.h"

#include "CodeDigest.h"
#include "Digest.h"
#include "JournalSchema.h"
#include "ProcessId.h"
#include "Sqlite.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// How long one process waits for another that writes.
static constexpr int kBusyTimeoutMs = 10000;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

llvm::StringRef tarpon::getStatusName(MeasurementStatus status) {
  switch (status) {
  case MeasurementStatus::Ok:
    return "ok";
  case MeasurementStatus::Wrong:
    return "wrong";
  case MeasurementStatus::Crashed:
    return "crashed";
  case MeasurementStatus::TimedOut:
    return "timed-out";
  case MeasurementStatus::Failed:
    return "failed";
  }
  assert(false && "unknown status");
  return "";
}

static MeasurementStatus parseStatus(llvm::StringRef name) {
  using enum MeasurementStatus;
  for (MeasurementStatus status : {Ok, Wrong, Crashed, TimedOut, Failed})
    if (getStatusName(status) == name)
      return status;
  return Failed;
}

static llvm::StringRef getStageName(MeasurementStage stage) {
  return stage == MeasurementStage::Final ? "final" : "race";
}

llvm::StringRef tarpon::getTarponVersion() { return TARPON_VERSION; }

JournalContext JournalContext::forTarget(const TargetInfo &target) {
  Digest features;
  for (const std::string &feature : target.features)
    features.add(llvm::StringRef(feature));
  llvm::StringRef code = llvm::StringRef(TARPON_CODE_DIGEST).take_front(12);
  return {target.name() + "/" + features.hex().substr(0, 8), target.threads,
          (getTarponVersion() + "+" + code).str(), LLVM_VERSION_STRING};
}

std::string Journal::getDefaultDirectory() {
  auto get = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string path = get("TARPON_USER_DB_PATH"); !path.empty())
    return path;
  if (std::string path = get("XDG_CONFIG_HOME"); !path.empty())
    return path + "/tarpon";
  return get("HOME") + "/.config/tarpon";
}

std::string Journal::getDefaultPath(const TargetInfo &target) {
  std::string name = target.name();
  std::replace(name.begin(), name.end(), '/', '-');
  return getDefaultDirectory() + "/" + name + ".journal";
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

struct Journal::Handle {
  sqlite3 *database = nullptr;
  ~Handle() { sqlite3_close(database); }
};

Journal::~Journal() = default;

Error Journal::makeError(llvm::StringRef what) const {
  int code = sqlite3_errcode(handle->database);
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    return {"journal " + path + " is damaged: " + what.str() +
            "; move it away or set TARPON_USER_DB_PATH"};
  return {"cannot use journal " + path + ": " + what.str()};
}

/// The first column of the first row as text.
static std::string queryText(sqlite3 *database, const char *sql) {
  SqlStatement statement(database, sql);
  return statement.next() ? statement.text(0) : "";
}

/// Checks what is there before anything is written. Gives no error for a file
/// that is new.
static std::string describeDamage(sqlite3 *database) {
  SqlStatement check(database, "PRAGMA quick_check(1)");
  if (!check.next())
    return sqlite3_errmsg(database);
  return check.text(0) == "ok" ? "" : check.text(0);
}

/// Whether every table has the columns that are read and written; "" if so.
static std::string describeMissing(sqlite3 *database) {
  for (const char *sql : {kMeasurementColumns, kPipelineColumns})
    if (SqlStatement(database, sql).failed())
      return sqlite3_errmsg(database);
  return "";
}

Status Journal::checkSchema() const {
  std::string missing = describeMissing(handle->database);
  if (!missing.empty())
    return Error{"journal " + path + " is damaged: " + missing +
                 "; move it away or set TARPON_USER_DB_PATH"};
  return runtime::success();
}

Status Journal::configure() {
  sqlite3 *database = handle->database;
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  std::string tables =
      queryText(database, "SELECT count(*) FROM sqlite_master");
  if (tables.empty())
    return makeError(sqlite3_errmsg(database));
  std::string id = queryText(database, "PRAGMA application_id");
  if (id != std::to_string(kJournalApplicationId) &&
      !(id == "0" && tables == "0"))
    return Error{"file " + path + " is not a journal of tarpon"};
  if (std::string damage = describeDamage(database); !damage.empty())
    return Error{"journal " + path + " is damaged: " + damage +
                 "; move it away or set TARPON_USER_DB_PATH"};
  std::string version = queryText(database, "PRAGMA user_version");
  if (std::atoll(version.c_str()) > kJournalVersion)
    return Error{"journal " + path + " has schema version " + version +
                 ", which is newer than this tarpon's " +
                 std::to_string(kJournalVersion)};

  // A file system without shared memory refuses WAL; then SQLite goes on with
  // its rollback journal, which is as safe and slower. In WAL mode NORMAL loses
  // no row to a killed process, only to a machine that loses power.
  SqlStatement(database, "PRAGMA journal_mode = WAL").run();
  SqlStatement(database, "PRAGMA synchronous = NORMAL").run();
  if (tables != "0")
    return checkSchema();
  std::string create =
      std::string("BEGIN IMMEDIATE;") + kJournalSchema +
      "PRAGMA application_id = " + std::to_string(kJournalApplicationId) +
      "; PRAGMA user_version = " + std::to_string(kJournalVersion) +
      "; COMMIT;";
  if (sqlite3_exec(database, create.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    return makeError(sqlite3_errmsg(database));
  return runtime::success();
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string &path,
                                               JournalContext context) {
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  if (!parent.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(parent))
      return Error{"cannot create folder " + parent.str() + ": " +
                   error.message()};
  std::unique_ptr<Journal> journal(new Journal());
  journal->path = path;
  journal->context = std::move(context);
  journal->run = getProcessId();
  journal->handle = std::make_unique<Handle>();
  sqlite3 *&database = journal->handle->database;
  if (sqlite3_open_v2(path.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                      nullptr) != SQLITE_OK)
    return journal->makeError(sqlite3_errmsg(database));
  if (Status status = journal->configure(); !status)
    return status.error();
  SqlStatement last(database, "SELECT max(id) FROM measurement");
  if (last.next())
    journal->lastEarlierRow = last.integer(0);
  return journal;
}

std::unique_ptr<Journal> Journal::openInMemory(JournalContext context) {
  Result<std::unique_ptr<Journal>> journal =
      open(":memory:", std::move(context));
  assert(journal && "an empty database in memory cannot be damaged");
  return std::move(*journal);
}

//===----------------------------------------------------------------------===//
// Measurements of candidates
//===----------------------------------------------------------------------===//

static std::string printSamples(const std::vector<double> &samples) {
  return nlohmann::json(samples).dump();
}

/// Samples that cannot be read (somebody edited the file) count as none.
static std::vector<double> parseSamples(const std::string &text) {
  auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<double> samples;
  if (json.is_array())
    for (const auto &value : json)
      if (value.is_number())
        samples.push_back(value.get<double>());
  return samples;
}

/// No kernel takes no time, or less.
static bool isTime(double value) { return std::isfinite(value) && value > 0; }

Status Journal::recordStarted(const CandidateKey &key, MeasurementStage stage) {
  SqlStatement insert(
      handle->database,
      "INSERT INTO measurement (problem, solver, config, target, "
      "threads, tarpon, llvm, origin, status, run) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'started', ?)");
  insert.bind(key.problem).bind(key.solver).bind(key.config);
  insert.bind(context.target).bind(context.threads);
  insert.bind(context.tarpon).bind(context.llvm);
  insert.bind(getStageName(stage)).bind(run);
  if (!insert.run())
    return makeError(sqlite3_errmsg(handle->database));
  return runtime::success();
}

Status Journal::record(const Measurement &m) {
  SqlStatement insert(
      handle->database,
      "INSERT INTO measurement (problem, solver, config, target, threads, "
      "tarpon, llvm, origin, status, samples, median, mad, max_error, "
      "relative_l2, workspace, rounds, detail, run) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(m.key.problem).bind(m.key.solver).bind(m.key.config);
  insert.bind(context.target).bind(context.threads);
  insert.bind(context.tarpon).bind(context.llvm);
  insert.bind(getStageName(m.stage)).bind(getStatusName(m.status));
  insert.bind(printSamples(m.samples)).bind(m.median).bind(m.mad);
  insert.bind(m.maxError).bind(m.relativeL2).bind(m.workspaceBytes);
  insert.bind(m.rounds);
  insert.bind(m.detail).bind(run);
  if (!insert.run())
    return makeError(sqlite3_errmsg(handle->database));
  return runtime::success();
}

std::vector<Measurement>
Journal::getMeasurements(llvm::StringRef problem) const {
  SqlStatement rows(
      handle->database,
      "SELECT solver, config, origin, status, samples, median, mad, max_error, "
      "relative_l2, workspace, rounds, detail, id FROM measurement "
      "WHERE problem = ? AND target = ? AND threads = ? AND tarpon = ? "
      "AND llvm = ? AND status <> 'started' ORDER BY id");
  rows.bind(problem).bind(context.target).bind(context.threads);
  rows.bind(context.tarpon).bind(context.llvm);
  std::vector<Measurement> result;
  while (rows.next()) {
    Measurement m;
    m.key = {problem.str(), rows.text(0), rows.text(1)};
    if (rows.text(2) == "final")
      m.stage = MeasurementStage::Final;
    m.status = parseStatus(rows.text(3));
    m.samples = parseSamples(rows.text(4));
    m.median = rows.real(5);
    m.mad = rows.real(6);
    m.maxError = rows.real(7);
    m.relativeL2 = rows.real(8);
    m.workspaceBytes = rows.integer(9);
    m.rounds = rows.integer(10);
    m.detail = rows.text(11);
    m.isEarlier = rows.integer(12) <= lastEarlierRow;
    if (m.status == MeasurementStatus::Ok && !isTime(m.median))
      continue;
    auto known = llvm::find_if(
        result, [&](const Measurement &r) { return r.key == m.key; });
    if (known == result.end())
      result.push_back(std::move(m));
    else if (m.stage >= known->stage)
      *known = std::move(m);
  }
  return result;
}

std::optional<Measurement> Journal::getBest(llvm::StringRef problem) const {
  std::optional<Measurement> best;
  for (Measurement &m : getMeasurements(problem)) {
    if (m.status != MeasurementStatus::Ok)
      continue;
    if (!best || m.stage > best->stage ||
        (m.stage == best->stage && m.median < best->median))
      best = std::move(m);
  }
  return best;
}

int64_t Journal::countInterrupted(const CandidateKey &key,
                                  MeasurementStage stage) const {
  SqlStatement rows(handle->database,
                    "SELECT status, run FROM measurement WHERE problem = ? AND "
                    "solver = ? AND config = ? AND target = ? AND threads = ? "
                    "AND tarpon = ? AND llvm = ? AND origin = ? ORDER BY id");
  rows.bind(key.problem).bind(key.solver).bind(key.config);
  rows.bind(context.target).bind(context.threads);
  rows.bind(context.tarpon).bind(context.llvm).bind(getStageName(stage));
  int64_t count = 0;
  while (rows.next()) {
    if (rows.text(0) != "started")
      count = 0;
    else if (!isProcessAlive(rows.text(1)))
      ++count;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Measurements of whole models
//===----------------------------------------------------------------------===//

Status Journal::recordPipeline(const PipelineMeasurement &m) {
  SqlStatement insert(
      handle->database,
      "INSERT INTO pipeline (model, inputs, dtype, layout, fusion, "
      "calibration, solutions, target, threads, tarpon, llvm, status, "
      "accuracy, samples, median, mad, rounds, detail, run) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(m.key.modelSha256).bind(m.key.inputShapes).bind(m.key.dtype);
  insert.bind(m.key.layout).bind(m.key.fusion).bind(m.key.calibration);
  insert.bind(m.key.solutions).bind(context.target).bind(context.threads);
  insert.bind(context.tarpon).bind(context.llvm).bind(getStatusName(m.status));
  insert.bind(m.accuracy).bind(printSamples(m.samples));
  insert.bind(m.median).bind(m.mad).bind(m.rounds).bind(m.detail).bind(run);
  if (!insert.run())
    return makeError(sqlite3_errmsg(handle->database));
  return runtime::success();
}

std::optional<PipelineMeasurement>
Journal::getPipeline(const PipelineKey &key) const {
  SqlStatement rows(
      handle->database,
      "SELECT status, accuracy, samples, median, mad, rounds, detail "
      "FROM pipeline "
      "WHERE model = ? AND inputs = ? AND dtype = ? AND layout = ? AND "
      "fusion = ? AND calibration = ? AND solutions = ? AND target = ? AND "
      "threads = ? AND tarpon = ? AND llvm = ? ORDER BY id DESC LIMIT 1");
  rows.bind(key.modelSha256).bind(key.inputShapes).bind(key.dtype);
  rows.bind(key.layout).bind(key.fusion).bind(key.calibration);
  rows.bind(key.solutions).bind(context.target).bind(context.threads);
  rows.bind(context.tarpon).bind(context.llvm);
  if (!rows.next())
    return std::nullopt;
  PipelineMeasurement m;
  m.key = key;
  m.status = parseStatus(rows.text(0));
  m.accuracy = rows.real(1);
  m.samples = parseSamples(rows.text(2));
  m.median = rows.real(3);
  m.mad = rows.real(4);
  m.rounds = rows.integer(5);
  m.detail = rows.text(6);
  // Somebody edited the file: it is measured again.
  if (m.status == MeasurementStatus::Ok &&
      (!isTime(m.median) || !(m.accuracy >= 0)))
    return std::nullopt;
  return m;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

std::optional<std::string> Journal::describeImpossible() const {
  SqlStatement rows(handle->database,
                    "SELECT count(*) FROM measurement WHERE status = 'ok' AND "
                    "(median IS NULL OR NOT (median > 0 AND median < 9e999))");
  if (!rows.next() || rows.integer(0) == 0)
    return std::nullopt;
  return "journal " + path + ": " + std::to_string(rows.integer(0)) +
         " records have times that cannot be and are ignored";
}

std::optional<std::string> Journal::describeStale() const {
  SqlStatement rows(handle->database,
                    "SELECT count(*) FROM measurement WHERE target = ? AND "
                    "status <> 'started' AND (tarpon <> ? OR llvm <> ?)");
  rows.bind(context.target).bind(context.tarpon).bind(context.llvm);
  if (!rows.next() || rows.integer(0) == 0)
    return std::nullopt;
  return "journal " + path + ": " + std::to_string(rows.integer(0)) +
         " records of other tarpon or LLVM versions are ignored";
}
