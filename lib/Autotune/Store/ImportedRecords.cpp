//===- ImportedRecords.cpp - Measurements imported from MIOpen ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/ImportedRecords.h"

#include "ImportedSchema.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

ImportedRecords::ImportedRecords(std::unique_ptr<StoreFile> store)
    : store(std::move(store)) {}

ImportedRecords::~ImportedRecords() = default;

Result<std::unique_ptr<ImportedRecords>>
ImportedRecords::openForWriting(const std::string &path) {
  Result<std::unique_ptr<StoreFile>> store =
      StoreFile::open(path, StoreFile::Mode::Create);
  if (!store)
    return store.error();
  return std::unique_ptr<ImportedRecords>(
      new ImportedRecords(std::move(*store)));
}

Result<std::unique_ptr<ImportedRecords>>
ImportedRecords::openForReading(const std::string &path) {
  Result<std::unique_ptr<StoreFile>> store =
      StoreFile::open(path, StoreFile::Mode::ReadOnly);
  if (!store)
    return store.error();
  return std::unique_ptr<ImportedRecords>(
      new ImportedRecords(std::move(*store)));
}

static bool hasTables(sqlite3 *database) {
  SqlStatement tables(database, "SELECT 1 FROM sqlite_master WHERE type = "
                                "'table' AND name = 'imported_source'");
  return tables.next();
}

//===----------------------------------------------------------------------===//
// Adding
//===----------------------------------------------------------------------===//

namespace {
/// Adds the records of one file within a transaction.
class Importer {
public:
  Importer(const StoreFile &store, const miopen::Database &database);

  Result<ImportSummary> run();

private:
  bool addSource();
  bool addRecord(const miopen::Record &record);
  std::string getProblemKey(const std::string &key);

  const StoreFile &store;
  const miopen::Database &database;
  SqlStatement known, forget, insertProblem, update, insertSolution;
  int64_t source = 0;
  /// True if there are no earlier records to be replaced.
  bool isNewSource = true;
  ImportSummary summary;
};
} // namespace

Importer::Importer(const StoreFile &store, const miopen::Database &database)
    : store(store), database(database),
      known(store.database(), "SELECT id FROM imported_problem WHERE key = ? "
                              "AND source = ?"),
      forget(store.database(),
             "DELETE FROM imported_solution WHERE problem = ?"),
      insertProblem(store.database(),
                    "INSERT INTO imported_problem (source, key, problem) "
                    "VALUES (?, ?, ?) RETURNING id"),
      update(store.database(),
             "UPDATE imported_problem SET problem = ? WHERE id = ?"),
      insertSolution(
          store.database(),
          "INSERT INTO imported_solution (problem, position, solver, "
          "algorithm, median, workspace, config) VALUES (?, ?, ?, ?, ?, ?, "
          "?)") {}

bool Importer::addSource() {
  const miopen::FileName &file = database.file;
  SqlStatement earlier(store.database(),
                       "SELECT count(*) FROM imported_source WHERE file = ?");
  if (!earlier.bind(file.name).next())
    return false;
  isNewSource = earlier.integer(0) == 0;
  SqlStatement insert(
      store.database(),
      "INSERT INTO imported_source (origin, file, format, arch, compute_units, "
      "time) VALUES ('miopen', ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', "
      "'now')) ON CONFLICT (file) DO UPDATE SET time = excluded.time "
      "RETURNING id");
  insert.bind(file.name).bind(getFormatName(file.format));
  insert.bind(file.arch).bind(file.computeUnits);
  if (!insert.next())
    return false;
  source = insert.integer(0);
  return insert.run();
}

/// Returns Tarpon's key of a problem, or "", and the reason.
std::string Importer::getProblemKey(const std::string &key) {
  std::string reason = "it is no single convolution";
  if (database.file.isConvolution) {
    Result<miopen::ConvKey> conv = miopen::parseKey(database.file.format, key);
    Result<miopen::PosedProblem> posed =
        conv ? miopen::poseProblem(*conv) : conv.error();
    if (posed) {
      ++summary.posed;
      return posed->problem.key();
    }
    reason = posed.message();
  }
  ++summary.reasons[reason];
  return "";
}

bool Importer::addRecord(const miopen::Record &record) {
  std::string problem = getProblemKey(record.key);
  int64_t id = 0;
  if (!isNewSource && known.reset().bind(record.key).bind(source).next())
    id = known.integer(0);
  if (id != 0) {
    if (!forget.reset().bind(id).run() ||
        !update.reset().bind(problem).bind(id).run())
      return false;
  } else {
    insertProblem.reset().bind(source).bind(record.key).bind(problem);
    if (!insertProblem.next())
      return false;
    id = insertProblem.integer(0);
    if (!insertProblem.run())
      return false;
  }
  for (auto [position, solution] : llvm::enumerate(record.solutions)) {
    insertSolution.reset().bind(id).bind(static_cast<int64_t>(position));
    insertSolution.bind(solution.solver).bind(solution.algorithm);
    // NaN is stored as NULL.
    insertSolution.bind(solution.milliseconds.value_or(__builtin_nan("")));
    insertSolution.bind(solution.workspaceBytes).bind(solution.config);
    if (!insertSolution.run())
      return false;
  }
  ++summary.problems;
  summary.solutions += static_cast<int64_t>(record.solutions.size());
  return true;
}

