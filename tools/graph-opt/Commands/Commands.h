//===- Commands.h - The sub-commands of graph-opt ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each command is a struct of what the command line said and a function that
// does it and returns the exit status. Nothing here knows how command lines are
// parsed; see CommandLine.h.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// How a model is compiled where no search is asked for: one global choice.
struct ModelArguments {
  /// An ONNX model or, for some commands, a package.
  std::string model;
  /// Of an ONNX model: what to compile for, and to run on.
  std::string target = "host", device;
  std::string dtype = "fp32", layout = "nchw", fusion = "on";
  std::optional<int64_t> batch;
  /// 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";
  /// Where to append the problems as driver lines. Not of verify.
  std::string logDriver;
};

/// How problems are searched, for every command that tunes. Empty for what the
/// environment says.
struct SearchArguments {
  std::string method;
  std::optional<int64_t> iterations, patience;
  std::optional<uint64_t> seed;
};

struct CompileArguments {
  std::string model;
  /// "host" or a GPU; what a GPU's package is for: "hip" or "emulated".
  std::string target = "host", device;
  /// Lists as the user gave them, or "pick_global".
  std::string dtype = "fp32", layout = "nchw", fusion = "on";
  std::optional<int64_t> batch;
  int64_t threads = 0;
  std::string calibration;
  std::optional<double> maxError, tuningTime;
  /// Names or numbers; empty for what the environment says.
  std::string findMode, tuningPolicy;
  SearchArguments search;
  std::string tuningFile, replay;
  bool replayAnyway = false, strict = false, quiet = false;
  /// Of a GPU's package: what its kernels take.
  bool kernelReport = false;
  /// How many solutions of each layer a GPU's package holds: a number, "all",
  /// or "" for the chosen one alone.
  std::string candidates;
  std::string output;
  /// Where to append the problems of the package as driver lines.
  std::string logDriver;
  std::string cpu = "native";
};

struct RunArguments {
  ModelArguments model;
  /// NAME=FILE.
  std::vector<std::string> inputs;
  std::string outputDir;
  uint64_t seed = 0;
};

struct PerfArguments {
  ModelArguments model;
  /// Without it: as many as fit into a second or so.
  std::optional<int64_t> iterations;
  bool compileReport = false;
  std::string json;
};

struct VerifyArguments {
  ModelArguments model;
  std::string testData;
  std::optional<double> maxError;
  uint64_t seed = 0;
};

struct ImportArguments {
  std::string model;
  std::optional<int64_t> batch;
  /// Constants of more elements are printed without them.
  int64_t elide = 16;
};

struct SolversArguments {
  std::string problem;
  /// "host" or a GPU.
  std::string target = "host";
  /// Ask the target's model about every solver's default config.
  bool estimate = false;
  /// About this one instead: "SOLVER:CONFIG".
  std::string solution;
  int64_t threads = 0;
  std::string cpu = "native";
};

struct DriverArguments {
  /// A MIOpenDriver command line: "conv", "-n", "16", ...
  std::vector<std::string> words;
  int64_t threads = 0;
  std::string cpu = "native";
  /// "host" or a GPU; what it is run on: "hip", "emulated", or "" for the one
  /// that is usual.
  std::string target = "host", device;
  /// Where to write the launches to, or "".
  std::string dumpCase;
};

/// Where a `db` command finds its store.
struct StoreArguments {
  /// "" for that of this machine.
  std::string store;
  /// Write the answer here too, as JSON.
  std::string json;
};

struct DbImportArguments {
  StoreArguments store;
  std::vector<std::string> files;
};

struct DbExportArguments {
  StoreArguments store;
  std::string output;
  /// The imported file to write; "" for the one that is named like `output`.
  std::string from;
  bool driverLines = false;
};

struct DbListArguments {
  StoreArguments store;
  /// Only problems whose keys hold this, of that solver.
  std::string problem, solver;
  bool stale = false;
  /// What was imported, beside what was measured here.
  bool imported = false;
  std::optional<int64_t> limit;
};

struct DbMergeArguments {
  StoreArguments store;
  std::string other;
};

struct DbPruneArguments {
  StoreArguments store;
  bool dryRun = false;
  /// Drop the records of this imported file instead of stale ones.
  std::string imported;
};

struct DbPublishArguments {
  StoreArguments store;
  std::string output;
};

struct DbDiffArguments {
  StoreArguments store;
  std::string other;
  double minChange = 0.05;
};

struct DbExportKernelsArguments {
  /// The folder of the cache that is written.
  std::string output;
  std::string cpu = "native";
};

int runDbImport(const DbImportArguments &arguments);
int runDbExport(const DbExportArguments &arguments);
int runDbStats(const StoreArguments &arguments);
int runDbList(const DbListArguments &arguments);
int runDbCheck(const StoreArguments &arguments);
int runDbMerge(const DbMergeArguments &arguments);
int runDbPrune(const DbPruneArguments &arguments);
int runDbPublish(const DbPublishArguments &arguments);
int runDbDiff(const DbDiffArguments &arguments);
int runDbExportKernels(const DbExportKernelsArguments &arguments);

/// What finding solutions of problems goes by.
struct FinderArguments {
  std::string target = "host", device;
  int64_t threads = 0;
  std::string cpu = "native";
  /// Names or numbers; empty for what the environment says.
  std::string findMode, tuningPolicy;
  SearchArguments search;
  bool quiet = false;
};

struct FindArguments {
  /// A problem key, or a MIOpenDriver command line.
  std::vector<std::string> words;
  FinderArguments finder;
  /// Seconds for all problems.
  std::optional<double> tuningTime;
  std::string order = "time";
  std::optional<int64_t> workspaceLimit;
  std::vector<std::string> disabledSolvers;
  bool tune = false, immediate = false;
  /// Where to write the best solution, and one to read instead of finding.
  std::string save, load;
  bool withKernels = false;
};

struct TuneArguments {
  /// A file of problem keys and driver lines, or a package.
  std::string workload;
  FinderArguments finder;
  std::optional<double> tuningTime;
  /// Of a package: where to write the tuned one ("": in its place), which
  /// tuning file to update, and whether to write what was not chosen.
  std::string output, tuningFile;
  bool dropCandidates = false;
};

struct TrainArguments {
  /// Where the measurements are; "" for the user's store.
  std::string store;
  /// The store that the model goes into; "" for the user's.
  std::string into;
  /// Which networks are held out; "" for none.
  std::string split;
  int64_t threads = 0;
  std::string cpu = "native";
  uint64_t seed = 1;
  bool report = false, dryRun = false;
};

int runCompile(const CompileArguments &arguments);
int runRun(const RunArguments &arguments);
int runPerf(const PerfArguments &arguments);
int runVerify(const VerifyArguments &arguments);
int runImport(const ImportArguments &arguments);
int runSolvers(const SolversArguments &arguments);
int runDriver(const DriverArguments &arguments);
int runFind(const FindArguments &arguments);
int runTune(const TuneArguments &arguments);
int runTunePackage(const TuneArguments &arguments);
int runTrain(const TrainArguments &arguments);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H
