//===- ExportTest.cpp - Results as files ----------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultsFixture.h"

#include "tarpon/Autotune/Learn/MeasuredProblems.h"
#include "tarpon/Autotune/MIOpen/MIOpenFile.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Store/ImportedRecords.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Fleet/Export.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Compiler/LaunchKernel.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using testing::HasSubstr;

namespace {

/// A convolution with a fused ReLU, which MIOpen's keys cannot describe, and
/// others that they can.
const char *const kFused =
    "conv(1x16x9x9xf32:nhwc, 16x16x1x1xf32:const)->1x16x9x9xf32:nhwc "
    "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}+relu";
const char *const kForward =
    "conv(8x64x56x56xf16, 128x64x3x3xf16:const)->8x128x28x28xf16 "
    "{dilations=1,1 group=1 pads=1,1,1,1 strides=2,2}";
const char *const kBackward =
    "conv_transpose(8x128x28x28xf32, 128x32x3x3xf32:const)->8x64x56x56xf32 "
    "{dilations=1,1 group=2 output_padding=1,1 pads=1,1,1,1 strides=2,2}";
const char *const kWeights =
    "conv_backward_weights(1x4x5x6x7xbf16, 1x8x5x6x7xbf16)->8x4x3x3x3xbf16 "
    "{dilations=1,1,1 group=1 pads=1,1,1,1,1,1 strides=1,1,1}";

class ExportTest : public ResultsTest {
protected:
  void SetUp() override {
    ResultsTest::SetUp();
    char path[] = "/tmp/tarpon-export-XXXXXX";
    output = mkdtemp(path);
  }
  void TearDown() override {
    std::filesystem::remove_all(output);
    ResultsTest::TearDown();
  }

  Session openSession(const std::string &label, const std::string &target,
                      bool isModelled = false) {
    auto session =
        fleet::openSession(*database, {label, target, isModelled, 1, {}});
    EXPECT_TRUE(session) << session.message();
    return session ? *session : Session();
  }

  static std::string getError(const runtime::Result<ExportSummary> &summary) {
    return summary ? "" : summary.message();
  }

  std::string output;
};

/// A solution's identity and time, as text.
std::vector<std::string> listSolutions(const std::string &path) {
  auto store = StoreAdmin::openForReading(path);
  EXPECT_TRUE(store) << store.message();
  std::vector<std::string> lines;
  if (!store)
    return lines;
  auto solutions = (*store)->getBestOfSolvers();
  EXPECT_TRUE(solutions) << solutions.message();
  for (const BestSolution &solution : *solutions) {
    const Measurement &m = solution.measurement;
    lines.push_back(solution.context.target + " " +
                    std::to_string(solution.context.threads) + " " +
                    solution.context.caches + " " + solution.context.tarpon +
                    " " + solution.context.llvm + " " + m.key.problem + " " +
                    m.key.solver + " " + m.key.config + " " +
                    std::to_string(m.median) + " " + std::to_string(m.mad) +
                    " " + std::to_string(m.maxError) + " " +
                    std::to_string(m.workspaceBytes) +
                    (m.stage == MeasurementStage::Final ? " final" : " race") +
                    (solution.isStale ? " stale" : ""));
  }
  return lines;
}

} // namespace

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// What `tune` records and `db publish` selects is what is exported.
TEST_P(ExportTest, theStoreIsThatOfTheSameMeasurements) {
  Session session = openSession("L", "host");
  auto journal = Journal::open(output + "/tuned.journal", session.context);
  ASSERT_TRUE(journal) << journal.message();
  // Later rows, of later stages or with other results, replace earlier ones.
  struct {
    const char *solver, *config, *stage, *status;
    double time;
  } rows[] = {{"conv-igemm-v1", "a=1", "race", "ok", 2},
              {"conv-igemm-v1", "a=2", "race", "ok", 1},
              {"conv-igemm-v1", "a=1", "final", "ok", 1.5},
              {"conv-igemm-v1", "a=1", "race", "ok", 0.5},
              {"conv-fft-v1", "", "race", "ok", 0.1},
              {"conv-fft-v1", "", "race", "wrong", 0.1},
              {"conv-pointwise-v1", "b=1", "race", "failed", 3},
              {"conv-pointwise-v1", "b=2", "final", "ok", 4}};
  for (const char *key : {kFused, kForward}) {
    int64_t problem = addProblem(key);
    for (const auto &row : rows) {
      MeasuredRow measured = {session.id, problem,   1,         row.solver,
                              row.config, row.stage, row.status};
      measured.samples = drawSamples(row.time, 0.01, 5, 1);
      addMeasurement(measured);
      runtime::Timing timing = runtime::summarize(measured.samples);
      Measurement m;
      m.key = {key, row.solver, row.config};
      m.stage = row.stage == std::string("final") ? MeasurementStage::Final
                                                  : MeasurementStage::Race;
      m.status = parseStatusName(row.status);
      m.samples = measured.samples;
      m.median = timing.medianMs;
      m.mad = timing.madMs;
      m.maxError = 1e-6;
      m.workspaceBytes = 64;
      m.rounds = 2;
      ASSERT_TRUE((*journal)->record(m));
    }
  }
  journal->reset();
  ASSERT_TRUE(publishStore(output + "/tuned.journal", output + "/tuned.store"));

  auto name = ResultsName::forLabel("L");
  auto exported = exportStore(*database, name, output + "/fleet/store");
  ASSERT_TRUE(exported) << exported.message();
  // Nothing else is left beside it.
  EXPECT_EQ(
      std::distance(std::filesystem::directory_iterator(output + "/fleet"),
                    std::filesystem::directory_iterator()),
      1);
  ASSERT_EQ(exported->files.size(), 1u);
  EXPECT_EQ(exported->files[0].problems, 2);
  EXPECT_EQ(exported->files[0].entries, 4);
  EXPECT_EQ(listSolutions(output + "/fleet/store"),
            listSolutions(output + "/tuned.store"));
  EXPECT_EQ(listSolutions(output + "/fleet/store").size(), 4u);

  // The release has the same.
  release("1", "", "L");
  ASSERT_TRUE(exportStore(*database, ResultsName::forRelease("1"),
                          output + "/release.store"));
  EXPECT_EQ(listSolutions(output + "/release.store"),
            listSolutions(output + "/tuned.store"));

  // The journal has all that the one of tune has.
  ASSERT_TRUE(exportJournal(*database, name, output + "/fleet.journal"));
  EXPECT_EQ(listSolutions(output + "/fleet.journal"),
            listSolutions(output + "/tuned.journal"));
}

