//===- CommandLine.cpp - From a command line to a command -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of CLI11 is in this file and SharedOptions.cpp, which alone are compiled
// with exceptions.
// The commands run when CLI11 is done, so that none of them can pass through
// code that was compiled without.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "CommandLineValues.h"
#include "Commands.h"
#include "Messages.h"
#include "SharedOptions.h"
#include "UsageError.h"

#include "tarpon/Driver/DriverLine.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace tarpon {

using namespace options;

namespace {

/// All sub-commands with the arguments that they are parsed into.
class CommandLine {
public:
  CommandLine();

  /// Sets `command`, or returns the exit status with nothing left to do.
  std::optional<int> parse(int argc, char **argv);

  const std::vector<std::string> &getNames() const { return names; }
  const CLI::App &getApp() const { return app; }

  std::function<int()> command;

private:
  CLI::App *add(const std::string &name, const std::string &summary,
                const std::string &example, std::function<int()> run);
  void addCompile();
  void addRun();
  void addPerf();
  void addVerify();
  void addImport();
  void addSolvers();
  void addDriver();
  CLI::App *addDb(CLI::App *db, const std::string &name,
                  const std::string &summary, StoreArguments &store,
                  bool hasJson, std::function<int()> run);
  void addDb();
  void addDbExchange(CLI::App *db);
  void addDbWhole(CLI::App *db);
  void addDbKernels(CLI::App *db);
  void addFind();
  void addTune();
  void addTrain();

  CLI::App app{"Tarpon, a graph compiler for ONNX models that tunes what "
               "others guess.\n\"graph-opt FILE.mlir PASSES\" runs passes like "
               "mlir-opt; \"graph-opt --help-list\" lists them.",
               "graph-opt"};
  std::vector<std::string> names;

  CompileArguments compile;
  RunArguments run;
  PerfArguments perf;
  VerifyArguments verify;
  ImportArguments import;
  SolversArguments solvers;
  DriverArguments driver;
  DbImportArguments dbImport;
  DbExportArguments dbExport;
  StoreArguments dbStats, dbCheck;
  DbListArguments dbList;
  DbMergeArguments dbMerge;
  DbPruneArguments dbPrune;
  DbDiffArguments dbDiff;
  DbPublishArguments dbPublish;
  DbExportKernelsArguments dbExportKernels;
  FindArguments find;
  TuneArguments tune;
  TrainArguments train;
};

} // namespace

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

CLI::App *CommandLine::add(const std::string &name, const std::string &summary,
                           const std::string &example,
                           std::function<int()> run) {
  CLI::App *sub = app.add_subcommand(name, summary);
  sub->footer("example:\n  " + example);
  sub->callback([this, run = std::move(run)] { command = run; });
  names.push_back(name);
  return sub;
}

