//===- RecordKeyTest.cpp - Keys and versions of records -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests change every part that a record depends on, one after the other,
// and check that it becomes another record.
//
//===----------------------------------------------------------------------===//

#include "ScopedBehaviourVersion.h"
#include "Store/Digest.h"
#include "Store/RecordVersion.h"
#include "StoreTestFiles.h"
#include "TestDirectory.h"
#include "Tuning/PipelineKey.h"

#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Targets/AMDGPU/AmdGpuTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
using testing::StartsWith;

//===----------------------------------------------------------------------===//
// Whole models
//===----------------------------------------------------------------------===//

namespace {

/// The parts of a pipeline's key.
struct PipelineParts {
  TuningFile::Model model = {"abc", "tiny", {{"x", {1, 2}}}};
  GlobalChoice choice = {runtime::Precision::I8, Layout{Layout::NHWC},
                         Fusion::On};
  std::string calibration = "c0ffee";
  std::vector<LayerRecord> layers = {LayerRecord()};
  std::vector<TensorRange> ranges = {{"x", -1, 1}, {"y", 0, 2}};

  PipelineParts() {
    layers[0].problem = "p";
    layers[0].solver = "s-v1";
    layers[0].config = {{"tile", 4}};
  }

  PipelineKey makeKey() const {
    return makePipelineKey(model, choice, calibration, layers, ranges);
  }
};

PipelineMeasurement makePipeline(const PipelineKey &key) {
  PipelineMeasurement m;
  m.key = key;
  m.status = MeasurementStatus::Ok;
  m.accuracy = 0.01;
  m.median = 6;
  return m;
}

} // namespace