/// The first rounds of a search that was aborted are no result, and a model may
/// learn from them all the same.
TEST_P(ExportTest, halfSearchedProblemsAreInTheJournalAlone) {
  Session session = openSession("L", "host");
  int64_t done = addProblem(kFused), half = addProblem(kForward);
  addEndedJob(session.id, done);
  addEndedJob(session.id, half, "aborted");
  addMeasurement({session.id, done, 1, "conv-igemm-v1"});
  addMeasurement({session.id, half, 1, "conv-igemm-v1", "tile=1", "race"});
  auto name = ResultsName::forLabel("L");
  auto store = exportStore(*database, name, output + "/store");
  ASSERT_TRUE(store) << store.message();
  EXPECT_EQ(store->files[0].problems, 1);
  auto journal = exportJournal(*database, name, output + "/journal");
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_EQ(journal->files[0].problems, 2);
}

/// What is measured later is not in the release.
TEST_P(ExportTest, aReleaseIsExportedAsItWas) {
  Session session = openSession("L", "host");
  int64_t problem = addProblem(kFused);
  addMeasurement({session.id, problem, 1, "conv-igemm-v1"});
  release("1", "", "L");
  run("UPDATE release SET created = created + 1000", {});
  addMeasurement({session.id, problem, 0.5, "conv-fft-v1"});
  run("UPDATE release SET created = created - 1000", {});
  // Within the same moment, the record decides.
  addMeasurement({session.id, problem, 0.4, "conv-pointwise-v1"});
  run("UPDATE measurement SET time = time - 2000 WHERE solver = "
      "'conv-pointwise-v1'",
      {});
  ASSERT_TRUE(exportJournal(*database, ResultsName::forRelease("1"),
                            output + "/journal"));
  auto solutions = listSolutions(output + "/journal");
  ASSERT_EQ(solutions.size(), 1u);
  EXPECT_THAT(solutions[0], HasSubstr("conv-igemm-v1"));
}

/// The database's clock may have been set back before the release was made.
TEST_P(ExportTest, aReleaseHasItsRecordsWhateverTheClockSays) {
  Session session = openSession("L", "host");
  addMeasurement({session.id, addProblem(kFused), 1, "conv-igemm-v1"});
  addMeasurement({session.id, addProblem(kForward), 1, "conv-igemm-v1"});
  release("1", "", "L");
  run("UPDATE measurement SET time = time + 3600 WHERE id = (SELECT min(id) "
      "FROM measurement)",
      {});
  auto journal = exportJournal(*database, ResultsName::forRelease("1"),
                               output + "/journal");
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_EQ(journal->files[0].problems, 2);
}

