//===- ImportedRecords.h - Measurements imported from MIOpen ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records of MIOpen's databases (see MIOpenFile.h) in tables of their own
// beside a journal: a list of what to tune, and something to compare with. They
// were measured on other hardware by other solvers, and so nothing that looks
// for a solution ever reads them.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_IMPORTEDRECORDS_H
#define TARPON_AUTOTUNE_STORE_IMPORTEDRECORDS_H

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <memory>

namespace tarpon {

class StoreFile;

/// One imported file.
struct ImportedSource {
  miopen::FileName file;
  int64_t problems = 0, solutions = 0;
  /// The number of problems that Tarpon can pose.
  int64_t posed = 0;
  /// The time of the last import: "2026-11-20T16:00:00Z".
  std::string time;
};

/// The result of an import.
struct ImportSummary {
  int64_t problems = 0, solutions = 0;
  /// The number of problems that Tarpon can pose, and for the others the
  /// reasons and how often each was met.
  int64_t posed = 0;
  std::map<std::string, int64_t> reasons;
};

/// An imported problem with MIOpen's records of it.
struct ImportedProblem {
  miopen::Record record;
  /// The key of Tarpon's problem; "" if there is none.
  std::string problem;
};

class ImportedRecords {
public:
  /// Opens the store at `path`, and makes it if there is none.
  static runtime::Result<std::unique_ptr<ImportedRecords>>
  openForWriting(const std::string &path);
  /// Opens an existing store.
  static runtime::Result<std::unique_ptr<ImportedRecords>>
  openForReading(const std::string &path);
  ~ImportedRecords();

  /// Adds the records of a file, all or none of them. A problem that an earlier
  /// import of a file of that name brought is replaced as a whole.
  runtime::Result<ImportSummary> add(const miopen::Database &database);

  /// The imported files, sorted by name.
  runtime::Result<std::vector<ImportedSource>> getSources() const;

  /// The records of one file in the order of their import; an error if there
  /// are none of that name.
  runtime::Result<miopen::Database> get(const std::string &name) const;

  /// Visits the problems of a file, or of all files if `name` is empty.
  runtime::Status
  visit(const std::string &name,
        llvm::function_ref<void(const ImportedSource &, ImportedProblem)>
            visitor) const;

  /// Drops the records of a file and returns the number of its problems.
  runtime::Result<int64_t> remove(const std::string &name);

private:
  explicit ImportedRecords(std::unique_ptr<StoreFile> store);
  runtime::Status
  visitSource(const ImportedSource &source,
              llvm::function_ref<void(const ImportedSource &, ImportedProblem)>
                  visitor) const;
  runtime::Error makeUnknownError(const std::string &name) const;

  std::unique_ptr<StoreFile> store;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_IMPORTEDRECORDS_H
