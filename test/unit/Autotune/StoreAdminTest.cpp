//===- StoreAdminTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "tarpon/Autotune/Store/ImportedRecords.h"

#include "ScopedBehaviourVersion.h"
#include "StoreTestFiles.h"
#include "TestDirectory.h"

#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <sys/resource.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

const char *const kRelu = "relu(1x2x3x4xf32)->1x2x3x4xf32";
const char *const kTanh = "tanh(1x2x3x4xf32)->1x2x3x4xf32";

/// This build's records are not stale, and those of an older one are.
JournalContext makeContext(bool isStale = false) {
  JournalContext context = JournalContext::forTarget(TargetInfo());
  if (isStale)
    context.tarpon = "0.0.1+old";
  return context;
}

/// A machine with other caches; "" if they are unknown.
JournalContext makeContext(const std::string &caches) {
  JournalContext context = makeContext();
  context.caches = caches;
  return context;
}

Measurement makeMeasurement(const std::string &problem,
                            const std::string &solver, double median,
                            MeasurementStage stage = MeasurementStage::Race) {
  Measurement m;
  m.key = {problem, solver, "tile=1"};
  m.stage = stage;
  m.status = MeasurementStatus::Ok;
  m.samples = {median};
  m.median = median;
  return m;
}

class StoreAdminTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("a.journal"),
              otherPath = directory.file("b.journal");

  void record(const std::string &file, const Measurement &measurement,
              bool isStale = false) {
    auto journal = Journal::open(file, makeContext(isStale));
    ASSERT_TRUE(journal) << journal.message();
    ASSERT_TRUE((*journal)->record(measurement));
  }

  static void recordFor(const std::string &file, const std::string &caches,
                        const Measurement &measurement) {
    auto journal = Journal::open(file, makeContext(caches));
    ASSERT_TRUE(journal) << journal.message();
    ASSERT_TRUE((*journal)->record(measurement));
  }

  /// "CACHES SOLVER MEDIAN" of each best solution.
  static std::vector<std::string>
  print(const std::vector<BestSolution> &solutions) {
    std::vector<std::string> lines;
    for (const BestSolution &solution : solutions)
      lines.push_back(llvm::formatv("{0} {1} {2:F1}", solution.context.caches,
                                    solution.measurement.key.solver,
                                    solution.measurement.median));
    return lines;
  }

  void importInto(const std::string &file, const std::string &name,
                  double milliseconds) {
    miopen::Database database = {
        *miopen::parseFileName(name),
        {{"4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F",
          {{"A", "miopenConvolutionFwdAlgoGEMM", milliseconds, 0, ""}}}},
        {}};
    auto records = ImportedRecords::openForWriting(file);
    ASSERT_TRUE(records && (*records)->add(database));
  }

  std::unique_ptr<StoreAdmin> open(const std::string &file) {
    auto store = StoreAdmin::openForWriting(file);
    EXPECT_TRUE(store) << store.message();
    return store ? std::move(*store) : nullptr;
  }

  std::string checkError(const std::string &file) {
    auto store = StoreAdmin::openForReading(file);
    if (!store)
      return store.message();
    auto status = (*store)->check();
    return status ? "" : status.message();
  }

  static std::string countFindings(const std::string &file) {
    return queryStore(file, "SELECT count(*) FROM finding");
  }

  void execute(const std::string &file, const std::string &sql) {
    EXPECT_EQ(changeStore(file, sql), "");
  }
};

} // namespace

TEST_F(StoreAdminTest, Counts) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(path, makeMeasurement(kTanh, "a-v1", 2, MeasurementStage::Final));
  record(path, makeMeasurement(kTanh, "b-v1", 2));
  record(path, makeMeasurement(kTanh, "b-v1", 2), /*isStale=*/true);
  auto stats = open(path)->getStats();
  ASSERT_TRUE(stats) << stats.message();
  EXPECT_EQ(stats->measurements, 4);
  EXPECT_EQ(stats->stale, 1);
  ASSERT_EQ(stats->contexts.size(), 2u);
  EXPECT_EQ(stats->solvers.at("a-v1"), 2);
  EXPECT_EQ(stats->statuses.at("ok"), 4);
  EXPECT_EQ(stats->stages.at("final"), 1);
  EXPECT_TRUE(stats->contexts[0].isStale);
  EXPECT_EQ(stats->contexts[1].problems, 2);
}

