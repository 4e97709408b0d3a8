//===- MIOpenFile.h - MIOpen's databases as records -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MIOpen keeps ranked solvers per problem in find DBs and the best config of
// each solver in perf DBs. Their files are read here as they stand, and written
// so that they read back the same. What a file was made for stands in its name:
//
//   gfx90a68.HIP.fdb.txt, gfx906_60.HIP.2_11_0_993628deb.ufdb.txt   find DBs
//   gfx1030_36.db, gfx1030_36_1.1.0.udb                  perf DBs in SQLite
//   gfx90a68.db.txt, gfx90a68.HIP.3_4_0_.udb.txt           perf DBs as text
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_MIOPEN_MIOPENFILE_H
#define TARPON_AUTOTUNE_MIOPEN_MIOPENFILE_H

#include "tarpon/Driver/Convolution.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon::miopen {

enum class Format : uint8_t { FindText, PerfText, PerfSqlite };

/// "find-text", "perf-text", "perf-sqlite".
llvm::StringRef getFormatName(Format format);
std::optional<Format> parseFormat(llvm::StringRef name);

/// What the name of a file says.
struct FileName {
  /// Without folders.
  std::string name;
  Format format = Format::FindText;
  /// "gfx90a", with MIOpen's suffixes for features if there are any:
  /// "gfx906_nosramecc". "" if the name does not say.
  std::string arch;
  /// 0 if the name does not say.
  int64_t computeUnits = 0;
  /// Of convolutions that stand alone: the keys of fusions and of batch
  /// normalisations are not known here, and are kept as they are.
  bool isConvolution = true;
};

/// An error if it is the name of none of MIOpen's databases.
runtime::Result<FileName> parseFileName(llvm::StringRef path);

struct Solution {
  std::string solver;
  /// Of find DBs: "miopenConvolutionFwdAlgoDirect", milliseconds, bytes.
  std::string algorithm;
  std::optional<double> milliseconds;
  int64_t workspaceBytes = 0;
  /// Of perf DBs: the solver's config as it prints it.
  std::string config;

  bool operator==(const Solution &) const = default;
};

/// One problem. The key of a perf DB is that of its text form, whatever the
/// form of the file.
struct Record {
  std::string key;
  std::vector<Solution> solutions;

  bool operator==(const Record &) const = default;
};

/// What could not be read of a file.
struct Faults {
  int64_t lines = 0, malformed = 0;
  /// The first of them, counted from 1, and what is wrong with it.
  int64_t firstLine = 0;
  std::string firstReason;
  /// Keys, and solvers of one key, that were there before: as in MIOpen, the
  /// first one counts.
  int64_t duplicates = 0;

  /// "12 of 190000 lines are malformed, the first is line 7: ..."; "" if all
  /// could be read.
  std::string describe(Format format) const;
};

struct Database {
  FileName file;
  std::vector<Record> records;
  Faults faults;
};

/// A file that cannot be read, or none of whose lines can, is an error.
runtime::Result<Database> readDatabase(const std::string &path);

/// Writes the records in their order, in the format that `path` is named for.
/// A find DB has to stay one, and a perf DB.
runtime::Status writeDatabase(const std::string &path,
                              const Database &database);

/// A convolution's key in a find DB or perf DB.
struct ConvKey {
  ConvDescription conv;
  ConvDirection direction = ConvDirection::Forward;
  /// "FP32"; "INT8INT8INT32" if those of input, filter and output differ.
  std::string dtype;
  /// The result's spatial size. Not part of a perf DB's key.
  std::vector<int64_t> output;
  /// Data is cast on the way.
  bool hasCasts = false, hasBias = false;
  /// A perf DB's key does not say it of strided backward passes.
  bool isImageKnown = true;
};

runtime::Result<ConvKey> parseFindKey(llvm::StringRef key);
runtime::Result<ConvKey> parsePerfKey(llvm::StringRef key);
runtime::Result<ConvKey> parseKey(Format format, llvm::StringRef key);

/// An imported problem as Tarpon's own.
struct PosedProblem {
  Problem problem;
  /// What MIOpen's driver is asked for it.
  std::string driverLine;
};

/// The problem of a key, or why it is none of Tarpon's.
runtime::Result<PosedProblem> poseProblem(const ConvKey &key);

} // namespace tarpon::miopen

#endif // TARPON_AUTOTUNE_MIOPEN_MIOPENFILE_H
