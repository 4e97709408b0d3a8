//===- ProblemCheck.cpp - Checks problems by their rules ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's type inference has checked problems from graphs, but not those
// from keys: the rules of the operations check them here for the same
// constraints, which solvers rely on.
//
//===----------------------------------------------------------------------===//

#include "Rules/RuleParts.h"

#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

namespace {

/// Each check returns the fault, or "".
class Checker {
public:
  Checker(const Problem &problem, const OpRule &rule)
      : problem(problem), rule(rule) {}
  std::string run() const;

private:
  std::string checkOperandCount() const;
  std::string checkTensors() const;
  std::string checkRanks() const;
  std::string checkAttr(const ProblemAttrs &attrs, OpKind op,
                        const AttrRule &rule) const;
  std::string checkAttrs() const;
  std::string checkTypes() const;
  std::string checkFloats() const;
  std::string checkStep(const EpilogueStep &step) const;
  std::string checkEpilogue() const;
  std::string checkEpilogueOperands() const;
  std::string checkResults() const;

  const TensorDesc &input() const { return problem.operands.front(); }

  const Problem &problem;
  const OpRule &rule;
};

} // namespace

static std::string print(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::string Checker::checkOperandCount() const {
  int expected =
      std::clamp(problem.rootOperands, rule.leastOperands, rule.mostOperands);
  if (problem.rootOperands != expected)
    return formatv("{0} has {1} operands, expected {2}", problem.op,
                   problem.rootOperands, expected);
  // A region that reads one operand twice.
  if (problem.operands.size() < static_cast<size_t>(problem.rootOperands))
    return formatv("{0} has {1} operands, got {2}", problem.op,
                   problem.rootOperands, problem.operands.size());
  return "";
}

static std::string checkTensor(const TensorDesc &desc) {
  // This is far more than any memory, and still leaves room for products with a
  // few bytes or cells in 64 bits.
  constexpr int64_t kMaxElements = int64_t(1) << 48;
  int64_t elements = 1;
  for (int64_t size : desc.shape) {
    if (size < 1)
      return "a tensor is empty";
    if (size > kMaxElements / elements)
      return formatv("a tensor has more than {0} elements", kMaxElements);
    elements *= size;
  }
  if (desc.quantized && desc.dtype != DType::I8 && desc.dtype != DType::U8)
    return "a quantised tensor is neither of i8 nor of u8";
  if (desc.layout.kind != Layout::NCHW && desc.rank() < 3)
    return formatv("a tensor in {0} has rank {1}, expected 3 or more",
                   desc.layout.name(), desc.rank());
  if (desc.layout.kind == Layout::Blocked &&
      !llvm::is_contained({4, 8, 16, 32, 64}, desc.layout.block))
    return "a block of channels is not 4, 8, 16, 32 or 64";
  if (desc.pitch) {
    if (desc.layout.kind != Layout::NHWC)
      return "a slice is not in nhwc";
    if (desc.pitch <= desc.shape[1])
      return formatv("a slice of {0} channels has a pitch of {1}, expected "
                     "more",
                     desc.shape[1], desc.pitch);
    if (desc.pitch > kMaxElements / elements)
      return formatv("a slice spans more than {0} elements", kMaxElements);
    if (desc.constant)
      return "a slice is constant";
  }
  return "";
}

std::string Checker::checkTensors() const {
  for (const TensorDesc &operand : problem.operands)
    if (std::string fault = checkTensor(operand); !fault.empty())
      return fault;
  for (int64_t i = 0; i < problem.numResults(); ++i)
    if (std::string fault = checkTensor(problem.getResult(i)); !fault.empty())
      return fault;
  return "";
}

std::string Checker::checkRanks() const {
  if (input().rank() >= rule.leastRank && input().rank() <= rule.mostRank)
    return "";
  return formatv("{0} has an operand of rank {1}, expected {2} {3}", problem.op,
                 input().rank(), rule.leastRank,
                 rule.mostRank == INT64_MAX
                     ? "or more"
                     : "to " + std::to_string(rule.mostRank));
}

std::string Checker::checkFloats() const {
  if (rule.needsIntegers)
    return formatv("{0} of floats, which is defined on integers", problem.op);
  for (const EpilogueStep &step : problem.epilogue)
    if (getOpRule(step.op).needsIntegers)
      return formatv("{0} of floats, which is defined on integers", step.op);
  return "";
}

std::string Checker::checkTypes() const {
  if (isFloat(computeKindOf(problem)))
    return checkFloats();
  for (const TensorDesc &operand : problem.operands)
    if (isFloat(computeKindOf(operand)))
      return "an operand of floats beside one of integers";
  if (rule.needsFloats)
    return formatv("{0} of integers, which is defined on floats", problem.op);
  for (const EpilogueStep &step : problem.epilogue)
    if (getOpRule(step.op).needsFloats)
      return formatv("{0} of integers, which is defined on floats", step.op);
  return "";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::string Checker::checkAttr(const ProblemAttrs &attrs, OpKind op,
                               const AttrRule &rule) const {
  size_t rank = input().shape.size(), expected = 1;
  if (rule.count == Count::Rank || rule.count == Count::RankTwice)
    expected = rank;
  else if (rule.count != Count::One)
    expected = std::max<size_t>(rank, 2) - 2;
  if (rule.count == Count::SpatialTwice || rule.count == Count::RankTwice)
    expected *= 2;
  auto found = attrs.find(rule.name.str());
  if (found == attrs.end())
    return formatv("{0} lacks the attribute {1}", op, rule.name);
  if (rule.count != Count::Any && found->second.size() != expected)
    return formatv("{0} has {1} values in {2}, expected {3}", op,
                   found->second.size(), rule.name, expected);
  for (double value : found->second) {
    if (rule.isInteger &&
        (value != std::trunc(value) || std::fabs(value) > 0x1p53))
      return formatv("{0} has the value {1} in {2}, expected an integer", op,
                     print(value), rule.name);
    if (value < rule.least)
      return formatv("{0} has the value {1} in {2}, expected {3} or more", op,
                     print(value), rule.name, print(rule.least));
  }
  return "";
}

std::string Checker::checkAttrs() const {
  for (const AttrRule &attr : rule.attrs)
    if (std::string fault = checkAttr(problem.attrs, problem.op, attr);
        !fault.empty())
      return fault;
  return "";
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::string Checker::checkResults() const {
  std::vector<Shape> shapes;
  if (std::string fault = rule.infer(problem, shapes); !fault.empty())
    return fault;
  if (static_cast<int64_t>(shapes.size()) != problem.numResults())
    return formatv("{0} has {1} results, expected {2}", problem.op,
                   problem.numResults(), shapes.size());
  for (auto [index, shape] : llvm::enumerate(shapes))
    if (const TensorDesc &result =
            problem.getResult(static_cast<int64_t>(index));
        ArrayRef<int64_t>(shape) != ArrayRef(result.shape))
      return formatv("{0} has a result of {1}, expected {2}", problem.op,
                     printShape(result.shape), printShape(shape));
  return "";
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

std::string Checker::checkStep(const EpilogueStep &step) const {
  const OpRule &stepRule = getOpRule(step.op);
  if (stepRule.elementwise == Elementwise::No)
    return formatv("an epilogue has no operation '{0}'", step.op);
  for (const AttrRule &attr : stepRule.attrs)
    if (std::string fault = checkAttr(step.attrs, step.op, attr);
        !fault.empty())
      return fault;
  if (step.operand < 0)
    return "";
  if (stepRule.elementwise != Elementwise::Binary)
    return formatv("{0} has one operand, expected none beside the value",
                   step.op);
  if (step.operand < problem.rootOperands ||
      step.operand >= static_cast<int>(problem.operands.size()))
    return formatv("{0} reads operand {1}, which is none of the epilogue's",
                   step.op, step.operand);
  return "";
}

std::string Checker::checkEpilogue() const {
  for (const EpilogueStep &step : problem.epilogue)
    if (std::string fault = checkStep(step); !fault.empty())
      return fault;
  return "";
}

std::string Checker::checkEpilogueOperands() const {
  ArrayRef<int64_t> shape = problem.result.shape;
  for (const TensorDesc &operand :
       ArrayRef(problem.operands).drop_front(problem.rootOperands))
    if (!broadcastsTo(operand.shape, shape))
      return formatv("an operand of {0} does not broadcast to {1}",
                     printShape(operand.shape), printShape(shape));
  return "";
}

//===----------------------------------------------------------------------===//
// The whole problem
//===----------------------------------------------------------------------===//

std::string Checker::run() const {
  for (auto check : {&Checker::checkOperandCount, &Checker::checkTensors,
                     &Checker::checkEpilogue, &Checker::checkRanks,
                     &Checker::checkAttrs, &Checker::checkTypes,
                     &Checker::checkResults, &Checker::checkEpilogueOperands})
    if (std::string fault = (this->*check)(); !fault.empty())
      return fault;
  return "";
}

static std::string findPartFault(const Problem &problem) {
  return Checker(problem, getOpRule(problem.op)).run();
}

/// Checks what the parts of a problem with a producer are made by.
static std::string findConsumerFault(const Problem &problem) {
  auto isConsumer = [](const EpilogueStep &step) {
    return mayConsume(step.op);
  };
  const EpilogueStep &consumer = *llvm::find_if(problem.epilogue, isConsumer);
  if (llvm::count_if(problem.epilogue, isConsumer) > 1)
    return formatv("{0} is the second step that adds up products", consumer.op);
  if (consumer.operand < 0)
    return formatv("an epilogue has no operation '{0}'", consumer.op);
  if (consumer.operand < problem.rootOperands ||
      consumer.operand >= static_cast<int>(problem.operands.size()) ||
      consumer.swapped)
    return formatv("{0} lacks an operand beside the value", consumer.op);
  if (problem.operands.front().quantized)
    return formatv("{0} reads a value that is quantised", consumer.op);
  for (const EpilogueStep &step : problem.epilogue) {
    bool isBehind = &step > &consumer;
    if (step.operand >= 0 && &step != &consumer &&
        (step.operand > consumer.operand) != isBehind)
      return formatv("{0} reads operand {1}, which is none of its part's",
                     step.op, step.operand);
  }
  return "";
}

std::string tarpon::findFault(const Problem &problem) {
  if (!hasProducer(problem))
    return findPartFault(problem);
  std::string fault = findConsumerFault(problem);
  if (fault.empty())
    fault = findPartFault(getProducer(problem));
  return fault.empty() ? findPartFault(getConsumer(problem)) : fault;
}
