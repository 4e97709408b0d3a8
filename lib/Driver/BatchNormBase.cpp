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

/// -F.
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

static Problem makeInference(const TensorDesc &input) {
  Problem problem;
  problem.op = "batch_norm";
  problem.operands = {input};
  // Scale, bias, mean and variance.
  for (int i = 0; i < 4; ++i)
    problem.operands.push_back(
        makeTensor(DType::F32, {input.shape[1]}, Layout(), /*constant=*/true));
  problem.rootOperands = 5;
  problem.result = input;
  problem.attrs["epsilon"] = {1e-5};
  return problem;
}

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  if (Status status = refuseScaling(flags); !status)
    return status.error();
  Result<TensorDesc> input = readInput(flags, dtype);
  if (!input)
    return input.error();
  if (flags.integer("mode") != 1)
    return Error{"a batch normalisation per activation is not supported, "
                 "expected -m (--mode) 1"};
  if (flags.isSet("back") || flags.integer("forw") != Inference)
    return Error{"batch normalisation in training is not supported, expected "
                 "-F (--forw) 2 and -b (--back) 0"};
  return TaskList{
      {"Forward Inference Batch Normalization", makeInference(*input)}};
}

const Base driver::kBatchNorm = {"bnorm", kFlags, makeTasks};
