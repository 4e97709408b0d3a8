//===- StoreFile.h - The SQLite file of a store -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file holds the journal of a target and what was imported beside it. It is
// opened here, by whoever reads or writes any of it, so that damage and foreign
// files are refused in the same words everywhere. A file of an older version is
// brought to this one (StoreMigration.h): on disk where it is opened for
// writing, else in a copy in memory. One of a newer version is refused.
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

  /// How closely a file is looked at before it is used.
  enum class Check : uint8_t {
    Quick,   ///< the structure of what is read, unless it is large
    Thorough ///< everything but what was imported, with the indexes
  };

  /// A damaged or foreign file is an error that names it, and is left as it is.
  /// With Mode::Replace, a damaged one is set aside as PATH.damaged-1, or the
  /// next number that is free, whole and with its log; this is said on stderr,
  /// and a new one is begun (StoreRecovery.cpp).
  static runtime::Result<std::unique_ptr<StoreFile>>
  open(const std::string &path, Mode mode, Check check = Check::Quick);
  ~StoreFile();

  sqlite3 *database() const { return handle; }
  const std::string &getPath() const { return path; }
  /// True if the connection is to a copy in memory, of a newer version than the
  /// file.
  bool isMigratedCopy() const { return isCopy; }

  /// "journal PATH is damaged: ..." or "cannot use journal PATH: ...", whatever
  /// the last call of SQLite says of itself.
  runtime::Error makeError() const;
  /// Whether that call failed since the file is damaged.
  bool isCorrupt() const;
  /// The same, or since it contradicts what this program writes to it.
  bool isDamaged() const;
  /// Too large to be looked through whenever it is opened.
  bool isLarge() const;
  /// Whether somebody has set the file aside, or removed it, since it was
  /// opened.
  bool wasMoved() const;

  /// Closes a damaged or moved store and opens what is to be at its path, as
  /// Mode::Replace does after a thorough check.
  static runtime::Result<std::unique_ptr<StoreFile>>
  reopen(std::unique_ptr<StoreFile> store);

  /// Runs statements that give no rows.
  runtime::Status execute(const std::string &sql) const;

  /// Rows that the last statement inserted, changed or deleted.
  int64_t countChanges() const;

private:
  /// What is wrong with a file.
  struct Fault {
    runtime::Error error;
    bool isDamage = false;
    /// Another process may have replaced the file meanwhile.
    bool mayBeMoved = false;
  };
  struct Attempt;

  explicit StoreFile(std::string path) : path(std::move(path)) {}
  static Attempt attempt(const std::string &path, Mode mode, Check check);
  static runtime::Result<std::unique_ptr<StoreFile>>
  replace(const std::string &path, Check check, const Fault &fault);

  std::optional<Fault> connect(Mode mode, Check check);
  std::optional<Fault> inspect(Mode mode, Check check);
  std::optional<Fault> prepare(Mode mode);
  std::optional<Fault> chooseJournal();
  std::optional<Fault> migrate(Mode mode);
  std::optional<Fault> copyToMemory();
  std::string describeDamage(Check check) const;
  Fault makeFault() const;
  Fault makeDamage(llvm::StringRef what) const;
  runtime::Error makeDamageError(llvm::StringRef what) const;

  std::string path;
  /// The network file system that it lies on, or "".
  std::string network;
  bool isImmutable = false, isNew = false, isOld = false, isCopy = false;
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

#endif // TARPON_LIB_AUTOTUNE_STORE_STOREFILE_H
