//===- EvaluatorTest.cpp - Tests of evaluator and client --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Evaluator.h"
#include "TestPackages.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Npy.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using std::chrono::milliseconds;
using testing::HasSubstr;

static constexpr milliseconds kLong(60000);

namespace {

class EvaluatorTest : public testing::Test {
protected:
  TempFolder folder;
  EvaluatorProcess evaluator{TARPON_EVALUATOR};

  /// A request for a package whose second layer is `symbol`.
  EvaluationRequest request(const std::string &symbol) {
    EvaluationRequest result;
    result.package = writeModel(symbol);
    result.reference = writeModel("scaleAndAdd");
    result.threads = 2;
    result.minSamples = 3;
    result.minTimeMs = 0;
    return result;
  }

  std::string writeModel(const std::string &symbol, int64_t elements = 500) {
    std::string path = folder.file(symbol + std::to_string(elements) + ".tpn");
    if (std::filesystem::exists(path))
      return path;
    Status status = writePackage(makeTestPackage(elements, symbol), path);
    EXPECT_TRUE(status) << status.message();
    return path;
  }

  EvaluationAnswer evaluate(const EvaluationRequest &request,
                            milliseconds timeLimit = kLong) {
    Result<EvaluationAnswer> answer = evaluator.evaluate(request, timeLimit);
    EXPECT_TRUE(answer) << answer.message();
    return answer ? *answer : EvaluationAnswer();
  }

  void addSample(EvaluationRequest &given, float value) {
    HostTensor input = makeTensor(DType::F32, {1, 500});
    floatsOf(input)[3] = value;
    given.samples.push_back(
        {folder.file(std::to_string(given.samples.size()))});
    ASSERT_TRUE(writeNpy(input, given.samples.back().front()));
  }

  void expectStillWorks() {
    EvaluationAnswer answer = evaluate(request("scaleAndAdd"));
    EXPECT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
    ASSERT_TRUE(answer.comparison);
    EXPECT_EQ(answer.comparison->maxAbsError, 0);
  }