/// Another LLVM compiles the same kernels to other code.
TEST_F(StoreAdminTest, RecordsOfAnotherLlvmAreStale) {
  JournalContext context = makeContext();
  context.llvm = "21.1.0";
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  ASSERT_TRUE((*journal)->record(makeMeasurement(kRelu, "a-v1", 2)));
  EXPECT_EQ(open(path)->getStats()->stale, 1);
}

/// Programs that have more targets may share a store with those that have not.
TEST_F(StoreAdminTest, RecordsOfUnknownTargetsAreKept) {
  JournalContext context = makeContext();
  context.target = "vax/e3b0c442";
  context.tarpon = "vax-codegen-1";
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  ASSERT_TRUE((*journal)->record(makeMeasurement(kRelu, "a-v1", 2)));
  EXPECT_EQ(open(path)->getStats()->stale, 0);
  EXPECT_EQ(open(path)->prune(/*isDryRun=*/false)->measurements, 0);
  context.llvm = "1";
  ASSERT_TRUE((*Journal::open(path, context))
                  ->record(makeMeasurement(kRelu, "a-v1", 2)));
  EXPECT_EQ(open(path)->getStats()->stale, 1);
}

/// Records from before the memory was in the name may be an H100's or an
/// H200's.
TEST_F(StoreAdminTest, RecordsOfEitherOfTwoGpusAreStale) {
  JournalContext context =
      JournalContext::forTarget(makeGpuTargetInfo(*parseGpuTarget("sm_90a")));
  auto isStale = [&](const std::string &store) {
    EXPECT_TRUE((*Journal::open(store, context))
                    ->record(makeMeasurement(kRelu, "gpu-naive-v1", 2)));
    return open(store)->getStats()->stale == 1;
  };
  EXPECT_FALSE(isStale(path));
  context.target = "sm_90a:cu=132/e3b0c442";
  EXPECT_TRUE(isStale(otherPath));
  auto published = publishStore(otherPath, directory.file("published"));
  EXPECT_THAT(published.message(), HasSubstr("no records of this build"));
}

/// The listed solutions are the answers of a journal.
TEST_F(StoreAdminTest, BestSolutionsAreThoseOfTheJournal) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(path, makeMeasurement(kRelu, "b-v1", 1));
  record(path, makeMeasurement(kRelu, "a-v1", 3, MeasurementStage::Final));
  Measurement wrong = makeMeasurement(kRelu, "c-v1", 0.1);
  wrong.status = MeasurementStatus::Wrong;
  record(path, wrong);
  record(path, makeMeasurement(kTanh, "a-v1", 5));
  record(path, makeMeasurement(kTanh, "a-v1", 4));
  Measurement late = makeMeasurement(kTanh, "b-v1", 1);
  record(path, late);
  late.status = MeasurementStatus::Crashed;
  record(path, late);
  auto best = open(path)->getBestSolutions();
  ASSERT_TRUE(best) << best.message();
  ASSERT_EQ(best->size(), 2u);
  auto journal = Journal::open(path, makeContext());
  for (const BestSolution &solution : *best) {
    auto expected = (*journal)->getBest(solution.measurement.key.problem);
    ASSERT_TRUE(expected);
    EXPECT_EQ(solution.measurement.key, expected->key);
    EXPECT_EQ(solution.measurement.median, expected->median);
  }
  EXPECT_EQ((*best)[0].measurement.key.solver, "a-v1");
  EXPECT_EQ((*best)[0].solutions, 2);
  EXPECT_EQ((*best)[1].measurement.median, 4);
}

/// Records without cache sizes are served on every machine.
TEST_F(StoreAdminTest, BestSolutionsAreThoseOfOneMachine) {
  recordFor(path, "", makeMeasurement(kRelu, "a-v1", 2));
  recordFor(path, "1K/2K/3K", makeMeasurement(kRelu, "b-v1", 3));
  recordFor(path, "1K/2K/6K", makeMeasurement(kRelu, "b-v1", 1));
  recordFor(path, "", makeMeasurement(kRelu, "c-v1", 1.5));
  recordFor(path, "", makeMeasurement(kTanh, "a-v1", 4));
  auto best = open(path)->getBestSolutions();
  ASSERT_TRUE(best) << best.message();
  EXPECT_THAT(print(*best), ElementsAre("1K/2K/3K c-v1 1.5",
                                        "1K/2K/6K b-v1 1.0", " a-v1 4.0"));
  EXPECT_EQ((*best)[0].solutions, 3);
  for (const char *caches : {"1K/2K/3K", "1K/2K/6K"}) {
    auto journal = Journal::open(path, makeContext(std::string(caches)));
    auto served = (*journal)->getBest(kRelu);
    ASSERT_TRUE(served);
    EXPECT_TRUE(llvm::any_of(*best, [&](const BestSolution &solution) {
      return solution.context.caches == caches &&
             solution.measurement.key == served->key &&
             solution.measurement.median == served->median;
    }));
  }
}

