//===- ProblemTest.cpp - Tests of problem keys ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <gtest/gtest.h>

#include <cctype>

using namespace tarpon;
using namespace tarpon::test;

static std::string getFault(const std::string &key) {
  std::string fault;
  return mlir::succeeded(parseProblem(key, &fault)) ? "" : fault;
}

TEST(ProblemKey, takesWhatGraphsPose) {
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    std::string key = problem.key(), fault;
    auto parsed = parseProblem(key, &fault);
    ASSERT_TRUE(mlir::succeeded(parsed)) << key << ": " << fault;
    EXPECT_EQ(parsed->key(), key);
    EXPECT_EQ(*parsed, problem.withUnitScales()) << key;
  }
}

TEST(Problem, equalityCountsWhatKeysLeaveOut) {
  Problem problem = *parseProblem("relu(2x4xu8q)->2x4xf32"), other = problem;
  EXPECT_EQ(problem, other);
  other.operands[0].scales = {0.5f};
  EXPECT_NE(problem, other);
  EXPECT_EQ(problem, other.withUnitScales());
  other.operands[0].scales = {1.0f};
  other.operands[0].zeroPoint = 3;
  EXPECT_NE(problem, other);
  EXPECT_EQ(problem, other.withUnitScales());
  other = *parseProblem("neg(2x4xu8q)->2x4xf32");
  EXPECT_NE(problem, other);
}

/// Attributes are compared in the IR: a NaN must be the same one each time.
TEST(Problem, equalsItselfWithANaN) {
  const char *key = "pad(8xf32)->9xf32 {mode=0 pads=0,1 value=nan}";
  auto one = parseProblem(key), other = parseProblem(key);
  ASSERT_TRUE(mlir::succeeded(one) && mlir::succeeded(other));
  EXPECT_EQ(*one, *other);
  EXPECT_EQ(hash_value(*one), hash_value(*other));
}

TEST(ProblemKey, refusesWhatHasAnotherForm) {
  for (const char *key :
       {"", "relu", "relu(", "relu(3xf32)", "relu(3xf32)->", "(3xf32)->3xf32",
        "relu(3yf32)->3xf32", "relu(3xf32:best)->3xf32",
        "relu(3xf32)->3xf32 {a=b}", "relu(3xf32)->3xf32 {a=1", "x->3xf32",
        "relu(3xf32)->3xf32 | ", "relu(3xf32)->3xf32 | add(7)",
        "relu(3xf32)->(3xf32)", "relu(3xf32)->(3xf32, 3xf32",
        "relu(3xf32)->3xf32, 3xf32", "relu(3xf32)->()"})
    EXPECT_EQ(getFault(key), "it does not have the form of one") << key;
}

