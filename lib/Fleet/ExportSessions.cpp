//===- ExportSessions.cpp - The sessions that can be exported -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportSessions.h"

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/Support/FileSystem.h"

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

//===----------------------------------------------------------------------===//
// Obstacles
//===----------------------------------------------------------------------===//

/// The target of a session, whatever machine this is.
static Result<std::shared_ptr<const Target>>
describeTarget(const Session &session) {
  const JournalContext &context = session.context;
  if (Result<TargetInfo> cpu = getNamedCpu(context.target, session.threads))
    return makeHostTarget(*cpu);
  return findTarget(llvm::StringRef(context.target).split('/').first);
}

static std::string findStoreObstacle(const Session &session) {
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

static std::string findMIOpenObstacle(const Session &session) {
  llvm::StringRef target =
      llvm::StringRef(session.context.target).split('/').first;
  if (miopen::findFileName(miopen::Format::FindText, target))
    return "";
  return "label '" + session.label + "' for " + session.target +
         ": MIOpen has AMD's GPUs only";
}

static std::string findKernelObstacle(const Session &session) {
  Result<SessionTarget> target = openTarget(session);
  return target ? "" : target.message();
}

const ExportForm tarpon::fleet::kStoreForm = {"a system store",
                                              findStoreObstacle};
const ExportForm tarpon::fleet::kMIOpenForm = {"MIOpen", findMIOpenObstacle};
const ExportForm tarpon::fleet::kKernelForm = {"a kernel cache",
                                               findKernelObstacle};

//===----------------------------------------------------------------------===//
// Selecting
//===----------------------------------------------------------------------===//

Result<std::vector<Session>>
tarpon::fleet::selectSessions(Database &database, const ResultsName &name,
                              const ExportForm &form,
                              std::vector<std::string> &omissions) {
  Result<std::vector<Session>> sessions = findSessions(database, name);
  if (!sessions)
    return sessions.error();
  std::vector<Session> selected;
  std::string first;
  for (Session &session : *sessions) {
    std::string obstacle = form.findObstacle(session);
    if (obstacle.empty()) {
      selected.push_back(std::move(session));
      continue;
    }
    if (first.empty())
      first = ": " + obstacle;
    omissions.push_back(std::move(obstacle));
  }
  if (selected.empty())
    return Error{name.str() + " has no results for " + form.name + first};
  return selected;
}

Status tarpon::fleet::checkAbsent(const std::string &path) {
  if (llvm::sys::fs::exists(path))
    return Error{path + " is there already"};
  return success();
}

Status tarpon::fleet::checkExport(Database &database, const ResultsName &name,
                                  const ExportRequest &request) {
  for (const std::string &path : {request.journal, request.store})
    if (!path.empty())
      if (Status status = checkAbsent(path); !status)
        return status;
  const std::pair<const std::string &, const ExportForm &> forms[] = {
      {request.store, kStoreForm},
      {request.miopen, kMIOpenForm},
      {request.kernels, kKernelForm}};
  for (const auto &[output, form] : forms) {
    std::vector<std::string> omissions;
    if (output.empty())
      continue;
    if (auto sessions = selectSessions(database, name, form, omissions);
        !sessions)
      return sessions.error();
  }
  return success();
}
