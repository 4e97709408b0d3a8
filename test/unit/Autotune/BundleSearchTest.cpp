//===- BundleSearchTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches that are split between a builder and an evaluator.
//
//===----------------------------------------------------------------------===//

#include "BundleFixture.h"

#include "HostileSolvers.h"
#include "Measure/EvaluationConditions.h"
#include "Search/Methods/ConfigSpace.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Program.h"

#include "gmock/gmock.h"

#include <atomic>
#include <filesystem>
#include <numeric>
#include <set>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Result;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class BundleSearchTest : public BundleTest {
protected:
  static size_t sum(const std::vector<size_t> &counts) {
    return std::accumulate(counts.begin(), counts.end(), size_t(0));
  }

  /// All solvers but these.
  static SolutionLimits only(const std::set<const Solver *> &solvers) {
    SolutionLimits limits;
    for (const Solver *solver : getHostSolvers())
      if (!solvers.count(solver))
        limits.disabledSolvers.push_back(solver->id().str());
    return limits;
  }

  std::set<CandidateKey> getMeasured() const {
    std::set<CandidateKey> keys;
    for (const Measurement &m : journal->getMeasurements(problem.key()))
      keys.insert(m.key);
    return keys;
  }
};

} // namespace

TEST_F(BundleSearchTest, RoundsEndWithAVerifiedBest) {
  problem = *parseProblem("conv(1x16x14x14xf32, 32x16x3x3xf32:const)->"
                          "1x32x14x14xf32 {dilations=1,1 group=1 "
                          "pads=1,1,1,1 strides=1,1}");
  search(/*max=*/8);
  EXPECT_GT(raced.size(), 1u);
  for (size_t count : raced)
    EXPECT_LE(count, 8u);
  EXPECT_GE(sum(raced), policy::kMinGuidedResults);
  EXPECT_LE(timed.size(), 1u);
  std::optional<Measurement> best = journal->getBest(problem.key());
  ASSERT_TRUE(best);
  EXPECT_GT(best->median, 0);
  EXPECT_EQ(best->stage == MeasurementStage::Final, !timed.empty());
  // Whoever asks again gets nothing to do.
  EXPECT_FALSE(build(8));
}

/// If all candidates are wanted, rounds measure what a tuner does.
TEST_F(BundleSearchTest, RoundsMeasureWhatATunerDoes) {
  options.method = SearchMethodKind::Exhaustive;
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/7);
  ScopedExtraSolvers extra({&right});
  search(/*max=*/3);
  auto other = Journal::openInMemory(JournalContext::forTarget(target));
  Tuner tuner(compiler, *other, progress);
  tuner.setSearchOptions(options);
  Result<Solution> tuned = tuner.tune(problem);
  ASSERT_TRUE(tuned) << tuned.message();
  std::set<CandidateKey> there;
  for (const Measurement &m : other->getMeasurements(problem.key()))
    there.insert(m.key);
  EXPECT_GT(there.size(), 6u);
  EXPECT_EQ(getMeasured(), there);
  // Both findings are the same, too.
  EXPECT_THAT(journal->getFindings(problem.key()), testing::SizeIs(1));
  EXPECT_EQ(journal->getFindings(problem.key()),
            other->getFindings(problem.key()));
}

/// What won before is measured in the first round, whatever the method thinks.
TEST_F(BundleSearchTest, EarlierWinnersComeFirst) {
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/40);
  ScopedExtraSolvers extra({&right});
  SolutionLimits limits = only({&right});
  BundleBuilder builder(compiler, *journal, nullptr, nullptr, options);
  auto usual = builder.build(problem, 2, limits);
  ASSERT_TRUE(usual && *usual);
  auto configs = getConfigSpace(right, problem, target);
  std::vector<CandidateKey> first;
  for (const PerfConfig &config : configs) {
    CandidateKey key = {problem.key(), "right-v1", config.str()};
    if (llvm::none_of((*usual)->candidates, [&](const auto &candidate) {
          return candidate.key == key;
        }))
      first.push_back(key);
  }
  ASSERT_GT(first.size(), 1u);
  first = {first.back(), {problem.key(), "gone-v1", "tile=1"}};
  auto bundle = builder.build(problem, 2, limits, first);
  ASSERT_TRUE(bundle && *bundle);
  ASSERT_EQ((*bundle)->candidates.size(), 2u);
  EXPECT_EQ((*bundle)->candidates[0].key, first[0]);
  EXPECT_EQ((*bundle)->candidates[1].key, (*usual)->candidates[0].key);
}

