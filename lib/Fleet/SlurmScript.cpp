//===- SlurmScript.cpp - Workers as jobs of Slurm -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/SlurmScript.h"

#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// Quotes a word for sh: nothing is special between single quotes but their
/// end.
static std::string quote(llvm::StringRef word) {
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// A label may have characters that Slurm gives a meaning to in the name of a
/// job, which is part of the output's.
static std::string makeJobName(const SlurmArray &array) {
  std::string name = "tarpon-" + array.label + "-" +
                     (array.phase == Phase::Compile ? "build" : "measure");
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '-' && c != '.')
      c = '_';
  return name;
}

/// The variables of whoever submits the batch jobs that these see: none of them
/// holds a password.
static constexpr const char *kExported =
    "HOME,PATH,USER,LANG,XDG_CONFIG_HOME,XDG_CACHE_HOME,TARPON_EVALUATOR,"
    "TARPON_CACHE_DIR,TARPON_SYSTEM_DB_PATH,PGHOST,PGHOSTADDR,PGPORT,PGUSER,"
    "PGDATABASE,PGSERVICE,PGSERVICEFILE,PGPASSFILE,PGSSLMODE,PGSSLROOTCERT,"
    "PGSSLCERT,PGSSLKEY";

/// A line of Slurm's options ends at a blank.
static Status checkValue(llvm::StringRef what, llvm::StringRef value) {
  if (std::ranges::all_of(value,
                          [](char c) { return llvm::isPrint(c) && c != ' '; }))
    return success();
  return Error{(what + " '" + showText(value) +
                "' has blanks or control characters, which Slurm would not "
                "take for a part of it")
                   .str()};
}

Result<std::string> tarpon::fleet::writeSlurmScript(const SlurmArray &array) {
  for (const auto &[what, value] :
       {std::pair("the resource", llvm::StringRef(array.gres)),
        std::pair("the constraint", llvm::StringRef(array.constraint)),
        std::pair("the partition", llvm::StringRef(array.partition)),
        std::pair("the folder of logs", llvm::StringRef(array.logs))})
    if (Status status = checkValue(what, value); !status)
      return status.error();
  for (const std::string &word : array.command)
    if (llvm::StringRef(word).contains('\n'))
      return Error{"'" + showText(word) + "' has several lines"};
  std::string text;
  llvm::raw_string_ostream os(text);
  auto option = [&](llvm::StringRef name, const llvm::Twine &value) {
    os << "#SBATCH --" << name << "=" << value << "\n";
  };
  os << "#!/bin/sh\n";
  option("job-name", makeJobName(array));
  option("array", "1-" + llvm::Twine(array.workers));
  option("nodes", "1");
  option("ntasks", "1");
  option("cpus-per-task", llvm::Twine(array.cores));
  // Slurm gives whole cores: nobody else runs on the sibling of one on which
  // something is measured, nor does the worker itself.
  if (array.phase == Phase::Measure)
    option("threads-per-core", "1");
  if (!array.gres.empty())
    option("gres", array.gres);
  if (!array.constraint.empty())
    option("constraint", array.constraint);
  if (!array.partition.empty())
    option("partition", array.partition);
  if (array.minutes)
    option("time", llvm::Twine(*array.minutes));
  // The database gives the jobs of a dead node to others.
  os << "#SBATCH --no-requeue\n";
  option("export", kExported);
  // Workers, which take the shell's place, are told to end a minute before they
  // are killed.
  option("signal", "B:TERM@60");
  option("output", array.logs + "/%x-%A_%a.log");
  os << "exec";
  for (const std::string &word : array.command)
    os << " " << quote(word);
  os << "\n";
  return text;
}

std::vector<SlurmArray> tarpon::fleet::splitArray(const SlurmArray &array) {
  // Slurm's own limit, MaxArraySize, is one more unless the cluster says so.
  constexpr int64_t kMostTasks = 1000;
  std::vector<SlurmArray> parts;
  for (int64_t left = array.workers; left > 0; left -= kMostTasks) {
    parts.push_back(array);
    parts.back().workers = std::min(left, kMostTasks);
  }
  return parts;
}

std::string tarpon::fleet::getGres(const Session &session) {
  if (session.usesEmulator)
    return "";
  llvm::StringRef chip = llvm::StringRef(session.target).split(':').first;
  bool isGpu = chip.starts_with("gfx") || chip.starts_with("sm_");
  return isGpu ? ("gpu:" + chip + ":1").str() : "";
}
