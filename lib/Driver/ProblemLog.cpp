//===- ProblemLog.cpp - Logs problems as driver lines -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/ProblemLog.h"

#include "tarpon/Driver/Workload.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <vector>

namespace tarpon {

using namespace runtime;

static bool isLoggingOn() {
  const char *value = std::getenv("TARPON_ENABLE_LOGGING_CMD");
  return value && *value && llvm::StringRef(value) != "0";
}

/// Returns the distinct lines.
static std::vector<std::string> getLines(llvm::ArrayRef<Problem> problems) {
  std::vector<std::string> lines;
  llvm::StringSet<> known;
  for (const Problem &problem : problems)
    if (std::string line = printDriverLine(problem); known.insert(line).second)
      lines.push_back(std::move(line));
  return lines;
}

namespace {

/// The lines that a log has already.
struct KnownLines {
  llvm::StringSet<> lines;
  /// True if the last line does not end, since somebody edited the file.
  bool isCut = false;
};

} // namespace

static KnownLines readLines(const std::string &path) {
  KnownLines known;
  if (auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true)) {
    llvm::StringRef text = (*file)->getBuffer();
    llvm::SmallVector<llvm::StringRef> split;
    text.split(split, '\n');
    known.lines.insert_range(split);
    known.isCut = !text.empty() && !text.ends_with("\n");
  }
  return known;
}

static Status append(const std::string &path,
                     const std::vector<std::string> &lines) {
  KnownLines known = readLines(path);
  std::error_code code;
  llvm::raw_fd_ostream os(path, code, llvm::sys::fs::OF_Append);
  if (code)
    return Error{"--log-driver " + path + ": " + code.message()};
  if (known.isCut)
    os << '\n';
  for (const std::string &line : lines)
    if (!known.lines.contains(line))
      os << line << '\n';
  os.close();
  if (!os.has_error())
    return success();
  std::string reason = os.error().message();
  os.clear_error();
  return Error{"--log-driver " + path + ": " + reason};
}

Status logProblems(llvm::ArrayRef<Problem> problems, const std::string &path) {
  bool isOn = isLoggingOn();
  if (path.empty() && !isOn)
    return success();
  std::vector<std::string> lines = getLines(problems);
  if (isOn)
    for (const std::string &line : lines)
      llvm::errs() << line << '\n';
  return path.empty() ? success() : append(path, lines);
}

Status logProblems(const Package &package, const std::string &path) {
  std::vector<Problem> problems;
  for (const Layer &layer : package.layers)
    if (auto problem = parseProblem(layer.problem); mlir::succeeded(problem))
      problems.push_back(std::move(*problem));
  return logProblems(problems, path);
}

} // namespace tarpon
