//===- ProducerTest.cpp - Tests of problems of two operations -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference of both is that of one after the other, bit for bit: all other
// solvers are compared with it.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Producer.h"

#include "AreaProblems.h"
#include "SolverTest.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;

static constexpr const char *kKey =
    "conv(1x16x8x8xf16:nhwc, 16x1x3x3xf16:const; 1x16x1x1xf32:const, "
    "24x16x1x1xf16:const, 1x24x8x8xf16:nhwc)->1x24x8x8xf16:nhwc "
    "{dilations=1,1 group=16 pads=1,1,1,1 strides=1,1} | add(2) | relu | "
    "conv(3){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | add(4) | relu";

static std::string getFault(const std::string &key) {
  std::string fault;
  return mlir::succeeded(parseProblem(key, &fault)) ? "" : fault;
}

static std::string replace(std::string text, const std::string &from,
                           const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Producer, takesApartAndPutsTogether) {
  Problem problem = *parseProblem(kKey);
  EXPECT_EQ(problem.key(), kKey);
  ASSERT_TRUE(hasProducer(problem));
  Problem producer = getProducer(problem), consumer = getConsumer(problem);
  EXPECT_EQ(producer.key(),
            "conv(1x16x8x8xf16:nhwc, 16x1x3x3xf16:const; 1x16x1x1xf32:const)->"
            "1x16x8x8xf16:nhwc {dilations=1,1 group=16 pads=1,1,1,1 "
            "strides=1,1} | add(2) | relu");
  EXPECT_EQ(consumer.key(),
            "conv(1x16x8x8xf16:nhwc, 24x16x1x1xf16:const; "
            "1x24x8x8xf16:nhwc)->1x24x8x8xf16:nhwc {dilations=1,1 group=1 "
            "pads=0,0,0,0 strides=1,1} | add(2) | relu");
  EXPECT_EQ(joinProblems(producer, consumer), problem);
  EXPECT_EQ(getConsumerOperand(problem, 1), 3);
  EXPECT_FALSE(hasProducer(producer));
  EXPECT_FALSE(hasProducer(consumer));
  EXPECT_EQ(problem.flops(), producer.flops() + consumer.flops());
}

TEST(Producer, refusesWhatNoGraphPoses) {
  EXPECT_EQ(getFault(replace(kKey, "24x16x1x1", "24x8x1x1")),
            "conv has a filter of 8 input channels, expected 16");
  EXPECT_EQ(getFault(replace(kKey, "conv(3)", "conv")),
            "an epilogue has no operation 'conv'");
  EXPECT_EQ(getFault(replace(kKey, "conv(3)", "conv(3,swapped)")),
            "conv lacks an operand beside the value");
  EXPECT_EQ(getFault(replace(kKey, "| add(4)", "| add(2)")),
            "add reads operand 2, which is none of its part's");
  EXPECT_EQ(getFault(replace(kKey, "| add(2)", "| add(4)")),
            "add reads operand 4, which is none of its part's");
  EXPECT_EQ(getFault(std::string(kKey) +
                     " | conv(4){dilations=1,1 group=1 pads=0,0,0,0 "
                     "strides=1,1}"),
            "conv is the second step that adds up products");
  EXPECT_EQ(getFault("relu(1x16x8x8xu8q; 24x16x1x1xi8q:const)->1x24x8x8xf32 | "
                     "conv(1){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}"),
            "conv reads a value that is quantised");
  EXPECT_EQ(getFault(replace(kKey, "| relu |", "| softmax |")),
            "an epilogue has no operation 'softmax'");
}

TEST(Producer, keysOfRandomProblemsReadBack) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    ProblemGenerator generator(seed);
    Problem problem = makeProducerProblem(generator);
    std::string fault;
    auto parsed = parseProblem(problem.key(), &fault);
    ASSERT_TRUE(mlir::succeeded(parsed)) << problem.key() << ": " << fault;
    EXPECT_EQ(parsed->key(), problem.key());
    EXPECT_EQ(joinProblems(getProducer(problem), getConsumer(problem)).key(),
              problem.key());
  }
}

/// Solvers that compute one operation would take the first one for all.
TEST(Producer, isGivenToSolversThatKnowIt) {
  Problem problem = *parseProblem(kKey);
  for (const Solver *solver : getApplicableSolvers(problem, TargetInfo()))
    EXPECT_EQ(solver, &getReferenceSolver()) << solver->id().str();
  EXPECT_EQ(
      checkApplicable(*findSolver("depthwise-conv-v1"), problem, TargetInfo())
          .getReason(),
      "computes one operation at a time");
}

TEST(Producer, referenceComputesOneAfterTheOther) {
  auto runner = SolverRunner::create("native");
  ASSERT_TRUE(runner) << runner.message();
  // Constants are made from their place in the problem: without them, operands
  // are those of the parts.
  std::string key = kKey;
  while (key.find(":const") != std::string::npos)
    key = replace(key, ":const", "");
  Problem problem = *parseProblem(key);
  std::vector<std::vector<double>> operands;
  for (size_t i = 0; i < problem.operands.size(); ++i)
    operands.push_back(makeOperand(problem, i, /*seed=*/1));
  const Solver &reference = getReferenceSolver();
  auto both = (*runner)->run(problem, reference, {}, operands);
  ASSERT_TRUE(both) << both.message();
  auto value = (*runner)->run(getProducer(problem), reference, {},
                              {operands.begin(), operands.begin() + 3});
  ASSERT_TRUE(value) << value.message();
  auto result = (*runner)->run(getConsumer(problem), reference, {},
                               {value->front(), operands[3], operands[4]});
  ASSERT_TRUE(result) << result.message();
  EXPECT_EQ(*both, *result);
}