  std::string failure(const EvaluationRequest &request) {
    EvaluationAnswer answer = evaluate(request);
    EXPECT_EQ(answer.outcome, EvaluationOutcome::Failed);
    return answer.error;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Candidates that run
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorTest, TimesAndVerifiesAGoodCandidate) {
  EvaluationAnswer answer = evaluate(request("scaleAndAdd"));
  ASSERT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  EXPECT_EQ(answer.samplesMs.size(), 3u);
  EXPECT_GT(answer.medianMs, 0);
  EXPECT_GE(answer.madMs, 0);
  ASSERT_TRUE(answer.comparison);
  EXPECT_EQ(answer.comparison->maxAbsError, 0);
  EXPECT_EQ(answer.comparison->relativeL2, 0);
  EXPECT_GT(answer.comparison->referenceScale, 1);
}

TEST_F(EvaluatorTest, ReportsTheErrorOfAWrongCandidate) {
  EvaluationRequest wrong = request("slightlyWrong");
  wrong.threads = 1;
  EvaluationAnswer answer = evaluate(wrong);
  ASSERT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  ASSERT_TRUE(answer.comparison);
  EXPECT_NEAR(answer.comparison->maxAbsError, 0.5, 1e-6);
  EXPECT_GT(answer.comparison->relativeL2, 0);
}

TEST_F(EvaluatorTest, ReportsAnErrorThatComesLater) {
  EvaluationRequest wrong = request("wrongLater");
  wrong.threads = 1;
  EvaluationAnswer answer = evaluate(wrong);
  ASSERT_TRUE(answer.comparison) << answer.error;
  EXPECT_NEAR(answer.comparison->maxAbsError, 1.0, 1e-6);
}

TEST_F(EvaluatorTest, SeesOutputsThatAreNeverWritten) {
  EvaluationAnswer answer = evaluate(request("doesNothing"));
  ASSERT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  ASSERT_TRUE(answer.comparison);
  EXPECT_TRUE(std::isinf(answer.comparison->maxAbsError));
  EXPECT_TRUE(std::isinf(answer.comparison->relativeL2));
}

TEST_F(EvaluatorTest, WorksWithoutAReference) {
  EvaluationRequest plain = request("slightlyWrong");
  plain.reference.reset();
  EvaluationAnswer answer = evaluate(plain);
  EXPECT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  EXPECT_FALSE(answer.comparison);
}

TEST_F(EvaluatorTest, RotatesOverSeveralInstances) {
  EvaluationRequest rotating = request("scaleAndAdd");
  rotating.rotateBytes = 1 << 20;
  EvaluationAnswer answer = evaluate(rotating);
  EXPECT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  EXPECT_EQ(answer.comparison->maxAbsError, 0);
}

TEST_F(EvaluatorTest, TakesInputsFromFiles) {
  HostTensor input = makeTensor(DType::F32, {1, 500});
  floatsOf(input)[3] = 1000;
  EvaluationRequest given = request("scaleAndAdd");
  given.inputs = {folder.file("x.npy")};
  ASSERT_TRUE(writeNpy(input, given.inputs[0]));
  EXPECT_EQ(evaluate(given).comparison->referenceScale,
            expectedOutput(1000.0f));
  // Another file of the same name is another reference.
  floatsOf(input)[3] = 2000;
  ASSERT_TRUE(writeNpy(input, given.inputs[0]));
  EXPECT_EQ(evaluate(given).comparison->referenceScale,
            expectedOutput(2000.0f));
}

TEST_F(EvaluatorTest, ReturnsTheResultsOfSamples) {
  EvaluationRequest given = request("scaleAndAdd");
  given.reference.reset();
  for (float value : {1000.0f, 2000.0f})
    addSample(given, value);
  EvaluationAnswer answer = evaluate(given);
  ASSERT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  EXPECT_FALSE(answer.comparison);
  EXPECT_TRUE(answer.samplesMs.empty());
  ASSERT_EQ(answer.results.size(), 2u);
  EXPECT_EQ(answer.results[0][0].size(), 500u);
  EXPECT_EQ(answer.results[0][0][3], expectedOutput(1000.0f));
  EXPECT_EQ(answer.results[1][0][3], expectedOutput(2000.0f));
  // Samples have one shape.
  ASSERT_TRUE(
      writeNpy(makeTensor(DType::F32, {1, 499}), given.samples[1].front()));
  EXPECT_EQ(failure(given), "samples differ in their types or shapes");
}

TEST_F(EvaluatorTest, ComparesEachSampleWithItsReference) {
  EvaluationRequest given = request("slightlyWrong");
  given.threads = 1;
  for (int sample = 0; sample < 12; ++sample)
    addSample(given, 1000.0f * static_cast<float>(sample));
  for (int time = 0; time < 2; ++time) {
    EvaluationAnswer answer = evaluate(given);
    ASSERT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
    EXPECT_TRUE(answer.samplesMs.empty());
    EXPECT_TRUE(answer.results.empty());
    ASSERT_EQ(answer.sampleErrors.size(), 12u);
    // One element is off by the same, while the others' norm grows.
    for (size_t sample = 1; sample < 12; ++sample)
      EXPECT_LT(answer.sampleErrors[sample], answer.sampleErrors[sample - 1]);
    EXPECT_GT(answer.sampleErrors.back(), 0);
  }
  given.package = writeModel("doesNothing");
  EXPECT_TRUE(std::isinf(evaluate(given).sampleErrors.front()));
}

TEST_F(EvaluatorTest, RunsTheFirstSampleOnceMore) {
  EvaluationRequest given = request("wrongLater");
  given.threads = 1;
  addSample(given, 1000);
  EvaluationAnswer answer = evaluate(given);
  ASSERT_EQ(answer.sampleErrors.size(), 1u) << answer.error;
  EXPECT_GT(answer.sampleErrors.front(), 0);
}

TEST_F(EvaluatorTest, TimesLayersWithinRuns) {
  EvaluationRequest given = request("scaleAndAdd");
  given.profiledRuns = 3;
  EvaluationAnswer answer = evaluate(given);
  ASSERT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  EXPECT_FALSE(answer.samplesMs.empty());
  EXPECT_EQ(answer.comparison->maxAbsError, 0);
  ASSERT_EQ(answer.problemsMs.size(), 2u);
  EXPECT_GT(answer.problemsMs.at("problem-1"), 0);
  EXPECT_GT(answer.problemsMs.at("problem-2"), 0);
}

/// Layers that pose one problem are told as one.
TEST_F(EvaluatorTest, ProblemsHaveTheMeanOfTheirLayers) {
  Package package = makeTestPackage(500);
  package.layers[1].problem = package.layers[0].problem;
  EvaluationRequest given = request("scaleAndAdd");
  ASSERT_TRUE(writePackage(package, given.package));
  given.profiledRuns = 3;
  EXPECT_EQ(evaluate(given).problemsMs.size(), 1u);
}

TEST_F(EvaluatorTest, AReplacedReferenceIsComputedAgain) {
  EvaluationRequest first = request("scaleAndAdd");
  first.threads = 1;
  first.reference = folder.file("reference.tpn");
  std::filesystem::copy(writeModel("slightlyWrong"), *first.reference);
  EXPECT_NEAR(evaluate(first).comparison->maxAbsError, 0.5, 1e-6);
  std::filesystem::remove(*first.reference);
  ASSERT_TRUE(writePackage(makeTestPackage(500), *first.reference));
  EXPECT_EQ(evaluate(first).comparison->maxAbsError, 0);
}

TEST_F(EvaluatorTest, KernelsThatPrintDoNotDisturbTheProtocol) {
  EvaluationAnswer answer = evaluate(request("prints"));
  EXPECT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  expectStillWorks();
}

TEST_F(EvaluatorTest, OneProcessServesManyRequests) {
  expectStillWorks();
  int process = evaluator.processId();
  EXPECT_GT(process, 0);
  for (int i = 0; i < 20; ++i)
    expectStillWorks();
  EXPECT_EQ(evaluator.processId(), process);
}

//===----------------------------------------------------------------------===//
// Candidates that do not
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorTest, SurvivesACrash) {
  for (const auto &[symbol, name] :
       {std::pair("crashes", "SIGSEGV"), std::pair("aborts", "SIGABRT")}) {
    EvaluationAnswer answer = evaluate(request(symbol));
    EXPECT_EQ(answer.outcome, EvaluationOutcome::Crashed);
    EXPECT_EQ(answer.error, std::string("candidate crashed with ") + name);
    EXPECT_EQ(evaluator.processId(), -1);
    expectStillWorks();
  }
}

TEST_F(EvaluatorTest, SurvivesAnExit) {
  EvaluationAnswer answer = evaluate(request("exits"));
  EXPECT_EQ(answer.outcome, EvaluationOutcome::Crashed);
  EXPECT_EQ(answer.error, "candidate made the evaluator exit with status 7");
  expectStillWorks();
}

TEST_F(EvaluatorTest, KillsAHangingCandidate) {
  auto start = std::chrono::steady_clock::now();
  EvaluationAnswer answer = evaluate(request("hangs"), milliseconds(500));
  auto taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(answer.outcome, EvaluationOutcome::TimedOut);
  EXPECT_EQ(answer.error, "candidate ran longer than its limit of 500 ms");
  EXPECT_LT(taken, std::chrono::seconds(20));
  expectStillWorks();
}

TEST_F(EvaluatorTest, BlamesNobodyForWhatAnotherDid) {
  EXPECT_EQ(evaluate(request("spoils")).outcome, EvaluationOutcome::Ok);
  EvaluationAnswer answer = evaluate(request("crashesTheSecondTime"));
  EXPECT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
}

TEST_F(EvaluatorTest, AGarbledAnswerIsACrash) {
  for (bool isFresh : {true, false}) {
    SCOPED_TRACE(isFresh);
    EvaluationAnswer answer = evaluate(request("garbles"));
    EXPECT_EQ(answer.outcome, EvaluationOutcome::Crashed);
    EXPECT_EQ(answer.error, "candidate garbled the evaluator's answer: in the "
                            "answer, 'id' is missing");
    expectStillWorks();
  }
}

/// Ends the evaluator's process while a candidate runs in it.
TEST_F(EvaluatorTest, EndsFromOutsideAreNoVerdict) {
  for (int signal : {SIGKILL, SIGTERM, SIGBUS}) {
    EvaluatorProcess fresh(TARPON_EVALUATOR);
    std::thread killer([&] {
      while (fresh.processId() < 0)
        usleep(10'000);
      usleep(200'000);
      kill(fresh.processId(), signal);
    });
    Result<EvaluationAnswer> answer = fresh.evaluate(request("hangs"), kLong);
    killer.join();
    ASSERT_TRUE(answer) << answer.message();
    EXPECT_EQ(answer->outcome, EvaluationOutcome::Failed);
    EXPECT_EQ(answer->error, std::string("the evaluator was ended from outside "
                                         "with SIG") +
                                 sigabbrev_np(signal));
  }
}

/// At the limit of a container's processes, nothing can be said about a
/// candidate for several threads. One that needs a single thread runs.
TEST_F(EvaluatorTest, AMissingThreadIsNoVerdict) {
  setenv("LD_PRELOAD", TARPON_FAILING_THREADS, 1);
  setenv("TARPON_TEST_THREADS", "0", 1);
  EvaluatorProcess process(TARPON_EVALUATOR);
  EvaluationRequest two = request("scaleAndAdd"), one = two;
  two.threads = 2;
  one.threads = 1;
  Result<EvaluationAnswer> refused = process.evaluate(two, kLong);
  Result<EvaluationAnswer> answer = process.evaluate(one, kLong);
  unsetenv("LD_PRELOAD");
  unsetenv("TARPON_TEST_THREADS");
  ASSERT_TRUE(refused) << refused.message();
  EXPECT_EQ(refused->outcome, EvaluationOutcome::Failed);
  EXPECT_THAT(refused->error, HasSubstr("the system has started 1 of 2 "
                                        "threads"));
  ASSERT_TRUE(answer) << answer.message();
  EXPECT_EQ(answer->outcome, EvaluationOutcome::Ok) << answer->error;
}

TEST_F(EvaluatorTest, TheOomKillerTakesTheCandidateFirst) {
  expectStillWorks();
  std::ifstream file("/proc/" + std::to_string(evaluator.processId()) +
                     "/oom_score_adj");
  int score = 0;
  file >> score;
  EXPECT_EQ(score, 1000);
}

TEST_F(EvaluatorTest, CandidatesAreConfined) {
  for (const char *symbol : {"triesToEscape", "takesAllMemory"}) {
    EvaluationAnswer answer = evaluate(request(symbol));
    ASSERT_TRUE(answer.comparison) << answer.error;
    EXPECT_EQ(answer.comparison->maxAbsError, 0) << symbol;
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/tarpon-escaped"));
}

/// The kernel above does what it says where nothing keeps it from that.
TEST_F(EvaluatorTest, OtherKernelsMayTakeMemory) {
  auto executor = Executor::create(makeTestPackage(500, "takesAllMemory"), {});
  ASSERT_TRUE(executor) << executor.message();
  HostTensor input = makeTensor(DType::F32, {1, 500});
  HostTensor output = makeTensor(DType::F32, {1, 500});
  const void *inputs[] = {input.data.data()};
  void *outputs[] = {output.data.data()};
  ASSERT_TRUE((*executor)->run(inputs, outputs));
  EXPECT_NE(floatsOf(output)[0], expectedOutput(floatsOf(input)[0]));
}

TEST_F(EvaluatorTest, SurvivesTheDeathOfAnIdleProcess) {
  expectStillWorks();
  kill(evaluator.processId(), SIGKILL);
  expectStillWorks();
}

TEST_F(EvaluatorTest, RefusesWritesBehindTheEndOfAnOutput) {
  EXPECT_EQ(failure(request("writesBehindTheEnd")),
            "candidate writes behind the end of output 0");
  expectStillWorks();
}

TEST_F(EvaluatorTest, ReportsWhatCannotBeRun) {
  EvaluationRequest bad = request("scaleAndAdd");
  bad.package = "/nonexistent.tpn";
  EXPECT_EQ(failure(bad),
            "cannot read '/nonexistent.tpn': No such file or directory");
  bad = request("scaleAndAdd");
  bad.reference = "/nonexistent.tpn";
  EXPECT_EQ(failure(bad),
            "cannot read '/nonexistent.tpn': No such file or directory");
  EXPECT_EQ(failure(request("nowhere")),
            "cannot run the package of model 'two-layers': its kernels lack "
            "the symbol 'nowhere'");
  bad = request("scaleAndAdd");
  bad.reference = writeModel("scaleAndAdd", 40);
  EXPECT_THAT(failure(bad), HasSubstr("input 'data' is 1x40 of f32, but got "
                                      "1x500 of f32"));
  bad = request("scaleAndAdd");
  bad.inputs = {"/nonexistent.npy"};
  EXPECT_EQ(failure(bad),
            "cannot read '/nonexistent.npy': No such file or directory");
  bad = request("scaleAndAdd");
  bad.inputs = {"/a.npy", "/b.npy"};
  EXPECT_EQ(failure(bad), "cannot read '/a.npy': No such file or directory");
  bad = request("scaleAndAdd");
  bad.rotateBytes = -5;
  EXPECT_EQ(evaluate(bad).outcome, EvaluationOutcome::Ok);
}

TEST_F(EvaluatorTest, ReferenceMustHaveTheSameOutputs) {
  Package other = makeTestPackage(500);
  other.outputs[0].shape = {500};
  EvaluationRequest bad = request("scaleAndAdd");
  bad.reference = folder.file("other.tpn");
  ASSERT_TRUE(writePackage(other, *bad.reference));
  EXPECT_EQ(failure(bad), "package '" + bad.package + "' and its reference '" +
                              *bad.reference +
                              "' differ in their inputs or outputs");
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorTest, SaysThatItCannotStart) {
  EvaluatorProcess missing("/nonexistent/tarpon-evaluator");
  Result<EvaluationAnswer> answer = missing.evaluate({}, kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.message(), "cannot start the evaluator "
                              "'/nonexistent/tarpon-evaluator': No such file "
                              "or directory");
}

TEST_F(EvaluatorTest, NoticesAProgramThatIsNotAnEvaluator) {
  // It sends the request back.
  std::string program = folder.file("echo");
  std::ofstream(program) << "#!/bin/sh\nexec cat\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EvaluatorProcess echo(program);
  Result<EvaluationAnswer> answer =
      echo.evaluate(request("scaleAndAdd"), kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.message(), "the evaluator '" + program +
                                  "' does not speak the protocol: in the "
                                  "answer, 'ok' is missing");
}

TEST_F(EvaluatorTest, TheProcessEndsWithItsClient) {
  int process;
  {
    EvaluatorProcess other(TARPON_EVALUATOR);
    ASSERT_TRUE(other.evaluate(request("scaleAndAdd"), kLong));
    process = other.processId();
    EXPECT_EQ(kill(process, 0), 0);
  }
  EXPECT_EQ(kill(process, 0), -1);
}

static bool isRunning(int process) {
  // A zombie that nobody waits for has ended as well.
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string id, name, state;
  stat >> id >> name >> state;
  return !state.empty() && state != "Z";
}

/// The parent dies without a destructor, while the kernel hangs.
TEST_F(EvaluatorTest, TheProcessEndsWhenItsParentIsKilled) {
  EvaluationRequest quick = request("scaleAndAdd");
  EvaluationRequest hanging = request("hangs");
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  pid_t parent = fork();
  if (parent == 0) {
    EvaluatorProcess other(TARPON_EVALUATOR);
    (void)other.evaluate(quick, kLong);
    int process = other.processId();
    if (write(report[1], &process, sizeof(process)) < 0)
      _exit(1);
    (void)other.evaluate(hanging, kLong);
    _exit(0);
  }
  int process = -1;
  ASSERT_EQ(read(report[0], &process, sizeof(process)),
            ssize_t(sizeof(process)));
  // By now the hanging request has been sent, and most likely begun.
  usleep(300'000);
  EXPECT_TRUE(isRunning(process));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (int waited = 0; waited < 200 && isRunning(process); ++waited)
    usleep(50'000);
  EXPECT_FALSE(isRunning(process));
  close(report[0]);
  close(report[1]);
}