/// The candidates of one kernel are equally fast.
TEST_F(BundleSearchTest, FinalistsAreTimedInTurn) {
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/2);
  HostileSolver slow("slow-v1", HostileSolver::Slow);
  ScopedExtraSolvers extra({&right, &slow});
  SolutionLimits limits = only({&right, &slow});
  auto first = build(8, limits);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stage, MeasurementStage::Race);
  // Two finalists, whatever the noise of such short kernels.
  double time = 1;
  for (const BundledCandidate &candidate : first->candidates) {
    Measurement m;
    m.key = candidate.key;
    m.status = MeasurementStatus::Ok;
    m.median = candidate.key.solver == "right-v1" ? time : 10;
    time = 1.05;
    ASSERT_TRUE(journal->record(m));
  }
  while (auto more = build(8, limits)) {
    if (more->stage == MeasurementStage::Final)
      break;
    for (const BundledCandidate &candidate : more->candidates) {
      Measurement m;
      m.key = candidate.key;
      m.status = MeasurementStatus::Ok;
      m.median = 1.05;
      ASSERT_TRUE(journal->record(m));
    }
  }
  // Another builder with the same cache compiles nothing again.
  KernelCompiler another(target, cache, makeHostBackend(target));
  BundleBuilder builder(another, *journal, nullptr, nullptr, options);
  auto last = builder.build(problem, 8, limits);
  ASSERT_TRUE(last && *last);
  EXPECT_EQ(another.getStatistics().compiled, 0);
  EXPECT_GT(another.getStatistics().fromCache, 0);
  EXPECT_EQ((*last)->stage, MeasurementStage::Final);
  ASSERT_EQ((*last)->candidates.size(), 2u);

  // A final that was cut short continues where it was.
  Measurement begun;
  begun.key = (*last)->candidates[0].key;
  begun.stage = MeasurementStage::Final;
  begun.status = MeasurementStatus::Ok;
  begun.samples = {1.0};
  begun.median = 1;
  begun.rounds = 1;
  ASSERT_TRUE(journal->record(begun));
  auto rest = builder.build(problem, 8, limits);
  ASSERT_TRUE(rest && *rest);
  std::vector<Measurement> measured = measure(**rest);
  ASSERT_EQ(measured.size(), 2u);
  for (const Measurement &m : measured) {
    EXPECT_EQ(m.status, MeasurementStatus::Ok) << m.detail;
    EXPECT_EQ(m.stage, MeasurementStage::Final);
    EXPECT_EQ(m.rounds, policy::kFinalRounds);
    EXPECT_EQ(llvm::is_contained(m.samples, 1.0), m.key == begun.key);
    ASSERT_TRUE(journal->record(m));
  }
  auto none = builder.build(problem, 8, limits);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(journal->getBest(problem.key())->stage, MeasurementStage::Final);
}

/// A journal that was made of measurements has no findings.
TEST_F(BundleSearchTest, AFinalEndsTheSearch) {
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/40);
  ScopedExtraSolvers extra({&right});
  SolutionLimits limits = only({&right});
  Measurement finalist;
  finalist.stage = MeasurementStage::Final;
  finalist.status = MeasurementStatus::Ok;
  finalist.median = 1;
  finalist.rounds = policy::kFinalRounds;
  for (const char *config : {"variant=0", "variant=1"}) {
    finalist.key = {problem.key(), "right-v1", config};
    ASSERT_TRUE(journal->record(finalist));
  }
  EXPECT_FALSE(build(4, limits));
  // Whoever wants all candidates gets the rest.
  options.method = SearchMethodKind::Exhaustive;
  auto more = build(64, limits);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->stage, MeasurementStage::Race);
  EXPECT_EQ(more->candidates.size(), 32u);
}

