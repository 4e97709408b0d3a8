//===- Journal.cpp - The journal of all measurements ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/Journal.h"

#include "Digest.h"
#include "JournalQueries.h"
#include "ProcessId.h"
#include "RecordVersion.h"
#include "RowChecksum.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/MeasurementOrder.h"
#include "tarpon/Runtime/UserFolder.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

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

MeasurementStatus tarpon::parseStatusName(llvm::StringRef name) {
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
  return {target.name() + "/" + features.hex().substr(0, 8), target.threads,
          getRecordVersion(target), LLVM_VERSION_STRING,
          target.traits->printCacheSizes(target)};
}

/// Separates the target's name from the model's in contexts of models.
static constexpr llvm::StringLiteral kModelMark = "/model:";

JournalContext JournalContext::forModel(const TargetInfo &target,
                                        llvm::StringRef model) {
  JournalContext context = forTarget(target);
  context.target += (kModelMark + model).str();
  return context;
}

TimeSource JournalContext::getTimeSource() const {
  return llvm::StringRef(target).contains(kModelMark) ? TimeSource::Modelled
                                                      : TimeSource::Measured;
}

std::string Journal::getDefaultDirectory() {
  return runtime::UserFolder{"TARPON_USER_DB_PATH", "XDG_CONFIG_HOME",
                             ".config"}
      .find();
}