TEST(PipelineKeyTest, HoldsEveryPart) {
  using Change = std::function<void(PipelineParts &)>;
  std::vector<Change> changes = {
      [](PipelineParts &p) { p.model.sha256 = "abd"; },
      [](PipelineParts &p) { p.model.inputs["x"] = {2, 2}; },
      [](PipelineParts &p) { p.choice.dtype = runtime::Precision::F32; },
      [](PipelineParts &p) { p.choice.layout = Layout(); },
      [](PipelineParts &p) { p.choice.fusion = Fusion::Off; },
      [](PipelineParts &p) {
        p.choice.regions = {{runtime::Precision::I8, {}}};
      },
      [](PipelineParts &p) { p.calibration = "c0ffed"; },
      [](PipelineParts &p) { p.layers[0].problem = "q"; },
      [](PipelineParts &p) { p.layers[0].solver = "t-v1"; },
      [](PipelineParts &p) { p.layers[0].config = {{"tile", 8}}; },
      [](PipelineParts &p) { p.layers.emplace_back(); },
      [](PipelineParts &p) { p.ranges[0].name = "z"; },
      [](PipelineParts &p) { p.ranges[0].lo = -0.99999994f; },
      [](PipelineParts &p) { p.ranges[1].hi = 2.0000002f; },
      [](PipelineParts &p) { p.ranges[1].inputMeans = {1}; },
      [](PipelineParts &p) { p.ranges[1].storedMeans = {1}; },
      [](PipelineParts &p) { p.ranges.pop_back(); }};
  auto journal = Journal::openInMemory(kStoreContext);
  PipelineKey key = PipelineParts().makeKey();
  ASSERT_TRUE(journal->recordPipeline(makePipeline(key)));
  EXPECT_TRUE(journal->getPipeline(PipelineParts().makeKey()));
  for (size_t i = 0; i < changes.size(); ++i) {
    PipelineParts parts;
    changes[i](parts);
    EXPECT_FALSE(journal->getPipeline(parts.makeKey())) << i;
  }
  for (llvm::StringRef part :
       {llvm::StringRef("s-v1"), llvm::StringRef(kPasses),
        llvm::StringRef(kCalibration)}) {
    ScopedBehaviourVersion raised(part, 1000);
    EXPECT_FALSE(journal->getPipeline(PipelineParts().makeKey())) << part.str();
  }
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

TEST(RecordKeyTest, ContextsAreOfOneMachineAndBuild) {
  TargetInfo target;
  JournalContext known = JournalContext::forTarget(target);
  auto expectOther = [&](const JournalContext &other) {
    auto tie = [](const JournalContext &c) {
      return std::tie(c.target, c.threads, c.tarpon, c.llvm, c.caches);
    };
    EXPECT_NE(tie(known), tie(other));
  };
  using Change = std::function<void(TargetInfo &)>;
  for (const Change &change :
       std::vector<Change>{[](TargetInfo &t) { t.cpu = "znver4"; },
                           [](TargetInfo &t) { t.vectorBits = 256; },
                           [](TargetInfo &t) { t.features = {"+avx2"}; },
                           [](TargetInfo &t) { t.threads = 2; },
                           [](TargetInfo &t) { t.l1Bytes *= 2; },
                           [](TargetInfo &t) { t.l2Bytes *= 2; },
                           [](TargetInfo &t) { t.l3Bytes *= 2; },
                           [](TargetInfo &t) {
                             t = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
                           }}) {
    TargetInfo other;
    change(other);
    expectOther(JournalContext::forTarget(other));
  }
  ScopedBehaviourVersion raised(kHostCodegen, 1000);
  expectOther(JournalContext::forTarget(target));
}

namespace {

/// A target that no part of Tarpon knows.
class VaxTraits final : public TargetTraits {
public:
  std::string getName(const TargetInfo &target) const override {
    return target.cpu;
  }
  llvm::StringRef getCodegenPart() const override { return "vax-codegen"; }
  std::string printCacheSizes(const TargetInfo & /*target*/) const override {
    return "1K";
  }
  runtime::Precision
  getArithmetic(const Problem & /*problem*/,
                const TargetInfo & /*target*/) const override {
    return runtime::Precision::F32;
  }
};

} // namespace

/// Existing stores hold these texts.
TEST(RecordKeyTest, TargetsNameTheirCodeGeneratorAndCaches) {
  ScopedBehaviourVersion host(kHostCodegen, 7), gpu(kGpuCodegen, 8);
  JournalContext context = JournalContext::forTarget(TargetInfo());
  EXPECT_EQ(context.target, "x86-64/x86-64/128/e3b0c442");
  EXPECT_THAT(context.tarpon, StartsWith("host-codegen-7"));
  EXPECT_EQ(context.caches, "32K/512K/8192K");

  TargetInfo info = makeGpuTargetInfo(*parseGpuTarget("gfx942:cu=228"));
  for (const char *arch : {"amdgcn", "amdgcn-ir"}) {
    info.arch = arch;
    context = JournalContext::forTarget(info);
    EXPECT_EQ(context.target, "gfx942:cu=228/e3b0c442");
    EXPECT_THAT(context.tarpon, StartsWith("gpu-codegen-8"));
    EXPECT_EQ(context.caches, "");
  }
  info = makeGpuTargetInfo(*parseGpuTarget("sm_90a:bw=3352"));
  context = JournalContext::forTarget(info);
  EXPECT_EQ(context.target, "sm_90a:cu=132:bw=3352/e3b0c442");
  info = makeGpuTargetInfo(*parseGpuTarget("sm_90a"));
  EXPECT_NE(JournalContext::forTarget(info).target, context.target);
  EXPECT_EQ(info.gpu->memoryGbps, 4800);
  context = JournalContext::forTarget(info);
  info = makeGpuTargetInfo(*parseGpuTarget("sm_90a:tf32"));
  EXPECT_EQ(JournalContext::forTarget(info).target,
            "sm_90a:cu=132:bw=4800:tf32/e3b0c442");
  EXPECT_NE(
      Journal::getDefaultPath(info),
      Journal::getDefaultPath(makeGpuTargetInfo(*parseGpuTarget("sm_90a"))));

  static const VaxTraits traits;
  TargetInfo vax;
  vax.traits = &traits;
  vax.arch = vax.cpu = "vax";
  context = JournalContext::forTarget(vax);
  EXPECT_EQ(context.target, "vax/e3b0c442");
  EXPECT_THAT(context.tarpon, StartsWith("vax-codegen-1"));
  EXPECT_EQ(context.caches, "1K");
}

static std::string translate(const std::string &version,
                             const std::string &target) {
  return translateRecordVersion(version, "22.1.8", target);
}

TEST(RecordKeyTest, DigestsOfSourcesStandForVersionOne) {
  // 6d49224, built by Clang and by GCC.
  for (auto [version, suffix] : {std::pair("0.1.0+05e2ad794cb7", ""),
                                 std::pair("0.1.0+c9b101c90698", "/gcc")}) {
    std::string host = std::string("host-codegen-1") + suffix;
    std::string gpu = std::string("gpu-codegen-1") + suffix;
    for (const char *target :
         {"x86-64/znver5/512/570d3f5f", "x86-64/haswell/256/512a3b4c"})
      EXPECT_EQ(translate(version, target), host);
    EXPECT_EQ(translate(version, "gfx942:cu=304/e3b0c442/model:m"), gpu);
    // Their instructions have another order since 76c5bb5.
    EXPECT_EQ(translate(version, "x86-64/icelake-server/512/0"), version);
  }
  EXPECT_EQ(translate("0.1.0+7f2eef0d781a", "x86-64/icelake-server/512/0"),
            "host-codegen-1");
  // 6d49224 wrote this digest for this chip.
  EXPECT_EQ(translate("0.1.0+898953d86f94", "gfx942:cu=304/0"),
            "gpu-codegen-1");
  EXPECT_EQ(translate("0.1.0+898953d86f94", "gfx90a:cu=110/0"),
            "0.1.0+898953d86f94");
  for (const char *target : {"x86-64/znver5/512/570d3f5f", "gfx942:cu=304/0"})
    EXPECT_EQ(translate("0.1.0+0123456789ab", target), "0.1.0+0123456789ab");
}

TEST(RecordKeyTest, DigestsOfTheModelStandForVersionOne) {
  const std::string machine = "gfx942:cu=304/e3b0c442";
  for (const char *digest :
       {"52c1778e4e14", "9e7e8d9fafed", "e28d95b1e0ef", "03d1df5482c8"})
    EXPECT_EQ(translateRecordTarget(machine + "/model:gpu-model-v1+" + digest),
              machine + "/model:gpu-model-1");
  for (const char *other :
       {"gfx942:cu=304/e3b0c442", "x86-64/znver5/512/570d3f5f",
        "gfx942:cu=304/e3b0c442/model:gpu-model-v1+0123456789ab",
        "gfx942:cu=304/e3b0c442/model:gpu-model-2",
        "gfx942:cu=304/e3b0c442/model:other-v1+03d1df5482c8"})
    EXPECT_EQ(translateRecordTarget(other), other);
}

TEST(RecordKeyTest, RecordsOfOtherContextsAreIgnored) {
  TestDirectory directory;
  std::string path = directory.file("host.journal");
  std::string problem = getNumberedProblem(0);
  JournalContext context = kStoreContext;
  context.caches = "32K/512K/8192K";
  auto count = [&](const JournalContext &context) {
    auto journal = Journal::open(path, context);
    EXPECT_EQ(hasFinding(**journal, problem, Finding::Found),
              !(*journal)->getMeasurements(problem).empty());
    return (*journal)->getMeasurements(problem).size();
  };
  {
    auto journal = Journal::open(path, context);
    ASSERT_TRUE((*journal)->record(makeNumbered(problem, 1)));
    ASSERT_TRUE((*journal)->recordFinding(problem, {Finding::Found, {}}));
  }
  EXPECT_EQ(count(context), 1u);
  using Change = std::function<void(JournalContext &)>;
  for (const Change &change : std::vector<Change>{
           [](JournalContext &c) { c.target = "x86-64/znver4/512"; },
           [](JournalContext &c) { c.threads = 3; },
           [](JournalContext &c) { c.tarpon = "host-codegen-9"; },
           [](JournalContext &c) { c.llvm = "23.1.0"; },
           [](JournalContext &c) { c.caches = "48K/512K/8192K"; }}) {
    JournalContext other = context;
    change(other);
    EXPECT_EQ(count(other), 0u);
  }
  // Records without sizes are valid for any, and those of the system store for
  // all.
  auto system = Journal::openReadOnly(path, [&] {
    JournalContext other = context;
    other.caches = "48K/512K/8192K";
    return other;
  }());
  EXPECT_EQ((*system)->getMeasurements(problem).size(), 1u);
  ASSERT_EQ(changeStore(path, "UPDATE measurement SET caches = ''; "
                              "UPDATE finding SET caches = ''"),
            "");
  EXPECT_EQ(count(context), 1u);
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

namespace {

class SolverVersionTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("host.journal");
  std::string problem = getNumberedProblem(0);
  JournalContext context = JournalContext::forTarget(TargetInfo());

  Measurement make(const std::string &solver, double median) const {
    Measurement m = makeNumbered(problem, 1);
    m.key.solver = solver;
    m.status = MeasurementStatus::Ok;
    m.median = median;
    return m;
  }

  std::unique_ptr<Journal> open() const {
    auto journal = Journal::open(path, context);
    EXPECT_TRUE(journal) << journal.message();
    return std::move(*journal);
  }

  void SetUp() override {
    auto journal = open();
    ASSERT_TRUE(journal->record(make("fast-v1", 1)));
    ASSERT_TRUE(journal->record(make("slow-v1", 2)));
    ASSERT_TRUE(journal->recordFinding(problem, makeFinding()));
  }

  /// The problem was found with the solvers of this build.
  static FindingRecord makeFinding() {
    CandidateDigests candidates;
    for (llvm::StringRef solver : {"fast-v1", "slow-v1"})
      candidates.add(solver, getBehaviourVersion(solver), "c0ffee");
    return {Finding::Found, candidates};
  }

  bool isFound() const {
    return llvm::is_contained(open()->getFindings(problem), makeFinding());
  }
};

} // namespace

TEST_F(SolverVersionTest, RaisingOneVoidsItsRecordsAlone) {
  EXPECT_EQ(open()->getBest(problem)->key.solver, "fast-v1");
  EXPECT_EQ(open()->describeStale(), std::nullopt);
  ScopedBehaviourVersion raised("fast-v1", 2);
  auto journal = open();
  EXPECT_EQ(journal->getMeasurements(problem).size(), 1u);
  EXPECT_EQ(journal->getBest(problem)->key.solver, "slow-v1");
  EXPECT_THAT(journal->describeStale().value_or(""), HasSubstr(": 1 records"));
  // Not all solvers have a result any more, until the problem is found again.
  EXPECT_FALSE(isFound());
  ASSERT_TRUE(journal->record(make("fast-v1", 3)));
  EXPECT_EQ(journal->getMeasurements(problem).size(), 2u);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(journal->recordFinding(problem, makeFinding()));
  EXPECT_TRUE(isFound());
  // That of the other version is still there, for builds that have it.
  EXPECT_EQ(journal->getFindings(problem).size(), 2u);
}

TEST_F(SolverVersionTest, TheSystemStoreServesAllVersions) {
  ScopedBehaviourVersion raised("fast-v1", 2);
  auto system = Journal::openReadOnly(path, context);
  EXPECT_EQ((*system)->getBest(problem)->key.solver, "fast-v1");
}

/// A user's store stays one where it cannot be written.
TEST_F(SolverVersionTest, AStoreThatIsOnlyReadServesThisBuild) {
  ScopedBehaviourVersion raised("fast-v1", 2);
  std::string bytes = readText(path);
  auto journal = Journal::openForReading(path, context);
  ASSERT_TRUE(journal) << journal.message();
  std::vector<Measurement> rows = (*journal)->getMeasurements(problem);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].key.solver, "slow-v1");
  EXPECT_FALSE(rows[0].isSystem);
  EXPECT_THAT((*journal)->describeStale().value_or(""),
              HasSubstr(": 1 records"));
  EXPECT_FALSE((*journal)->record(make("fast-v1", 3)));
  EXPECT_EQ(readText(path), bytes);
}