TEST(ProblemKey, saysWhyNoGraphPosesIt) {
  const std::string window = "dilations=1,1 pads=0,0,0,0 strides=1,1";
  const std::string spread = "{dilations=1,1 group=2 output_padding=0,1 "
                             "pads=0,0,0,0 strides=1,1}";
  const std::pair<std::string, const char *> cases[] = {
      {"frobnicate(3xf32)->3xf32", "there is no operation 'frobnicate'"},
      {"relu()->3xf32", "relu has 0 operands, expected 1"},
      {"relu(3xf32, 3xf32)->3xf32", "relu has 2 operands, expected 1"},
      {"concat()->3xf32 {axis=0}", "concat has 0 operands, expected 1"},
      {"add(3xf32)->3xf32", "add has 1 operands, expected 2"},
      {"relu(0x3xf32)->0x3xf32", "a tensor is empty"},
      {"relu(999999999999x999999999999xf32)->3xf32",
       "a tensor has more than 281474976710656 elements"},
      {"relu(3xf32q)->3xf32", "a quantised tensor is neither of i8 nor of u8"},
      {"relu(3xf32:nhwc)->3xf32",
       "a tensor in nhwc has rank 1, expected 3 or more"},
      {"relu(1x3x4xf32:nchw7c)->1x3x4xf32",
       "a block of channels is not 4, 8, 16, 32 or 64"},
      {"max_pool(3xf32)->3xf32",
       "max_pool has an operand of rank 1, expected 3 to 5"},
      {"lrn(1x3xf32)->1x3xf32",
       "lrn has an operand of rank 2, expected 3 or more"},
      {"max_pool(1x3x3x3xf32)->1x3x3x3xf32",
       "max_pool lacks the attribute kernel"},
      {"max_pool(1x3x3x3xf32)->1x3x3x3xf32 {kernel=2}",
       "max_pool has 1 values in kernel, expected 2"},
      {"max_pool(1x3x3x3xf32)->1x3x3x3xf32 {kernel=2,0}",
       "max_pool has the value 0 in kernel, expected 1 or more"},
      {"max_pool(1x3x3x3xf32)->1x3x3x3xf32 {kernel=2,0.5}",
       "max_pool has the value 0.5 in kernel, expected an integer"},
      {"softmax(3xf32)->3xf32 {axis=nan}",
       "softmax has the value nan in axis, expected an integer"},
      {"max_pool(1x3x3x3xf32)->1x3x3x3xf32 {ceil_mode=0 kernel=9,2 " + window +
           "}",
       "max_pool has a window of 9 cells on 3"},
      {"max_pool(1x3x3x3xf32)->1x3x3x3xf32 {ceil_mode=0 kernel=2,2 " + window +
           "}",
       "max_pool has a result of 1x3x3x3, expected 1x3x2x2"},
      {"global_avg_pool(1x3x3x3xf32)->1x3x3x3xf32",
       "global_avg_pool has a result of 1x3x3x3, expected 1x3x1x1"},
      {"conv(1x4x3x3xf32, 4x4x1x1xf32)->1x4x3x3xf32 {group=0 " + window + "}",
       "conv has the value 0 in group, expected 1 or more"},
      {"conv(1x4x3x3xf32, 4x4x1x1xf32)->1x4x3x3xf32 {group=3 " + window + "}",
       "conv has 3 groups of 4 input and 4 output channels"},
      {"conv(1x4x3x3xf32, 4x4x1x1xf32)->1x4x3x3xf32 {group=2 " + window + "}",
       "conv has a filter of 4 input channels, expected 2"},
      {"conv(1x4x3x3xf32, 4x4x1xf32)->1x4x3x3xf32 {group=1 " + window + "}",
       "conv has operands of ranks 4 and 3"},
      {"conv(1x4x3x3xu8q, 4x4x1x1xf32)->1x4x3x3xf32 {group=1 " + window + "}",
       "conv has one quantised operand, expected both or none"},
      {"conv(1x4x3x3xf32, 4x4x1x1xf32:nhwc)->1x4x3x3xf32 {group=1 " + window +
           "}",
       "conv has a filter that is not row-major"},
      {"conv_transpose(1x4x3x3xf32, 4x4x1x1xf32)->1x4x3x3xf32 {group=1 " +
           window + "}",
       "conv_transpose lacks the attribute output_padding"},
      {"conv_transpose(1x4x3x3xf32, 4x4x1xf32)->1x4x3x3xf32 " + spread,
       "conv_transpose has operands of ranks 4 and 3"},
      {"conv_transpose(1x3x3x3xf32, 3x4x1x1xf32)->1x8x3x3xf32 " + spread,
       "conv_transpose has 2 groups of 3 input channels"},
      {"conv_transpose(1x4x3x3xf32, 2x4x1x1xf32)->1x8x3x3xf32 " + spread,
       "conv_transpose has a filter of 2 input channels, expected 4"},
      {"conv_transpose(1x4x3x3xf32, 4x4x1x1xf32)->1x4x3x3xf32 " + spread,
       "conv_transpose has a result of 1x4x3x3, expected 1x8x3x4"},
      {"conv_transpose(1x4x3x3xf32, 4x4x1x1xf32:nhwc)->1x8x3x4xf32 " + spread,
       "conv_transpose has a filter that is not row-major"},
      {"conv_transpose(1x4x3x3xu8q, 4x4x1x1xf32)->1x8x3x4xf32 " + spread,
       "conv_transpose has one quantised operand, expected both or none"},
      {"conv_transpose(1x4x3x3xf32, 4x4x1x1xf32)->1x8x3x4xf32 {dilations=1,1 "
       "group=2 output_padding=0,0 pads=0,2,0,1 strides=1,1}",
       "conv_transpose has no place left in spatial dimension 1"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3x3xf32)->6x4x1x1xf32 "
       "{group=3 " +
           window + "}",
       "conv_backward_weights has 3 groups of 4 input and 6 output channels"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3xf32)->6x4x1x1xf32 {group=1 " +
           window + "}",
       "conv_backward_weights has operands of ranks 4 and 3 and a result of "
       "rank 4"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3x3xf32)->6x4x2x1xf32 "
       "{group=1 " +
           window + "}",
       "conv_backward_weights has a gradient of 1x6x3x3, expected 1x6x2x3"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3x3xf32)->6x2x1x1xf32 "
       "{group=1 " +
           window + "}",
       "conv_backward_weights has a result of 6x2x1x1, expected 6x4x1x1"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3x3xf32)->6x4x9x1xf32 "
       "{group=1 " +
           window + "}",
       "conv_backward_weights has a window of 9 cells on 3"},
      {"conv_backward_weights(1x4x3x3xu8q, 1x6x3x3xu8q)->6x4x1x1xf32 "
       "{group=1 " +
           window + "}",
       "conv_backward_weights has a tensor that does not hold floats"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3x3xf32)->6x4x1x1xf32:nhwc "
       "{group=1 " +
           window + "}",
       "conv_backward_weights has a result that is not row-major"},
      {"conv_backward_weights(1x4x3x3xf32, 1x6x3x3xf32)->6x4x1x1xf32 "
       "{group=1 " +
           window + "} | relu",
       "conv_backward_weights has an epilogue"},
      {"matmul(2x3xf32, 4x5xf32)->2x5xf32 {transpose_lhs=0 transpose_rhs=0}",
       "matmul contracts 3 with 4 elements"},
      {"matmul(2x3xf32, 3xf32)->2xf32 {transpose_lhs=0 transpose_rhs=0}",
       "matmul has an operand of rank 1, expected 2 or more"},
      {"matmul(2x2x3xf32, 3x3x5xf32)->2x5xf32 {transpose_lhs=0 "
       "transpose_rhs=0}",
       "matmul has batch dimensions that do not broadcast"},
      {"attention(1x2x3xf32, 1x2x4xf32, 1x2x3xf32)->1x2x3xf32 {causal=0 "
       "scale=1}",
       "attention expects a query and a key with as many channels, got 3 and "
       "4"},
      {"attention(1x2x3xf32, 1x2x3xf32, 1x2x3xf32)->1x2x3xf32 {causal=2 "
       "scale=1}",
       "attention is neither causal nor not"},
      {"attention(1x2x3xf32, 1x2x3xi32, 1x2x3xf32)->1x2x3xf32 {causal=0 "
       "scale=1}",
       "attention has an operand that is not of floats"},
      {"relu(3xf32)->(3xf32, 3xf32)", "relu has 2 results, expected 1"},
      {"batch_norm_training(2x3xf32, 3xf32, 3xf32)->2x3xf32 {epsilon=0 "
       "spatial=1}",
       "batch_norm_training has 1 results, expected 3"},
      {"batch_norm_training(2x3xf32, 3xf32, 3xf32)->(2x3xf32, 3xf32, 2xf32) "
       "{epsilon=0 spatial=1}",
       "batch_norm_training has a result of 2, expected 3"},
      {"batch_norm_training(2x3xf32, 3xf32, 3xf32)->(2x3xf32, 3xf32, 0xf32) "
       "{epsilon=0 spatial=1}",
       "a tensor is empty"},
      {"batch_norm_training(2x3xf32, 3xf32, 3xf32)->(2x3xf32, 3xf16, 3xf16) "
       "{epsilon=0 spatial=1}",
       "batch_norm_training has a statistic that is not of f32"},
      {"batch_norm_training(2x3xf32, 3xf32, 3xf32, 3xf32)->2x3xf32 {epsilon=0 "
       "spatial=1}",
       "batch_norm_training has 4 operands, expected 3 or 5"},
      {"batch_norm_training(2x3xf32, 3xf32, 3xf32, 3xf32, 3xf32)->2x3xf32 "
       "{epsilon=0 spatial=1}",
       "batch_norm_training lacks the attribute factor"},
      {"layer_norm(2x3xf32)->2x3xf32 {axis=2 epsilon=0}",
       "layer_norm has the axis 2 of rank 2"},
      {"layer_norm(2x3xf32, 2xf32)->2x3xf32 {axis=1 epsilon=0}",
       "layer_norm has a parameter of 2 that does not broadcast to the "
       "normalised dimensions"},
      {"group_norm(2x3x1xf32)->2x3x1xf32 {epsilon=0 groups=2}",
       "group_norm has 2 groups of 3 channels"},
      {"batch_norm(1x3xf32, 3xf32, 3xf32, 4xf32, 3xf32)->1x3xf32 {epsilon=0}",
       "batch_norm has a parameter of 4 elements, expected 3"},
      {"softmax(3xf32)->3xf32 {axis=1}", "softmax has the axis 1 of rank 1"},
      {"concat(1x3xf32)->1x6xf32", "concat lacks the attribute axis"},
      {"concat(1x3xf32)->1x6xf32 {axis=1}",
       "concat has a result of 1x6, expected 1x3"},
      {"concat(1x3xf32, 2x3xf32)->1x6xf32 {axis=1}",
       "concat has operands that differ beside axis 1"},
      {"concat(1x3xf32, 3xf32)->1x6xf32 {axis=1}",
       "concat has operands that differ beside axis 1"},
      {"transpose(2x3xf32)->3x2xf32 {permutation=1,1}",
       "transpose has no permutation of its dimensions"},
      {"transpose(2x3xf32)->3x2xf32 {permutation=1,2}",
       "transpose has no permutation of its dimensions"},
      {"pad(2xf32)->3xf32 {mode=4 pads=0,1 value=0}",
       "pad has the mode 4, expected 0 to 3"},
      {"pad(2xf32)->5xf32 {mode=2 pads=1,2 value=0}", "pad reflects 2 cells "
                                                      "of 2"},
      {"convert(1x3x2x2xf32:nhwc/3)->1x3x2x2xf32",
       "a slice of 3 channels has a pitch of 3, expected more"},
      {"convert(1x4x2x2xf32:nchw4c/8)->1x4x2x2xf32", "a slice is not in nhwc"},
      {"relu(1x3x2x2xf32:nhwc/4:const)->1x3x2x2xf32", "a slice is constant"},
      {"convert(3xf32)->4xf32", "convert has a result of 4, expected 3"},
      {"convert(f32)->1xf32", "convert has a result of 1, expected rank 0"},
      {"reshape(3xf32)->4xf32", "reshape makes 4 elements of 3"},
      {"add(3xf32, 4xf32)->4xf32", "add has operands that do not broadcast"},
      {"add(3xi32, 3xf32)->3xf32", "an operand of floats beside one of "
                                   "integers"},
      {"sigmoid(3xi32)->3xi32",
       "sigmoid of integers, which is defined on floats"},
      {"relu(3xf32)->3xf32 | conv", "an epilogue has no operation 'conv'"},
      {"relu(3xf32)->3xf32 | clip{low=0}", "clip lacks the attribute high"},
      {"relu(3xf32; 3xf32)->3xf32 | relu(1)",
       "relu has one operand, expected none beside the value"},
      {"relu(3xf32)->3xf32 | add(0)",
       "add reads operand 0, which is none of the epilogue's"},
      {"relu(3xf32; 4xf32)->3xf32 | add(1)",
       "an operand of 4 does not broadcast to 3"},
      {"relu(3xf32; 1x3xf32)->3xf32 | add(1)",
       "an operand of 1x3 does not broadcast to 3"},
  };
  for (const auto &[key, fault] : cases)
    EXPECT_EQ(getFault(key), fault) << key;
}

