//===- Producer.cpp - Problems of two operations --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Producer.h"

#include "tarpon/Problem/OpRules.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

bool tarpon::mayConsume(OpKind op) {
  return op == OpKind::Conv || op == OpKind::MatMul;
}

/// The step that is the consumer, or the end.
static auto findConsumer(const Problem &problem) {
  return llvm::find_if(problem.epilogue, [](const EpilogueStep &step) {
    return mayConsume(step.op);
  });
}

bool tarpon::hasProducer(const Problem &problem) {
  return findConsumer(problem) != problem.epilogue.end();
}

/// The value between the parts. Its shape is not known where the producer is
/// faulty.
static TensorDesc describeValue(const Problem &producer) {
  TensorDesc value = producer.operands.front();
  value.pitch = 0;
  value.constant = false;
  std::vector<Shape> shapes;
  if (getOpRule(producer.op).infer(producer, shapes).empty())
    value.shape.assign(shapes.front().begin(), shapes.front().end());
  return value;
}

Problem tarpon::getProducer(const Problem &problem) {
  auto consumer = findConsumer(problem);
  assert(consumer != problem.epilogue.end() && "the problem has no producer");
  Problem part = problem;
  part.operands.resize(consumer->operand);
  part.epilogue.assign(problem.epilogue.begin(), consumer);
  part.result = describeValue(part);
  part.moreResults.clear();
  return part;
}

Problem tarpon::getConsumer(const Problem &problem) {
  auto consumer = findConsumer(problem);
  assert(consumer != problem.epilogue.end() && "the problem has no producer");
  Problem part;
  part.op = consumer->op;
  part.attrs = consumer->attrs;
  part.rootOperands = 2;
  part.operands = {getProducer(problem).result};
  llvm::append_range(part.operands,
                     ArrayRef(problem.operands).drop_front(consumer->operand));
  part.result = problem.result;
  part.moreResults = problem.moreResults;
  part.epilogue.assign(consumer + 1, problem.epilogue.end());
  for (EpilogueStep &step : part.epilogue)
    if (step.operand >= 0)
      step.operand += 1 - consumer->operand;
  return part;
}

int64_t tarpon::getConsumerOperand(const Problem &problem, int64_t operand) {
  assert(operand > 0 && "the value between the parts is no operand");
  return findConsumer(problem)->operand + operand - 1;
}

Problem tarpon::joinProblems(const Problem &producer, const Problem &consumer) {
  auto leading = static_cast<int>(producer.operands.size());
  Problem problem = producer;
  problem.result = consumer.result;
  problem.moreResults = consumer.moreResults;
  llvm::append_range(problem.operands,
                     ArrayRef(consumer.operands).drop_front());
  problem.epilogue.push_back(
      {consumer.op, leading, /*swapped=*/false, consumer.attrs});
  for (EpilogueStep step : consumer.epilogue) {
    if (step.operand >= 0)
      step.operand += leading - 1;
    problem.epilogue.push_back(step);
  }
  return problem;
}