void CommandLine::addCompile() {
  CLI::App *sub =
      add("compile", "Tune and compile an ONNX model",
          "graph-opt compile resnet50.onnx --dtype pick_global --layout "
          "pick_global \\\n      --tuning-file resnet50.json -o resnet50.tpn",
          [this] { return runCompile(compile); });
  addModel(sub, compile.model, "The ONNX model");
  addTarget(sub, compile.target, "What to compile for (default: host)");
  addDevice(sub, compile.device,
            "What a package for a GPU will run on (default: hip)");
  CLI::Option *dtype = sub->add_option("--dtype", compile.dtype,
                                       "Datatypes to try (default: fp32)")
                           ->type_name(getListTypeName(kDtype))
                           ->check(isListOf(kDtype));
  CLI::Option *layout = sub->add_option("--layout", compile.layout,
                                        "Memory layouts to try (default: nchw)")
                            ->type_name(getListTypeName(kLayout))
                            ->check(isListOf(kLayout));
  CLI::Option *fusion =
      sub->add_option("--fusion", compile.fusion, "Fusion (default: on)")
          ->type_name(getListTypeName(kFusion))
          ->check(isListOf(kFusion));
  addBatch(sub, compile.batch);
  addThreads(sub, compile.threads);
  sub->add_option("--calibration", compile.calibration,
                  "Inputs for calibration and accuracy (default: generated)")
      ->type_name("DIR");
  addMaxError(sub, compile.maxError,
              "Accuracy budget: relative L2 distance from fp32");
  addTuningTime(sub, compile.tuningTime);
  addFindPolicy(sub, compile.findMode, compile.tuningPolicy);
  addSearch(sub, compile.search);
  sub->add_option("--tuning-file", compile.tuningFile,
                  "Write the record of the tuning here")
      ->type_name("OUT.json");
  CLI::Option *replay =
      sub->add_option("--replay", compile.replay,
                      "Compile as this tuning file says; measure nothing")
          ->type_name("IN.json");
  // The file says which choice is compiled.
  for (CLI::Option *knob : {dtype, layout, fusion})
    replay->excludes(knob);
  sub->add_flag("--replay-anyway", compile.replayAnyway,
                "Replay a file that was made for something else, as far as it "
                "fits")
      ->needs(replay);
  sub->add_flag("--strict", compile.strict, "Make a fallback an error");
  sub->add_flag("--quiet", compile.quiet, "Show no progress");
  sub->add_flag("--kernel-report", compile.kernelReport,
                "Say what each kernel of a GPU's package takes of the GPU, and "
                "how many launches it serves");
  sub->add_flag("--include-candidates{8}", compile.candidates,
                "Put so many solutions of each layer into a GPU's package "
                "(default: 8; or all that were compiled), for 'graph-opt "
                "tune' where the GPU is")
      ->check(isCandidateCount());
  sub->add_option("-o,--output", compile.output, "Write the package here")
      ->type_name("OUT.tpn");
  addCpu(sub, compile.cpu);
  addLogDriver(sub, compile.logDriver);
}

void CommandLine::addRun() {
  CLI::App *sub =
      add("run", "Run a model",
          "graph-opt run resnet50.tpn --input data=cat.npy --output-dir out",
          [this] { return runRun(run); });
  addModel(sub, run.model.model, "The ONNX model or a package (.tpn)");
  sub->add_option("--input", run.inputs,
                  "An input (default: generated from the seed)")
      ->type_name("NAME=FILE.npy|.pb")
      ->expected(1)
      ->take_all();
  sub->add_option("--output-dir", run.outputDir,
                  "Write the outputs here as 0.npy, 1.npy, ...")
      ->type_name("DIR");
  addSeed(sub, run.seed);
  addChoice(sub, run.model);
  addLogDriver(sub, run.model.logDriver);
}

void CommandLine::addPerf() {
  CLI::App *sub = add("perf", "Measure a model, layer by layer",
                      "graph-opt perf resnet50.tpn --threads 1 --json "
                      "resnet50-perf.json",
                      [this] { return runPerf(perf); });
  addModel(sub, perf.model.model, "The ONNX model or a package (.tpn)");
  sub->add_option("--iterations", perf.iterations,
                  "Timed runs (default: what fits into a second)")
      ->check(isBetween(int64_t(1), int64_t(1) << 20))
      ->type_name("N");
  sub->add_flag("--compile-report", perf.compileReport,
                "Compile every kernel anew and say what it takes, and how many "
                "layers it serves");
  sub->add_option("--json", perf.json, "Write the figures here too")
      ->type_name("OUT");
  addChoice(sub, perf.model);
  addLogDriver(sub, perf.model.logDriver);
}

void CommandLine::addVerify() {
  CLI::App *sub =
      add("verify", "Compare a model's results with what they should be",
          "graph-opt verify resnet50.onnx --dtype int8 --layout nhwc",
          [this] { return runVerify(verify); });
  addModel(sub, verify.model.model, "The ONNX model");
  sub->add_option("--test-data", verify.testData,
                  "An ONNX test_data_set, or a folder of them (default: "
                  "compare with the reference solver)")
      ->type_name("DIR");
  addMaxError(sub, verify.maxError, "Largest relative L2 error to accept");
  addSeed(sub, verify.seed);
  addChoice(sub, verify.model);
}

void CommandLine::addImport() {
  CLI::App *sub = add("import", "Print an ONNX model as MLIR",
                      "graph-opt import resnet50.onnx --elide 4",
                      [this] { return runImport(import); });
  addModel(sub, import.model, "The ONNX model");
  addBatch(sub, import.batch);
  sub->add_option("--elide", import.elide,
                  "Print the values of constants of up to N elements only "
                  "(default: 16)")
      ->check(isBetween(int64_t(0), int64_t(1) << 40))
      ->type_name("N");
}

