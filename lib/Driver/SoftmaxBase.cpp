//===- SoftmaxBase.cpp - softmax, softmaxfp16 ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bases.h"

using namespace tarpon;
using namespace tarpon::driver;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "0"},
    {'n', "batchsize", "100"},
    {'c', "in_channels", "3"},
    {'H', "in_h", "32"},
    {'W', "in_w", "32"},
    {'A', "alpha", "1.0", Use::Number},
    {'B', "beta", "0.0", Use::Number},
    {'a', "algorithm", "1"},
    {'m', "mode", "1"},
    {'S', "solution", "-1", Use::Text},
};

/// MIOpen's algorithms: fast (without the maximum), accurate, and log.
enum Algorithm : int64_t { Fast, Accurate, Log };

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  Result<std::vector<int64_t>> shape = readInputShape(flags);
  if (!shape)
    return shape.error();
  if (Status status = refuseScaling(flags); !status)
    return status.error();
  int64_t algorithm = flags.integer("algorithm"), mode = flags.integer("mode");
  if (algorithm < Fast || algorithm > Log)
    return Error{"the flag -a (--algorithm) of softmax is " +
                 std::to_string(algorithm) + ", expected 0, 1 or 2"};
  if (mode != 0 && mode != 1)
    return Error{"the flag -m (--mode) of softmax is " + std::to_string(mode) +
                 ", expected 0 (instance) or 1 (channel)"};
  // The mode normalises over a whole image, or over the channels of a pixel.
  if (mode == 0)
    *shape = {(*shape)[0], (*shape)[1] * (*shape)[2] * (*shape)[3]};
  Problem problem;
  problem.op = algorithm == Log ? OpKind::LogSoftmax : OpKind::Softmax;
  problem.operands = {makeTensor(dtype, *shape, Layout())};
  problem.result = problem.operands[0];
  problem.attrs["axis"] = {1};
  TaskList tasks = {{"Forward Softmax", problem}};
  // -F 1 runs only the forward pass. The backward pass takes y and dy.
  if (!flags.isSet("forw")) {
    problem.op =
        algorithm == Log ? OpKind::LogSoftmaxBackward : OpKind::SoftmaxBackward;
    problem.operands.push_back(problem.operands.front());
    problem.rootOperands = 2;
    tasks.push_back({"Backward Softmax", problem});
  }
  return tasks;
}

const Base driver::kSoftmax = {"softmax", kFlags, makeTasks};
