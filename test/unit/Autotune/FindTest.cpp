//===- FindTest.cpp -------------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Find.h"
#include "tarpon/Driver/Workload.h"

#include "HostileSolvers.h"
#include "ScopedBehaviourVersion.h"
#include "TestDirectory.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/Support/FileSystem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

class FinderTest : public testing::Test {
protected:
  TestDirectory directory;
  Problem relu = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  Problem conv = *parseProblem(
      "conv(1x8x6x6xf32, 8x8x3x3xf32:const)->1x8x6x6xf32 {dilations=1,1 "
      "group=1 pads=1,1,1,1 strides=1,1}");
  HostileSolver small{"small-v1", HostileSolver::Right};
  HostileSolver large{"large-v1", HostileSolver::Right};

  void SetUp() override {
    static TestDirectory cache;
    setenv("TARPON_USER_DB_PATH", directory.file("db").c_str(), 1);
    setenv("TARPON_SYSTEM_DB_PATH", directory.file("system").c_str(), 1);
    setenv("TARPON_CACHE_DIR", cache.path().c_str(), 1);
    large.workspace = 1 << 16;
  }
  void TearDown() override { unsetenv("TARPON_SYSTEM_DB_PATH"); }

  std::unique_ptr<Finder> makeFinder(int64_t threads = 1) {
    FinderOptions options;
    options.threads = threads;
    auto finder = Finder::create(options);
    EXPECT_TRUE(finder) << finder.message();
    return std::move(*finder);
  }

  runtime::HostTensor makeTensor(const TensorDesc &desc, uint64_t seed) {
    auto tensor = runtime::HostTensor::create(desc.dtype, desc.shape);
    EXPECT_TRUE(tensor) << tensor.message();
    runtime::fillRandom(*tensor, seed);
    return std::move(*tensor);
  }

  /// The result of the convolution of these tensors.
  std::vector<float> run(Finder &finder, const FoundSolution &found,
                         const runtime::HostTensor &input,
                         const runtime::HostTensor &filter) {
    std::vector<float> result(conv.result.numElements());
    const void *operands[] = {input.data.data(), filter.data.data()};
    void *results[] = {result.data()};
    auto status = finder.runSolution(found, operands, results);
    EXPECT_TRUE(status) << status.message();
    return result;
  }

  std::string getError(const std::string &path, int64_t threads = 1) {
    auto found = makeFinder(threads)->loadSolution(path);
    return found ? "" : found.message();
  }
};

/// A model that knows one solver.
class OneSolverRanker : public SolutionRanker {
public:
  explicit OneSolverRanker(const Solver *solver) : solver(solver) {}
  std::vector<Solution> rank(const Problem &problem,
                             const TargetInfo &target) const override {
    if (!solver)
      return {};
    Solution solution;
    solution.solver = solver;
    solution.config = solver->defaultConfig(problem, target);
    solution.source = "heuristic";
    return {solution};
  }

private:
  const Solver *solver;
};

} // namespace

TEST_F(FinderTest, SolutionsAreMeasuredOnceAndOrdered) {
  ScopedExtraSolvers extra({&large, &small});
  auto found = makeFinder()->findSolutions(relu);
  ASSERT_TRUE(found) << found.message();
  ASSERT_GE(found->size(), 3u);
  EXPECT_EQ(found->front().solution.source, "measured");
  auto finder = makeFinder();
  FindOptions options;
  options.order = SolutionOrder::ByWorkspace;
  found = finder->findSolutions(relu, options);
  ASSERT_TRUE(found) << found.message();
  EXPECT_EQ(finder->getStatistics().measured, 0);
  EXPECT_EQ(found->back().solution.solver, &large);
  EXPECT_EQ(found->back().workspaceBytes, 1 << 16);
  for (const FoundSolution &solution : *found) {
    EXPECT_EQ(solution.solution.source, "user-db");
    ASSERT_TRUE(solution.getMilliseconds());
    EXPECT_GT(*solution.getMilliseconds(), 0);
  }
  auto immediate = finder->listSolutions(relu, {}, found->size(),
                                         SolutionOrder::ByWorkspace);
  ASSERT_EQ(immediate.size(), found->size());
  EXPECT_EQ(immediate.back().solution.solver, &large);
  EXPECT_NE(finder->listSolutions(relu, {}, 1, SolutionOrder::ByWorkspace)
                .front()
                .solution.solver,
            &large);
  options.limits.workspaceBytes = (1 << 16) - 1;
  auto limited = finder->findSolutions(relu, options);
  ASSERT_TRUE(limited) << limited.message();
  EXPECT_EQ(limited->size() + 1, found->size());
}

