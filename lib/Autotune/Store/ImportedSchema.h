//===- ImportedSchema.h - The tables of imported records --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_IMPORTEDSCHEMA_H
#define TARPON_LIB_AUTOTUNE_STORE_IMPORTEDSCHEMA_H

namespace tarpon {

/// Creates the tables. Idempotent; the first import runs it, so that most
/// journals lack them. Readers of the journal ignore them.
inline constexpr const char *kImportedSchema = R"sql(
CREATE TABLE IF NOT EXISTS imported_source (
  id INTEGER PRIMARY KEY,
  origin TEXT NOT NULL CHECK (origin IN ('miopen')),
  file TEXT NOT NULL UNIQUE,
  format TEXT NOT NULL,
  arch TEXT NOT NULL, compute_units INTEGER NOT NULL,
  time TEXT NOT NULL);
-- `key` is MIOpen's and `problem` Tarpon's, '' where it has none.
CREATE TABLE IF NOT EXISTS imported_problem (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES imported_source (id),
  key TEXT NOT NULL,
  problem TEXT NOT NULL,
  UNIQUE (key, source));
-- In the order of the file. Milliseconds and bytes, of find DBs only.
CREATE TABLE IF NOT EXISTS imported_solution (
  problem INTEGER NOT NULL REFERENCES imported_problem (id),
  position INTEGER NOT NULL,
  solver TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  median REAL,
  workspace INTEGER NOT NULL,
  config TEXT NOT NULL,
  PRIMARY KEY (problem, position)) WITHOUT ROWID;
)sql";

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_IMPORTEDSCHEMA_H
