//===- Records.cpp - MIOpen's databases as records ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common part of the formats: decides which records count and which are
// malformed.
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::formatv;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

void RecordCollector::startLine() {
  ++database.faults.lines;
  isLineRejected = false;
}

void RecordCollector::reject(StringRef reason) {
  Faults &faults = database.faults;
  if (isLineRejected)
    return;
  isLineRejected = true;
  if (faults.malformed++ > 0)
    return;
  faults.firstLine = faults.lines;
  faults.firstReason = reason.str();
}

Record *RecordCollector::add(StringRef key) {
  if (database.file.isConvolution) {
    if (Result<ConvKey> parsed = parseKey(database.file.format, key); !parsed) {
      reject(parsed.message());
      return nullptr;
    }
  } else if (!isConfig(key)) {
    reject("its key " + quote(key) + " is no text");
    return nullptr;
  }
  if (!keys.try_emplace(key).second) {
    ++database.faults.duplicates;
    return nullptr;
  }
  return &database.records.emplace_back(Record{key.str(), {}});
}

void RecordCollector::add(Record &record, Solution solution) {
  bool isKnown = llvm::any_of(record.solutions, [&](const Solution &s) {
    return s.solver == solution.solver;
  });
  if (isKnown)
    ++database.faults.duplicates;
  else
    record.solutions.push_back(std::move(solution));
}

void RecordCollector::dropEmpty() {
  if (database.records.empty() || !database.records.back().solutions.empty())
    return;
  keys.erase(database.records.back().key);
  database.records.pop_back();
}

std::string Faults::describe(Format format) const {
  if (malformed == 0)
    return "";
  bool isText = format != Format::PerfSqlite;
  return formatv("{0} of {1} {2} are malformed, the first is {3} {4}: {5}",
                 malformed, lines, isText ? "lines" : "rows",
                 isText ? "line" : "row", firstLine, firstReason);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string miopen::quote(StringRef text) {
  static constexpr size_t kLongest = 60;
  std::string quoted = "'";
  for (char c : text.take_front(kLongest))
    quoted += llvm::isPrint(c) ? c : '?';
  return quoted + (text.size() > kLongest ? "...'" : "'");
}

bool miopen::isName(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isPrint(c) && c != ' ' && !StringRef("=;:,").contains(c);
  });
}

bool miopen::isConfig(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isPrint(c) && c != ';' && c != '=';
  });
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

Result<Database> miopen::readDatabase(const std::string &path) {
  Result<FileName> file = parseFileName(path);
  if (!file)
    return file.error();
  Database database;
  database.file = std::move(*file);
  Format format = database.file.format;
  Status status = format == Format::FindText   ? readFindText(path, database)
                  : format == Format::PerfText ? readPerfText(path, database)
                                               : readPerfSqlite(path, database);
  if (!status)
    return status.error();
  const Faults &faults = database.faults;
  if (database.records.empty() && faults.malformed > 0)
    return Error{"'" + path +
                 "' is no database of MIOpen: " + faults.describe(format)};
  return database;
}

Status miopen::writeDatabase(const std::string &path,
                             const Database &database) {
  Result<FileName> file = parseFileName(path);
  if (!file)
    return file.error();
  bool isFind = file->format == Format::FindText;
  if (isFind != (database.file.format == Format::FindText))
    return Error{formatv("cannot write {0} to '{1}', which is named as a {2}",
                         database.file.name, path,
                         isFind ? "find DB" : "perf DB")};
  if (isFind)
    return writeFindText(path, database);
  return file->format == Format::PerfText ? writePerfText(path, database)
                                          : writePerfSqlite(path, database);
}
