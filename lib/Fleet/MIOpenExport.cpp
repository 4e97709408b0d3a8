//===- MIOpenExport.cpp - Results as MIOpen's files -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportSessions.h"

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"
#include "tarpon/Autotune/Store/MeasurementOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <map>

using namespace tarpon;
using namespace tarpon::fleet;
using miopen::Algorithm;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

namespace {
struct Family {
  llvm::StringLiteral part;
  Algorithm algorithm;
};
} // namespace

/// The parts of our solvers' ids that name an algorithm; the first one counts.
static constexpr Family kFamilies[] = {{"winograd", Algorithm::Winograd},
                                       {"fft", Algorithm::Fft},
                                       {"igemm", Algorithm::ImplicitGemm},
                                       {"gemm", Algorithm::Gemm}};

static Algorithm findAlgorithm(llvm::StringRef solver) {
  for (const Family &family : kFamilies)
    if (solver.contains(family.part))
      return family.algorithm;
  return Algorithm::Direct;
}

static miopen::Solution makeFindSolution(const Measurement &m,
                                         ConvDirection direction) {
  miopen::Solution solution;
  solution.solver = m.key.solver;
  solution.algorithm =
      miopen::getAlgorithmName(findAlgorithm(m.key.solver), direction);
  // MIOpen's own files have negative times for estimates.
  solution.milliseconds =
      m.timeSource == TimeSource::Modelled ? -m.median : m.median;
  solution.workspaceBytes = m.workspaceBytes;
  return solution;
}

/// A text DB has no room for '='.
static miopen::Solution makePerfSolution(const Measurement &m) {
  miopen::Solution solution;
  solution.solver = m.key.solver;
  solution.config = m.key.config;
  std::replace(solution.config.begin(), solution.config.end(), '=', ':');
  return solution;
}

/// The best candidate of each solver, the fastest first.
static std::vector<const Measurement *>
rankSolvers(const ProblemResults &results) {
  std::map<std::string, const Measurement *> best;
  for (const RecordedMeasurement &candidate : results.candidates) {
    const Measurement &m = candidate.measurement;
    if (m.status != MeasurementStatus::Ok)
      continue;
    auto [known, isNew] = best.try_emplace(m.key.solver, &m);
    if (!isNew && wins(m, *known->second))
      known->second = &m;
  }
  std::vector<const Measurement *> ranked;
  for (const auto &[solver, m] : best)
    ranked.push_back(m);
  llvm::stable_sort(ranked, [](const Measurement *a, const Measurement *b) {
    return a->median < b->median;
  });
  return ranked;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

/// The two files of a target. Records are sorted by key, like MIOpen's own.
struct TargetFiles {
  std::string findName, perfName;
  std::map<std::string, std::vector<miopen::Solution>> find, perf;
  /// The numbers of problems that have no key in either file, and of those that
  /// have only one in the find DB.
  int64_t withoutKey = 0, withoutPerfKey = 0;

  void add(const ProblemResults &results);
};

} // namespace

void TargetFiles::add(const ProblemResults &results) {
  auto problem = parseProblem(results.key);
  std::optional<std::string> findKey;
  if (mlir::succeeded(problem))
    findKey = miopen::findKey(miopen::Format::FindText, *problem);
  std::vector<const Measurement *> ranked = rankSolvers(results);
  if (ranked.empty())
    return;
  if (!findKey) {
    ++withoutKey;
    return;
  }
  constexpr size_t kMostSolvers = 4;
  ConvDirection direction = miopen::parseFindKey(*findKey)->direction;
  std::vector<miopen::Solution> &solutions = find[*findKey];
  for (const Measurement *m : llvm::ArrayRef(ranked).take_front(kMostSolvers))
    solutions.push_back(makeFindSolution(*m, direction));

  llvm::erase_if(ranked,
                 [](const Measurement *m) { return m->key.config.empty(); });
  if (ranked.empty())
    return;
  std::optional<std::string> perfKey =
      miopen::findKey(miopen::Format::PerfText, *problem);
  if (!perfKey) {
    ++withoutPerfKey;
    return;
  }
  for (const Measurement *m : ranked)
    perf[*perfKey].push_back(makePerfSolution(*m));
}

static Status
write(const std::string &folder, const std::string &name,
      const std::map<std::string, std::vector<miopen::Solution>> &records,
      ExportSummary &summary) {
  if (records.empty())
    return success();
  Result<miopen::FileName> file = miopen::parseFileName(name);
  if (!file)
    return file.error();
  miopen::Database database;
  database.file = std::move(*file);
  ExportedFile written = {folder + "/" + name,
                          static_cast<int64_t>(records.size())};
  for (const auto &[key, solutions] : records) {
    database.records.push_back({key, solutions});
    written.entries += static_cast<int64_t>(solutions.size());
  }
  if (Status status = miopen::writeDatabase(written.path, database); !status)
    return status;
  summary.files.push_back(std::move(written));
  return success();
}

static std::string countProblems(int64_t count) {
  return std::to_string(count) + (count == 1 ? " problem" : " problems");
}

static Status write(const std::string &folder, const TargetFiles &files,
                    ExportSummary &summary) {
  if (Status status = write(folder, files.findName, files.find, summary);
      !status)
    return status;
  if (Status status = write(folder, files.perfName, files.perf, summary);
      !status)
    return status;
  if (files.withoutKey > 0)
    summary.omissions.push_back(files.findName + ": " +
                                countProblems(files.withoutKey) +
                                " that no key of MIOpen describes");
  if (files.withoutPerfKey > 0)
    summary.omissions.push_back(
        files.perfName + ": " + countProblems(files.withoutPerfKey) +
        " that no key of a perf DB describes: it has one layout, and not the "
        "image of a backward pass with strides");
  return success();
}

static Result<std::vector<TargetFiles>>
collect(Database &database, const ResultsName &name, ExportSummary &summary) {
  Result<std::vector<Session>> sessions =
      selectSessions(database, name, kMIOpenForm, summary.omissions);
  if (!sessions)
    return sessions.error();
  std::map<std::string, TargetFiles> targets;
  for (const Session &session : *sessions) {
    llvm::StringRef target =
        llvm::StringRef(session.context.target).split('/').first;
    auto findName = miopen::findFileName(miopen::Format::FindText, target);
    TargetFiles &files = targets[*findName];
    files.findName = *findName;
    files.perfName = *miopen::findFileName(miopen::Format::PerfText, target);
    Status status = visitResults(database, name, session, /*withSamples=*/false,
                                 [&](const ProblemResults &results) {
                                   files.add(results);
                                   return success();
                                 });
    if (!status)
      return status.error();
  }
  std::vector<TargetFiles> files;
  for (auto &[fileName, target] : targets)
    files.push_back(std::move(target));
  return files;
}

Result<ExportSummary> tarpon::fleet::exportMIOpen(Database &database,
                                                  const ResultsName &name,
                                                  const std::string &folder) {
  ExportSummary summary;
  Result<std::vector<TargetFiles>> targets = collect(database, name, summary);
  if (!targets)
    return targets.error();
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return Error{"cannot create folder " + folder + ": " + error.message()};
  for (const TargetFiles &files : *targets)
    if (Status status = write(folder, files, summary); !status)
      return status.error();
  if (summary.files.empty())
    return Error{name.str() + " has no results that MIOpen's keys describe"};
  return summary;
}
