//===- BuildWork.h - Compiles the rounds of jobs ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_BUILDWORK_H
#define TARPON_LIB_FLEET_BUILDWORK_H

#include "PhaseWork.h"

#include "tarpon/Autotune/Bundle/BundleBuilder.h"
#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Fleet/Measurements.h"
#include "tarpon/Fleet/PackageStore.h"

#include <memory>
#include <vector>

namespace tarpon::fleet {

class BuildWork final : public PhaseWork {
public:
  /// The database must outlive the work. An error says why this machine cannot
  /// build for the session.
  static runtime::Result<std::unique_ptr<PhaseWork>>
  create(Database &database, const Session &session,
         const std::string &packages);

  PhaseResult run(const Lease &lease, std::string &log,
                  const std::function<bool()> &isLost) override;

private:
  BuildWork(Database &database, const Session &session, SessionTarget target,
            const std::string &packages);
  void beginHistory();
  runtime::Status readHistory();
  runtime::Result<std::vector<Measurement>> refresh(const Lease &lease);
  PhaseResult finish(const Lease &lease, const std::vector<Measurement> &known);
  PhaseResult handOver(const Lease &lease, const CandidateBundle &bundle,
                       const std::vector<Measurement> &known);

  Database &database;
  Session session;
  SessionTarget target;
  PackageStore packages;
  /// The job's own measurements, and those of other problems up to the last
  /// rows, in memory.
  std::unique_ptr<Journal> journal, system;
  LastRows lastRows;
  int64_t rowsHeld = 0;
  Deadline nextLook = Deadline::after(0);
  std::unique_ptr<LearnedRanker> ranker;
  std::unique_ptr<BundleBuilder> builder;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_BUILDWORK_H
