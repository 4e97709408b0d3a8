//===- StoreFile.h - The SQLite file of a store -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file holds the journal of a target and the records imported beside it.
// All readers and writers open it here, so that damaged and foreign files are
// refused in the same words everywhere. A file of an older version is migrated
// (StoreMigration.h): on disk if it is opened for writing, otherwise in a copy
// in memory. A file of a newer version is refused.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_STOREFILE_H
#define TARPON_LIB_AUTOTUNE_STORE_STOREFILE_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct sqlite3;

namespace tarpon {

class StoreFile {
public:
  enum class Mode : uint8_t {
    ReadOnly,  ///< has to be there, and stays as it is
    Immutable, ///< the same of a file that nobody writes: no locks
    ReadWrite, ///< has to be there
    Create,    ///< is made, with the folders above it, if it is not there
    Replace    ///< as Create, but a damaged file is set aside
  };

  /// The extent of the check of a file before it is used.
  enum class Check : uint8_t {
    Quick,   ///< the structure of what is read, unless it is large
    Thorough ///< everything but what was imported, with the indexes
  };

  /// Opens a store. A damaged or foreign file is an error that names it, and is
  /// left as it is. With Mode::Replace, a damaged one is set aside as
  /// PATH.damaged-1, or the next free number, whole and with its log; a remark
  /// on stderr says so, and a new one is begun (StoreRecovery.cpp).
  static runtime::Result<std::unique_ptr<StoreFile>>
  open(const std::string &path, Mode mode, Check check = Check::Quick);
  ~StoreFile();

  sqlite3 *database() const { return handle; }
  const std::string &getPath() const { return path; }
  /// True if the connection is to a copy in memory, of a newer version than the
  /// file.
  bool isMigratedCopy() const { return isCopy; }

  /// Describes the failure of the last call of SQLite: "journal PATH is
  /// damaged: ..." or "cannot use journal PATH: ...".
  runtime::Error makeError() const;
  /// Returns true if that call failed because the file is damaged.
  bool isCorrupt() const;
  /// Returns true if it failed for that reason, or because the file contradicts
  /// this program's writes.
  bool isDamaged() const;
  /// Returns true if the file is too large for a check at each opening.
  bool isLarge() const;
  /// Returns true if the file was set aside, or removed, since it was opened.
  bool wasMoved() const;

  /// Closes a damaged or moved store and opens the one at its path, like
  /// Mode::Replace after a thorough check.
  static runtime::Result<std::unique_ptr<StoreFile>>
  reopen(std::unique_ptr<StoreFile> store);

  /// Runs statements without rows.
  runtime::Status execute(const std::string &sql) const;

  /// The number of rows that the last statement inserted, changed or deleted.
  int64_t countChanges() const;

private:
  /// A fault of a file.
  struct Fault {
    runtime::Error error;
    bool isDamage = false;
    /// True if another process may have replaced the file meanwhile.
    bool mayBeMoved = false;
  };
  struct Attempt;

  explicit StoreFile(std::string path) : path(std::move(path)) {}
  static Attempt attempt(const std::string &path, Mode mode, Check check);
  static runtime::Result<std::unique_ptr<StoreFile>>
  replace(const std::string &path, Check check, const Fault &fault);

  std::optional<Fault> connect(Mode mode, Check check);
  std::optional<Fault> inspect(Check check);
  std::optional<Fault> prepare(Mode mode);
  std::optional<Fault> chooseJournal();
  std::optional<Fault> migrate(Mode mode);
  std::optional<Fault> copyToMemory();
  std::string describeDamage(Check check) const;
  Fault makeFault() const;
  Fault makeDamage(llvm::StringRef what) const;
  runtime::Error makeDamageError(llvm::StringRef what) const;

  std::string path;
  /// The network file system that the file lies on, or "".
  std::string network;
  bool isImmutable = false, isNew = false, isOld = false, isCopy = false;
  sqlite3 *handle = nullptr;
};

/// A transaction, which is rolled back unless it was committed.
class StoreTransaction {
public:
  explicit StoreTransaction(const StoreFile &store);
  ~StoreTransaction();
  StoreTransaction(const StoreTransaction &) = delete;
  StoreTransaction &operator=(const StoreTransaction &) = delete;

  /// Success if it was begun: another process may be writing for too long.
  const runtime::Status &begun() const { return status; }
  runtime::Status commit();

private:
  const StoreFile &store;
  runtime::Status status;
  bool isOpen;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_STOREFILE_H
