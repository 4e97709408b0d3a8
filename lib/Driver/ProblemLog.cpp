//===- ProblemLog.cpp - Logs problems as driver lines -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/ProblemLog.h"

#include "tarpon/Driver/Workload.h"

#include "llvm/ADT/STLExtras.h"
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
  /// A last line that does not end: somebody edited the file, or a run was
  /// killed while it wrote.
  std::string cut;
};

} // namespace

static KnownLines readLines(const std::string &path) {
  KnownLines known;
  if (auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true)) {
    llvm::StringRef text = (*file)->getBuffer();
    llvm::SmallVector<llvm::StringRef> split;
    text.split(split, '\n');
    known.cut = split.pop_back_val().str();
    known.lines.insert_range(split);
  }
  return known;
}

/// Ends the line that does not, as the line that a killed run would have
/// written if it is one of these.
static void endLine(KnownLines &known, const std::vector<std::string> &lines,
                    llvm::raw_ostream &os) {
  llvm::StringRef cut = known.cut;
  if (cut.empty())
    return;
  auto whole = llvm::find_if(lines, [&](llvm::StringRef line) {
    return line.starts_with(cut) && !known.lines.contains(line);
  });
  llvm::StringRef line = whole == lines.end() ? cut : llvm::StringRef(*whole);
  os << line.drop_front(cut.size()) << '\n';
  known.lines.insert(line);
}

static Status append(const std::string &path,
                     const std::vector<std::string> &lines) {
  KnownLines known = readLines(path);
  std::error_code code;
  llvm::raw_fd_ostream os(path, code, llvm::sys::fs::OF_Append);
  if (code)
    return Error{"--log-driver " + path + ": " + code.message()};
  endLine(known, lines, os);
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
