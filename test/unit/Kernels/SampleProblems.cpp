//===- SampleProblems.cpp - Random samples and regions of images ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include "tarpon/Problem/Shapes.h"

using namespace tarpon;
using namespace tarpon::test;

static TensorDesc makeTyped(ProblemGenerator &g, std::vector<int64_t> shape,
                            DType dtype) {
  TensorDesc desc = g.makeTensor(std::move(shape), Layout());
  g.setType(desc, dtype, false);
  return desc;
}

static std::vector<int64_t> makeImages(ProblemGenerator &g, int64_t rank) {
  std::vector<int64_t> shape = {g.pick(1, 3), g.pick(1, 6)};
  while (static_cast<int64_t>(shape.size()) < rank)
    shape.push_back(g.chance(10) ? 1 : g.pick(2, 9));
  return shape;
}

static Problem makeGridSample(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::GridSample;
  problem.rootOperands = 2;
  int64_t rank = g.oneOf<int64_t>({3, 4, 4, 4, 5});
  std::vector<int64_t> images = makeImages(g, rank), grid = {images[0]};
  for (int64_t dims = g.chance(80) ? rank - 2 : g.pick(0, 2); dims > 0; --dims)
    grid.push_back(g.pick(1, 8));
  grid.push_back(rank - 2);
  Shape result = *sampleShape(images, grid);
  problem.operands = {g.makeTensor(images, Layout()),
                      g.makeTensor(grid, Layout())};
  problem.result = g.makeTensor({result.begin(), result.end()}, Layout());
  problem.attrs = {{"mode", {double(g.pick(0, 2))}},
                   {"padding", {double(g.pick(0, 2))}},
                   {"align_corners", {double(g.chance(50))}}};
  g.chooseTypes(problem);
  // Quantised coordinates would often be halves, of which rounding decides.
  g.setType(problem.operands[1], DType::F32, false);
  return problem;
}

static Problem makeRoiAlign(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::RoiAlign;
  problem.rootOperands = 3;
  std::vector<int64_t> images = makeImages(g, 4);
  int64_t regions = g.pick(1, 5), height = g.pick(1, 4), width = g.pick(1, 4);
  problem.operands = {g.makeTensor(images, Layout()),
                      g.makeTensor({regions, 4}, Layout()),
                      g.makeTensor({regions}, Layout())};
  problem.result = g.makeTensor({regions, images[1], height, width}, Layout());
  problem.attrs = {{"sizes", {double(height), double(width)}},
                   {"samples", {double(g.pick(0, 3))}},
                   {"scale", {g.chance(50) ? 8.0 : 0.25}},
                   {"half_pixel", {double(g.chance(50))}},
                   {"takes_max", {double(g.chance(30))}}};
  g.chooseTypes(problem);
  g.setType(problem.operands[1], DType::F32, false);
  g.setType(problem.operands[2], DType::I64, false);
  return problem;
}

static Problem makeNonMaxSuppression(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::NonMaxSuppression;
  problem.rootOperands = 3;
  std::vector<int64_t> scores = {g.pick(1, 3), g.pick(1, 4), g.pick(1, 20)};
  int64_t limit = g.pick(1, 12);
  Shape selected = suppressShape(scores, limit);
  problem.operands = {makeTyped(g, {scores[0], scores[2], 4}, DType::F32),
                      makeTyped(g, scores, DType::F32),
                      makeTyped(g, scores, DType::I64)};
  problem.result = makeTyped(g, {selected.begin(), selected.end()}, DType::I64);
  problem.moreResults = {makeTyped(g, {1}, DType::I64)};
  problem.attrs = {{"limit", {double(limit)}},
                   {"most_overlap", {0.5}},
                   {"least_score", {-0.25}},
                   {"has_least", {double(g.chance(50))}},
                   {"center_point", {double(g.chance(50))}}};
  return problem;
}

Problem test::makeSampleProblem(ProblemGenerator &g) {
  using MakeProblem = Problem (*)(ProblemGenerator &);
  return g.oneOf<MakeProblem>(
      {makeGridSample, makeRoiAlign, makeNonMaxSuppression})(g);
}
