//===- NormProblems.cpp - Random problems of normalisation ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

/// Operand 0 and the first result, both of one shape and layout.
static Problem makeOneToOne(ProblemGenerator &g, OpKind op,
                            const std::vector<int64_t> &shape, Layout layout) {
  Problem problem;
  problem.op = op;
  problem.operands = {g.makeTensor(shape, layout)};
  problem.result = problem.operands[0];
  g.chooseTypes(problem);
  return problem;
}

/// A constant or variable of f32.
static TensorDesc makeParameter(ProblemGenerator &g, std::vector<int64_t> shape,
                                Layout layout = Layout()) {
  TensorDesc desc = g.makeTensor(std::move(shape), layout);
  desc.constant = g.chance(30);
  return desc;
}

static void addParameter(ProblemGenerator &g, Problem &problem,
                         const std::vector<int64_t> &shape,
                         Layout layout = Layout()) {
  problem.operands.push_back(makeParameter(g, shape, layout));
  problem.rootOperands = static_cast<int>(problem.operands.size());
}

/// The shape of batch statistics: one for each channel, or for each place in an
/// image.
static std::vector<int64_t> getStatShape(const std::vector<int64_t> &shape,
                                         bool spatial) {
  std::vector<int64_t> stats = shape;
  stats[0] = 1;
  if (spatial)
    stats = {shape[1]};
  return stats;
}