void CommandLine::addSolvers() {
  CLI::App *sub = add("solvers", "List the solvers, or those of a problem",
                      "graph-opt solvers --problem 'relu(1x64x56x56xf32)->...'",
                      [this] { return runSolvers(solvers); });
  CLI::Option *problem = sub->add_option("--problem", solvers.problem,
                                         "A problem key as in a tuning file")
                             ->type_name("KEY");
  addTarget(sub, solvers.target, "Whose solvers (default: host)");
  CLI::Option *estimate =
      sub->add_flag("--estimate", solvers.estimate,
                    "Compile the kernels of default configs for a GPU, and say "
                    "what they take of it and how long")
          ->needs(problem);
  sub->add_option("--solution", solvers.solution,
                  "Estimate this one, with a config as --problem lists them")
      ->needs(estimate)
      ->type_name("SOLVER[:CONFIG]");
  addThreads(sub, solvers.threads);
  addCpu(sub, solvers.cpu);
}

void CommandLine::addDriver() {
  CLI::App *sub = add("driver", "Run one operation, as MIOpenDriver does",
                      "graph-opt driver convfp16 -n 8 -c 256 -H 14 -W 14 -k "
                      "256 -y 3 -x 3 -p 1 -q 1 \\\n      -F 1 -V 1 -t 1",
                      [this] { return runDriver(driver); });
  addThreads(sub, driver.threads);
  addCpu(sub, driver.cpu);
  addTarget(sub, driver.target, "What to run on (default: host)");
  addDevice(sub, driver.device,
            "What a GPU's kernels run on (default: hip, with --dump-case "
            "emulated)");
  sub->add_option("--dump-case", driver.dumpCase,
                  "Write each launch with its arguments and what it has to "
                  "give into folders of this one, for scripts/emulate-case")
      ->type_name("DIR");
  // The rest is not CLI11's: flags such as -! and -@ have no meaning to it.
  sub->prefix_command();
  sub->description(
      sub->get_description() +
      "\ngraph-opt driver [OPTIONS] BASE [FLAGS]; \"graph-opt driver BASE "
      "--help\" lists the flags.\nBASE is " +
      join(getDriverBases(), ", ", " or ") + ".");
  sub->parse_complete_callback(
      [this, sub] { driver.words = sub->remaining(); });
}

/// One of the commands behind `db`.
CLI::App *CommandLine::addDb(CLI::App *db, const std::string &name,
                             const std::string &summary, StoreArguments &store,
                             bool hasJson, std::function<int()> run) {
  CLI::App *sub = db->add_subcommand(name, summary);
  sub->add_option("--store", store.store,
                  "The store (default: the journal of this machine)")
      ->type_name("FILE");
  if (hasJson)
    sub->add_option("--json", store.json, "Write the answer here too")
        ->type_name("OUT");
  sub->callback([this, run = std::move(run)] { command = run; });
  return sub;
}

void CommandLine::addDbExchange(CLI::App *db) {
  CLI::App *import = addDb(
      db, "import", "Import find DBs and perf DBs of MIOpen", dbImport.store,
      /*hasJson=*/true, [this] { return runDbImport(dbImport); });
  import
      ->add_option("FILE", dbImport.files,
                   "*.fdb.txt, *.ufdb.txt, *.db, *.udb, *.db.txt, *.udb.txt")
      ->required()
      ->type_name("");
  CLI::App *out = addDb(db, "export", "Write imported records as MIOpen's file",
                        dbExport.store, /*hasJson=*/false,
                        [this] { return runDbExport(dbExport); });
  out->add_option("OUT", dbExport.output,
                  "The file, named in MIOpen's way for its format")
      ->required()
      ->type_name("");
  out->add_option("--from", dbExport.from,
                  "The imported file to write (default: the one that is named "
                  "like OUT)")
      ->type_name("NAME");
  out->add_flag("--driver-lines", dbExport.driverLines,
                "Write the problems that can be posed here as driver lines "
                "(default: of all imported files)");
}

