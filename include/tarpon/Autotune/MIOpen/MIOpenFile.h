//===- MIOpenFile.h - MIOpen's databases as records -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MIOpen keeps ranked solvers per problem in find DBs and the best config of
// each solver in perf DBs. Their files are read unchanged, and written so that
// they read back the same. A file's name tells the target that it was made for:
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

/// The parts of a file's name.
struct FileName {
  /// The name without folders.
  std::string name;
  Format format = Format::FindText;
  /// "gfx90a", with MIOpen's suffixes for features if there are any:
  /// "gfx906_nosramecc". "" if the name does not say.
  std::string arch;
  /// The number of compute units; 0 if the name does not say.
  int64_t computeUnits = 0;
  /// True for convolutions that stand alone: the keys of fusions and of batch
  /// normalisations are not interpreted, and are kept as they are.
  bool isConvolution = true;
};

/// Parses a file's name; an error if it is not that of a MIOpen database.
runtime::Result<FileName> parseFileName(llvm::StringRef path);

/// Returns the name of the system's file for a GPU: "gfx942130.HIP.fdb.txt",
/// "gfx1030_36.db.txt".
std::string makeFileName(Format format, llvm::StringRef arch,
                         int64_t computeUnits);
/// Returns that name for a target of a record, "gfx942:cu=304"; none if MIOpen
/// has no such target.
std::optional<std::string> findFileName(Format format, llvm::StringRef target);

struct Solution {
  std::string solver;
  /// In find DBs only: "miopenConvolutionFwdAlgoDirect", milliseconds, bytes.
  std::string algorithm;
  std::optional<double> milliseconds;
  int64_t workspaceBytes = 0;
  /// In perf DBs only: the solver's config as it prints it.
  std::string config;

  bool operator==(const Solution &) const = default;
};

/// The families of MIOpen's algorithms.
enum class Algorithm : uint8_t { Gemm, Direct, Fft, Winograd, ImplicitGemm };

/// "miopenConvolutionFwdAlgoDirect". MIOpen has no FFT for weights: it is
/// called direct there.
std::string getAlgorithmName(Algorithm algorithm, ConvDirection direction);

/// The records of one problem. The key of a perf DB is that of its text form,
/// whatever the form of the file.
struct Record {
  std::string key;
  std::vector<Solution> solutions;

  bool operator==(const Record &) const = default;
};

/// The parts of a file that could not be read.
struct Faults {
  int64_t lines = 0, malformed = 0;
  /// The first malformed line, counted from 1, and what is wrong with it.
  int64_t firstLine = 0;
  std::string firstReason;
  /// Keys, and solvers of one key, that occur again: as in MIOpen, the first
  /// one counts.
  int64_t duplicates = 0;

  /// Describes the faults: "12 of 190000 lines are malformed, the first is line
  /// 7: ..."; "" if everything could be read.
  std::string describe(Format format) const;
};

struct Database {
  FileName file;
  std::vector<Record> records;
  Faults faults;
};

/// Reads a database. An error if the file cannot be read, or none of its lines
/// can.
runtime::Result<Database> readDatabase(const std::string &path);

/// Writes the records in their order, in the format that the name of `path`
/// stands for. A find DB can only be written as a find DB, and a perf DB as a
/// perf DB.
runtime::Status writeDatabase(const std::string &path,
                              const Database &database);

/// The key of a convolution in a find DB or perf DB.
struct ConvKey {
  ConvDescription conv;
  ConvDirection direction = ConvDirection::Forward;
  /// "FP32"; "INT8INT8INT32" if those of input, filter and output differ.
  std::string dtype;
  /// The result's spatial size. A perf DB's key does not have it.
  std::vector<int64_t> output;
  /// Data is cast on the way; there is a bias.
  bool hasCasts = false, hasBias = false;
  /// False for strided backward passes of perf DBs, whose keys lack the image's
  /// size.
  bool isImageKnown = true;
};

runtime::Result<ConvKey> parseFindKey(llvm::StringRef key);
runtime::Result<ConvKey> parsePerfKey(llvm::StringRef key);
runtime::Result<ConvKey> parseKey(Format format, llvm::StringRef key);

/// Prints a key as MIOpen does. `output` has to be known; an option of a perf
/// DB's key that it cannot hold is left out.
std::string printFindKey(const ConvKey &key);
std::string printPerfKey(const ConvKey &key);

/// Returns the key by which a file of that format names exactly this problem;
/// none if it has no such key.
std::optional<std::string> findKey(Format format, const Problem &problem);

/// An imported problem as Tarpon's own.
struct PosedProblem {
  Problem problem;
  /// The command line of MIOpen's driver for it.
  std::string driverLine;
};

/// Returns the problem of a key, or an error that says why Tarpon cannot pose
/// it.
runtime::Result<PosedProblem> poseProblem(const ConvKey &key);

} // namespace tarpon::miopen

#endif // TARPON_AUTOTUNE_MIOPEN_MIOPENFILE_H
