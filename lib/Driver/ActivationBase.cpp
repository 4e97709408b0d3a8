//===- ActivationBase.cpp - activ, activfp16 ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bases.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::driver;
using runtime::Error;
using runtime::Result;

static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "0"},
    {'n', "batchsize", "100"},
    {'c', "in_channels", "3"},
    {'H', "in_h", "32"},
    {'W', "in_w", "32"},
    {'m', "mode", "3"},
    {'A', "alpha", "0.0", Use::Number},
    {'B', "beta", "0.0", Use::Number},
    {'G', "gamma", "1", Use::Number},
    {'S', "solution", "-1", Use::Text},
};

/// The numbers of MIOpen's miopenActivationMode_t.
enum Mode : int64_t {
  PassThrough,
  Logistic,
  Tanh,
  Relu,
  SoftRelu,
  Abs,
  Power,
  ClippedRelu,
  LeakyRelu,
  Elu
};

Result<std::vector<EpilogueStep>>
driver::makeActivation(int64_t mode, double alpha, double beta, double gamma) {
  using Steps = std::vector<EpilogueStep>;
  if (mode < PassThrough || mode > Elu)
    return Error{llvm::formatv("the activation mode {0} is not supported, "
                               "expected 0 to 9",
                               mode)};
  switch (static_cast<Mode>(mode)) {
  case PassThrough:
    return Steps{};
  case Logistic:
    return Steps{{OpKind::Sigmoid, -1, false, {}}};
  case Tanh:
    // The step is beta * tanh(alpha * x); with the driver's defaults of 0 it
    // would be 0.
    if ((alpha != 0 && alpha != 1) || (beta != 0 && beta != 1))
      return Error{"a tanh with alpha or beta other than 1 is not supported"};
    return Steps{{OpKind::Tanh, -1, false, {}}};
  case Relu:
    return Steps{{OpKind::Relu, -1, false, {}}};
  case SoftRelu:
    return Steps{{OpKind::Softplus, -1, false, {}}};
  case Abs:
    return Steps{{OpKind::Abs, -1, false, {}}};
  case Power:
    return Steps{
        {OpKind::Power,
         -1,
         false,
         {{"shift", {alpha}}, {"scale", {beta}}, {"exponent", {gamma}}}}};
  case ClippedRelu:
    return Steps{{OpKind::Clip, -1, false, {{"low", {0}}, {"high", {alpha}}}}};
  case LeakyRelu:
    return Steps{{OpKind::LeakyRelu, -1, false, {{"alpha", {alpha}}}}};
  case Elu:
    return Steps{{OpKind::Elu, -1, false, {{"alpha", {alpha}}}}};
  }
  llvm_unreachable("unknown activation mode");
}

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  Result<std::vector<int64_t>> shape = readInputShape(flags);
  if (!shape)
    return shape.error();
  auto steps = makeActivation(flags.integer("mode"), flags.number("alpha"),
                              flags.number("beta"), flags.number("gamma"));
  if (!steps)
    return steps.error();
  Problem problem;
  problem.op = OpKind::Convert; // A copy, unless something follows.
  problem.operands = {makeTensor(dtype, *shape, Layout())};
  problem.result = problem.operands[0];
  if (!steps->empty()) {
    problem.op = steps->front().op;
    problem.attrs = steps->front().attrs;
  }
  TaskList tasks = {{"Forward Activation", problem}};
  // -F 1 runs only the forward pass. The backward pass takes dy and x; that of
  // a copy is a copy.
  if (!flags.isSet("forw")) {
    if (!steps->empty()) {
      problem.op = *getGradient(problem.op);
      problem.operands.push_back(problem.operands.front());
      problem.rootOperands = 2;
    }
    tasks.push_back({"Backward Activation", problem});
  }
  return tasks;
}

const Base driver::kActivation = {"activ", kFlags, makeTasks};