void CommandLine::addDbWhole(CLI::App *db) {
  addDb(db, "stats", "Count records", dbStats, /*hasJson=*/true,
        [this] { return runDbStats(dbStats); });
  addDb(db, "check", "Check that a store is sound", dbCheck,
        /*hasJson=*/false, [this] { return runDbCheck(dbCheck); });
  CLI::App *merge = addDb(
      db, "merge", "Take the records of another store that are missing",
      dbMerge.store, /*hasJson=*/false, [this] { return runDbMerge(dbMerge); });
  merge->add_option("OTHER", dbMerge.other, "The other store")
      ->required()
      ->type_name("");
  CLI::App *publish =
      addDb(db, "publish", "Write the best records as a system store",
            dbPublish.store, /*hasJson=*/false,
            [this] { return runDbPublish(dbPublish); });
  publish->add_option("OUT", dbPublish.output, "The store to write")
      ->required()
      ->type_name("");
  CLI::App *prune =
      addDb(db, "prune", "Drop records of other versions", dbPrune.store,
            /*hasJson=*/false, [this] { return runDbPrune(dbPrune); });
  CLI::Option *dry =
      prune->add_flag("--dry-run", dbPrune.dryRun, "Only say how many");
  prune
      ->add_option("--imported", dbPrune.imported,
                   "Drop the records of this imported file instead")
      ->type_name("NAME")
      ->excludes(dry);
}

void CommandLine::addDbKernels(CLI::App *db) {
  CLI::App *sub = db->add_subcommand(
      "export-kernels", "Write a precompiled kernel cache, to be installed");
  sub->add_option("DIR", dbExportKernels.output,
                  "The folder: share/tarpon/kernels where Tarpon is installed")
      ->required()
      ->type_name("");
  addCpu(sub, dbExportKernels.cpu);
  sub->callback([this] {
    command = [this] { return runDbExportKernels(dbExportKernels); };
  });
}

void CommandLine::addDb() {
  CLI::App *db = app.add_subcommand("db", "Look after what was measured, and "
                                          "exchange it with MIOpen");
  db->footer("example:\n  graph-opt db import gfx90a68.HIP.fdb.txt");
  db->require_subcommand(1);
  names.push_back("db");
  addDbExchange(db);
  CLI::App *list =
      addDb(db, "list", "List problems with their best solutions", dbList.store,
            /*hasJson=*/true, [this] { return runDbList(dbList); });
  list->add_option("--problem", dbList.problem,
                   "Only problems whose keys hold this text")
      ->type_name("TEXT");
  list->add_option("--solver", dbList.solver,
                   "Only problems that this solver is best at")
      ->type_name("ID");
  list->add_option("--limit", dbList.limit, "At most so many")
      ->check(isBetween(int64_t(0), int64_t(1) << 40))
      ->type_name("N");
  CLI::Option *stale =
      list->add_flag("--stale", dbList.stale, "Other versions' records too");
  list->add_flag("--imported", dbList.imported,
                 "What was imported, with the best of this machine beside it")
      ->excludes(stale);
  addDbWhole(db);
  addDbKernels(db);
  CLI::App *diff = addDb(db, "diff", "Compare the best solutions of two stores",
                         dbDiff.store, /*hasJson=*/true,
                         [this] { return runDbDiff(dbDiff); });
  diff->add_option("OTHER", dbDiff.other, "The other store")
      ->required()
      ->type_name("");
  diff->add_option("--min-change", dbDiff.minChange,
                   "Which change of a time counts (default: 0.05)")
      ->check(isBetween(0.0, 1e9))
      ->type_name("FRACTION");
}