TEST_F(StoreAdminTest, SoundStoresPass) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  importInto(path, "gfx90a68.HIP.fdb.txt", 1);
  EXPECT_EQ(checkError(path), "");
}

TEST_F(StoreAdminTest, ContradictionsAreNoticed) {
  const std::string begin = "journal " + path + " contradicts itself: ";
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  importInto(path, "gfx90a68.HIP.fdb.txt", 1);
  execute(path, "UPDATE measurement SET median = -1");
  EXPECT_EQ(checkError(path), begin + "1 measurements have impossible times");
  execute(path, "UPDATE measurement SET median = 1, samples = '[1'");
  EXPECT_EQ(checkError(path),
            begin + "1 measurements have samples that cannot be read");
  execute(path, "UPDATE measurement SET samples = '[1]', problem = 'relu('");
  EXPECT_THAT(checkError(path), StartsWith(begin + "'relu(' is no problem: "));
  execute(path, "UPDATE measurement SET tarpon = '0.0.1'");
  EXPECT_EQ(checkError(path), "");
  execute(path, "DELETE FROM imported_solution");
  EXPECT_EQ(checkError(path), begin + "1 imported problems have no solutions");
  execute(path, "DELETE FROM imported_source");
  EXPECT_EQ(checkError(path), begin + "1 imported problems belong to no file");
}

/// Damage of what was imported is found by a check, and in nobody's way
/// otherwise.
TEST_F(StoreAdminTest, DamageOfImportedRecordsStopsNoJournal) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  {
    miopen::Database database = {
        *miopen::parseFileName("gfx90a68.HIP.fdb.txt"), {}, {}};
    for (int i = 1; i < 2000; ++i)
      database.records.push_back(
          {std::to_string(i) + "-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F",
           {{"A", "miopenConvolutionFwdAlgoGEMM", 1.0, 0, ""}}});
    auto records = ImportedRecords::openForWriting(path);
    ASSERT_TRUE(records && (*records)->add(database));
  }
  execute(path, "PRAGMA journal_mode = DELETE");
  std::string bytes = readText(path);
  ASSERT_GT(bytes.size(), 300000u);
  bytes.replace(bytes.size() - 40000, 4096, 4096, '\x55');
  writeText(path, bytes);
  EXPECT_THAT(checkError(path), StartsWith("journal " + path + " is damaged"));
  auto journal = Journal::open(path, makeContext());
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_TRUE((*journal)->getBest(kRelu));
}

TEST_F(StoreAdminTest, PruneDropsStaleRecordsOnly) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(path, makeMeasurement(kRelu, "b-v1", 1), /*isStale=*/true);
  record(path, makeMeasurement(kTanh, "b-v1", 1), /*isStale=*/true);
  importInto(path, "gfx90a68.HIP.fdb.txt", 1);
  EXPECT_EQ(open(path)->prune(/*isDryRun=*/true)->measurements, 2);
  EXPECT_EQ(open(path)->getStats()->measurements, 3);
  EXPECT_EQ(open(path)->prune(/*isDryRun=*/false)->measurements, 2);
  EXPECT_EQ(open(path)->getStats()->measurements, 1);
  EXPECT_EQ(open(path)->prune(/*isDryRun=*/false)->measurements, 0);
  EXPECT_EQ(ImportedRecords::openForReading(path)->get()->getSources()->size(),
            1u);
  EXPECT_EQ(checkError(path), "");
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

TEST_F(StoreAdminTest, MergeTakesWhatIsMissing) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(otherPath, makeMeasurement(kRelu, "b-v1", 1));
  record(otherPath, makeMeasurement(kTanh, "a-v1", 3), /*isStale=*/true);
  importInto(otherPath, "gfx90a68.HIP.fdb.txt", 1);
  auto summary = open(path)->merge(otherPath);
  ASSERT_TRUE(summary) << summary.message();
  EXPECT_EQ(summary->measurements, 2);
  EXPECT_EQ(summary->importedProblems, 1);
  auto journal = Journal::open(path, makeContext());
  EXPECT_EQ((*journal)->getBest(kRelu)->key.solver, "b-v1");
  EXPECT_EQ((*journal)->getBest(kRelu)->samples, std::vector<double>{1});
  EXPECT_EQ(ImportedRecords::openForReading(path)
                ->get()
                ->get("gfx90a68.HIP.fdb.txt")
                ->records.size(),
            1u);
  // Nothing is missing any more.
  summary = open(path)->merge(otherPath);
  EXPECT_EQ(summary->measurements + summary->importedProblems, 0);
  EXPECT_EQ(open(path)->getStats()->measurements, 3);
  EXPECT_EQ(open(otherPath)->getStats()->measurements, 2);
  EXPECT_EQ(checkError(path), "");
}

