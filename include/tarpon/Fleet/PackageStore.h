//===- PackageStore.h - The packages of builders ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packages of candidates by their SHA-256, in the database or in a folder that
// all machines share. A package is code: it is handed out only if the digest of
// its bytes is one that a builder has recorded for that very job.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_PACKAGESTORE_H
#define TARPON_FLEET_PACKAGESTORE_H

#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Job.h"

#include <string>

namespace tarpon::fleet {

class PackageStore {
public:
  /// `folder` is the fleet's setting "packages"; "" for the database, which
  /// must outlive the store.
  PackageStore(Database &database, std::string folder)
      : database(database), folder(std::move(folder)) {}

  /// Reads a file and, where there is a shared folder, copies it there. Returns
  /// the digest, with which `record` is called next.
  runtime::Result<std::string> stage(const Lease &lease,
                                     const std::string &path);

  /// Records the staged package of a job; call it within the transaction that
  /// completes the job.
  runtime::Status record(const Lease &lease, const std::string &digest);

  /// Drops the bytes of the lease's package, which was measured. Its row stays.
  runtime::Status drop(const Lease &lease);

  /// Writes the package of a job to `path`. An error if it is missing, or is
  /// not what a builder recorded.
  runtime::Status fetch(const Lease &lease, const std::string &path);

private:
  std::string getPath(const Lease &lease, const std::string &digest) const;
  runtime::Result<std::string> readParts(const Lease &lease);

  Database &database;
  std::string folder;
  /// The bytes that were staged, for `record`.
  std::string staged;
};

/// Removes from the shared folder, if there is one, the files of jobs that are
/// no more, have another package by now, have failed or were aborted. Those of
/// the last hour stay, since their builders may be about to record them.
/// Without a folder, removes the parts of jobs that have failed or were
/// aborted. Returns the number of files or parts.
runtime::Result<int64_t> sweepPackages(Database &database);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_PACKAGESTORE_H
