//===- Formats.h - MIOpen's databases, one format per file ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MIOPEN_FORMATS_H
#define TARPON_LIB_AUTOTUNE_MIOPEN_FORMATS_H

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace tarpon::miopen {

/// Collects the records of a file, and its faults.
class RecordCollector {
public:
  explicit RecordCollector(Database &database) : database(database) {}

  /// Starts the next line.
  void startLine();
  /// Rejects the line as malformed; only the first fault of a line counts.
  void reject(llvm::StringRef reason);

  /// Adds a record for a key. Returns null if the line is rejected (it is no
  /// key) or counted as a duplicate. Valid until the next record is added.
  Record *add(llvm::StringRef key);
  /// Adds a solution unless the record has one of the solver.
  void add(Record &record, Solution solution);
  /// Drops the last record if it has no solutions.
  void dropEmpty();

private:
  Database &database;
  bool isLineRejected = false;
  llvm::StringMap<std::monostate> keys;
};

/// Quotes a text as 'abc', shortened and without control characters.
std::string quote(llvm::StringRef text);

/// Returns true for a name that can stand in a text database and in one of
/// SQLite.
bool isName(llvm::StringRef text);
/// Returns true for a solver's config that can, which may hold commas.
bool isConfig(llvm::StringRef text);

/// Returns the operand or result of a problem that is its convolution's result.
const TensorDesc &getConvResult(const Problem &problem,
                                ConvDirection direction);

/// Reads "KEY=ITEM;ITEM" lines; `parseItem` gets "ID" and the text behind its
/// colon, and returns a reason if that is malformed.
using ItemParser = llvm::function_ref<std::string(
    llvm::StringRef id, llvm::StringRef payload, Solution &solution)>;
runtime::Status readTextFile(const std::string &path, Database &database,
                             ItemParser parseItem);

/// Writes "KEY=ITEM;ITEM" lines; `printItem` appends an item.
runtime::Status writeTextFile(
    const std::string &path, const Database &database,
    llvm::function_ref<void(const Solution &, std::string &)> printItem);

runtime::Status readFindText(const std::string &path, Database &database);
runtime::Status writeFindText(const std::string &path,
                              const Database &database);
runtime::Status readPerfText(const std::string &path, Database &database);
runtime::Status writePerfText(const std::string &path,
                              const Database &database);
runtime::Status readPerfSqlite(const std::string &path, Database &database);
runtime::Status writePerfSqlite(const std::string &path,
                                const Database &database);

} // namespace tarpon::miopen

#endif // TARPON_LIB_AUTOTUNE_MIOPEN_FORMATS_H