TEST_F(SolverVersionTest, OutdatedRowsAreStaleAndPruned) {
  ScopedBehaviourVersion raised("fast-v1", 2);
  auto admin = StoreAdmin::openForWriting(path);
  ASSERT_TRUE(admin);
  EXPECT_EQ((*admin)->getStats()->stale, 1);
  auto best = (*admin)->getBestSolutions();
  ASSERT_TRUE(best);
  ASSERT_EQ(best->size(), 2u);
  for (const BestSolution &solution : *best)
    EXPECT_EQ(solution.isStale, solution.measurement.key.solver == "fast-v1");
  auto summary = (*admin)->prune(/*isDryRun=*/false);
  ASSERT_TRUE(summary) << summary.message();
  EXPECT_EQ(summary->measurements, 1);
  EXPECT_EQ(open()->getMeasurements(problem).size(), 1u);
  // A build of the older version would take the finding for complete.
  EXPECT_TRUE(open()->getFindings(problem).empty());
}

TEST_F(SolverVersionTest, ModelsOfOlderPassesAreStaleAndPruned) {
  PipelineKey key = PipelineParts().makeKey();
  ASSERT_TRUE(open()->recordPipeline(makePipeline(key)));
  auto admin = StoreAdmin::openForWriting(path);
  ASSERT_TRUE(admin);
  EXPECT_EQ((*admin)->getStats()->stale, 0);
  EXPECT_EQ((*admin)->prune(/*isDryRun=*/true)->pipelines, 0);
  ScopedBehaviourVersion raised(kPasses, 1000);
  EXPECT_EQ((*admin)->getStats()->stale, 1);
  EXPECT_EQ((*admin)->prune(/*isDryRun=*/false)->pipelines, 1);
  EXPECT_FALSE(open()->getPipeline(key));
}