/// Whose search was finished elsewhere is not searched again.
TEST_F(StoreAdminTest, MergeTakesFindings) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(otherPath, makeMeasurement(kRelu, "b-v1", 1));
  {
    auto other = Journal::open(otherPath, makeContext());
    ASSERT_TRUE((*other)->recordFinding(kRelu, {Finding::Searched, {}}));
    ASSERT_TRUE((*other)->recordFinding(kRelu, {Finding::Verified, {}}));
  }
  for (int i = 0; i < 2; ++i) {
    auto summary = open(path)->merge(otherPath);
    ASSERT_TRUE(summary) << summary.message();
  }
  auto journal = Journal::open(path, makeContext());
  EXPECT_TRUE(hasFinding(**journal, kRelu, Finding::Searched));
  EXPECT_FALSE(hasFinding(**journal, kRelu, Finding::Found));
  EXPECT_FALSE(hasFinding(**journal, kRelu, Finding::Verified));
  EXPECT_EQ(countFindings(path), "1");
}

TEST_F(StoreAdminTest, PruneDropsStaleFindings) {
  for (bool isStale : {true, false}) {
    auto journal = Journal::open(path, makeContext(isStale));
    ASSERT_TRUE((*journal)->recordFinding(kRelu, {Finding::Searched, {}}));
  }
  ASSERT_TRUE(open(path)->prune(/*isDryRun=*/true));
  EXPECT_EQ(countFindings(path), "2");
  ASSERT_TRUE(open(path)->prune(/*isDryRun=*/false));
  EXPECT_EQ(countFindings(path), "1");
  auto journal = Journal::open(path, makeContext());
  EXPECT_TRUE(hasFinding(**journal, kRelu, Finding::Searched));
}

TEST_F(StoreAdminTest, MergeKeepsTheLastResult) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(otherPath, makeMeasurement(kRelu, "a-v1", 1));
  execute(otherPath, "UPDATE measurement SET time = '2001-01-01T00:00:00Z'");
  EXPECT_EQ(open(path)->merge(otherPath)->measurements, 0);
  execute(otherPath, "UPDATE measurement SET time = '2999-01-01T00:00:00Z'");
  EXPECT_EQ(open(path)->merge(otherPath)->measurements, 1);
  auto journal = Journal::open(path, makeContext());
  EXPECT_EQ((*journal)->getBest(kRelu)->median, 1);
}

TEST_F(StoreAdminTest, MergeLeavesRunsThatEndedElsewhere) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  auto other = Journal::open(otherPath, makeContext());
  ASSERT_TRUE(
      (*other)->recordStarted({kRelu, "b-v1", ""}, MeasurementStage::Race));
  EXPECT_EQ(open(path)->merge(otherPath)->measurements, 0);
}

TEST_F(StoreAdminTest, MergeKeepsOwnImports) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  importInto(path, "gfx90a68.HIP.fdb.txt", 1);
  record(otherPath, makeMeasurement(kRelu, "a-v1", 2));
  importInto(otherPath, "gfx90a68.HIP.fdb.txt", 9);
  importInto(otherPath, "gfx1030_36.HIP.fdb.txt", 5);
  EXPECT_EQ(open(path)->merge(otherPath)->importedProblems, 1);
  auto records = ImportedRecords::openForReading(path);
  EXPECT_EQ((*records)
                ->get("gfx90a68.HIP.fdb.txt")
                ->records[0]
                .solutions[0]
                .milliseconds,
            1.0);
  EXPECT_EQ((*records)
                ->get("gfx1030_36.HIP.fdb.txt")
                ->records[0]
                .solutions[0]
                .milliseconds,
            5.0);
}

