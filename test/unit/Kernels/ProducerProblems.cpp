//===- ProducerProblems.cpp - Random problems of two operations -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include "tarpon/Problem/ElementwiseOps.h"
#include "tarpon/Problem/Producer.h"

using namespace tarpon;
using namespace tarpon::test;

/// Adds a bias, a factor or a number for each channel, and an activation.
static void addChannelSteps(ProblemGenerator &g, Problem &problem) {
  int64_t channels = problem.result.shape[1];
  auto add = [&](OpKind op, std::vector<int64_t> shape) {
    EpilogueStep step;
    step.op = op;
    step.operand = static_cast<int>(problem.operands.size());
    step.swapped = g.chance(30);
    TensorDesc operand = g.makeTensor(std::move(shape), Layout());
    g.setType(operand, g.chance(50) ? DType::F32 : problem.operands[0].dtype,
              /*quantized=*/false);
    operand.constant = g.chance(70);
    problem.operands.push_back(operand);
    problem.epilogue.push_back(step);
  };
  if (g.chance(70))
    add(OpKind::Add, {1, channels, 1, 1});
  if (g.chance(20))
    add(g.oneOf<OpKind>({OpKind::Mul, OpKind::Max, OpKind::Sub}), {1});
  if (g.chance(20))
    add(OpKind::Mul, {1, channels, 1, 1});
  if (g.chance(70)) {
    EpilogueStep step;
    step.op =
        g.oneOf<OpKind>({OpKind::Relu, OpKind::Clip, OpKind::HardSwish,
                         OpKind::Swish, OpKind::Sigmoid, OpKind::LeakyRelu});
    step.attrs = ProblemGenerator::makeStepAttrs(step.op);
    problem.epilogue.push_back(step);
  }
}

/// A depthwise convolution, or an operation on elements and channels.
static Problem makeProducer(ProblemGenerator &g, DType dtype, Layout layout) {
  Problem problem;
  bool isDepthwise = g.chance(65);
  int64_t channels = g.chance(80) ? 8 * g.pick(1, 20) : g.pick(1, 60);
  std::vector<int64_t> shape = {g.oneOf<int64_t>({1, 1, 2}), channels,
                                g.pick(1, 9), g.pick(1, 12)};
  problem.operands = {g.makeTensor(shape, layout)};
  problem.result = g.makeTensor(shape, layout);
  if (isDepthwise) {
    problem.op = OpKind::Conv;
    int64_t rows = g.oneOf<int64_t>({1, 3, 3, 3, 5}), columns = rows;
    if (g.chance(20))
      columns = g.pick(1, 4);
    TensorDesc filter = g.makeTensor({channels, 1, rows, columns}, Layout());
    filter.constant = true;
    problem.operands.push_back(filter);
    problem.attrs["group"] = {static_cast<double>(channels)};
    g.addWindow(problem, {rows, columns});
  } else {
    problem.op = g.oneOf<OpKind>({OpKind::Mul, OpKind::Mul, OpKind::Add,
                                  OpKind::Relu, OpKind::HardSwish});
    if (isBinaryOp(problem.op)) {
      TensorDesc other = g.makeTensor({1, channels, 1, 1}, layout);
      if (g.chance(15))
        other.shape = shape;
      problem.operands.push_back(other);
    }
  }
  problem.rootOperands = static_cast<int>(problem.operands.size());
  for (TensorDesc &operand : problem.operands)
    g.setType(operand, dtype, /*quantized=*/false);
  g.setType(problem.result, dtype, /*quantized=*/false);
  addChannelSteps(g, problem);
  return problem;
}

/// Results have the type of the value between the two: in a finer one they
/// would show how it was rounded.
Problem test::makeProducerProblem(ProblemGenerator &g) {
  Layout layout{g.chance(85) ? Layout::NHWC : Layout::NCHW, 1};
  DType dtype = g.oneOf({DType::F32, DType::F16, DType::F16, DType::BF16});
  Problem producer = makeProducer(g, dtype, layout);
  Problem consumer;
  consumer.op = OpKind::Conv;
  std::vector<int64_t> shape = producer.result.shape;
  int64_t kernel = g.chance(10) ? 3 : 1;
  TensorDesc filter =
      g.makeTensor({g.chance(50) ? 8 * g.pick(1, 20) : g.pick(1, 70), shape[1],
                    kernel, kernel},
                   Layout());
  filter.constant = g.chance(95);
  consumer.operands = {producer.result, filter};
  consumer.rootOperands = 2;
  shape[1] = filter.shape[0];
  consumer.result = g.makeTensor(shape, layout);
  auto pad = static_cast<double>(kernel / 2);
  consumer.attrs = {{"group", {1}},
                    {"strides", {1, 1}},
                    {"dilations", {1, 1}},
                    {"pads", {pad, pad, pad, pad}}};
  for (TensorDesc &operand : consumer.operands)
    g.setType(operand, dtype, /*quantized=*/false);
  g.setType(consumer.result, dtype, /*quantized=*/false);
  g.addEpilogue(consumer);
  return joinProblems(producer, consumer);
}
