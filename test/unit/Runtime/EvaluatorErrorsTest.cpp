//===- EvaluatorErrorsTest.cpp - Candidates that write errors ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPackages.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/OutputPipe.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using std::chrono::milliseconds;
using testing::HasSubstr;

static constexpr milliseconds kLong(60000);

namespace {

class EvaluatorErrorsTest : public testing::Test {
protected:
  TempFolder folder;
  EvaluatorProcess evaluator{TARPON_EVALUATOR};

  /// A request for a package whose second layer is `symbol`.
  EvaluationRequest request(const std::string &symbol) {
    EvaluationRequest result;
    result.package = folder.file(symbol + ".tpn");
    Status status = writePackage(makeTestPackage(500, symbol), result.package);
    EXPECT_TRUE(status) << status.message();
    result.threads = 1;
    result.minSamples = 3;
    result.minTimeMs = 0;
    return result;
  }

  EvaluationAnswer evaluate(const EvaluationRequest &request,
                            milliseconds timeLimit = kLong) {
    Result<EvaluationAnswer> answer = evaluator.evaluate(request, timeLimit);
    EXPECT_TRUE(answer) << answer.message();
    return answer ? *answer : EvaluationAnswer();
  }

  void expectStillWorks() {
    EvaluationAnswer answer = evaluate(request("scaleAndAdd"));
    EXPECT_EQ(answer.outcome, EvaluationOutcome::Ok) << answer.error;
  }
};

} // namespace

TEST_F(EvaluatorErrorsTest, ErrorsGoWhereThoseOfTheClientGo) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(evaluate(request("complains")).outcome, EvaluationOutcome::Ok);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no good\n"));
  EXPECT_EQ(evaluator.takeErrors().text, "");
}

TEST_F(EvaluatorErrorsTest, ErrorsAreKept) {
  evaluator.keepErrors();
  testing::internal::CaptureStderr();
  EXPECT_EQ(evaluate(request("complains")).outcome, EvaluationOutcome::Ok);
  EXPECT_THAT(evaluator.takeErrors().text, HasSubstr("no good\n"));
  EXPECT_EQ(evaluator.takeErrors().text, "");
  expectStillWorks();
  EXPECT_EQ(evaluator.takeErrors().text, "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// The end of what a crash says is what explains it.
TEST_F(EvaluatorErrorsTest, TheEndOfManyErrorsIsKept) {
  evaluator.keepErrors();
  EXPECT_EQ(evaluate(request("raves")).outcome, EvaluationOutcome::Crashed);
  OutputTail tail = evaluator.takeErrors();
  EXPECT_EQ(tail.text.size(), kMostOutputBytes);
  EXPECT_GE(tail.cutBytes, (1024 - 64) * 1024);
  EXPECT_THAT(tail.text, testing::EndsWith("the last words\n"));
  expectStillWorks();
}

TEST_F(EvaluatorErrorsTest, ErrorsWithoutEndDelayNobody) {
  evaluator.keepErrors();
  EvaluationRequest loud = request("ravesForever");
  EXPECT_EQ(evaluate(loud, milliseconds(500)).outcome,
            EvaluationOutcome::TimedOut);
  EXPECT_EQ(evaluator.takeErrors().text.size(), kMostOutputBytes);
  expectStillWorks();
}

TEST_F(EvaluatorErrorsTest, SaysThatErrorsCannotBeKept) {
  evaluator.keepErrors();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  EvaluationRequest quiet = request("scaleAndAdd");
  rlimit none = {3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Result<EvaluationAnswer> answer = evaluator.evaluate(quiet, kLong);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.message(), "cannot start the evaluator '" TARPON_EVALUATOR
                              "': Too many open files");
}