TEST_F(FinderTest, ImmediateModeSaysWhoAnswers) {
  ScopedExtraSolvers extra({&small, &large});
  auto finder = makeFinder();
  OneSolverRanker ranker(&large), silent(nullptr);
  size_t count = finder->countSolutions(relu);
  EXPECT_EQ(finder->listSolutions(relu).size(), count);
  EXPECT_EQ(finder->listSolutions(relu, {}, 1).size(), 1u);
  EXPECT_EQ(finder->listSolutions(relu)[0].solution.source, "default");
  EXPECT_FALSE(finder->listSolutions(relu)[0].getMilliseconds());
  finder->setRanker(&ranker);
  EXPECT_EQ(finder->listSolutions(relu)[0].solution.source, "heuristic");
  EXPECT_EQ(finder->listSolutions(relu)[0].solution.solver, &large);
  finder->setRanker(&silent);
  EXPECT_EQ(finder->listSolutions(relu)[0].solution.source, "default");
  EXPECT_EQ(finder->getStatistics().measured, 0);
  ASSERT_TRUE(finder->findSolutions(relu));
  finder->setRanker(&ranker);
  EXPECT_EQ(finder->listSolutions(relu)[0].solution.source, "measured");
  EXPECT_EQ(makeFinder()->listSolutions(relu)[0].solution.source, "user-db");
}

TEST_F(FinderTest, RunsOnTheCallersBuffers) {
  auto finder = makeFinder();
  auto input = makeTensor(conv.operands[0], 1);
  auto filter = makeTensor(conv.operands[1], 2);
  auto other = makeTensor(conv.operands[1], 3);
  auto list = finder->listSolutions(conv);
  ASSERT_GE(list.size(), 2u);
  SolutionLimits referenceOnly;
  for (const FoundSolution &found : list)
    referenceOnly.disabledSolvers.push_back(found.solution.solver->id().str());
  FoundSolution reference = finder->listSolutions(conv, referenceOnly)[0];
  ASSERT_EQ(reference.solution.solver, &getReferenceSolver());
  auto expected = run(*finder, reference, input, filter);
  auto expectedOther = run(*finder, reference, input, other);
  EXPECT_NE(expected, expectedOther);
  for (const FoundSolution &found : list) {
    SCOPED_TRACE(found.key);
    EXPECT_THAT(run(*finder, found, input, filter),
                testing::Pointwise(testing::FloatNear(1e-4), expected));
    EXPECT_THAT(run(*finder, found, input, other),
                testing::Pointwise(testing::FloatNear(1e-4), expectedOther));
  }
}

/// A solver that hands something from one launch to the next.
TEST_F(FinderTest, RunsOnTheCallersWorkspace) {
  Problem backward =
      *parseProblem("lrn_backward(2x8x3x3xf32, 2x8x3x3xf32)->2x8x3x3xf32 "
                    "{alpha=0.0001 beta=0.75 bias=1 size=5}");
  auto finder = makeFinder();
  auto list = finder->listSolutions(backward);
  auto found = llvm::find_if(list, [](const FoundSolution &found) {
    return found.workspaceBytes > 0;
  });
  ASSERT_NE(found, list.end());
  std::vector<runtime::HostTensor> tensors;
  std::vector<const void *> operands;
  for (const TensorDesc &desc : backward.operands) {
    tensors.push_back(makeTensor(desc, tensors.size()));
    operands.push_back(tensors.back().data.data());
  }
  std::vector<float> expected(backward.result.numElements());
  std::vector<float> result(expected.size());
  ASSERT_TRUE(finder->runSolution(*found, operands, {expected.data()}));
  auto workspace = runtime::AlignedBuffer::allocate(found->workspaceBytes);
  ASSERT_TRUE(workspace);
  llvm::MutableArrayRef<char> bytes(workspace->data(), workspace->size());
  ASSERT_TRUE(finder->runSolution(*found, operands, {result.data()}, bytes));
  EXPECT_EQ(result, expected);
  EXPECT_TRUE(llvm::any_of(bytes, [](char byte) { return byte != 0; }));

  auto status =
      finder->runSolution(*found, operands, {result.data()}, bytes.drop_back());
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("bytes is too small for "));
  EXPECT_THAT(status.message(),
              HasSubstr("it needs " + std::to_string(found->workspaceBytes)));
  status = finder->runSolution(
      *found, operands, {result.data()},
      llvm::MutableArrayRef<char>(bytes.data() + 1, bytes.size()));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("is not aligned to 64 bytes"));
}