TEST_F(StoreAdminTest, WhatIsNoStoreIsNotMerged) {
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  EXPECT_EQ(open(path)->merge(path).message(),
            "journal " + path + " cannot be merged with itself");
  EXPECT_EQ(open(path)->merge(otherPath).message(),
            "there is no journal " + otherPath);
  writeText(otherPath, "text");
  EXPECT_THAT(open(path)->merge(otherPath).message(),
              StartsWith("journal " + otherPath + " is damaged: "));
  EXPECT_EQ(open(path)->getStats()->measurements, 1);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// The best of each solver, of this build, without how they were measured.
TEST_F(StoreAdminTest, PublishKeepsTheBestOfEachSolver) {
  record(path, makeMeasurement(kRelu, "a-v1", 1));
  Measurement slower = makeMeasurement(kRelu, "a-v1", 2);
  slower.key.config = "tile=2";
  record(path, slower);
  record(path, makeMeasurement(kRelu, "b-v1", 3));
  Measurement wrong = makeMeasurement(kRelu, "c-v1", 1);
  wrong.status = MeasurementStatus::Wrong;
  record(path, wrong);
  record(path, makeMeasurement(kTanh, "a-v1", 4), /*isStale=*/true);
  auto summary = publishStore(path, otherPath);
  ASSERT_TRUE(summary) << summary.message();
  EXPECT_EQ(summary->problems, 1);
  EXPECT_EQ(summary->measurements, 2);
  auto published = Journal::openReadOnly(otherPath, makeContext());
  ASSERT_TRUE(published) << published.message();
  auto rows = (*published)->getMeasurements(kRelu);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key.config, "tile=1");
  EXPECT_EQ(rows[0].median, 1);
  EXPECT_TRUE(rows[0].samples.empty());
  EXPECT_EQ(rows[1].key.solver, "b-v1");
  EXPECT_EQ(publishStore(path, otherPath).message(),
            otherPath + " is there already");
  std::string empty = directory.file("c.journal");
  record(empty, makeMeasurement(kTanh, "a-v1", 4), /*isStale=*/true);
  EXPECT_THAT(publishStore(empty, directory.file("d.journal")).message(),
              HasSubstr("has no records of this build to publish"));
}