//===----------------------------------------------------------------------===//
// Damaged keys
//===----------------------------------------------------------------------===//

/// Replaces a number, or removes a character or a word.
static void damage(std::string &key, std::mt19937_64 &random) {
  size_t at = random() % key.size();
  if (std::isdigit(static_cast<unsigned char>(key[at])))
    key[at] = static_cast<char>('0' + random() % 10);
  else if (random() % 2)
    key.erase(at, 1);
  else
    key.erase(at, key.find_first_of(" ,x(", at + 1) - at);
}

/// Asks all solvers, which must be ready for what was not refused.
static void askSolvers(const Problem &problem, const TargetInfo &target) {
  for (const Solver *solver : getHostSolvers()) {
    if (!checkApplicable(*solver, problem, target))
      continue;
    EXPECT_GE(solver->expectedFraction(problem, target), 0);
    EXPECT_GE(solver->workspaceSize(problem, target), 0);
    for (const PerfConfig &config : solver->configs(problem, target))
      EXPECT_TRUE(solver->isValidConfig(problem, target, config));
    PerfConfig config = solver->defaultConfig(problem, target);
    EXPECT_FALSE(solver->plan(problem, target, config).launches.empty());
  }
}

TEST(ProblemKey, leavesNothingThatSolversAreNotReadyFor) {
  auto target = getHostTarget(/*threads=*/2, "x86-64-v3");
  ASSERT_TRUE(target) << target.message();
  std::mt19937_64 random(1);
  int taken = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    std::string key = ProblemGenerator(seed % 400).next().key();
    for (uint64_t times = 1 + random() % 2; times > 0 && !key.empty(); --times)
      damage(key, random);
    if (auto problem = parseProblem(key); mlir::succeeded(problem)) {
      SCOPED_TRACE(key);
      askSolvers(*problem, *target);
      ++taken;
    }
  }
  EXPECT_GT(taken, 100);
}