TEST_F(FinderTest, ProblemsAreLoggedOnce) {
  FinderOptions options;
  options.threads = 1;
  options.logDriver = directory.file("log.txt");
  auto finder = Finder::create(options);
  ASSERT_TRUE(finder) << finder.message();
  auto input = makeTensor(relu.operands[0], 1);
  std::vector<float> result(relu.result.numElements());
  for (int i = 0; i < 2; ++i) {
    auto found = (*finder)->findSolutions(relu);
    ASSERT_TRUE(found);
    ASSERT_TRUE((*finder)->runSolution(found->front(), {input.data.data()},
                                       {result.data()}));
  }
  auto workload = readWorkload(options.logDriver);
  ASSERT_TRUE(workload) << workload.message();
  EXPECT_EQ(workload->lines, 1);
  ASSERT_EQ(workload->problems.size(), 1u);
  EXPECT_EQ(workload->problems[0].key(), relu.key());
}

TEST_F(FinderTest, TheSecondCallPreparesNothing) {
  auto finder = makeFinder();
  auto input = makeTensor(conv.operands[0], 1);
  auto filter = makeTensor(conv.operands[1], 2);
  FoundSolution found = finder->listSolutions(conv)[0];
  const void *operands[] = {input.data.data(), filter.data.data()};
  ASSERT_TRUE(finder->compileSolution(found, operands));
  EXPECT_EQ(finder->countPreparations(), 1);
  auto compiled = finder->getKernelCompiler().getStatistics();
  auto first = run(*finder, found, input, filter);
  // Nothing of the stores or of the cache is needed any more.
  ASSERT_FALSE(llvm::sys::fs::remove_directories(directory.file("db")));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(*finder, found, input, filter), first);
  EXPECT_EQ(finder->countPreparations(), 1);
  auto after = finder->getKernelCompiler().getStatistics();
  EXPECT_EQ(after.compiled + after.fromCache + after.fromMemory,
            compiled.compiled + compiled.fromCache + compiled.fromMemory);
}

TEST_F(FinderTest, WrongNumbersOfBuffersAreErrors) {
  auto finder = makeFinder();
  FoundSolution found = finder->listSolutions(relu)[0];
  float buffer[256] = {};
  const void *operands[] = {buffer, buffer};
  void *results[] = {buffer};
  auto status = finder->runSolution(found, operands, results);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("expected 1 operands for relu("));
  status = finder->runSolution(found, {buffer}, {});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("expected 1 results for relu("));
}

TEST_F(FinderTest, SavedSolutionsRun) {
  std::string path = directory.file("s.json");
  auto input = makeTensor(conv.operands[0], 1);
  auto filter = makeTensor(conv.operands[1], 2);
  std::vector<float> expected;
  for (bool withKernels : {false, true}) {
    {
      auto finder = makeFinder();
      auto list = finder->findSolutions(conv);
      ASSERT_TRUE(list) << list.message();
      const void *operands[] = {nullptr, filter.data.data()};
      auto status =
          withKernels
              ? finder->saveSolutionWithKernels(list->front(), path, operands)
              : finder->saveSolution(list->front(), path);
      ASSERT_TRUE(status) << status.message();
      expected = run(*finder, list->front(), input, filter);
    }
    auto finder = makeFinder();
    auto loaded = finder->loadSolution(path);
    ASSERT_TRUE(loaded) << loaded.message();
    EXPECT_TRUE(loaded->getMilliseconds());
    EXPECT_EQ(loaded->problem.key(), conv.key());
    EXPECT_EQ(run(*finder, *loaded, input, filter), expected);
    auto kernels = finder->getKernelCompiler().getStatistics();
    EXPECT_EQ(kernels.compiled + kernels.fromCache == 0, withKernels);
  }
}

/// A solution that was loaded with a package keeps its constants, and leaves
/// the caller's alone.
TEST_F(FinderTest, LoadedKernelsReplaceNobodysConstants) {
  std::string path = directory.file("s.json");
  auto input = makeTensor(conv.operands[0], 1);
  auto saved = makeTensor(conv.operands[1], 2);
  auto other = makeTensor(conv.operands[1], 3);
  auto finder = makeFinder();
  FoundSolution found = finder->listSolutions(conv)[0];
  const void *operands[] = {nullptr, saved.data.data()};
  ASSERT_TRUE(finder->saveSolutionWithKernels(found, path, operands));
  auto ofSaved = run(*finder, found, input, saved);
  auto ofOther = run(*finder, found, input, other);
  EXPECT_NE(ofSaved, ofOther);
  auto fresh = makeFinder();
  auto loaded = fresh->loadSolution(path);
  ASSERT_TRUE(loaded) << loaded.message();
  EXPECT_EQ(run(*fresh, *loaded, input, other), ofSaved);
  EXPECT_EQ(run(*fresh, found, input, other), ofOther);
  EXPECT_EQ(run(*fresh, *loaded, input, other), ofSaved);
}

