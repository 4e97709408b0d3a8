//===- EvaluatorProtocolTest.cpp --------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Evaluator.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tarpon::runtime;

TEST(EvaluatorProtocolTest, RequestsRoundTrip) {
  EvaluationRequest request;
  request.id = 7;
  request.package = "a \"b\".tpn";
  request.reference = "r.tpn";
  request.threads = 2;
  request.inputSeed = ~uint64_t(0);
  request.inputs = {"x.npy", "y.npy"};
  request.samples = {{"a.npy"}, {"b.npy", "c.npy"}};
  request.profiledRuns = 11;
  request.minSamples = 5;
  request.minTimeMs = 1.5;
  request.maxTimeMs = 100;
  request.rotateBytes = int64_t(1) << 40;
  request.cutoffMs = 0.625;
  request.coldConstantBytes = int64_t(1) << 41;
  Result<EvaluationRequest> back = parseEvaluationRequest(toJsonLine(request));
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(toJsonLine(*back), toJsonLine(request));
  EXPECT_EQ(back->inputSeed, ~uint64_t(0));
  EXPECT_EQ(back->reference, "r.tpn");
  EXPECT_EQ(back->cutoffMs, 0.625);
  EXPECT_EQ(back->coldConstantBytes, int64_t(1) << 41);
  EXPECT_EQ(back->samples, request.samples);
  EXPECT_EQ(back->profiledRuns, 11);
  request.reference.reset();
  request.inputs.clear();
  back = parseEvaluationRequest(toJsonLine(request));
  ASSERT_TRUE(back) << back.message();
  EXPECT_FALSE(back->reference);
  EXPECT_TRUE(back->inputs.empty());
}

TEST(EvaluatorProtocolTest, AnswersRoundTrip) {
  EvaluationAnswer answer;
  answer.id = 3;
  answer.samplesMs = {0.1, 0.2};
  answer.medianMs = 0.15;
  answer.madMs = 0.05;
  answer.isDropped = true;
  TensorComparison comparison;
  comparison.maxAbsError = INFINITY;
  comparison.relativeL2 = 0.1;
  comparison.referenceScale = 9;
  answer.comparison = comparison;
  answer.outputs = {{1, 0.25, -1, 4}, comparison};
  answer.results = {{{0.1, NAN}}, {{-3, INFINITY}, {}}};
  answer.sampleErrors = {0.125, INFINITY};
  answer.problemsMs = {{"relu(1x8xf32)->1x8xf32", 0.25}, {"\"q\"", 1}};
  Result<EvaluationAnswer> back = parseEvaluationAnswer(toJsonLine(answer));
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(toJsonLine(*back), toJsonLine(answer));
  EXPECT_EQ(back->samplesMs, answer.samplesMs);
  EXPECT_EQ(back->problemsMs, answer.problemsMs);
  EXPECT_TRUE(back->isDropped);
  EXPECT_TRUE(std::isinf(back->comparison->maxAbsError));
  EXPECT_EQ(back->comparison->relativeL2, 0.1);
  ASSERT_EQ(back->outputs.size(), 2u);
  EXPECT_EQ(back->outputs[0].maxAbsError, 1);
  EXPECT_EQ(back->outputs[0].referenceScale, 4);
  EXPECT_TRUE(std::isinf(back->outputs[1].maxAbsError));
  ASSERT_EQ(back->results.size(), 2u);
  EXPECT_EQ(back->results[0][0][0], 0.1);
  EXPECT_TRUE(std::isnan(back->results[0][0][1]));
  EXPECT_EQ(back->results[1][0][0], -3);
  EXPECT_TRUE(std::isnan(back->results[1][0][1]));
  EXPECT_TRUE(back->results[1][1].empty());
  EXPECT_EQ(back->sampleErrors, answer.sampleErrors);

  answer.outcome = EvaluationOutcome::Failed;
  answer.error = "a sentence";
  back = parseEvaluationAnswer(toJsonLine(answer));
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(back->outcome, EvaluationOutcome::Failed);
  EXPECT_EQ(back->error, "a sentence");
  answer.outcome = EvaluationOutcome::Crashed;
  back = parseEvaluationAnswer(toJsonLine(answer));
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(back->outcome, EvaluationOutcome::Crashed);
}

TEST(EvaluatorProtocolTest, MalformedLinesAreErrors) {
  auto refuse = [](const std::string &line) {
    auto request = parseEvaluationRequest(line);
    return request ? "it was accepted" : request.message();
  };
  EXPECT_EQ(refuse("nonsense"), "the request is not JSON");
  EXPECT_EQ(refuse("{}"), "in the request, 'id' is missing");
  EXPECT_EQ(refuse(R"({"id": 1, "package": 2})"),
            "in the request, 'package' is not a string");
  std::string line = toJsonLine(EvaluationRequest());
  auto replace = [&](const std::string &from, const std::string &to) {
    std::string changed = line;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_EQ(refuse(replace("\"threads\":0", "\"threads\":-1")),
            "in the request, 'threads' is not a small integer that is not "
            "negative");
  EXPECT_EQ(refuse(replace("\"input_seed\":0", "\"input_seed\":-1")),
            "in the request, 'input_seed' is not an integer that is not "
            "negative");
  EXPECT_EQ(refuse(replace("\"min_time_ms\":100.0", "\"min_time_ms\":-1")),
            "in the request, 'min_time_ms' is not a time that is not negative");
  auto answer = parseEvaluationAnswer("[]");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.message(), "in the answer, '' is not an object");
  EXPECT_FALSE(parseEvaluationAnswer("{"));
}

TEST(EvaluatorProtocolTest, OutcomesHaveNames) {
  EXPECT_EQ(outcomeName(EvaluationOutcome::Ok), "ok");
  EXPECT_EQ(outcomeName(EvaluationOutcome::Crashed), "crashed");
  EXPECT_EQ(outcomeName(EvaluationOutcome::TimedOut), "timed-out");
  EXPECT_EQ(outcomeName(EvaluationOutcome::Failed), "failed");
}
