//===- NormBases.cpp - layernorm and groupnorm --------------------------===//
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

static constexpr FlagSpec kLayerFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "1", Use::Ignored},
    {'n', "batchsize", "100"},
    {'c', "in_channels", "3"},
    {'D', "in_d", "0"},
    {'H', "in_h", "32"},
    {'W', "in_w", "32"},
    {'e', "eps", "0.00001", Use::Number},
    {'o', "normalized_dim", "3"},
    {'m', "mode", "0"},
    {'S', "solution", "-1", Use::Text},
};

static constexpr FlagSpec kGroupFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "1", Use::Ignored},
    {'n', "batchsize", "100"},
    {'c', "in_channels", "3"},
    {'D', "in_d", "0"},
    {'H', "in_h", "32"},
    {'W', "in_w", "32"},
    {'g', "num_groups", "3"},
    {'e', "eps", "0.00001", Use::Number},
    {'m', "mode", "0"},
    {'S', "solution", "-1", Use::Text},
};

/// Makes a normalisation of x, without weight and bias.
static Result<Problem> makeNorm(OpKind op, const Flags &flags, DType dtype) {
  Result<std::vector<int64_t>> shape = readInputShape(flags);
  if (!shape)
    return shape.error();
  if (int64_t mode = flags.integer("mode"); mode != 0 && mode != 1)
    return Error{llvm::formatv("the flag -m (--mode) is {0}, expected 0 "
                               "(without weight and bias) or 1",
                               mode)};
  Problem problem;
  problem.op = op;
  problem.operands = {makeTensor(dtype, *shape, Layout())};
  problem.result = problem.operands.front();
  problem.attrs["epsilon"] = {flags.number("eps")};
  return problem;
}

static void addAffine(Problem &problem, const Flags &flags, DType dtype,
                      const std::vector<int64_t> &shape) {
  if (!flags.isSet("mode"))
    return;
  for (int i = 0; i < 2; ++i)
    problem.operands.push_back(
        makeTensor(dtype, shape, Layout(), /*constant=*/true));
  problem.rootOperands = 3;
}

static Result<TaskList> makeLayerNorm(const Flags &flags, DType dtype) {
  Result<Problem> problem = makeNorm(OpKind::LayerNorm, flags, dtype);
  if (!problem)
    return problem.error();
  const std::vector<int64_t> &shape = problem->result.shape;
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = flags.integer("normalized_dim");
  if (axis < 0 || axis >= rank)
    return Error{llvm::formatv("the flag -o (--normalized_dim) of layernorm is "
                               "{0}, expected 0 to {1}",
                               axis, rank - 1)};
  problem->attrs["axis"] = {static_cast<double>(axis)};
  addAffine(*problem, flags, dtype,
            std::vector<int64_t>(shape.begin() + axis, shape.end()));
  return TaskList{{"Forward Layer Normalization", *problem}};
}

static Result<TaskList> makeGroupNorm(const Flags &flags, DType dtype) {
  Result<Problem> problem = makeNorm(OpKind::GroupNorm, flags, dtype);
  if (!problem)
    return problem.error();
  problem->attrs["groups"] = {static_cast<double>(flags.integer("num_groups"))};
  addAffine(*problem, flags, dtype, {problem->result.shape[1]});
  return TaskList{{"Forward Group Normalization", *problem}};
}

const Base driver::kLayerNorm = {"layernorm", kLayerFlags, makeLayerNorm};
const Base driver::kGroupNorm = {"groupnorm", kGroupFlags, makeGroupNorm};
