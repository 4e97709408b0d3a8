//===- Journal.cpp - Everything that was ever measured --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/Journal.h"

#include "CodeDigest.h"
#include "Digest.h"
#include "ProcessId.h"
#include "RowChecksum.h"
#include "Sqlite.h"
#include "StoreFile.h"
#include "tarpon/Autotune/Search/Policy.h"

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
  llvm::StringRef code = llvm::StringRef(TARPON_CODE_DIGEST).take_front(12);
  return {target.name() + "/" + features.hex().substr(0, 8), target.threads,
          (getTarponVersion() + "+" + code).str(), LLVM_VERSION_STRING};
}

/// In the names of targets whose records are a model's, before its own.
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

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(const std::string &path,
                                               JournalContext context) {
  return take(StoreFile::open(path, StoreFile::Mode::Replace),
              std::move(context));
}

Result<std::unique_ptr<Journal>> Journal::openReadOnly(const std::string &path,
                                                       JournalContext context) {
  Result<std::unique_ptr<Journal>> journal = take(
      StoreFile::open(path, StoreFile::Mode::Immutable), std::move(context));
  if (journal)
    (*journal)->isReadOnly = true;
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
  // What is asked of this object afterwards is answered: nothing is known.
  if (!opened)
    opened = StoreFile::open(":memory:", StoreFile::Mode::Create);
  assert(opened && "an empty database in memory cannot be damaged");
  store = std::move(*opened);
  lastEarlierRow = getLastRow();
  return status;
}

