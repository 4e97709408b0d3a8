//===- ShapeProblems.cpp - Random pads and resizes ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using namespace tarpon::test;

void ProblemGenerator::passElementsOn(Problem &problem) {
  const TensorDesc &operand = problem.operands[0];
  problem.result.dtype = operand.dtype;
  problem.result.quantized = operand.quantized;
  problem.result.scales = operand.scales;
  problem.result.zeroPoint = operand.zeroPoint;
}

Problem ProblemGenerator::makePad() {
  Problem problem;
  problem.op = OpKind::Pad;
  std::vector<int64_t> shape = makeShape({2, 3, 4, 4});
  Layout layout = pickLayout();
  constexpr int64_t reflect = 2;
  int64_t mode = pick(0, 3);
  bool keepsChannels = chance(50) || layout.kind == Layout::Blocked;
  std::vector<double> pads;
  std::vector<int64_t> out = shape;
  for (int side = 0; side < 2; ++side)
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t most = mode == reflect ? std::min<int64_t>(3, shape[d] - 1) : 3;
      int64_t amount = pick(0, most);
      if (shape[d] > 6 && chance(20))
        amount = -pick(1, 2);
      if (keepsChannels && d < 2)
        amount = 0;
      pads.push_back(static_cast<double>(amount));
      out[d] += amount;
    }
  problem.operands = {makeTensor(shape, layout)};
  problem.result = makeTensor(out, layout);
  problem.attrs = {{"pads", pads}, {"value", {0.5}}, {"mode", {double(mode)}}};
  chooseTypes(problem);
  if (chance(20))
    setType(problem.operands[0],
            oneOf({DType::I64, DType::I32, DType::F64, DType::I8}), false);
  passElementsOn(problem);
  moveIntegers(problem, problem.operands);
  if (problem.result.dtype == DType::I64)
    problem.attrs["value"] = {oneOf({-7.0, 3e9, 5e9})};
  return problem;
}

/// By nothing, by a whole number, or by anything.
Problem ProblemGenerator::makeResize() {
  Problem problem;
  problem.op = OpKind::Resize;
  Layout layout = pickLayout();
  std::vector<int64_t> shape = makeImage(oneOf<int64_t>({3, 4, 4, 4, 5}));
  std::vector<int64_t> sizes = shape;
  std::vector<double> scales(shape.size(), 1);
  bool isWhole = chance(40);
  int64_t factor = pick(2, 4);
  for (size_t d = 2; d < shape.size(); ++d) {
    if (chance(15))
      continue;
    scales[d] = isWhole ? double(factor) : double(pick(4, 24)) / 8;
    sizes[d] = static_cast<int64_t>(double(shape[d]) * scales[d]);
    if (sizes[d] < 1) {
      sizes[d] = shape[d];
      scales[d] = 1;
    }
  }
  constexpr int64_t crop = 5;
  int64_t coordinates = isWhole && chance(60) ? 3 : pick(0, crop);
  std::vector<double> roi;
  if (coordinates == crop && layout.kind == Layout::NCHW) {
    roi.assign(2 * shape.size(), 0);
    for (size_t d = 0; d < shape.size(); ++d) {
      roi[d] = d < 2 ? 0 : double(pick(-1, 3)) / 8;
      roi[shape.size() + d] = d < 2 ? 1 : double(pick(5, 9)) / 8;
    }
  }
  problem.attrs = {{"sizes", {sizes.begin(), sizes.end()}},
                   {"scales", scales},
                   {"roi", roi},
                   {"mode", {double(chance(50) ? 0 : pick(1, 2))}},
                   {"coordinates", {double(coordinates)}},
                   {"rounding", {double(isWhole ? 2 : pick(0, 3))}},
                   {"cubic_a", {-0.75}},
                   {"exclude_outside", {double(chance(20))}},
                   {"extrapolation", {0.5}}};
  problem.operands = {makeTensor(shape, layout)};
  problem.result = makeTensor(sizes, layout);
  chooseTypes(problem);
  if (chance(30))
    addEpilogue(problem);
  else if (chance(60))
    passElementsOn(problem);
  return problem;
}
