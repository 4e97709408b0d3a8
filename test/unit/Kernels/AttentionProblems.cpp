//===- AttentionProblems.cpp - Random attention ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One query or key, several blocks of both, masks that are broadcast in any
// dimension but the last, and channels that are no whole vectors; or that are,
// and fill matrix instructions in part.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

static std::vector<int64_t> makeMask(ProblemGenerator &g,
                                     std::vector<int64_t> scores) {
  for (size_t dim = 0; dim + 1 < scores.size(); ++dim)
    if (g.chance(40))
      scores[dim] = 1;
  if (g.chance(30))
    scores.erase(scores.begin(), scores.begin() + g.pick(1, scores.size() - 1));
  return scores;
}

static Problem makeProblem(ProblemGenerator &g, int64_t channels,
                           int64_t resultChannels) {
  Problem problem;
  problem.op = OpKind::Attention;
  int64_t keys = g.chance(50) ? g.pick(1, 40) : g.pick(40, 300);
  int64_t queries = g.chance(30) ? keys : g.pick(1, keys);
  std::vector<int64_t> batch;
  for (int64_t dims = g.pick(1, 3); dims > 0; --dims)
    batch.push_back(g.pick(1, 3));
  auto matrix = [&](int64_t rows, int64_t columns) {
    std::vector<int64_t> shape = batch;
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  problem.operands = {g.makeTensor(matrix(queries, channels), Layout()),
                      g.makeTensor(matrix(keys, channels), Layout()),
                      g.makeTensor(matrix(keys, resultChannels), Layout())};
  if (g.chance(50))
    problem.operands.push_back(
        g.makeTensor(makeMask(g, matrix(queries, keys)), Layout()));
  problem.rootOperands = static_cast<int>(problem.operands.size());
  problem.result = g.makeTensor(matrix(queries, resultChannels), Layout());
  problem.attrs = {{"scale", {g.oneOf({1.0, 0.125, 0.3})}},
                   {"causal", {double(g.chance(40))}}};
  return problem;
}

Problem test::makeAttentionProblem(ProblemGenerator &g) {
  int64_t channels = g.pick(1, 40), resultChannels = g.pick(1, 40);
  Problem problem = makeProblem(g, channels, resultChannels);
  g.chooseTypes(problem);
  return problem;
}

Problem test::makeHalfAttentionProblem(ProblemGenerator &g) {
  constexpr int64_t kChunk = 8;
  int64_t channels = g.chance(40) ? 64 : kChunk * g.pick(1, 16);
  int64_t resultChannels = g.chance(70) ? channels : kChunk * g.pick(1, 16);
  Problem problem = makeProblem(g, channels, resultChannels);
  DType dtype = g.chance(60) ? DType::F16 : DType::BF16;
  for (TensorDesc &operand : problem.operands)
    operand.dtype = dtype;
  if (problem.operands.size() > 3 && g.chance(50))
    problem.operands[3].dtype = DType::F32;
  problem.result.dtype = g.chance(80) ? dtype : DType::F32;
  return problem;
}