/// A candidate that hangs is not measured in every round.
TEST_F(BundleSearchTest, FailuresCountWhereverTheyWereMade) {
  HostileSolver right("right-v1", HostileSolver::Right);
  ScopedExtraSolvers extra({&right});
  Measurement hung;
  hung.key = {problem.key(), "right-v1", "variant=0"};
  hung.status = MeasurementStatus::TimedOut;
  for (int opened = 0; opened < 2; ++opened) {
    auto file = Journal::open(directory.file("journal"),
                              JournalContext::forTarget(target));
    ASSERT_TRUE(file) << file.message();
    journal = std::move(*file);
    EXPECT_EQ(build(4, only({&right})).has_value(), opened == 0);
    ASSERT_TRUE(journal->record(hung));
  }
}

TEST_F(BundleSearchTest, ALimitEndsTheSearch) {
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/7);
  ScopedExtraSolvers extra({&right});
  options.iterations = 3;
  search(/*max=*/2);
  EXPECT_EQ(sum(raced), 3u);
  EXPECT_EQ(getMeasured().size(), 3u);
  EXPECT_THAT(journal->getFindings(problem.key()), IsEmpty());
  EXPECT_FALSE(build(2));
}

TEST_F(BundleSearchTest, SolversCanBeLeftOut) {
  HostileSolver right("right-v1", HostileSolver::Right);
  ScopedExtraSolvers extra({&right});
  search(/*max=*/4, only({&right}));
  EXPECT_THAT(raced, ElementsAre(1));
  EXPECT_THAT(timed, IsEmpty());
  EXPECT_EQ(journal->getBest(problem.key())->key.solver, "right-v1");
  EXPECT_THAT(journal->getFindings(problem.key()), IsEmpty());
}

/// Weights are part of every package.
TEST(BundleSizeTest, LargePackagesComeOneByOne) {
  auto count = [](int64_t rows) {
    return getMaxBatch(*parseProblem(
        "matmul(1x" + std::to_string(rows) + "xf32, " + std::to_string(rows) +
        "x1024xf32:const)->1x1024xf32 {transpose_lhs=0 transpose_rhs=0}"));
  };
  EXPECT_EQ(count(1), policy::kMaxBatch);
  EXPECT_EQ(count(128 << 10), 1u);
  EXPECT_EQ(count((128 << 10) / 5), 5u);
  EXPECT_EQ(count(512 << 10), 1u);
}

TEST_F(BundleSearchTest, NothingIsMeasuredAfterTheDeadline) {
  auto bundle = build(4);
  ASSERT_TRUE(bundle);
  ASSERT_TRUE(writeBundle(*bundle, path));
  auto measured = evaluator.measure(path, {}, Deadline::after(0));
  ASSERT_TRUE(measured) << measured.message();
  EXPECT_THAT(*measured, IsEmpty());
  EXPECT_EQ(measure(*bundle).size(), bundle->candidates.size());
}

/// A job that was aborted ends between two candidates.
TEST_F(BundleSearchTest, NothingIsMeasuredOnceNobodyWaitsForIt) {
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/7);
  ScopedExtraSolvers extra({&right});
  auto bundle = build(4);
  ASSERT_TRUE(bundle);
  ASSERT_GT(bundle->candidates.size(), 1u);
  ASSERT_TRUE(writeBundle(*bundle, path));
  int looks = 0;
  Deadline::Condition isLost = [&] { return ++looks > 1; };
  auto measured = evaluator.measure(path, {}, Deadline::never().orWhen(isLost));
  ASSERT_TRUE(measured) << measured.message();
  EXPECT_LT(measured->size(), bundle->candidates.size());
}

TEST_F(BundleSearchTest, NothingIsCompiledOnceNobodyWaitsForIt) {
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/7);
  ScopedExtraSolvers extra({&right});
  options.method = SearchMethodKind::Exhaustive;
  BundleBuilder builder(compiler, *journal, nullptr, nullptr, options);
  // Threads ask it.
  std::atomic<int> looks = 0;
  Deadline::Condition isLost = [&] { return ++looks > 1; };
  auto part = builder.build(problem, 4, only({&right}), {},
                            Deadline::never().orWhen(isLost));
  ASSERT_TRUE(part && *part) << part.message();
  ASSERT_EQ((*part)->candidates.size(), 1u);
  EXPECT_EQ((*part)->candidates[0].key.solver, "right-v1");
  EXPECT_EQ(looks, 4);
  auto all = builder.build(problem, 4, only({&right}));
  ASSERT_TRUE(all && *all) << all.message();
  EXPECT_EQ((*all)->candidates.size(), 4u);
}