static Problem makeBatchNormTraining(ProblemGenerator &g) {
  std::vector<int64_t> shape = g.makeImage(g.oneOf<int64_t>({2, 3, 4, 4, 5}));
  Layout layout = g.pickLayout();
  Problem problem = makeOneToOne(g, OpKind::BatchNormTraining, shape, layout);
  bool spatial = g.chance(60), runs = g.chance(60);
  std::vector<int64_t> stats = getStatShape(shape, spatial);
  TensorDesc stat = g.makeTensor(stats, layout);
  for (int i = runs ? 4 : 2; i > 0; --i)
    addParameter(g, problem, stats, layout);
  problem.moreResults.assign(runs ? 4 : 2, stat);
  problem.attrs = {{"epsilon", {g.oneOf({0.03125, 0.25})}},
                   {"spatial", {double(spatial)}}};
  if (runs) {
    problem.attrs["factor"] = {g.oneOf({0.125, 0.5, 1.0})};
    problem.attrs["unbiased"] = {double(g.chance(50))};
  }
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

static Problem makeLayerNorm(ProblemGenerator &g) {
  std::vector<int64_t> shape;
  for (int64_t rank = g.pick(1, 4); rank > 0; --rank)
    shape.push_back(g.pick(1, 14));
  if (g.chance(40))
    shape.back() = g.pick(1, 1100);
  Layout layout = g.chance(80) ? Layout() : g.pickLayout();
  Problem problem = makeOneToOne(g, OpKind::LayerNorm, shape, layout);
  int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = g.chance(60) ? rank - 1 : g.pick(0, rank - 1);
  std::vector<int64_t> affine(shape.begin() + axis, shape.end());
  for (int64_t count = g.pick(0, 2); count > 0; --count)
    addParameter(g, problem, affine);
  if (g.chance(50)) {
    std::fill(shape.begin() + axis, shape.end(), 1);
    problem.moreResults.assign(2, g.makeTensor(shape, Layout()));
  }
  problem.attrs = {{"axis", {double(axis)}},
                   {"epsilon", {g.oneOf({0.03125, 0.25})}}};
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

static Problem makeGroupNorm(ProblemGenerator &g) {
  std::vector<int64_t> shape = g.makeImage(g.oneOf<int64_t>({3, 4, 4, 5}));
  int64_t groups = g.chance(30) ? shape[1] : g.pick(1, 4);
  if (groups != shape[1])
    shape[1] = groups * g.pick(1, 12);
  Problem problem = makeOneToOne(g, OpKind::GroupNorm, shape, g.pickLayout());
  for (int64_t count = g.pick(0, 2); count > 0; --count)
    addParameter(g, problem, {shape[1]});
  if (g.chance(30))
    problem.moreResults.assign(2, g.makeTensor({shape[0], groups}, Layout()));
  problem.attrs = {{"groups", {double(groups)}},
                   {"epsilon", {g.oneOf({0.03125, 0.25})}}};
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

static Problem makePerActivation(ProblemGenerator &g) {
  std::vector<int64_t> shape = g.makeImage(g.oneOf<int64_t>({2, 3, 4, 5}));
  Layout layout = g.pickLayout();
  Problem problem =
      makeOneToOne(g, OpKind::BatchNormPerActivation, shape, layout);
  for (int i = 0; i < 4; ++i)
    addParameter(g, problem, getStatShape(shape, /*spatial=*/false), layout);
  problem.attrs = {{"epsilon", {1e-5}}};
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

/// Batch normalisation in inference with parameters that are not constant.
static Problem makeVariableBatchNorm(ProblemGenerator &g) {
  std::vector<int64_t> shape = g.makeImage(g.oneOf<int64_t>({2, 3, 4, 4}));
  Problem problem = makeOneToOne(g, OpKind::BatchNorm, shape, g.pickLayout());
  for (int i = 0; i < 4; ++i)
    addParameter(g, problem, {shape[1]});
  problem.attrs = {{"epsilon", {1e-5}}};
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

static Problem makeBatchNormBackward(ProblemGenerator &g) {
  std::vector<int64_t> shape = g.makeImage(g.oneOf<int64_t>({2, 3, 4, 4, 5}));
  Layout layout = g.pickLayout();
  Problem problem = makeOneToOne(g, OpKind::BatchNormBackward, shape, layout);
  problem.operands.push_back(problem.operands[0]);
  bool spatial = g.chance(60);
  std::vector<int64_t> stats = getStatShape(shape, spatial);
  for (int i = g.chance(50) ? 3 : 1; i > 0; --i)
    addParameter(g, problem, stats, layout);
  problem.moreResults.assign(2, g.makeTensor(stats, layout));
  problem.attrs = {{"epsilon", {g.oneOf({0.03125, 0.25})}},
                   {"spatial", {double(spatial)}}};
  return problem;
}

static Problem makeLrnBackward(ProblemGenerator &g) {
  std::vector<int64_t> shape = g.makeImage(g.oneOf<int64_t>({3, 4}));
  Problem problem = makeOneToOne(g, OpKind::LrnBackward, shape, g.pickLayout());
  problem.operands.push_back(problem.operands[0]);
  problem.rootOperands = 2;
  problem.attrs = {{"size", {double(g.pick(1, 6))}},
                   {"alpha", {0.125}},
                   {"beta", {0.75}},
                   {"bias", {1.5}}};
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

/// Softmax in all layouts, along other dimensions than the last, and gradients.
static Problem makeSoftmaxes(ProblemGenerator &g) {
  std::vector<int64_t> shape;
  for (int64_t rank = g.pick(1, 4); rank > 0; --rank)
    shape.push_back(g.pick(1, 12));
  if (g.chance(40))
    shape.back() = g.pick(1, 300);
  OpKind op =
      g.oneOf<OpKind>({OpKind::Softmax, OpKind::LogSoftmax,
                       OpKind::SoftmaxBackward, OpKind::LogSoftmaxBackward});
  Problem problem = makeOneToOne(g, op, shape, g.pickLayout());
  if (op == OpKind::SoftmaxBackward || op == OpKind::LogSoftmaxBackward) {
    problem.operands.push_back(problem.operands[0]);
    problem.rootOperands = 2;
  }
  int64_t rank = static_cast<int64_t>(shape.size());
  problem.attrs["axis"] = {double(g.pick(0, rank - 1))};
  if (g.chance(25))
    g.addEpilogue(problem);
  return problem;
}

Problem test::makeNormProblem(ProblemGenerator &g) {
  return g.oneOf({makeBatchNormTraining, makeBatchNormBackward,
                  makePerActivation, makeVariableBatchNorm, makeLayerNorm,
                  makeGroupNorm, makeLrnBackward, makeSoftmaxes})(g);
}