TEST_F(SolverVersionTest, KernelsOfPackagesHaveThoseOfAllSolvers) {
  GpuTarget gpu = *parseGpuTarget("gfx942");
  TargetInfo info = makeGpuTargetInfo(gpu);
  std::string version = getKernelVersion(*makeAmdGpuTarget(gpu));
  std::string build = JournalContext::forTarget(info).tarpon;
  EXPECT_EQ(getMeasuredContext(info, version).tarpon, build);
  EXPECT_EQ(getMeasuredContext(info, "0.1.0+abc").tarpon, "0.1.0+abc");
  for (llvm::StringRef part :
       {llvm::StringRef("gpu-naive-v1"), llvm::StringRef(kGpuCodegen)}) {
    ScopedBehaviourVersion raised(part, 1000);
    EXPECT_NE(getKernelVersion(*makeAmdGpuTarget(gpu)), version);
    // Records of older kernels do not belong to this build.
    EXPECT_EQ(getMeasuredContext(info, version).tarpon, version);
    EXPECT_EQ(getMeasuredContext(info, version).solverVersion, std::nullopt);
  }
}

/// The name of the kernels of a package for gfx942 that 6d49224 made, built by
/// Clang.
static std::string getOldKernelVersion() {
  std::string text = "gpu code 38ce5ceda76cdbc0bef76a49bc2dcf3c97aa79eada8f3cc0"
                     "12809426b14f2290 gfx942";
  Digest digest;
  digest.add(llvm::StringRef(text)).add(llvm::StringRef(LLVM_VERSION_STRING));
  return "0.1.0+" + digest.hex().substr(0, 12);
}

