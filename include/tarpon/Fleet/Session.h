//===- Session.h - A label's tuning for one target --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session is what the results of a label for one target have in common: the
// versions of Tarpon and LLVM, the target with its caches, the device and its
// driver, and the settings. A worker that differs refuses, and says in what.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_SESSION_H
#define TARPON_FLEET_SESSION_H

#include "tarpon/Autotune/Search/SearchOptions.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Fleet/Database.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Target.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::fleet {

struct SessionSettings {
  /// The ids of the solvers to be tried; all if there are none.
  std::vector<std::string> solvers;
  SearchMethodKind method = SearchMethodKind::Guided;
  /// The largest number of candidates of one problem; none for as many as the
  /// search finds worth it.
  std::optional<int64_t> iterations;
  /// The largest number of candidates of a round.
  int64_t candidates = 16;
  /// Seconds for which a worker owns a job without a sign of life.
  double leaseSeconds = 60;
  /// False if packages are to be made and not measured.
  bool measures = true;

  bool operator==(const SessionSettings &) const = default;
};

struct Session {
  int64_t id = 0;
  std::string label;
  /// The name that findTarget takes: "host", "znver4", "gfx942:cu=304".
  std::string target;
  bool usesEmulator = false;
  int64_t threads = 1;
  /// The context in which its measurements are valid.
  JournalContext context;
  /// The versions of the code generator, of LLVM and of all solvers, digested.
  std::string kernelVersion;
  /// The model of the evaluators' CPU or GPU; "" before the first one came.
  std::string device;
  SessionSettings settings;
};

/// The properties by which a session is asked for.
struct SessionRequest {
  std::string label, target;
  /// The results come from an emulated GPU: verified, with the times of a
  /// model.
  bool usesEmulator = false;
  /// 0: one.
  int64_t threads = 0;
  SessionSettings settings;
};

/// Returns the session of that label and target, and makes it if there is none.
/// An error if there is one that differs from the request or from this build.
runtime::Result<Session> openSession(Database &database,
                                     const SessionRequest &request);

/// The sessions of a label, or of all labels if it is empty. Deleted ones are
/// left out. An error if a label has none.
runtime::Result<std::vector<Session>> findSessions(Database &database,
                                                   const std::string &label);

/// The longest lease of a label's sessions, in seconds, by which its workers
/// are judged: one that serves a single target beats by that one's alone.
runtime::Result<double> getLongestLease(Database &database,
                                        const std::string &label);

/// The floating-point operations that a core of a CPU, or a GPU, is taken to do
/// in a millisecond, from which gains are guessed before anything is measured.
double getOperationsPerMillisecond(const Session &session);

/// The sessions that a release has records of, also of deleted labels.
runtime::Result<std::vector<Session>>
findReleaseSessions(Database &database, const std::string &release);

/// Deletes a label's sessions and jobs with their packages, and sweeps the
/// shared folder. What was measured stays.
runtime::Status deleteLabel(Database &database, const std::string &label);

/// A session's target with a compiler that plans for the session's caches,
/// whatever those of this machine are. An error says in what this build or this
/// machine differs from the session.
struct SessionTarget {
  std::shared_ptr<const Target> target;
  std::unique_ptr<KernelCompiler> compiler;
};
runtime::Result<SessionTarget> openTarget(const Session &session);

/// An error if this build's kernels, or LLVM, are not the session's; asks no
/// compiler.
runtime::Status checkVersions(const Session &session, const Target &target);

/// Makes `device` that of the session if it has none. An error if it has
/// another one: times of two devices are not mixed.
runtime::Status bindDevice(Database &database, Session &session,
                           const std::string &device);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_SESSION_H
