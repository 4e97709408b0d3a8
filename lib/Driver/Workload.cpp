//===- Workload.cpp - Lists of problems to tune ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/Workload.h"

#include "tarpon/Driver/DriverLine.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tarpon;
using llvm::StringLiteral;
using llvm::StringRef;
using runtime::Result;

static constexpr StringLiteral kMIOpenDriver = "MIOpenDriver ";
static constexpr StringLiteral kOwnDriver = "graph-opt driver ";

/// Skips our own options in front of a base, each with a value: "--threads 1
/// conv".
static StringRef dropOptions(StringRef line) {
  for (line = line.ltrim(); line.starts_with("--"); line = line.ltrim())
    line = line.split(' ').second.ltrim().split(' ').second;
  return line;
}

/// The words of a driver line, without any text in front of it. A key is one
/// word, although it has spaces in it.
static std::vector<std::string> splitLine(StringRef line) {
  for (StringRef name : {kMIOpenDriver, kOwnDriver})
    if (size_t at = line.rfind(name); at != StringRef::npos)
      line = dropOptions(line.drop_front(at + name.size()));
  line = line.trim();
  if (line.contains("->"))
    return {line.trim('\'').str()};
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(line, words);
  return {words.begin(), words.end()};
}

Workload tarpon::parseWorkload(StringRef text) {
  Workload workload;
  llvm::StringSet<> known;
  // Other lines of an application's log are no faults.
  bool isLog = text.contains(kMIOpenDriver);
  int64_t number = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    Result<DriverLine> parsed = parseDriverLine(splitLine(line));
    if (!parsed && isLog && !line.contains(kMIOpenDriver))
      continue;
    ++workload.lines;
    if (!parsed) {
      workload.faults.push_back({number, parsed.message()});
      continue;
    }
    for (DriverTask &task : parsed->tasks)
      if (known.insert(task.problem.key()).second)
        workload.problems.push_back(std::move(task.problem));
  }
  return workload;
}

Result<Workload> tarpon::readWorkload(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return runtime::Error{path + ": " + file.getError().message()};
  return parseWorkload((*file)->getBuffer());
}