TEST_P(ExportTest, resultsOfOtherBuildsAreNotShipped) {
  Session session = openSession("L", "host");
  addMeasurement({session.id, addProblem(kFused), 1, "conv-igemm-v1"});
  run("UPDATE session SET kernel_version = 'host-codegen-0+abc'", {});
  auto name = ResultsName::forLabel("L");
  EXPECT_THAT(getError(exportStore(*database, name, output + "/store")),
              HasSubstr("label:L has no results for a system store: label 'L' "
                        "for host: it has kernels of version "
                        "host-codegen-0+abc, and this build has"));
  EXPECT_THAT(getError(exportKernelCache(*database, name, output + "/kernels")),
              HasSubstr("needs kernels of version host-codegen-0+abc"));
  EXPECT_TRUE(exportJournal(*database, name, output + "/journal"));
}

TEST_P(ExportTest, timesOfAModelAreNotShipped) {
  Session session = openSession("L", "gfx942:cu=304", /*isModelled=*/true);
  addMeasurement({session.id,
                  addProblem(kForward),
                  1,
                  "gpu-igemm-v1",
                  "",
                  "race",
                  "ok",
                  {},
                  /*isModelled=*/true});
  EXPECT_THAT(getError(exportStore(*database, ResultsName::forLabel("L"),
                                   output + "/store")),
              HasSubstr("its times come from a model, which any machine can "
                        "ask"));
}

/// A wish that cannot be fulfilled leaves nothing half done.
TEST_P(ExportTest, allWishesAreChecked) {
  Session session = openSession("L", "host");
  addMeasurement({session.id, addProblem(kFused), 1, "conv-igemm-v1"});
  auto name = ResultsName::forLabel("L");
  auto check = [&](const ExportRequest &request) {
    auto status = checkExport(*database, name, request);
    return status ? "" : status.message();
  };
  EXPECT_EQ(
      check({output + "/journal", output + "/store", "", output + "/kernels"}),
      "");
  EXPECT_THAT(check({"", output + "/store", output + "/db", ""}),
              HasSubstr("MIOpen has AMD's GPUs only"));
  ASSERT_TRUE(exportJournal(*database, name, output + "/journal"));
  EXPECT_THAT(check({output + "/journal", "", "", ""}),
              HasSubstr("is there already"));
}

TEST_P(ExportTest, noFileIsOverwritten) {
  Session session = openSession("L", "host");
  addMeasurement({session.id, addProblem(kFused), 1, "conv-igemm-v1"});
  auto name = ResultsName::forLabel("L");
  ASSERT_TRUE(exportStore(*database, name, output + "/store"));
  ASSERT_TRUE(exportJournal(*database, name, output + "/journal"));
  EXPECT_THAT(getError(exportStore(*database, name, output + "/store")),
              HasSubstr("is there already"));
  EXPECT_THAT(getError(exportJournal(*database, name, output + "/journal")),
              HasSubstr("is there already"));
  EXPECT_THAT(getError(exportJournal(*database, name, output + "/store/no")),
              HasSubstr("/store/no"));
  EXPECT_EQ(getError(exportJournal(*database, ResultsName::forLabel("M"),
                                   output + "/m")),
            "there is no label 'M'");
  EXPECT_EQ(getError(exportJournal(*database, ResultsName::forRelease("2"),
                                   output + "/m")),
            "there is no release '2'");
  openSession("empty", "host");
  EXPECT_EQ(getError(exportJournal(*database, ResultsName::forLabel("empty"),
                                   output + "/m")),
            "label:empty has no results");
}

