//===- OpRulesTest.cpp - Tests of the rules of operations -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

#include "tarpon/Problem/OpRules.h"
#include "tarpon/Solver/Solver.h"

#include <gtest/gtest.h>

#include <map>

using namespace tarpon;
using namespace tarpon::test;

/// One generated problem of every operation that the generator knows.
static std::map<OpKind, Problem> generateOneOfEach() {
  constexpr uint64_t kSeeds = 60000;
  std::map<OpKind, Problem> problems;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    OpKind op = problem.op;
    problems.try_emplace(op, std::move(problem));
    if (problems.size() == getOpRules().size())
      break;
  }
  return problems;
}

/// Solvers' tests compare what the generator makes with the reference: a rule
/// without a problem would be one that nothing tests.
TEST(OpRules, everyOneHasGeneratedProblems) {
  std::map<OpKind, Problem> problems = generateOneOfEach();
  for (const OpRule *rule : getOpRules()) {
    auto problem = problems.find(rule->op);
    ASSERT_NE(problem, problems.end()) << rule->op;
    EXPECT_EQ(findFault(problem->second), "") << problem->second.key();
    EXPECT_TRUE(
        getReferenceSolver().isApplicable(problem->second, TargetInfo()))
        << problem->second.key();
  }
  EXPECT_EQ(problems.size(), getOpRules().size());
}

TEST(OpRules, everyOperationHasOne) {
  EXPECT_EQ(getOpRules().size(), kNumOpKinds);
  for (const OpRule *rule : getOpRules()) {
    EXPECT_EQ(&getOpRule(rule->op), rule) << rule->op;
    EXPECT_TRUE(rule->infer) << rule->op;
    EXPECT_LE(rule->leastOperands, rule->mostOperands) << rule->op;
    EXPECT_LE(rule->leastRank, rule->mostRank) << rule->op;
    if (rule->forward)
      EXPECT_EQ(getOpRule(*rule->forward).elementwise, Elementwise::Unary)
          << rule->op;
  }
}

TEST(OpKind, namesParse) {
  for (const OpRule *rule : getOpRules())
    EXPECT_EQ(parseOp(getOpName(rule->op)), rule->op) << rule->op;
  EXPECT_EQ(parseOp("frobnicate"), std::nullopt);
  EXPECT_EQ(parseOp(""), std::nullopt);
}

TEST(OpKind, unaryOperationsHaveGradients) {
  EXPECT_EQ(getGradient(OpKind::GeluTanh), OpKind::GeluTanhBackward);
  for (const OpRule *rule : getOpRules()) {
    std::optional<OpKind> gradient = getGradient(rule->op);
    EXPECT_EQ(gradient.has_value(), rule->elementwise == Elementwise::Unary)
        << rule->op;
    if (gradient)
      EXPECT_EQ(getOpRule(*gradient).forward, rule->op) << rule->op;
  }
}

/// Operands that lack one of the attributes of their rule are refused.
TEST(OpRules, everyAttributeIsAsked) {
  for (auto &[op, problem] : generateOneOfEach())
    for (const AttrRule &attr : getOpRule(op).attrs) {
      Problem without = problem;
      without.attrs.erase(attr.name.str());
      EXPECT_EQ(findFault(without),
                (getOpName(op) + " lacks the attribute " + attr.name).str());
    }
}

static double countFlops(const char *key) {
  auto problem = parseProblem(key);
  EXPECT_TRUE(mlir::succeeded(problem)) << key;
  return mlir::succeeded(problem) ? problem->flops() : 0;
}

TEST(OpRules, countFlops) {
  EXPECT_EQ(countFlops("relu(1x3x4x5xf32)->1x3x4x5xf32"), 60);
  EXPECT_EQ(countFlops("reduce_sum(3x8xf32)->3xf32 {axes=1 keepdims=0}"), 24);
  EXPECT_EQ(countFlops("matmul(3x5xf32, 5x7xf32)->3x7xf32 {transpose_lhs=0 "
                       "transpose_rhs=0}"),
            2 * 3 * 5 * 7);
  EXPECT_EQ(countFlops("matmul(5x3xf32, 5x7xf32)->3x7xf32 {transpose_lhs=1 "
                       "transpose_rhs=0}"),
            2 * 3 * 5 * 7);
  EXPECT_EQ(countFlops("conv(1x4x3x3xf32, 6x2x2x2xf32)->1x6x2x2xf32 "
                       "{dilations=1,1 group=2 pads=0,0,0,0 strides=1,1}"),
            2 * 6 * 4 * 2 * 4);
  EXPECT_EQ(countFlops("conv_transpose(1x4x3x3xf32, 4x2x2x2xf32)->1x2x4x4xf32 "
                       "{dilations=1,1 group=1 output_padding=0,0 "
                       "pads=0,0,0,0 strides=1,1}"),
            2 * 4 * 9 * 2 * 4);
  EXPECT_EQ(countFlops("conv_backward_weights(1x4x3x3xf32, 1x6x2x2xf32)->"
                       "6x4x2x2xf32 {dilations=1,1 group=1 pads=0,0,0,0 "
                       "strides=1,1}"),
            2 * 6 * 4 * 4 * 4);
  EXPECT_EQ(countFlops("max_pool(1x3x4x4xf32)->1x3x3x3xf32 {ceil_mode=0 "
                       "dilations=1,1 kernel=2,2 pads=0,0,0,0 strides=1,1}"),
            3 * 9 * 4);
}
