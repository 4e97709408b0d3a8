//===- BatchNormBase.cpp - bnorm, bnormfp16 -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bases.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::driver;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "1"},
    {'b', "back", "0"},
    {'n', "batchsize", "32"},
    {'c', "in_channels", "3"},
    {'D', "in_d", "0"},
    {'H', "in_h", "32"},
    {'W', "in_w", "32"},
    {'L', "layout", "", Use::Text},
    {'A', "alpha", "1.0", Use::Number},
    {'B', "beta", "0.0", Use::Number},
    {'m', "mode", "0"},
    {'s', "save", "0"},
    {'r', "run", "0"},
    {'S', "solution", "-1", Use::Text},
};

/// The values of -F.
enum Forward : int64_t { Off, Training, Inference };

static Result<TensorDesc> readInput(const Flags &flags, DType dtype) {
  Result<std::vector<int64_t>> shape = readInputShape(flags);
  if (!shape)
    return shape.error();
  Result<Layout> layout =
      readLayout(flags.text("layout"), static_cast<int64_t>(shape->size()));
  if (!layout)
    return layout.error();
  return makeTensor(dtype, *shape, *layout);
}

/// The shape of the parameters: one per channel, or one per element of an
/// image.
static std::vector<int64_t> getParameterShape(const TensorDesc &input,
                                              bool spatial) {
  if (spatial)
    return {input.shape[1]};
  std::vector<int64_t> shape = input.shape;
  shape[0] = 1;
  return shape;
}

static Problem makeProblem(OpKind op, const TensorDesc &input) {
  Problem problem;
  problem.op = op;
  problem.operands = {input};
  problem.result = input;
  problem.attrs["epsilon"] = {1e-5};
  return problem;
}

static void addParameters(Problem &problem, int count, bool spatial,
                          bool constant) {
  for (int i = 0; i < count; ++i)
    problem.operands.push_back(makeTensor(
        DType::F32, getParameterShape(problem.operands.front(), spatial),
        Layout(), constant));
  problem.rootOperands = static_cast<int>(problem.operands.size());
}

/// Adds results that are statistics or gradients of parameters.
static void addStatistics(Problem &problem, int count, bool spatial) {
  for (int i = 0; i < count; ++i)
    problem.moreResults.push_back(makeTensor(
        DType::F32, getParameterShape(problem.operands.front(), spatial),
        Layout()));
  problem.attrs["spatial"] = {spatial ? 1.0 : 0.0};
}

/// The operands are x, scale, bias, mean and variance.
static Problem makeInference(const TensorDesc &input, bool spatial) {
  Problem problem = makeProblem(
      spatial ? OpKind::BatchNorm : OpKind::BatchNormPerActivation, input);
  addParameters(problem, 4, spatial, /*constant=*/true);
  return problem;
}

/// The operands are x, scale and bias, and with `run` the running mean and
/// variance, which are updated.
static Problem makeTraining(const TensorDesc &input, bool spatial, bool run) {
  Problem problem = makeProblem(OpKind::BatchNormTraining, input);
  addParameters(problem, run ? 4 : 2, spatial, /*constant=*/false);
  addStatistics(problem, run ? 4 : 2, spatial);
  if (run) {
    problem.attrs["factor"] = {0.1};
    problem.attrs["unbiased"] = {1};
  }
  return problem;
}

/// The operands are x, dy and scale; the results are dx and the gradients of
/// scale and bias.
static Problem makeBackward(const TensorDesc &input, bool spatial) {
  Problem problem = makeProblem(OpKind::BatchNormBackward, input);
  problem.operands.push_back(input);
  addParameters(problem, 1, spatial, /*constant=*/false);
  addStatistics(problem, 2, spatial);
  return problem;
}

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  if (Status status = refuseScaling(flags); !status)
    return status.error();
  Result<TensorDesc> input = readInput(flags, dtype);
  if (!input)
    return input.error();
  int64_t forward = flags.integer("forw");
  if (forward < Off || forward > Inference)
    return Error{llvm::formatv("the flag -F (--forw) of bnorm is {0}, expected "
                               "0, 1 or 2",
                               forward)};
  bool spatial = flags.isSet("mode");
  TaskList tasks;
  if (forward == Training)
    tasks.push_back({"Forward Training Batch Normalization",
                     makeTraining(*input, spatial, flags.isSet("run"))});
  if (forward == Inference)
    tasks.push_back({"Forward Inference Batch Normalization",
                     makeInference(*input, spatial)});
  if (flags.isSet("back"))
    tasks.push_back(
        {"Backward Batch Normalization", makeBackward(*input, spatial)});
  if (tasks.empty())
    return Error{"bnorm with -F (--forw) 0 and -b (--back) 0 does nothing"};
  return tasks;
}

const Base driver::kBatchNorm = {"bnorm", kFlags, makeTasks};