/// `train --store` reads the journal: one of the best solutions only would
/// teach nothing.
TEST_P(ExportTest, theJournalIsTrainingData) {
  auto target = getHostTarget(1, "native");
  ASSERT_TRUE(target) << target.message();
  Session session = openSession("L", "host");
  std::string key =
      "conv(1x16x9x9xf32:nhwc, 16x16x1x1xf32:const)->1x16x9x9xf32:nhwc "
      "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}";
  auto problem = parseProblem(key);
  int64_t id = addProblem(key);
  size_t rows = 0;
  for (const Solver *solver : getSolvers(*target)) {
    if (solver == &getReferenceSolver() ||
        !checkApplicable(*solver, *problem, *target))
      continue;
    for (const PerfConfig &config : solver->configs(*problem, *target)) {
      MeasuredRow row = {session.id,   id,    1, std::string(solver->id()),
                         config.str(), "race"};
      row.samples = drawSamples(1 + 0.1 * double(rows), 0.01, 5, rows);
      addMeasurement(row);
      ++rows;
    }
  }
  ASSERT_GT(rows, 3u);
  ASSERT_TRUE(exportJournal(*database, ResultsName::forLabel("L"),
                            output + "/journal"));
  std::vector<std::string> skipped;
  auto problems =
      readStoreOfAnyCpu(output + "/journal", *target, NetworkSplit(), skipped);
  ASSERT_TRUE(problems) << problems.message();
  EXPECT_TRUE(skipped.empty());
  ASSERT_EQ(problems->size(), 1u);
  EXPECT_EQ(problems->front().solutions.size(), rows);
}

//===----------------------------------------------------------------------===//
// MIOpen's files
//===----------------------------------------------------------------------===//

TEST_P(ExportTest, MIOpenFilesAreReadAgain) {
  Session session = openSession("L", "gfx942:cu=304");
  int64_t forward = addProblem(kForward);
  addMeasurement({session.id, forward, 0.25, "gpu-igemm-v1", "a=1,b=2"});
  addMeasurement({session.id, forward, 0.5, "gpu-igemm-v1", "a=2,b=2"});
  addMeasurement({session.id, forward, 0.125, "gpu-winograd-f2x3-v1", "a=1"});
  addMeasurement(
      {session.id, forward, 0.1, "gpu-depthwise-v1", "", "race", "wrong"});
  for (double time : {1, 2, 3})
    addMeasurement({session.id, forward, time,
                    "gpu-other" + std::to_string(int(time)) + "-v1", ""});
  addMeasurement({session.id, addProblem(kBackward), 0.3, "gpu-naive-v1", ""});
  addMeasurement(
      {session.id, addProblem(kWeights), 0.1 + 0.2, "gpu-igemm-v1", "a=1"});
  addMeasurement({session.id, addProblem(kFused), 1, "gpu-igemm-v1", "a=1"});
  Session host = openSession("L", "host");
  addMeasurement({host.id, forward, 1, "conv-igemm-v1", "a=1"});

  auto summary =
      exportMIOpen(*database, ResultsName::forLabel("L"), output + "/db");
  ASSERT_TRUE(summary) << summary.message();
  ASSERT_EQ(summary->files.size(), 2u);
  EXPECT_EQ(summary->files[0].path, output + "/db/gfx942130.HIP.fdb.txt");
  EXPECT_EQ(summary->files[1].path, output + "/db/gfx942130.db.txt");
  EXPECT_THAT(summary->omissions,
              testing::ElementsAre("label 'L' for host: MIOpen has AMD's GPUs "
                                   "only",
                                   "gfx942130.HIP.fdb.txt: 1 problem that no "
                                   "key of MIOpen describes"));

  auto find = miopen::readDatabase(summary->files[0].path);
  ASSERT_TRUE(find) << find.message();
  EXPECT_EQ(find->faults.malformed + find->faults.duplicates, 0);
  std::vector<miopen::Record> expected = {
      {"128-28-28-3x3-64-56-56-8-1x1-2x2-1x1-0-NCHW-FP32-B_g2",
       {{"gpu-naive-v1", "miopenConvolutionBwdDataAlgoDirect", 0.3, 64, ""}}},
      {"64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F",
       {{"gpu-winograd-f2x3-v1", "miopenConvolutionFwdAlgoWinograd", 0.125, 64,
         ""},
        {"gpu-igemm-v1", "miopenConvolutionFwdAlgoImplicitGEMM", 0.25, 64, ""},
        {"gpu-other1-v1", "miopenConvolutionFwdAlgoDirect", 1, 64, ""},
        {"gpu-other2-v1", "miopenConvolutionFwdAlgoDirect", 2, 64, ""}}},
      {"8-5-6-7-3x3x3-4-5-6-7-1-1x1x1-1x1x1-1x1x1-0-NCDHW-BF16-W",
       {{"gpu-igemm-v1", "miopenConvolutionBwdWeightsAlgoImplicitGEMM",
         0.1 + 0.2, 64, ""}}}};
  EXPECT_EQ(find->records, expected);

  auto perf = miopen::readDatabase(summary->files[1].path);
  ASSERT_TRUE(perf) << perf.message();
  EXPECT_EQ(perf->faults.malformed + perf->faults.duplicates, 0);
  ASSERT_EQ(perf->records.size(), 2u);
  EXPECT_EQ(perf->records[0].solutions.size(), 2u);
  EXPECT_EQ(perf->records[0].solutions[1].config, "a:1,b:2");

  // `db import` takes every record, poses every problem, and gives the records
  // back as they were.
  auto imported = ImportedRecords::openForWriting(output + "/imported");
  ASSERT_TRUE(imported) << imported.message();
  for (const miopen::Database *file : {&*find, &*perf}) {
    auto counts = (*imported)->add(*file);
    ASSERT_TRUE(counts) << counts.message();
    EXPECT_EQ(counts->posed, counts->problems);
    auto back = (*imported)->get(file->file.name);
    ASSERT_TRUE(back) << back.message();
    EXPECT_EQ(back->records, file->records);
  }
  std::vector<std::string> posed;
  auto visited = (*imported)->visit(
      "gfx942130.HIP.fdb.txt",
      [&](const ImportedSource &, const ImportedProblem &problem) {
        posed.push_back(problem.problem);
      });
  ASSERT_TRUE(visited) << visited.message();
  EXPECT_THAT(posed,
              testing::UnorderedElementsAre(kForward, kBackward, kWeights));
}