namespace {
/// Lets no file of this process grow beyond a number of bytes.
class ScopedFileLimit {
public:
  explicit ScopedFileLimit(rlim_t bytes)
      : handler(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &previous);
    rlimit limited = {bytes, previous.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~ScopedFileLimit() {
    setrlimit(RLIMIT_FSIZE, &previous);
    std::signal(SIGXFSZ, handler);
  }

private:
  rlimit previous;
  void (*handler)(int);
};
} // namespace

TEST_F(StoreAdminTest, PublishThatFailsLeavesNothing) {
  record(path, makeMeasurement(kRelu, "a-v1", 1));
  std::string folder = directory.file("published");
  ASSERT_FALSE(llvm::sys::fs::create_directory(folder));
  {
    ScopedFileLimit limit(/*bytes=*/8192);
    EXPECT_FALSE(publishStore(path, folder + "/b.journal"));
  }
  std::error_code error;
  llvm::sys::fs::directory_iterator first(folder, error), end;
  EXPECT_TRUE(first == end) << first->path();
  EXPECT_TRUE(publishStore(path, folder + "/b.journal"));
}

/// The same problem has faster records of other builds, one of another code
/// generator and one of another version of its solver.
TEST_F(StoreAdminTest, PublishLeavesOtherBuildsOut) {
  record(path, makeMeasurement(kRelu, "a-v1", 5));
  record(path, makeMeasurement(kRelu, "a-v1", 1, MeasurementStage::Final),
         /*isStale=*/true);
  record(path, makeMeasurement(kRelu, "b-v1", 1), /*isStale=*/true);
  {
    ScopedBehaviourVersion older("c-v1", 7);
    record(path, makeMeasurement(kRelu, "c-v1", 1));
  }
  // Nobody here knows the code generator of that target.
  JournalContext unknown = makeContext();
  unknown.target = "vax/0";
  ASSERT_TRUE((*Journal::open(path, unknown))
                  ->record(makeMeasurement(kRelu, "d-v1", 1)));
  auto summary = publishStore(path, otherPath);
  ASSERT_TRUE(summary) << summary.message();
  EXPECT_EQ(summary->measurements, 1);
  auto published = open(otherPath)->getBestOfSolvers();
  ASSERT_TRUE(published) << published.message();
  ASSERT_EQ(published->size(), 1u);
  EXPECT_EQ((*published)[0].measurement.key.solver, "a-v1");
  EXPECT_EQ((*published)[0].measurement.median, 5);
  EXPECT_EQ((*published)[0].context.caches, makeContext().caches);
}

/// Times of several machines are not comparable.
TEST_F(StoreAdminTest, PublishTakesTheRecordsOfOneMachine) {
  TargetInfo host = *getHostTarget(1);
  JournalContext here = JournalContext::forTarget(host);
  auto add = [&](const std::string &caches, double median) {
    JournalContext context = here;
    context.caches = caches;
    auto journal = Journal::open(path, context);
    ASSERT_TRUE(journal &&
                (*journal)->record(makeMeasurement(kRelu, "a-v1", median)));
  };
  add("1K/2K/3K", 1);
  // Those of one machine need not be this one's.
  ASSERT_TRUE(publishStore(path, otherPath));
  EXPECT_THAT(print(*open(otherPath)->getBestSolutions()),
              ElementsAre("1K/2K/3K a-v1 1.0"));
  add("1K/2K/6K", 2);
  std::string out = directory.file("c.journal");
  EXPECT_EQ(publishStore(path, out).message(),
            "journal " + path + " has records of " + here.target +
                " with several cache sizes, none of which is this machine's: "
                "1K/2K/3K, 1K/2K/6K");
  EXPECT_FALSE(hasFile(out));
  add(here.caches, 3);
  ASSERT_TRUE(publishStore(path, out));
  EXPECT_THAT(print(*open(out)->getBestSolutions()),
              ElementsAre(here.caches + " a-v1 3.0"));
}

/// Machines are compared each with itself; a record without cache sizes may be
/// any machine's.
TEST_F(StoreAdminTest, DifferencesAreThoseOfOneMachine) {
  recordFor(path, "1K/2K/3K", makeMeasurement(kRelu, "a-v1", 1));
  recordFor(path, "1K/2K/6K", makeMeasurement(kRelu, "b-v1", 9));
  recordFor(otherPath, "1K/2K/3K", makeMeasurement(kRelu, "a-v1", 1));
  recordFor(otherPath, "9K/9K/9K", makeMeasurement(kRelu, "c-v1", 1));
  recordFor(path, "", makeMeasurement(kTanh, "a-v1", 2));
  recordFor(otherPath, "1K/2K/3K", makeMeasurement(kTanh, "a-v1", 2));
  StoreDiff diff = compareSolutions(*open(path)->getBestSolutions(),
                                    *open(otherPath)->getBestSolutions(), 0.05);
  EXPECT_THAT(print(diff.onlyHere), ElementsAre("1K/2K/6K b-v1 9.0"));
  EXPECT_THAT(print(diff.onlyThere), ElementsAre("9K/9K/9K c-v1 1.0"));
  EXPECT_EQ(diff.same, 2);
  EXPECT_TRUE(diff.solutions.empty());
}

TEST_F(StoreAdminTest, Differences) {
  const std::string exp = "exp(1x2x3x4xf32)->1x2x3x4xf32",
                    log = "log(1x2x3x4xf32)->1x2x3x4xf32";
  record(path, makeMeasurement(kRelu, "a-v1", 2));
  record(path, makeMeasurement(kTanh, "a-v1", 2));
  record(path, makeMeasurement(exp, "a-v1", 2));
  record(otherPath, makeMeasurement(kRelu, "b-v1", 2));
  // Another version's record, older than the one that counts.
  record(otherPath, makeMeasurement(kTanh, "a-v1", 2), /*isStale=*/true);
  record(otherPath, makeMeasurement(kTanh, "a-v1", 2.2));
  record(otherPath, makeMeasurement(log, "a-v1", 2));
  StoreDiff diff = compareSolutions(*open(path)->getBestSolutions(),
                                    *open(otherPath)->getBestSolutions(), 0.05);
  ASSERT_EQ(diff.onlyHere.size(), 1u);
  EXPECT_EQ(diff.onlyHere[0].measurement.key.problem, exp);
  ASSERT_EQ(diff.onlyThere.size(), 1u);
  EXPECT_EQ(diff.onlyThere[0].measurement.key.problem, log);
  ASSERT_EQ(diff.solutions.size(), 1u);
  EXPECT_EQ(diff.solutions[0].there.measurement.key.solver, "b-v1");
  ASSERT_EQ(diff.times.size(), 1u);
  EXPECT_EQ(diff.times[0].there.measurement.median, 2.2);
  EXPECT_EQ(diff.same, 0);
  diff = compareSolutions(*open(path)->getBestSolutions(),
                          *open(otherPath)->getBestSolutions(), 0.2);
  EXPECT_EQ(diff.same, 1);
}