std::string Journal::getDefaultPath(const TargetInfo &target) {
  std::string name = target.name();
  std::replace(name.begin(), name.end(), '/', '-');
  return getDefaultDirectory() + "/" + name + ".journal";
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(const std::string &path,
                                               JournalContext context) {
  return take(StoreFile::open(path, StoreFile::Mode::Replace),
              std::move(context));
}

Result<std::unique_ptr<Journal>>
Journal::openForReading(const std::string &path, JournalContext context) {
  Result<std::unique_ptr<Journal>> journal = take(
      StoreFile::open(path, StoreFile::Mode::Immutable), std::move(context));
  if (journal)
    (*journal)->isReadOnly = true;
  return journal;
}

Result<std::unique_ptr<Journal>> Journal::openReadOnly(const std::string &path,
                                                       JournalContext context) {
  Result<std::unique_ptr<Journal>> journal =
      openForReading(path, std::move(context));
  if (journal)
    (*journal)->isShipped = true;
  return journal;
}

Result<std::unique_ptr<Journal>>
Journal::take(Result<std::unique_ptr<StoreFile>> store,
              JournalContext context) {
  if (!store)
    return store.error();
  std::unique_ptr<Journal> journal(new Journal());
  journal->context = std::move(context);
  journal->run = getProcessId();
  journal->store = std::move(*store);
  journal->lastEarlierRow = journal->getLastRow();
  return journal;
}

Status Journal::reopen() const {
  Result<std::unique_ptr<StoreFile>> opened =
      StoreFile::reopen(std::move(store));
  Status status = opened ? runtime::success() : Status(opened.error());
  // Afterwards this object answers as if nothing were known.
  if (!opened)
    opened = StoreFile::open(":memory:", StoreFile::Mode::Create);
  assert(opened && "an empty database in memory cannot be damaged");
  store = std::move(*opened);
  lastEarlierRow = getLastRow();
  return status;
}

void Journal::read(
    llvm::function_ref<bool(const StoreFile &store)> query) const {
  // A damaged file that cannot be replaced is read as far as possible. A
  // failure to make a new one shows at the next write.
  if (!query(*store) && store->isCorrupt() && !isReadOnly)
    (void)reopen();
}

Status Journal::write(llvm::function_ref<bool(const StoreFile &store)> insert) {
  if (!isReadOnly && store->wasMoved())
    if (Status status = reopen(); !status)
      return status;
  if (insert(*store))
    return runtime::success();
  if (isReadOnly || !store->isDamaged())
    return store->makeError();
  if (Status status = reopen(); !status)
    return status;
  return insert(*store) ? runtime::success() : Status(store->makeError());
}

const std::string &Journal::getPath() const { return store->getPath(); }

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

/// Samples that cannot be parsed (somebody edited the file) count as none.
static std::vector<double> parseSamples(const std::string &text) {
  auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<double> samples;
  if (json.is_array())
    for (const auto &value : json)
      if (value.is_number())
        samples.push_back(value.get<double>());
  return samples;
}

/// The prefix of the detail of a candidate that was dropped early.
static constexpr llvm::StringLiteral kDropped = "dropped";

/// Sets the columns that all rows of measurements have.
static SqlRow makeRow(const CandidateKey &key, MeasurementStage stage,
                      const JournalContext &context, llvm::StringRef run) {
  SqlRow row;
  row.set("problem", key.problem).set("solver", key.solver);
  row.set("config", key.config).set("origin", getStageName(stage));
  row.set("version",
          context.solverVersion.value_or(getBehaviourVersion(key.solver)));
  row.set("run", run);
  setContext(row, context);
  return row;
}

Status Journal::recordStarted(const CandidateKey &key, MeasurementStage stage) {
  return write([&](const StoreFile &file) {
    SqlRow row = makeRow(key, stage, context, run);
    row.set("status", "started");
    return row.insertInto(file.database(), "measurement");
  });
}

/// A copied record may lack samples, but not its meaning.
static std::string describe(const Measurement &m) {
  if (!m.isDropped || !m.detail.empty())
    return m.detail;
  return (kDropped + " after " + llvm::Twine(m.samples.size()) + " samples")
      .str();
}

Status Journal::record(const Measurement &m) {
  return write([&](const StoreFile &file) {
    SqlRow row = makeRow(m.key, m.stage, context, run);
    row.set("status", getStatusName(m.status));
    row.set("samples", printSamples(m.samples));
    row.set("median", m.median).set("mad", m.mad);
    row.set("max_error", m.maxError).set("relative_l2", m.relativeL2);
    row.set("workspace", m.workspaceBytes).set("rounds", m.rounds);
    row.set("detail", describe(m));
    return row.insertInto(file.database(), "measurement");
  });
}

Measurement tarpon::readMeasurement(const SqlStatement &row) {
  Measurement m;
  m.key = {row.text("problem"), row.text("solver"), row.text("config")};
  if (row.text("origin") == "final")
    m.stage = MeasurementStage::Final;
  m.status = parseStatusName(row.text("status"));
  m.samples = parseSamples(row.text("samples"));
  m.median = row.real("median");
  m.mad = row.real("mad");
  m.maxError = row.real("max_error");
  m.relativeL2 = row.real("relative_l2");
  m.workspaceBytes = row.integer("workspace");
  m.rounds = row.integer("rounds");
  m.detail = row.text("detail");
  m.isDropped = m.status == MeasurementStatus::Ok &&
                llvm::StringRef(m.detail).starts_with(kDropped);
  return m;
}

/// Keeps the last measurement of each candidate and stage, and the latest
/// stage.
static void addMeasurement(Measurement m, std::vector<Measurement> &list) {
  if (!isPossible(m))
    return;
  auto known =
      llvm::find_if(list, [&](const Measurement &r) { return r.key == m.key; });
  if (known == list.end())
    list.push_back(std::move(m));
  else if (replaces(m, *known))
    *known = std::move(m);
}

/// Selects the rows that this journal serves: those of the system store are
/// bound only to the ids of solvers.
static std::string selectServed(const std::string &what, bool isShipped) {
  return what + (isShipped ? " AND " + std::string(kOnThisTarget)
                           : " AND " + std::string(kOfThisBuild) + " AND " +
                                 kOfItsSolver);
}

std::vector<std::string> Journal::getMeasuredProblems() const {
  std::vector<std::string> problems;
  read([&](const StoreFile &file) {
    // This lists names only; the readers of a problem's rows check them.
    std::string sql =
        selectServed("SELECT DISTINCT problem FROM measurement WHERE "
                     "status = 'ok'",
                     isShipped) +
        " ORDER BY problem";
    SqlStatement rows(file.database(), sql.c_str());
    bindContext(rows, context);
    while (rows.next())
      problems.push_back(rows.text("problem"));
    return !rows.failed();
  });
  return problems;
}

std::vector<Measurement>
Journal::getMeasurements(llvm::StringRef problem,
                         llvm::ArrayRef<std::string> hiddenRuns) const {
  std::vector<Measurement> result;
  read([&](const StoreFile &file) {
    std::string sql = selectServed("SELECT * FROM sound_measurement WHERE "
                                   "problem = ? AND status <> 'started'",
                                   isShipped) +
                      " ORDER BY id";
    SqlStatement rows(file.database(), sql.c_str());
    bindContext(rows.bind(problem), context);
    while (rows.next()) {
      Measurement m = readMeasurement(rows);
      // A damaged index leads to rows of other problems. A kernel that is not
      // right is told of, whoever has found that.
      bool isHidden =
          m.mayBeRight() && llvm::is_contained(hiddenRuns, rows.text("run"));
      if (m.key.problem != problem || isHidden)
        continue;
      m.isEarlier = rows.integer("id") <= lastEarlierRow;
      m.isSystem = isShipped;
      m.timeSource = context.getTimeSource();
      addMeasurement(std::move(m), result);
    }
    return !rows.failed();
  });
  return result;
}

std::optional<Measurement> Journal::getBest(llvm::StringRef problem) const {
  std::optional<Measurement> best;
  for (Measurement &m : getMeasurements(problem)) {
    if (m.status != MeasurementStatus::Ok)
      continue;
    if (!best || wins(m, *best))
      best = std::move(m);
  }
  return best;
}

int64_t Journal::countInterrupted(const CandidateKey &key,
                                  MeasurementStage stage) const {
  int64_t count = 0;
  read([&](const StoreFile &file) {
    std::string sql =
        "SELECT status, run, time < strftime('%Y-%m-%dT%H:%M:%SZ', 'now', ?) "
        "AS isOld FROM sound_measurement WHERE problem = ? AND solver = ? AND "
        "config = ? AND origin = ? AND " +
        std::string(kOfThisBuild) + " AND " + kOfItsSolver + " ORDER BY id";
    SqlStatement rows(file.database(), sql.c_str());
    rows.bind("-" + std::to_string(policy::kLongestMeasurementHours) +
              " hours");
    rows.bind(key.problem).bind(key.solver).bind(key.config);
    bindContext(rows.bind(getStageName(stage)), context);
    while (rows.next()) {
      if (rows.text("status") != "started")
        count = 0;
      else if (hasProcessAbandoned(rows.text("run"), rows.integer("isOld")))
        ++count;
    }
    return !rows.failed();
  });
  return count;
}

//===----------------------------------------------------------------------===//
// Measurements of whole models
//===----------------------------------------------------------------------===//

/// The values by column.
static std::vector<std::pair<const char *, llvm::StringRef>>
listParts(const PipelineKey &key) {
  return {{"model", key.modelSha256},  {"inputs", key.inputShapes},
          {"dtype", key.dtype},        {"layout", key.layout},
          {"fusion", key.fusion},      {"calibration", key.calibration},
          {"passes", key.passes},      {"ranges", key.ranges},
          {"solutions", key.solutions}};
}

/// Times that cannot be read (somebody edited the file) count as none.
static std::map<std::string, double> parseTimes(const std::string &text) {
  auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::map<std::string, double> times;
  if (json.is_object())
    for (const auto &[problem, time] : json.items())
      if (time.is_number() && isPossibleTime(time.get<double>()))
        times[problem] = time.get<double>();
  return times;
}

Status Journal::recordPipeline(const PipelineMeasurement &m) {
  return write([&](const StoreFile &file) {
    SqlRow row;
    for (const auto &[column, value] : listParts(m.key))
      row.set(column, value);
    setContext(row, context);
    row.set("status", getStatusName(m.status)).set("accuracy", m.accuracy);
    row.set("samples", printSamples(m.samples)).set("rounds", m.rounds);
    row.set("layers", nlohmann::json(m.problemsMs).dump());
    row.set("detail", m.detail).set("run", run);
    if (m.isTimed)
      row.set("median", m.median).set("mad", m.mad);
    return row.insertInto(file.database(), "pipeline");
  });
}

static PipelineMeasurement readPipeline(const SqlStatement &row,
                                        const PipelineKey &key) {
  PipelineMeasurement m;
  m.key = key;
  m.status = parseStatusName(row.text("status"));
  m.accuracy = row.real("accuracy");
  m.samples = parseSamples(row.text("samples"));
  m.rounds = row.integer("rounds");
  m.detail = row.text("detail");
  m.problemsMs = parseTimes(row.text("layers"));
  // NULL reads as a NaN.
  double median = row.real("median");
  m.isTimed = m.status != MeasurementStatus::Ok || !std::isnan(median);
  if (m.isTimed) {
    m.median = median;
    m.mad = row.real("mad");
  }
  return m;
}

std::optional<PipelineMeasurement>
Journal::getPipeline(const PipelineKey &key) const {
  std::optional<PipelineMeasurement> result;
  read([&](const StoreFile &file) {
    std::string sql = "SELECT * FROM sound_pipeline WHERE ";
    for (const auto &[column, value] : listParts(key))
      sql += std::string(column) + " = ? AND ";
    sql += std::string(kOfThisBuild) + " ORDER BY id DESC LIMIT 1";
    SqlStatement rows(file.database(), sql.c_str());
    for (const auto &[column, value] : listParts(key))
      rows.bind(value);
    bindContext(rows, context);
    if (rows.next())
      result = readPipeline(rows, key);
    return !rows.failed();
  });
  // If somebody edited the file, the model is measured again.
  if (result && result->status == MeasurementStatus::Ok &&
      ((result->isTimed && !isPossibleTime(result->median)) ||
       !(result->accuracy >= 0)))
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

std::optional<std::string> Journal::describeImpossible() const {
  // The check takes too long on a large file.
  int64_t unsound =
      store->isLarge() ? 0 : countUnsoundRows(store->database()).value_or(0);
  if (unsound > 0)
    return "journal " + getPath() + ": " + std::to_string(unsound) +
           " records do not fit their checksum and are ignored";
  SqlStatement rows(store->database(),
                    "SELECT count(*) FROM measurement WHERE status = 'ok' AND "
                    "(median IS NULL OR NOT (median > 0 AND median < 9e999))");
  if (!rows.next() || rows.integer(0) == 0)
    return std::nullopt;
  return "journal " + getPath() + ": " + std::to_string(rows.integer(0)) +
         " records have impossible times and are ignored";
}

std::optional<std::string> Journal::describeStale() const {
  if (isShipped)
    return std::nullopt;
  std::string sql = "SELECT count(*) FROM measurement WHERE target = :target "
                    "AND status <> 'started' AND NOT (tarpon = :tarpon AND "
                    "llvm = :llvm AND " +
                    std::string(kOfItsSolver) + ")";
  SqlStatement rows(store->database(), sql.c_str());
  bindContext(rows, context);
  if (!rows.next() || rows.integer(0) == 0)
    return std::nullopt;
  return "journal " + getPath() + ": " + std::to_string(rows.integer(0)) +
         " records of other tarpon or LLVM versions are ignored";
}
