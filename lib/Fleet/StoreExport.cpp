//===- StoreExport.cpp - Results as stores --------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportSessions.h"

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

#include <set>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

/// Copies the last measurement of each candidate of a session.
static Status copySession(Database &database, const ResultsName &name,
                          const Session &session, const std::string &path,
                          JobScope scope, std::set<std::string> &problems,
                          int64_t &entries) {
  Result<std::unique_ptr<Journal>> journal =
      Journal::open(path, session.context);
  if (!journal)
    return journal.error();
  return visitResults(
      database, name, session, /*withSamples=*/true,
      [&](const ProblemResults &results) -> Status {
        problems.insert(results.key);
        entries += static_cast<int64_t>(results.candidates.size());
        for (const RecordedMeasurement &candidate : results.candidates)
          if (Status status = (*journal)->record(candidate.measurement);
              !status)
            return status;
        return success();
      },
      scope);
}

static Result<ExportedFile> copySessions(Database &database,
                                         const ResultsName &name,
                                         const std::vector<Session> &sessions,
                                         JobScope scope,
                                         const std::string &path) {
  ExportedFile file;
  file.path = path;
  std::set<std::string> problems;
  for (const Session &session : sessions)
    if (Status status = copySession(database, name, session, path, scope,
                                    problems, file.entries);
        !status)
      return status.error();
  file.problems = static_cast<int64_t>(problems.size());
  return file;
}

Result<ExportSummary> tarpon::fleet::exportJournal(Database &database,
                                                   const ResultsName &name,
                                                   const std::string &output) {
  if (Status status = checkAbsent(output); !status)
    return status.error();
  Result<std::vector<Session>> sessions = findSessions(database, name);
  if (!sessions)
    return sessions.error();
  std::string partial = output + ".partial";
  removeStore(partial); // of a run that was killed
  llvm::scope_exit cleanUp([&] { removeStore(partial); });
  Result<ExportedFile> file =
      copySessions(database, name, *sessions, JobScope::All, partial);
  if (!file)
    return file.error();
  if (file->entries == 0)
    return Error{name.str() + " has no results"};
  if (Status status = sealStore(partial); !status)
    return status.error();
  if (std::error_code error = llvm::sys::fs::rename(partial, output))
    return Error{"cannot write " + output + ": " + error.message()};
  file->path = output;
  return ExportSummary{{*file}, {}};
}

Result<ExportSummary> tarpon::fleet::exportStore(Database &database,
                                                 const ResultsName &name,
                                                 const std::string &output) {
  std::string journal = output + ".journal";
  for (const std::string &path : {output, journal})
    if (Status status = checkAbsent(path); !status)
      return status.error();
  ExportSummary summary;
  Result<std::vector<Session>> sessions =
      selectSessions(database, name, kStoreForm, summary.omissions);
  if (!sessions)
    return sessions.error();
  llvm::scope_exit cleanUp([&] { removeStore(journal); });
  Result<ExportedFile> copied =
      copySessions(database, name, *sessions, JobScope::Done, journal);
  if (!copied)
    return copied.error();
  if (copied->entries == 0)
    return Error{name.str() + " has no results"};
  Result<PublishSummary> published = publishStore(journal, output);
  if (!published)
    return published.error();
  summary.files = {{output, published->problems, published->measurements}};
  return summary;
}
