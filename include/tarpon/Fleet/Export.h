//===- Export.h - Results as files ------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of a label or a release, as Tarpon and MIOpen read them:
//
//   journal    every candidate's last measurement with its samples, of any
//              build: what `train`, `db merge` and `db diff` read
//   store      a system store: what `db publish` makes of that journal
//   MIOpen     a find DB and a perf DB for each of AMD's GPUs, with the
//              convolutions that MIOpen's keys describe
//   kernels    a kernel cache with the kernels of the best solutions
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_EXPORT_H
#define TARPON_FLEET_EXPORT_H

#include "tarpon/Fleet/Results.h"

#include <string>
#include <vector>

namespace tarpon::fleet {

/// The files and folders to write; "" for none.
struct ExportRequest {
  std::string journal, store, miopen, kernels;
};

/// An error if one of them could not be written: a file is there already, or no
/// session has such results. Nothing is written before all are known to be
/// possible.
runtime::Status checkExport(Database &database, const ResultsName &name,
                            const ExportRequest &request);

/// A file or folder that was written.
struct ExportedFile {
  std::string path;
  /// The numbers of problems and of measurements or kernels.
  int64_t problems = 0, entries = 0;
};

struct ExportSummary {
  std::vector<ExportedFile> files;
  /// A sentence for each thing that was left out.
  std::vector<std::string> omissions;
};

/// Writes a journal to `output`, which must not be there.
runtime::Result<ExportSummary> exportJournal(Database &database,
                                             const ResultsName &name,
                                             const std::string &output);

/// Writes a system store to `output`, which must not be there. Sessions of
/// other builds are left out, and so are those whose times come from a model.
/// An error if nothing is left.
runtime::Result<ExportSummary> exportStore(Database &database,
                                           const ResultsName &name,
                                           const std::string &output);

/// Writes files such as gfx942130.HIP.fdb.txt and gfx942130.db.txt into a
/// folder, in place of older ones of the same name. As in MIOpen's own, a
/// problem has at most four solvers in a find DB, the fastest first, and the
/// time of a model is negative.
runtime::Result<ExportSummary> exportMIOpen(Database &database,
                                            const ResultsName &name,
                                            const std::string &folder);

/// Compiles the kernels of the best solutions into a kernel cache, which can be
/// installed. Kernels that are there already are written again; all others
/// stay. Sessions for which this machine or this build cannot compile are left
/// out; an error if none is left.
runtime::Result<ExportSummary> exportKernelCache(Database &database,
                                                 const ResultsName &name,
                                                 const std::string &folder);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_EXPORT_H
