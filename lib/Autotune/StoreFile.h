//===- StoreFile.h - The SQLite file of a store -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file holds the journal of a target and what was imported beside it. It is
// opened here, by whoever reads or writes any of it, so that damage and foreign
// files are refused in the same words everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STOREFILE_H
#define TARPON_LIB_AUTOTUNE_STOREFILE_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;

namespace tarpon {

class StoreFile {
public:
  enum class Mode : uint8_t {
    ReadOnly,  ///< has to be there, and stays as it is
    Immutable, ///< the same of a file that nobody writes: no locks
    ReadWrite, ///< has to be there
    Create     ///< is made, with the folders above it, if it is not there
  };

  /// A damaged or foreign file is an error that names it, and is left as it is.
  static runtime::Result<std::unique_ptr<StoreFile>>
  open(const std::string &path, Mode mode);
  ~StoreFile();

  sqlite3 *database() const { return handle; }
  const std::string &getPath() const { return path; }

  /// "journal PATH is damaged: ..." or "cannot use journal PATH: ...", whatever
  /// the last call of SQLite says of itself.
  runtime::Error makeError() const;

  /// Runs statements that give no rows.
  runtime::Status execute(const std::string &sql) const;

  /// Rows that the last statement inserted, changed or deleted.
  int64_t countChanges() const;

private:
  explicit StoreFile(std::string path) : path(std::move(path)) {}
  runtime::Status configure(Mode mode);
  runtime::Error makeDamageError(llvm::StringRef what) const;

  std::string path;
  bool isImmutable = false;
  sqlite3 *handle = nullptr;
};

/// Takes back what was written since, unless it was committed.
class StoreTransaction {
public:
  explicit StoreTransaction(const StoreFile &store);
  ~StoreTransaction();
  StoreTransaction(const StoreTransaction &) = delete;
  StoreTransaction &operator=(const StoreTransaction &) = delete;

  /// Whether it was begun: another process may be writing for too long.
  const runtime::Status &begun() const { return status; }
  runtime::Status commit();

private:
  const StoreFile &store;
  runtime::Status status;
  bool isOpen;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STOREFILE_H