/// A candidate that cannot reach the final is dropped, since the evaluator
/// knows the times of earlier rounds.
TEST_F(BundleSearchTest, SlowCandidatesAreDropped) {
  HostileSolver slow("slow-v1", HostileSolver::Slow);
  ScopedExtraSolvers extra({&slow});
  Measurement fast;
  fast.key = {problem.key(), "conv-igemm-v1", ""};
  fast.status = MeasurementStatus::Ok;
  fast.median = 1e-6;
  auto bundle = build(1, only({&slow}));
  ASSERT_TRUE(bundle);
  ASSERT_TRUE(writeBundle(*bundle, path));
  auto alone = evaluator.measure(path, {});
  auto beaten = evaluator.measure(path, fast);
  ASSERT_TRUE(alone && beaten);
  ASSERT_EQ(beaten->size(), 1u);
  EXPECT_FALSE(alone->front().isDropped);
  EXPECT_TRUE(beaten->front().isDropped);
}

TEST_F(BundleSearchTest, HostileCandidatesLoseAlone) {
  HostileSolver crashes("crashes-v1", HostileSolver::Crashes);
  HostileSolver hangs("hangs-v1", HostileSolver::Hangs);
  HostileSolver wrong("wrong-v1", HostileSolver::Wrong);
  HostileSolver nan("nan-v1", HostileSolver::NotANumber);
  HostileSolver right("right-v1", HostileSolver::Right, /*configCount=*/3);
  ScopedExtraSolvers extra({&crashes, &hangs, &wrong, &nan, &right});
  auto bundle = build(16);
  ASSERT_TRUE(bundle);
  auto find = [&](const std::string &solver) -> BundledCandidate & {
    return *llvm::find_if(bundle->candidates, [&](const auto &candidate) {
      return candidate.key.solver == solver;
    });
  };
  // Three more that only a bundle can have.
  BundledCandidate damaged = find("right-v1"), other = damaged,
                   refused = damaged;
  damaged.key.solver = "damaged-v1";
  damaged.package.resize(damaged.package.size() / 2);
  other.key.solver = "other-v1";
  problem = *parseProblem("relu(1x4x8x9xf32)->1x4x8x9xf32");
  other.package = build(1)->reference;
  refused.key.solver = "refused-v1";
  refused.package.clear();
  refused.error = "it spills \"7\" registers";
  for (const BundledCandidate &more : {damaged, other, refused})
    bundle->candidates.insert(bundle->candidates.begin(), more);

  std::vector<Measurement> measured = measure(*bundle);
  ASSERT_EQ(measured.size(), bundle->candidates.size());
  std::map<std::string, Measurement> bySolver;
  for (auto [m, candidate] : llvm::zip_equal(measured, bundle->candidates)) {
    EXPECT_EQ(m.key, candidate.key);
    bySolver[m.key.solver] = m;
  }
  using enum MeasurementStatus;
  for (auto [solver, status, detail] :
       {std::tuple("crashes-v1", Crashed, "SIGSEGV"),
        {"hangs-v1", TimedOut, ""},
        {"wrong-v1", Wrong, "error "},
        {"nan-v1", Wrong, "error inf"},
        {"damaged-v1", Failed, "is damaged: it ends inside its"},
        {"other-v1", Failed, "input 'operand0' is 1x4x8x8 of f32, but got "},
        {"refused-v1", Failed, "it spills \"7\" registers"},
        {"right-v1", Ok, ""}}) {
    EXPECT_EQ(bySolver[solver].status, status) << bySolver[solver].detail;
    EXPECT_THAT(bySolver[solver].detail, HasSubstr(detail));
  }
  EXPECT_GT(bySolver["right-v1"].median, 0);
  EXPECT_THAT(remarks, HasSubstr("hangs-v1 {variant=0} is not used for "));
}