void Journal::read(
    llvm::function_ref<bool(const StoreFile &store)> query) const {
  // What cannot be replaced is read as far as it can be. That a new one cannot
  // be made shows when something is written.
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

/// What the detail of a candidate begins with that was dropped early.
static constexpr llvm::StringLiteral kDropped = "dropped";

/// No kernel takes no time, or less.
static bool isTime(double value) { return std::isfinite(value) && value > 0; }

Status Journal::recordStarted(const CandidateKey &key, MeasurementStage stage) {
  return write([&](const StoreFile &file) {
    SqlStatement insert(
        file.database(),
        "INSERT INTO measurement (problem, solver, config, target, "
        "threads, tarpon, llvm, origin, status, run) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'started', ?)");
    insert.bind(key.problem).bind(key.solver).bind(key.config);
    insert.bind(context.target).bind(context.threads);
    insert.bind(context.tarpon).bind(context.llvm);
    insert.bind(getStageName(stage)).bind(run);
    return insert.run();
  });
}

/// A copy of a record may have lost its samples, but not what it says.
static std::string describe(const Measurement &m) {
  if (!m.isDropped || !m.detail.empty())
    return m.detail;
  return (kDropped + " after " + llvm::Twine(m.samples.size()) + " samples")
      .str();
}

Status Journal::record(const Measurement &m) {
  return write([&](const StoreFile &file) {
    SqlStatement insert(
        file.database(),
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
    insert.bind(m.rounds).bind(describe(m)).bind(run);
    return insert.run();
  });
}

/// The columns are those of getMeasurements.
static Measurement readMeasurement(const SqlStatement &rows,
                                   llvm::StringRef problem) {
  Measurement m;
  m.key = {problem.str(), rows.text(0), rows.text(1)};
  if (rows.text(2) == "final")
    m.stage = MeasurementStage::Final;
  m.status = parseStatusName(rows.text(3));
  m.samples = parseSamples(rows.text(4));
  m.median = rows.real(5);
  m.mad = rows.real(6);
  m.maxError = rows.real(7);
  m.relativeL2 = rows.real(8);
  m.workspaceBytes = rows.integer(9);
  m.rounds = rows.integer(10);
  m.detail = rows.text(11);
  m.isDropped = m.status == MeasurementStatus::Ok &&
                llvm::StringRef(m.detail).starts_with(kDropped);
  return m;
}

/// Keeps the last one of each candidate and stage, and the latest stage.
static void addMeasurement(Measurement m, std::vector<Measurement> &list) {
  if (m.status == MeasurementStatus::Ok && !isTime(m.median))
    return;
  auto known =
      llvm::find_if(list, [&](const Measurement &r) { return r.key == m.key; });
  if (known == list.end())
    list.push_back(std::move(m));
  else if (m.stage >= known->stage || !m.mayBeRight())
    *known = std::move(m);
}

std::vector<std::string> Journal::getMeasuredProblems() const {
  std::vector<std::string> problems;
  read([&](const StoreFile &file) {
    // Only names: whoever reads the rows of one checks them.
    SqlStatement rows(file.database(),
                      "SELECT DISTINCT problem FROM measurement WHERE "
                      "target = ? AND threads = ? AND (? OR (tarpon = ? AND "
                      "llvm = ?)) AND status = 'ok' ORDER BY problem");
    rows.bind(context.target).bind(context.threads);
    rows.bind(int64_t(isReadOnly)).bind(context.tarpon).bind(context.llvm);
    while (rows.next())
      problems.push_back(rows.text(0));
    return !rows.failed();
  });
  return problems;
}

std::vector<Measurement>
Journal::getMeasurements(llvm::StringRef problem) const {
  std::vector<Measurement> result;
  read([&](const StoreFile &file) {
    SqlStatement rows(
        file.database(),
        "SELECT solver, config, origin, status, samples, median, mad, "
        "max_error, relative_l2, workspace, rounds, detail, id FROM "
        "sound_measurement WHERE problem = ? AND target = ? AND threads = ? "
        "AND (? OR (tarpon = ? AND llvm = ?)) AND status <> 'started' ORDER BY "
        "id");
    rows.bind(problem).bind(context.target).bind(context.threads);
    rows.bind(int64_t(isReadOnly)).bind(context.tarpon).bind(context.llvm);
    while (rows.next()) {
      Measurement m = readMeasurement(rows, problem);
      m.isEarlier = rows.integer(12) <= lastEarlierRow;
      m.isSystem = isReadOnly;
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
    if (!best || m.stage > best->stage ||
        (m.stage == best->stage && m.median < best->median))
      best = std::move(m);
  }
  return best;
}

int64_t Journal::countInterrupted(const CandidateKey &key,
                                  MeasurementStage stage) const {
  int64_t count = 0;
  read([&](const StoreFile &file) {
    SqlStatement rows(
        file.database(),
        "SELECT status, run, time < strftime('%Y-%m-%dT%H:%M:%SZ',"
        "'now', ?) FROM sound_measurement WHERE problem "
        "= ? AND solver = ? AND config = ? AND target = ? AND "
        "threads = ? AND tarpon = ? AND llvm = ? AND origin = ? "
        "ORDER BY id");
    rows.bind("-" + std::to_string(policy::kLongestMeasurementHours) +
              " hours");
    rows.bind(key.problem).bind(key.solver).bind(key.config);
    rows.bind(context.target).bind(context.threads);
    rows.bind(context.tarpon).bind(context.llvm).bind(getStageName(stage));
    while (rows.next()) {
      if (rows.text(0) != "started")
        count = 0;
      else if (isProcessGone(rows.text(1)) ||
               (rows.integer(2) && !isProcessAlive(rows.text(1))))
        ++count;
    }
    return !rows.failed();
  });
  return count;
}

//===----------------------------------------------------------------------===//
// Measurements of whole models
//===----------------------------------------------------------------------===//

Status Journal::recordPipeline(const PipelineMeasurement &m) {
  return write([&](const StoreFile &file) {
    SqlStatement insert(
        file.database(),
        "INSERT INTO pipeline (model, inputs, dtype, layout, fusion, "
        "calibration, solutions, target, threads, tarpon, llvm, status, "
        "accuracy, samples, median, mad, rounds, detail, run) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(m.key.modelSha256).bind(m.key.inputShapes).bind(m.key.dtype);
    insert.bind(m.key.layout).bind(m.key.fusion).bind(m.key.calibration);
    insert.bind(m.key.solutions).bind(context.target).bind(context.threads);
    insert.bind(context.tarpon).bind(context.llvm);
    insert.bind(getStatusName(m.status)).bind(m.accuracy);
    insert.bind(printSamples(m.samples)).bind(m.median).bind(m.mad);
    insert.bind(m.rounds).bind(m.detail).bind(run);
    return insert.run();
  });
}

static PipelineMeasurement readPipeline(const SqlStatement &rows,
                                        const PipelineKey &key) {
  PipelineMeasurement m;
  m.key = key;
  m.status = parseStatusName(rows.text(0));
  m.accuracy = rows.real(1);
  m.samples = parseSamples(rows.text(2));
  m.median = rows.real(3);
  m.mad = rows.real(4);
  m.rounds = rows.integer(5);
  m.detail = rows.text(6);
  return m;
}

std::optional<PipelineMeasurement>
Journal::getPipeline(const PipelineKey &key) const {
  std::optional<PipelineMeasurement> result;
  read([&](const StoreFile &file) {
    SqlStatement rows(
        file.database(),
        "SELECT status, accuracy, samples, median, mad, rounds, detail "
        "FROM sound_pipeline "
        "WHERE model = ? AND inputs = ? AND dtype = ? AND layout = ? AND "
        "fusion = ? AND calibration = ? AND solutions = ? AND target = ? AND "
        "threads = ? AND tarpon = ? AND llvm = ? ORDER BY id DESC LIMIT 1");
    rows.bind(key.modelSha256).bind(key.inputShapes).bind(key.dtype);
    rows.bind(key.layout).bind(key.fusion).bind(key.calibration);
    rows.bind(key.solutions).bind(context.target).bind(context.threads);
    rows.bind(context.tarpon).bind(context.llvm);
    if (rows.next())
      result = readPipeline(rows, key);
    return !rows.failed();
  });
  // Somebody edited the file: it is measured again.
  if (result && result->status == MeasurementStatus::Ok &&
      (!isTime(result->median) || !(result->accuracy >= 0)))
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

std::optional<std::string> Journal::describeImpossible() const {
  // In a large file that takes too long.
  int64_t unsound =
      store->isLarge() ? 0 : countUnsoundRows(store->database()).value_or(0);
  if (unsound > 0)
    return "journal " + getPath() + ": " + std::to_string(unsound) +
           " records are not what was written and are ignored";
  SqlStatement rows(store->database(),
                    "SELECT count(*) FROM measurement WHERE status = 'ok' AND "
                    "(median IS NULL OR NOT (median > 0 AND median < 9e999))");
  if (!rows.next() || rows.integer(0) == 0)
    return std::nullopt;
  return "journal " + getPath() + ": " + std::to_string(rows.integer(0)) +
         " records have impossible times and are ignored";
}

std::optional<std::string> Journal::describeStale() const {
  if (isReadOnly)
    return std::nullopt;
  SqlStatement rows(store->database(),
                    "SELECT count(*) FROM measurement WHERE target = ? AND "
                    "status <> 'started' AND (tarpon <> ? OR llvm <> ?)");
  rows.bind(context.target).bind(context.tarpon).bind(context.llvm);
  if (!rows.next() || rows.integer(0) == 0)
    return std::nullopt;
  return "journal " + getPath() + ": " + std::to_string(rows.integer(0)) +
         " records of other tarpon or LLVM versions are ignored";
}
