//===- StoreExport.cpp - Results as stores --------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Fleet/Export.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

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
                          std::set<std::string> &problems, int64_t &entries) {
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
      });
}

static Result<ExportedFile> copySessions(Database &database,
                                         const ResultsName &name,
                                         const std::vector<Session> &sessions,
                                         const std::string &path) {
  ExportedFile file;
  file.path = path;
  std::set<std::string> problems;
  for (const Session &session : sessions)
    if (Status status =
            copySession(database, name, session, path, problems, file.entries);
        !status)
      return status.error();
  file.problems = static_cast<int64_t>(problems.size());
  return file;
}

static Status checkAbsent(const std::string &path) {
  if (llvm::sys::fs::exists(path))
    return Error{path + " is there already"};
  return success();
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
  Result<ExportedFile> file = copySessions(database, name, *sessions, partial);
  if (!file)
    return file.error();
  if (file->entries == 0)
    return Error{name.str() + " has no results"};
  if (std::error_code error = llvm::sys::fs::rename(partial, output))
    return Error{"cannot write " + output + ": " + error.message()};
  file->path = output;
  return ExportSummary{{*file}, {}};
}

//===----------------------------------------------------------------------===//
// System stores
//===----------------------------------------------------------------------===//

/// The target of a session, whatever machine this is.
static Result<std::shared_ptr<const Target>>
describeTarget(const Session &session) {
  const JournalContext &context = session.context;
  if (Result<TargetInfo> cpu = getNamedCpu(context.target, session.threads))
    return makeHostTarget(*cpu);
  return findTarget(llvm::StringRef(context.target).split('/').first);
}

/// Returns the reason why a session's results are not shipped; "" if they are.
static std::string findOmission(const Session &session) {
  std::string who = "label '" + session.label + "' for " + session.target;
  if (session.context.getTimeSource() == TimeSource::Modelled)
    return who + ": its times come from a model, which any machine can ask";
  Result<std::shared_ptr<const Target>> target = describeTarget(session);
  if (!target)
    return who + ": " + target.message();
  std::string version = getKernelVersion(**target);
  if (version != session.kernelVersion)
    return who + ": it has kernels of version " + session.kernelVersion +
           ", and this build has " + version;
  return "";
}

Result<ExportSummary> tarpon::fleet::exportStore(Database &database,
                                                 const ResultsName &name,
                                                 const std::string &output) {
  if (Status status = checkAbsent(output); !status)
    return status.error();
  Result<std::vector<Session>> sessions = findSessions(database, name);
  if (!sessions)
    return sessions.error();
  ExportSummary summary;
  std::vector<Session> shipped;
  for (Session &session : *sessions) {
    std::string omission = findOmission(session);
    if (omission.empty())
      shipped.push_back(std::move(session));
    else
      summary.omissions.push_back(std::move(omission));
  }
  std::string journal = output + ".journal";
  if (Status status = checkAbsent(journal); !status)
    return status.error();
  llvm::scope_exit cleanUp([&] { removeStore(journal); });
  Result<ExportedFile> copied = copySessions(database, name, shipped, journal);
  if (!copied)
    return copied.error();
  if (copied->entries == 0)
    return Error{
        name.str() + " has no results for a system store" +
        (summary.omissions.empty() ? "" : ": " + summary.omissions[0])};
  Result<PublishSummary> published = publishStore(journal, output);
  if (!published)
    return published.error();
  summary.files = {{output, published->problems, published->measurements}};
  return summary;
}