TEST_P(ExportTest, estimatesAreNegative) {
  Session session = openSession("L", "gfx1100", /*isModelled=*/true);
  addMeasurement({session.id,
                  addProblem(kForward),
                  0.5,
                  "gpu-igemm-v1",
                  "",
                  "race",
                  "ok",
                  {},
                  /*isModelled=*/true});
  auto summary = exportMIOpen(*database, ResultsName::forLabel("L"), output);
  ASSERT_TRUE(summary) << summary.message();
  auto find = miopen::readDatabase(summary->files[0].path);
  ASSERT_TRUE(find) << find.message();
  EXPECT_EQ(find->records[0].solutions[0].milliseconds, -0.5);
}

TEST_P(ExportTest, MIOpenHasNoOtherTargets) {
  Session session = openSession("L", "host");
  addMeasurement({session.id, addProblem(kForward), 1, "conv-igemm-v1"});
  EXPECT_EQ(getError(exportMIOpen(*database, ResultsName::forLabel("L"),
                                  output + "/db")),
            "label:L has no results for MIOpen: label 'L' for host: MIOpen has "
            "AMD's GPUs only");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST_P(ExportTest, theBestSolutionsNeedNoCompiler) {
  std::string users = output + "/users";
  setenv("TARPON_CACHE_DIR", users.c_str(), 1);
  Session session = openSession("L", "host");
  auto target = openTarget(session);
  ASSERT_TRUE(target) << target.message();
  const TargetInfo &info = target->compiler->getTarget();
  std::string key = "relu(1x8x9x9xf32)->1x8x9x9xf32";
  auto problem = parseProblem(key);
  const Solver *solver = findSolver(info, "elementwise-v1");
  ASSERT_NE(solver, nullptr);
  PerfConfig config = solver->configs(*problem, info).front();
  addMeasurement(
      {session.id, addProblem(key), 1, "elementwise-v1", config.str()});
  addMeasurement({session.id, addProblem(kFused), 1, "gone-v1", "a=1"});

  auto name = ResultsName::forLabel("L");
  for (int run = 0; run < 2; ++run) {
    auto summary = exportKernelCache(*database, name, output + "/kernels");
    ASSERT_TRUE(summary) << summary.message();
    EXPECT_EQ(summary->files[0].problems, 2);
    EXPECT_GE(summary->files[0].entries, 1);
  }
  KernelCacheOptions options;
  options.userDirectory = output + "/none";
  options.systemDirectory = output + "/kernels";
  KernelCompiler compiler(info,
                          std::make_shared<LayeredKernelCache>(options, info),
                          target->target->makeBackend());
  SolutionPlan plan = solver->plan(*problem, info, config);
  for (const LaunchPlan &launch : plan.launches)
    ASSERT_TRUE(compiler.getObject(solver->id(), getKernelSource(launch)));
  EXPECT_EQ(compiler.getStatistics().compiled, 0);
  EXPECT_GE(compiler.getStatistics().fromCache, 1);
  unsetenv("TARPON_CACHE_DIR");
}

INSTANTIATE_FLEET_TEST(ExportTest);