Result<ImportSummary> Importer::run() {
  if (!addSource())
    return store.makeError();
  for (const miopen::Record &record : database.records)
    if (!addRecord(record))
      return store.makeError();
  return std::move(summary);
}

Result<ImportSummary> ImportedRecords::add(const miopen::Database &database) {
  StoreTransaction transaction(*store);
  if (!transaction.begun())
    return transaction.begun().error();
  if (Status made = store->execute(kImportedSchema); !made)
    return made.error();
  Result<ImportSummary> summary = Importer(*store, database).run();
  if (!summary)
    return summary;
  if (Status committed = transaction.commit(); !committed)
    return committed.error();
  return summary;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<std::vector<ImportedSource>> ImportedRecords::getSources() const {
  std::vector<ImportedSource> sources;
  if (!hasTables(store->database()))
    return sources;
  SqlStatement rows(
      store->database(),
      "SELECT file, time, (SELECT count(*) FROM imported_problem WHERE source "
      "= s.id), (SELECT count(*) FROM imported_solution AS i JOIN "
      "imported_problem AS p ON p.id = i.problem WHERE p.source = s.id), "
      "(SELECT count(*) FROM imported_problem WHERE source = s.id AND problem "
      "<> '') FROM imported_source AS s ORDER BY file");
  while (rows.next()) {
    // All other data is in the name.
    Result<miopen::FileName> file = miopen::parseFileName(rows.text(0));
    if (!file)
      return file.error();
    sources.push_back({std::move(*file), rows.integer(2), rows.integer(3),
                       rows.integer(4), rows.text(1)});
  }
  if (rows.failed())
    return store->makeError();
  return sources;
}

Error ImportedRecords::makeUnknownError(const std::string &name) const {
  std::vector<std::string> names;
  if (Result<std::vector<ImportedSource>> sources = getSources())
    for (const ImportedSource &source : *sources)
      names.push_back("'" + source.file.name + "'");
  return {"journal " + store->getPath() + " holds no records of '" + name +
          "'" +
          (names.empty() ? ", nothing was imported"
                         : ", only of " + llvm::join(names, ", "))};
}

Status ImportedRecords::visitSource(
    const ImportedSource &source,
    llvm::function_ref<void(const ImportedSource &, ImportedProblem)> visitor)
    const {
  SqlStatement rows(
      store->database(),
      "SELECT p.id, p.key, p.problem, i.solver, i.algorithm, i.median, "
      "i.workspace, i.config FROM imported_source AS s JOIN imported_problem "
      "AS p ON p.source = s.id JOIN imported_solution AS i ON i.problem = p.id "
      "WHERE s.file = ? ORDER BY p.id, i.position");
  rows.bind(source.file.name);
  ImportedProblem problem;
  int64_t last = 0;
  while (rows.next()) {
    if (int64_t id = rows.integer(0); id != last) {
      if (last != 0)
        visitor(source, std::move(problem));
      problem = {{rows.text(1), {}}, rows.text(2)};
      last = id;
    }
    miopen::Solution solution = {rows.text(3), rows.text(4), std::nullopt,
                                 rows.integer(6), rows.text(7)};
    if (!rows.isNull(5))
      solution.milliseconds = rows.real(5);
    problem.record.solutions.push_back(std::move(solution));
  }
  if (rows.failed())
    return store->makeError();
  if (last != 0)
    visitor(source, std::move(problem));
  return runtime::success();
}

Status ImportedRecords::visit(
    const std::string &name,
    llvm::function_ref<void(const ImportedSource &, ImportedProblem)> visitor)
    const {
  Result<std::vector<ImportedSource>> sources = getSources();
  if (!sources)
    return sources.error();
  bool isKnown = name.empty();
  for (const ImportedSource &source : *sources) {
    if (!name.empty() && source.file.name != name)
      continue;
    isKnown = true;
    if (Status status = visitSource(source, visitor); !status)
      return status;
  }
  if (!isKnown)
    return makeUnknownError(name);
  return runtime::success();
}

Result<miopen::Database> ImportedRecords::get(const std::string &name) const {
  miopen::Database database;
  Status status =
      visit(name, [&](const ImportedSource &source, ImportedProblem problem) {
        database.file = source.file;
        database.records.push_back(std::move(problem.record));
      });
  if (!status)
    return status.error();
  return database;
}

//===----------------------------------------------------------------------===//
// Removing
//===----------------------------------------------------------------------===//

Result<int64_t> ImportedRecords::remove(const std::string &name) {
  if (!hasTables(store->database()))
    return makeUnknownError(name);
  StoreTransaction transaction(*store);
  if (!transaction.begun())
    return transaction.begun().error();
  SqlStatement source(store->database(),
                      "SELECT id FROM imported_source WHERE file = ?");
  if (!source.bind(name).next())
    return makeUnknownError(name);
  int64_t id = source.integer(0);
  source.run();
  auto run = [&](const char *sql) {
    SqlStatement statement(store->database(), sql);
    return statement.bind(id).run();
  };
  if (!run("DELETE FROM imported_solution WHERE problem IN (SELECT id FROM "
           "imported_problem WHERE source = ?)") ||
      !run("DELETE FROM imported_source WHERE id = ?") ||
      !run("DELETE FROM imported_problem WHERE source = ?"))
    return store->makeError();
  int64_t problems = store->countChanges();
  if (Status committed = transaction.commit(); !committed)
    return committed.error();
  return problems;
}
