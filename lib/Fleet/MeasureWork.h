//===- MeasureWork.h - Measures what builders have compiled -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_MEASUREWORK_H
#define TARPON_LIB_FLEET_MEASUREWORK_H

#include "Machine.h"
#include "PhaseWork.h"

#include "tarpon/Autotune/Bundle/BundleEvaluator.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Fleet/PackageStore.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace tarpon::fleet {

/// Has the device to itself while it measures; compiles nothing.
class MeasureWork final : public PhaseWork {
public:
  /// The database must outlive the work. An error says why this machine cannot
  /// measure for the session.
  static runtime::Result<std::unique_ptr<PhaseWork>>
  create(Database &database, Session session, const std::string &packages,
         const std::string &evaluatorProgram);

  PhaseResult run(const Lease &lease, std::string &log,
                  const std::function<bool()> &isLost) override;

private:
  MeasureWork(Database &database, const Session &session,
              const std::string &packages, const std::string &evaluatorProgram,
              const std::string &lockName);
  PhaseResult takeDevice(const std::function<bool()> &isLost);
  runtime::Result<PhaseResult> judge(const Lease &lease,
                                     const std::vector<Measurement> &measured);

  Database &database;
  Session session;
  PackageStore packages;
  DeviceLock lock;
  /// The evaluator's remarks, for the log of the job.
  std::string remarks;
  llvm::raw_string_ostream stream;
  Progress progress;
  BundleEvaluator evaluator;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_MEASUREWORK_H