TEST_F(BundleSearchTest, WithoutAReferenceNothingIsMeasured) {
  auto bundle = build(1);
  ASSERT_TRUE(bundle);
  std::string right = bundle->reference;
  bundle->reference.resize(100);
  ASSERT_TRUE(writeBundle(*bundle, path));
  auto measured = evaluator.measure(path, {});
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.message(), HasSubstr("bundle '" + path + "': "));
  EXPECT_THAT(measured.message(), HasSubstr("reference.tpn' is damaged"));
  for (auto [name, fault] :
       {std::pair("gfx942:cu=304", "the packages are for x86-64, and "
                                   "gfx942:cu=304 is amdgcn"),
        {"riscv", "unknown target 'riscv'"}}) {
    bundle->reference = right;
    bundle->target = name;
    ASSERT_TRUE(writeBundle(*bundle, path));
    measured = evaluator.measure(path, {});
    ASSERT_FALSE(measured);
    EXPECT_THAT(measured.message(), HasSubstr(fault));
  }
  BundleEvaluator without(directory.file("none"), progress);
  bundle->target = "host";
  ASSERT_TRUE(writeBundle(*bundle, path));
  measured = without.measure(path, {});
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.message(), HasSubstr(directory.file("none")));
}

//===----------------------------------------------------------------------===//
// A program that measures
//===----------------------------------------------------------------------===//

namespace {

/// Bundles are measured by evaluate-bundle, which links no KernelCompiler
/// (test/lit/Tools/evaluates.test).
class BundleProgramTest : public BundleSearchTest {
protected:
  /// Returns what the program prints with these variables, which are added to
  /// the environment.
  std::string evaluate(const CandidateBundle &bundle,
                       const std::vector<std::string> &variables) {
    EXPECT_TRUE(writeBundle(bundle, path));
    std::string evaluatorProgram = findEvaluatorProgram();
    std::string program = std::filesystem::path(evaluatorProgram)
                              .replace_filename("evaluate-bundle");
    std::vector<llvm::StringRef> environment(variables.begin(),
                                             variables.end());
    for (char **variable = environ; *variable; ++variable)
      environment.emplace_back(*variable);
    std::string out = directory.file("out");
    EXPECT_EQ(llvm::sys::ExecuteAndWait(
                  program, {program, evaluatorProgram, path}, environment,
                  {std::nullopt, out, /*nothing=*/""}),
              0);
    return readText(out);
  }
};

} // namespace

TEST_F(BundleProgramTest, NothingIsCompiled) {
  auto bundle = build(4);
  ASSERT_TRUE(bundle);
  std::string kernels = directory.file("kernels");
  std::string expected;
  for (const BundledCandidate &candidate : bundle->candidates)
    expected +=
        "ok " + candidate.key.solver + " {" + candidate.key.config + "}\n";
  EXPECT_EQ(evaluate(*bundle, {"TARPON_CACHE_DIR=" + kernels}), expected);
  EXPECT_FALSE(std::filesystem::exists(kernels));
}

/// The stand-in for CUDA's driver, an H100's, computes nothing but zeros.
TEST_F(BundleProgramTest, AGpuIsMeasuredInTheEvaluatorProcess) {
  auto gpu = findTarget("sm_90a:bw=3352");
  ASSERT_TRUE(gpu) << gpu.message();
  const TargetInfo &info = (*gpu)->getInfo();
  KernelCompiler kernels(info, cache, (*gpu)->makeBackend());
  auto records = Journal::openInMemory(JournalContext::forTarget(info));
  BundleBuilder builder(kernels, *records, nullptr, nullptr, options);
  auto bundle = builder.build(problem, 1);
  ASSERT_TRUE(bundle && *bundle) << bundle.message();
  ASSERT_EQ((*bundle)->candidates.size(), 1u);
  EXPECT_EQ((*bundle)->candidates[0].error, "");
  EXPECT_EQ((*bundle)->candidates[0].modelMs, 0);
  const CandidateKey &key = (*bundle)->candidates[0].key;
  std::string line = " " + key.solver + " {" + key.config + "}\n";
  std::vector<std::string> driver = {"TARPON_CUDA_LIBRARY=" TARPON_FAKE_CUDA,
                                     "FAKE_CUDA_GPUS=1", "FAKE_CUDA_ZERO=1",
                                     "FAKE_CUDA_TIMES==0.01"};
  EXPECT_EQ(evaluate(**bundle, driver), "ok" + line);
  driver.emplace_back("FAKE_CUDA_CRASH=gpu_elem");
  EXPECT_EQ(evaluate(**bundle, driver), "crashed" + line);
}

