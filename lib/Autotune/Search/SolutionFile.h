//===- SolutionFile.h - A solution as a JSON file ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_SOLUTIONFILE_H
#define TARPON_LIB_AUTOTUNE_SEARCH_SOLUTIONFILE_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Result.h"

#include <optional>
#include <string>

namespace tarpon {

/// The content of a file of Finder::saveSolution.
struct SolutionFile {
  CandidateKey candidate;
  std::string source;
  std::optional<double> medianMs;
  JournalContext madeBy;
  /// The solver's version.
  int64_t version = 1;
  /// True if there is a package beside it.
  bool hasKernels = false;
};

runtime::Status writeSolutionFile(const SolutionFile &file,
                                  const std::string &path);

/// Reads a file. An error names the field.
runtime::Result<SolutionFile> readSolutionFile(const std::string &path);

/// Checks that the file was made by this Tarpon for this target.
runtime::Status checkSolutionFile(const SolutionFile &file,
                                  const JournalContext &here,
                                  const std::string &path);

/// The path of the file's package.
std::string getSolutionPackagePath(const std::string &path);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_SOLUTIONFILE_H
