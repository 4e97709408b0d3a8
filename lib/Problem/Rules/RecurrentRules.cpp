//===- RecurrentRules.cpp - Rules of recurrent problems -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"
#include "tarpon/Problem/Recurrent.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

static bool isInteger(DType dtype) {
  return dtype == DType::I32 || dtype == DType::I64;
}

static bool isLstm(const Problem &problem) {
  return problem.op == OpKind::Lstm;
}

static bool isGru(const Problem &problem) { return problem.op == OpKind::Gru; }

/// The expected shapes of the operands, from those of the first two.
static SmallVector<Shape> getOperandShapes(const Problem &problem,
                                           int64_t batch, int64_t directions,
                                           int64_t units) {
  SmallVector<Shape> shapes(2);
  for (int i = 0; i < 2; ++i)
    shapes[i].assign(problem.operands[i].shape.begin(),
                     problem.operands[i].shape.end());
  shapes.push_back({batch});
  shapes.push_back({directions, batch, units});
  if (isLstm(problem)) {
    shapes.push_back({directions, batch, units});
    shapes.push_back({directions, 3 * units});
  } else if (isGru(problem)) {
    shapes.push_back({directions, units});
  }
  return shapes;
}

static std::string checkLists(const Problem &problem, int64_t directions) {
  RecurrentCell cell = *getRecurrentCell(problem.op);
  int64_t count = directions * cell.activations;
  if (static_cast<int64_t>(problem.ints("reversed").size()) != directions ||
      llvm::any_of(problem.ints("reversed"), [](int64_t r) { return r > 1; }))
    return formatv("{0} does not say of {1} directions which are reversed",
                   problem.op, directions);
  for (StringRef name : {"activations", "alphas", "betas"})
    if (static_cast<int64_t>(problem.attrs.at(name.str()).size()) != count)
      return formatv("{0} has {1} values in {2}, expected {3}", problem.op,
                     problem.attrs.at(name.str()).size(), name, count);
  for (int64_t activation : problem.ints("activations"))
    if (activation >= kNumRecurrentActivations)
      return formatv("{0} has the activation {1}, expected 0 to {2}",
                     problem.op, activation, kNumRecurrentActivations - 1);
  const std::pair<StringRef, bool> flags[] = {
      {"input_forget", isLstm(problem)},
      {"linear_before_reset", isGru(problem)}};
  for (auto [name, needs] : flags) {
    bool has = problem.attrs.count(name.str());
    if (needs && (!has || problem.attrs.at(name.str()).size() != 1))
      return formatv("{0} lacks the attribute {1}", problem.op, name);
  }
  return "";
}

static std::string inferRecurrent(const Problem &problem,
                                  std::vector<Shape> &results) {
  RecurrentCell cell = *getRecurrentCell(problem.op);
  const std::vector<int64_t> &gates = problem.operands[0].shape,
                             &recurrent = problem.operands[1].shape;
  if (recurrent.size() != 3 || recurrent[1] != cell.gates * recurrent[2] ||
      gates[2] != recurrent[0] * recurrent[1])
    return formatv("{0} has gates of {1} and weights of {2}", problem.op,
                   printShape(gates), printShape(recurrent));
  int64_t batch = gates[1], directions = recurrent[0], units = recurrent[2];
  for (auto [index, shape] :
       llvm::enumerate(getOperandShapes(problem, batch, directions, units))) {
    const TensorDesc &operand = problem.operands[index];
    if (ArrayRef(operand.shape) != ArrayRef<int64_t>(shape))
      return formatv("{0} has an operand of {1}, expected {2}", problem.op,
                     printShape(operand.shape), printShape(shape));
    bool isReal = !operand.quantized && isFloat(operand.dtype);
    if (index == 2 ? !isInteger(operand.dtype) : !isReal)
      return formatv("{0} has operand {1} of the wrong type", problem.op,
                     index);
    if (operand.layout.kind != Layout::NCHW)
      return formatv("{0} has an operand that is not row-major", problem.op);
  }
  if (problem.result.layout.kind != Layout::NCHW)
    return formatv("{0} has a result that is not row-major", problem.op);
  if (std::string fault = checkLists(problem, directions); !fault.empty())
    return fault;
  results.push_back({gates[0] + cell.states, directions, batch, units});
  return "";
}

static double countCellFlops(const Problem &problem) {
  return 2 * static_cast<double>(problem.result.numElements()) *
         static_cast<double>(problem.operands[1].shape[1]);
}

/// The number of hidden units in the sum of each gate.
static int64_t countUnits(const Problem &problem) {
  return problem.operands[1].shape[2];
}

static constexpr AttrRule kAttrs[] = {{"reversed", Count::Any, true, 0},
                                      {"activations", Count::Any, true, 0},
                                      {"alphas", Count::Any, false},
                                      {"betas", Count::Any, false},
                                      {"clip", Count::One, false, 0}};

static OpRule makeRule(OpKind op, int operands) {
  return {.op = op,
          .leastOperands = operands,
          .mostOperands = operands,
          .leastRank = 3,
          .mostRank = 3,
          .attrs = kAttrs,
          .isReal = true,
          .infer = inferRecurrent,
          .countFlops = countCellFlops,
          .countTerms = countUnits};
}

ArrayRef<OpRule> tarpon::getRecurrentRules() {
  static const OpRule rules[] = {makeRule(OpKind::Lstm, 6),
                                 makeRule(OpKind::Gru, 5),
                                 makeRule(OpKind::Rnn, 4)};
  return rules;
}
