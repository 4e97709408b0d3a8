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

using Words = std::vector<std::string>;

/// Sets the value of a flag, which has two names.
static void setFlag(Words &words, StringRef name, StringRef longName,
                    int64_t value) {
  for (size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == name || words[i] == longName) {
      words[i + 1] = std::to_string(value);
      return;
    }
  words.push_back(name.str());
  words.push_back(std::to_string(value));
}

/// Replaces each line by a line per value of a flag; none leave it as it is.
static std::vector<Words> vary(const std::vector<Words> &lines, StringRef name,
                               StringRef longName,
                               const std::vector<int64_t> &values) {
  if (values.empty())
    return lines;
  std::vector<Words> varied;
  for (const Words &line : lines)
    for (int64_t value : values) {
      varied.push_back(line);
      setFlag(varied.back(), name, longName, value);
    }
  return varied;
}

static bool isKey(const Words &words) { return words.size() < 2; }

static std::vector<Words> vary(Words words, const WorkloadVariants &variants) {
  if (isKey(words))
    return {std::move(words)};
  bool isConv = StringRef(words.front()).starts_with("conv") ||
                StringRef(words[1]).starts_with("conv");
  std::vector<Words> lines =
      vary({std::move(words)}, "-n", "--batchsize", variants.batches);
  return isConv ? vary(lines, "-F", "--forw", variants.directions) : lines;
}

Workload tarpon::parseWorkload(StringRef text,
                               const WorkloadVariants &variants) {
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
    bool isOther = isLog && !line.contains(kMIOpenDriver);
    bool isCounted = false;
    for (const Words &words : vary(splitLine(line), variants)) {
      Result<DriverLine> parsed = parseDriverLine(words);
      if (!parsed && isOther)
        continue;
      workload.lines += !isCounted;
      isCounted = true;
      if (!parsed) {
        workload.faults.push_back({number, parsed.message()});
        continue;
      }
      workload.keys += isKey(words);
      for (DriverTask &task : parsed->tasks)
        if (known.insert(task.problem.key()).second)
          workload.problems.push_back(std::move(task.problem));
    }
  }
  return workload;
}

Result<Workload> tarpon::readWorkload(const std::string &path,
                                      const WorkloadVariants &variants) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return runtime::Error{path + ": " + file.getError().message()};
  return parseWorkload((*file)->getBuffer(), variants);
}