//===----------------------------------------------------------------------===//
// The emulated GPU
//===----------------------------------------------------------------------===//

TEST_F(BundleSearchTest, AnEmulatedGpuVerifiesAndItsModelTimes) {
  TargetOptions emulated;
  emulated.device = "emulated";
  auto gpu = findTarget("gfx942:cu=304", emulated);
  ASSERT_TRUE(gpu) << gpu.message();
  const TargetInfo &info = (*gpu)->getInfo();
  KernelCompiler kernels(info, nullptr, (*gpu)->makeBackend());
  auto records = Journal::openInMemory(
      JournalContext::forModel(info, kernels.describeCostModel()));
  problem = *parseProblem("conv(1x32x6x6xf16:nhwc, 32x32x1x1xf16:const)->"
                          "1x32x6x6xf16:nhwc {dilations=1,1 group=1 "
                          "pads=0,0,0,0 strides=1,1}");
  options.iterations = 2;
  BundleBuilder builder(kernels, *records, nullptr, nullptr, options);
  auto bundle = builder.build(problem, 4);
  ASSERT_TRUE(bundle && *bundle) << bundle.message();
  EXPECT_EQ((*bundle)->target, "gfx942:cu=304");
  ASSERT_EQ((*bundle)->candidates.size(), 2u);
  // One more, with other weights than the rest.
  BundledCandidate wrong = (*bundle)->candidates[0];
  const Solver &solver = *findSolver(info, wrong.key.solver);
  auto package = buildProblemPackage(
      problem, solver, *PerfConfig::parse(wrong.key.config), kernels,
      /*seed=*/2);
  ASSERT_TRUE(package) << package.message();
  wrong.key.solver = "wrong-v1";
  wrong.package = *runtime::serializePackage(*package);
  (*bundle)->candidates.push_back(wrong);
  BundledCandidate untimed = (*bundle)->candidates[1];
  untimed.key.solver = "untimed-v1";
  untimed.modelMs = 0;
  (*bundle)->candidates.push_back(untimed);

  BundleEvaluator verifier(findEvaluatorProgram(), progress,
                           /*onEmulatedDevice=*/true);
  ASSERT_TRUE(writeBundle(**bundle, path));
  auto measured = verifier.measure(path, {});
  ASSERT_TRUE(measured) << measured.message();
  ASSERT_EQ(measured->size(), 4u);
  EXPECT_EQ((*measured)[2].status, MeasurementStatus::Wrong);
  EXPECT_THAT((*measured)[2].detail, HasSubstr(" is allowed and results go "));
  EXPECT_EQ((*measured)[3].status, MeasurementStatus::Failed);
  EXPECT_EQ((*measured)[3].detail, "the bundle has no time of it");
  for (size_t i : {0, 1}) {
    const Measurement &m = (*measured)[i];
    EXPECT_EQ(m.status, MeasurementStatus::Ok) << m.detail;
    EXPECT_EQ(m.timeSource, TimeSource::Modelled);
    EXPECT_GT(m.median, 0);
    EXPECT_EQ(m.median, (*bundle)->candidates[i].modelMs);
    EXPECT_THAT(m.samples, IsEmpty());
    ASSERT_TRUE(records->record(m));
  }
  // Modelled times need no final.
  auto none = builder.build(problem, 4);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  ASSERT_TRUE(records->getBest(problem.key()));
  // Nobody takes such a bundle for one of a real GPU.
  measured = evaluator.measure(path, {});
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.message(), HasSubstr("the packages are for amdgcn-ir, "
                                            "and gfx942:cu=304 is amdgcn"));
}
