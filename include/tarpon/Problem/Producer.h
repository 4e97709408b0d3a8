//===- Producer.h - Problems of two operations ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step of an epilogue may be an operation that adds up products, as in
//
//   conv(1x96x56x56xf16:nhwc, 96x1x3x3xf16:const; 1x96x1x1xf16:const,
//   24x96x1x1xf16:const)->1x24x56x56xf16:nhwc {...} | add(2) | conv(3){...}
//
// This step, the consumer, reads the value of the step before as its first
// operand. The root with the steps in front is its producer. The value between
// them has the dtype and the layout of the root's first operand, and is rounded
// as if it were stored, so that one launch computes the same as two.
//
// These functions take such problems apart and put them together.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_PRODUCER_H
#define TARPON_PROBLEM_PRODUCER_H

#include "tarpon/Problem/Problem.h"

namespace tarpon {

/// Returns true if a step of the epilogue may be this operation, although it is
/// not elementwise.
bool mayConsume(OpKind op);

/// Returns true if a step of the epilogue is a consumer.
bool hasProducer(const Problem &problem);

/// The two parts, each as a problem of its own. The problem has a producer.
Problem getProducer(const Problem &problem);
Problem getConsumer(const Problem &problem);

/// The index among the problem's operands of operand 1, 2, ... of its consumer.
/// Those of its producer are the first ones, in their order.
int64_t getConsumerOperand(const Problem &problem, int64_t operand);

/// The problem of both, whose consumer reads the producer's result as its
/// operand 0.
Problem joinProblems(const Problem &producer, const Problem &consumer);

} // namespace tarpon

#endif // TARPON_PROBLEM_PRODUCER_H
