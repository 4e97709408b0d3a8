//===- FileName.cpp - Parses names of MIOpen's databases ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;

static constexpr Format kFormats[] = {Format::FindText, Format::PerfText,
                                      Format::PerfSqlite};

StringRef miopen::getFormatName(Format format) {
  switch (format) {
  case Format::FindText:
    return "find-text";
  case Format::PerfText:
    return "perf-text";
  case Format::PerfSqlite:
    return "perf-sqlite";
  }
  llvm_unreachable("unknown format");
}

std::optional<Format> miopen::parseFormat(StringRef name) {
  for (Format format : kFormats)
    if (getFormatName(format) == name)
      return format;
  return std::nullopt;
}

/// Removes the ending from `name`.
static std::optional<Format> consumeEnding(StringRef &name) {
  static constexpr std::pair<llvm::StringLiteral, Format> kEndings[] = {
      {".ufdb.txt", Format::FindText}, {".fdb.txt", Format::FindText},
      {".udb.txt", Format::PerfText},  {".db.txt", Format::PerfText},
      {".udb", Format::PerfSqlite},    {".db", Format::PerfSqlite}};
  for (auto [ending, format] : kEndings)
    if (name.consume_back(ending))
      return format;
  return std::nullopt;
}

/// Removes "gfx90a_nosramecc" from the front. An architecture's number consists
/// of a major version, a minor one and a stepping; only the major version has
/// two digits, from 10 on.
static StringRef consumeArch(StringRef &base) {
  StringRef rest = base;
  if (!rest.consume_front("gfx"))
    return "";
  size_t digits = rest.starts_with("1") ? 4 : 3;
  if (rest.size() < digits ||
      !llvm::all_of(rest.take_front(digits), llvm::isHexDigit))
    return "";
  rest = rest.drop_front(digits);
  bool more = true;
  while (more)
    more = rest.consume_front("_nosramecc") || rest.consume_front("_sramecc") ||
           rest.consume_front("_xnack");
  StringRef arch = base.drop_back(rest.size());
  base = rest;
  return arch;
}

/// Parses compute units: decimal behind an underscore, hexadecimal without one
/// (more than 64). 0 if there are none.
static int64_t parseComputeUnits(StringRef text) {
  unsigned radix = text.consume_front("_") ? 10 : 16;
  int64_t units = 0;
  if (text.getAsInteger(radix, units) || units < 0 || units > 1 << 16)
    return 0;
  return units;
}

/// Prints compute units as parseComputeUnits reads them.
static std::string printComputeUnits(int64_t units) {
  constexpr int64_t kMostInDecimal = 64;
  return units <= kMostInDecimal ? "_" + std::to_string(units)
                                 : llvm::utohexstr(static_cast<uint64_t>(units),
                                                   /*LowerCase=*/true);
}

std::string miopen::makeFileName(Format format, StringRef arch,
                                 int64_t computeUnits) {
  std::string base = arch.str() + printComputeUnits(computeUnits);
  switch (format) {
  case Format::FindText:
    return base + ".HIP.fdb.txt";
  case Format::PerfText:
    return base + ".db.txt";
  case Format::PerfSqlite:
    return base + ".db";
  }
  llvm_unreachable("unknown format");
}

std::optional<std::string> miopen::findFileName(Format format,
                                                StringRef target) {
  auto [chip, units] = target.split(":cu=");
  StringRef rest = chip;
  StringRef arch = consumeArch(rest);
  int64_t computeUnits;
  if (arch.empty() || !rest.empty() || units.getAsInteger(10, computeUnits))
    return std::nullopt;
  return makeFileName(format, arch, computeUnits);
}

Result<FileName> miopen::parseFileName(StringRef path) {
  FileName file;
  file.name = llvm::sys::path::filename(path).str();
  StringRef rest = file.name;
  std::optional<Format> format = consumeEnding(rest);
  if (!format)
    return Error{"'" + path.str() +
                 "' is not named as a database of MIOpen, expected a name that "
                 "ends in .fdb.txt, .ufdb.txt, .db, .udb, .db.txt or .udb.txt"};
  file.format = *format;
  file.isConvolution =
      !rest.consume_front("batchnorm_") && !rest.contains(".fusion");
  // Names of users' perf DBs hold the schema's version; the backend and the
  // library's version follow.
  rest = rest.split("_1.1.0").first.split('.').first;
  file.arch = consumeArch(rest).str();
  if (!file.arch.empty())
    file.computeUnits = parseComputeUnits(rest);
  return file;
}