void CommandLine::addFind() {
  CLI::App *sub = add("find", "Find the solutions of one problem",
                      "graph-opt find --order workspace conv -n 1 -c 64 -H 56 "
                      "-W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -F 1",
                      [this] { return runFind(find); });
  addFinder(sub, find.finder);
  addTuningTime(sub, find.tuningTime);
  sub->add_flag("--tune", find.tune, "Search every config");
  sub->add_flag("--immediate", find.immediate,
                "Measure nothing: list what is known or expected");
  sub->add_option("--order", find.order, "What comes first (default: time)")
      ->check(isOneOf(kOrder))
      ->type_name(getTypeName(kOrder));
  sub->add_option("--workspace-limit", find.workspaceLimit,
                  "Leave out solvers that need more")
      ->check(isBetween(int64_t(0), int64_t(1) << 60))
      ->type_name("BYTES");
  sub->add_option("--disable-solver", find.disabledSolvers,
                  "Leave out this solver; may be given several times")
      ->type_name("ID")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option *save =
      sub->add_option("--save", find.save, "Write the best solution here")
          ->type_name("OUT.json");
  sub->add_flag("--with-kernels", find.withKernels,
                "And its kernels beside it, with generated constants")
      ->needs(save);
  sub->add_option("--load", find.load, "Check a solution that was saved")
      ->type_name("IN.json")
      ->excludes(save);
  // As for the driver.
  sub->prefix_command();
  sub->description(sub->get_description() +
                   "\ngraph-opt find [OPTIONS] PROBLEM; the problem is a key "
                   "as in a tuning file, or a command line of MIOpenDriver "
                   "(see 'graph-opt driver --help').");
  sub->parse_complete_callback([this, sub] { find.words = sub->remaining(); });
}

void CommandLine::addTune() {
  CLI::App *sub =
      add("tune", "Tune a list of problems, or a package where its GPU is",
          "graph-opt run resnet50.onnx --log-driver resnet50.txt\n  graph-opt "
          "tune resnet50.txt\n  graph-opt tune r50.tpn -o r50-tuned.tpn",
          [this] { return runTune(tune); });
  sub->add_option("FILE", tune.workload,
                  "Problem keys and driver lines, one per line; logs of "
                  "MIOpen, too; or a package with candidates (.tpn)")
      ->required()
      ->type_name("");
  addFinder(sub, tune.finder);
  addTuningTime(sub, tune.tuningTime);
  sub->add_option("-o,--output", tune.output,
                  "Write the tuned package here (default: in its place)")
      ->type_name("OUT.tpn");
  sub->add_option("--tuning-file", tune.tuningFile,
                  "The record that the package was compiled with: what is "
                  "measured is written into it")
      ->type_name("FILE.json");
  sub->add_flag("--drop-candidates", tune.dropCandidates,
                "Leave what is not chosen out of the tuned package");
}

void CommandLine::addTrain() {
  CLI::App *sub =
      add("train", "Learn from measurements what will be fast",
          "graph-opt train --split benchmarks/problems/split.json --threads 1",
          [this] { return runTrain(train); });
  sub->add_option("--store", train.store,
                  "A store that nobody writes to (default: the journal of this "
                  "machine)")
      ->type_name("FILE");
  CLI::Option *into =
      sub->add_option("--into", train.into,
                      "The store to write the model into (default: the journal "
                      "of this machine)")
          ->type_name("FILE");
  sub->add_option("--split", train.split,
                  "Which networks are held out, to judge the model by")
      ->type_name("FILE");
  sub->add_option("--seed", train.seed,
                  "Seed of the samples that training draws (default: 1)")
      ->type_name("N");
  sub->add_flag("--report", train.report,
                "Every held-out choice, and every network of training left out "
                "in turn");
  sub->add_flag("--dry-run", train.dryRun, "Write no model")->excludes(into);
  addThreads(sub, train.threads);
  addCpu(sub, train.cpu);
}

CommandLine::CommandLine() {
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("graph-opt ") + TARPON_VERSION);
  app.footer("example:\n  graph-opt compile resnet50.onnx -o resnet50.tpn\n\n"
             "\"graph-opt COMMAND --help\" tells more about each.");
  addCompile();
  addRun();
  addPerf();
  addVerify();
  addImport();
  addSolvers();
  addDriver();
  addDb();
  addFind();
  addTune();
  addTrain();
}

std::optional<int> CommandLine::parse(int argc, char **argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return failUsage(describe(app, error));
  }
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

bool isCommand(std::string_view argument) {
  CommandLine line;
  const std::vector<std::string> &names = line.getNames();
  return std::find(names.begin(), names.end(), argument) != names.end();
}

int runCommandLine(int argc, char **argv) {
  CommandLine line;
  if (std::optional<int> status = line.parse(argc, argv))
    return *status;
  return line.command();
}

void visitCommandLine(const std::function<void(const CLI::App &)> &visit) {
  visit(CommandLine().getApp());
}

} // namespace tarpon