/// A package that is older than versions finds the records of its kernels,
/// which were migrated, whatever the versions of this build are.
TEST_F(SolverVersionTest, OldPackagesFindTheirRecords) {
  TargetInfo info = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  std::string version = getOldKernelVersion(), gpu = directory.file("gpu");
  JournalContext context = getMeasuredContext(info, version);
  EXPECT_EQ(context.tarpon, "gpu-codegen-1");
  {
    // As 6d49224 wrote them.
    JournalContext old = context;
    old.tarpon = version;
    auto journal = Journal::open(gpu, old);
    ASSERT_TRUE(journal) << journal.message();
    ASSERT_TRUE((*journal)->record(make("gpu-naive-v1", 1)));
  }
  ASSERT_EQ(queryStore(gpu, "DROP VIEW perf_db; DROP VIEW find_db; DROP VIEW "
                            "latest; DROP TABLE finding;"
                            "ALTER TABLE measurement DROP COLUMN version;"
                            "ALTER TABLE measurement DROP COLUMN caches;"
                            "ALTER TABLE pipeline DROP COLUMN passes;"
                            "ALTER TABLE pipeline DROP COLUMN ranges;"
                            "ALTER TABLE pipeline DROP COLUMN caches;"
                            "ALTER TABLE pipeline DROP COLUMN layers;"
                            "ALTER TABLE measurement DROP COLUMN checksum;"
                            "ALTER TABLE pipeline DROP COLUMN checksum;"
                            "PRAGMA user_version = 1"),
            "");
  auto getBest = [&](const std::string &kernels) {
    auto journal = Journal::open(gpu, getMeasuredContext(info, kernels));
    EXPECT_TRUE(journal) << journal.message();
    std::optional<Measurement> best = (*journal)->getBest(problem);
    return best ? best->median : 0;
  };
  EXPECT_EQ(getBest(version), 1);
  {
    ScopedBehaviourVersion solver("gpu-naive-v1", 1000);
    ScopedBehaviourVersion codegen(kGpuCodegen, 1000);
    EXPECT_EQ(getBest(version), 1);
    // What the old kernels take is no record of this build's.
    auto journal = Journal::open(gpu, getMeasuredContext(info, version));
    ASSERT_TRUE((*journal)->record(make("gpu-naive-v1", 0.5)));
    EXPECT_EQ(getBest(getKernelVersion(*makeAmdGpuTarget(*info.gpu))), 0);
  }
  EXPECT_EQ(getBest(version), 0.5);
}