TEST_F(FinderTest, SetsOfConstantsAreKeptSideBySide) {
  auto finder = makeFinder();
  auto input = makeTensor(conv.operands[0], 1);
  auto one = makeTensor(conv.operands[1], 2);
  auto two = makeTensor(conv.operands[1], 3);
  FoundSolution found = finder->listSolutions(conv)[0];
  auto ofOne = run(*finder, found, input, one);
  auto ofTwo = run(*finder, found, input, two);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run(*finder, found, input, one), ofOne);
    EXPECT_EQ(run(*finder, found, input, two), ofTwo);
  }
  EXPECT_EQ(finder->countPreparations(), 2);
}

/// Those of 6d49224 and later named a digest of sources, and no version.
TEST_F(FinderTest, SolutionsFromBeforeVersionsAreLoaded) {
  std::string path = directory.file("s.json");
  FoundSolution found = makeFinder()->listSolutions(conv)[0];
  ScopedBehaviourVersion solver(found.solution.solver->id(), 1);
  ScopedBehaviourVersion codegen(kHostCodegen, 1);
  ASSERT_TRUE(makeFinder()->saveSolution(found, path));
  std::string saved = readText(path), version = "\"version\": 1";
  std::string tarpon = JournalContext::forTarget(TargetInfo()).tarpon;
  ASSERT_NE(saved.find(version), std::string::npos);
  ASSERT_NE(saved.find(tarpon), std::string::npos);
  saved.replace(saved.find(version), version.size(), "\"other\": 1");
  auto isLoadedOf = [&](const std::string &digest) {
    std::string text = saved;
    writeText(path, text.replace(text.find(tarpon), tarpon.size(), digest));
    return getError(path).empty();
  };
  // 6359dbb, built by Clang and by GCC: one of them is as this build.
  EXPECT_NE(isLoadedOf("0.1.0+265d5889ba85"), isLoadedOf("0.1.0+bf665527e869"));
  EXPECT_FALSE(isLoadedOf("0.1.0+0123456789ab"));
}

TEST_F(FinderTest, SolutionsOfOtherOriginAreRefused) {
  std::string path = directory.file("s.json");
  FoundSolution found = makeFinder()->listSolutions(conv)[0];
  ScopedBehaviourVersion solver(found.solution.solver->id(), 1);
  ASSERT_TRUE(makeFinder()->saveSolution(found, path));
  EXPECT_EQ(getError(path), "");
  EXPECT_EQ(getError(path, 2),
            path + " was made for a thread count of 1, not 2");
  std::string text = readText(path);
  auto replace = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    writeText(path, changed.replace(at, from.size(), to));
  };
  replace("\"target\": \"x86-64/", "\"target\": \"gfx90a/");
  EXPECT_THAT(getError(path), HasSubstr("was made for target gfx90a/"));
  replace("\"tarpon\": \"", "\"tarpon\": \"9");
  EXPECT_THAT(getError(path), HasSubstr("was made by tarpon 9"));
  replace("\"version\": 1", "\"version\": 2");
  EXPECT_THAT(getError(path), HasSubstr(" in version 2, not 1"));
  replace("\"solver\": \"", "\"solver\": \"not-");
  EXPECT_THAT(getError(path), HasSubstr("solver: there is no solver 'not-"));
  replace("\"config\": \"", "\"config\": \"none=1,");
  EXPECT_THAT(getError(path), HasSubstr("is no config of"));
  replace("\"problem\": \"conv", "\"problem\": \"convey");
  EXPECT_THAT(getError(path), HasSubstr("is not a problem key"));
  replace("\"threads\": 1", "\"threads\": \"1\"");
  EXPECT_EQ(getError(path), path + ": threads: expected an integer");
  replace("\"caches\": \"", "\"caches\": \"9");
  EXPECT_THAT(getError(path), HasSubstr("was made for caches of 9"));
  // Older files lack them, and are valid for any sizes.
  replace("\"caches\": \"", "\"other\": \"");
  EXPECT_EQ(getError(path), "");
  std::string plain = text;
  text.insert(text.find('{') + 1, "\n  \"median_ms\": -5,");
  replace("tarpon.solution/1", "tarpon.solution/1");
  EXPECT_EQ(getError(path), path + ": median_ms: expected a positive number");
  text = plain;
  replace("tarpon.solution/1", "tarpon.solution/2");
  EXPECT_THAT(getError(path), HasSubstr("schema: expected"));
  replace("\"kernels\": false", "\"kernels\": true");
  EXPECT_THAT(getError(path), HasSubstr(path + ".tpn"));
  writeText(path, text.substr(0, text.size() / 2));
  EXPECT_THAT(getError(path), HasSubstr("is not a saved solution"));
}
