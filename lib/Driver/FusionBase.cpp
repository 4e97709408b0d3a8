//===- FusionBase.cpp - CBAInfer, CBAInferfp16 --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvProblems.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::driver;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    TARPON_DRIVER_CONV_FLAGS,
    {'F', "fusion_mode", "0"},
    {'A', "alpha", "1.0", Use::Number},
    {'B', "beta", "0.0", Use::Number},
    {'G', "gamma", "1.0", Use::Number},
    {'m', "activMode", "3"},
    {'M', "bnMode", "0"},
    {'s', "search", "0"},
    {'S', "solution", "-1", Use::Text},
    {'D', "dot_graph", "0", Use::Ignored},
    {'P', "printconv", "1", Use::Ignored},
};

/// The steps behind the convolution in each of MIOpen's fusion modes: bias (b),
/// batch normalisation (n), activation (a). Mode 2 has no convolution.
static constexpr llvm::StringLiteral kModes[] = {"cbna", "cna", "na", "cn",
                                                 "cba",  "ca",  "cb"};

/// Batch normalisation in inference is a factor and a shift per channel after
/// folding its parameters; bnMode 0 has them per element.
static Status addBatchNorm(Problem &problem, const Flags &flags) {
  if (flags.integer("bnMode") != 1)
    return Error{"a fused batch normalisation per activation is not supported, "
                 "expected -M (--bnMode) 1"};
  addPerChannel(problem, OpKind::Mul);
  addPerChannel(problem, OpKind::Add);
  return runtime::success();
}

static Status addStages(Problem &problem, const Flags &flags,
                        llvm::StringRef stages) {
  for (char stage : stages) {
    if (stage == 'b')
      addBias(problem);
    if (stage == 'n')
      if (Status status = addBatchNorm(problem, flags); !status)
        return status;
    if (stage != 'a')
      continue;
    auto steps =
        makeActivation(flags.integer("activMode"), flags.number("alpha"),
                       flags.number("beta"), flags.number("gamma"));
    if (!steps)
      return steps.error();
    problem.epilogue.insert(problem.epilogue.end(), steps->begin(),
                            steps->end());
  }
  return runtime::success();
}

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  int64_t mode = flags.integer("fusion_mode");
  if (mode < 0 || mode >= static_cast<int64_t>(std::size(kModes)))
    return Error{llvm::formatv("the flag -F (--fusion_mode) of CBAInfer is "
                               "{0}, expected 0 to 6",
                               mode)};
  llvm::StringRef stages = kModes[mode];
  if (!stages.consume_front("c"))
    return Error{"the fusion mode 2 (na) of CBAInfer is not supported: it has "
                 "no convolution"};
  Result<ConvShape> shape = readConvShape(flags, /*transposed=*/false);
  if (!shape)
    return shape.error();
  Problem problem = makeForward(*shape, dtype);
  if (Status status = addStages(problem, flags, stages); !status)
    return status.error();
  return TaskList{
      {("Fused Convolution (" + kModes[mode] + ")").str(), problem}};
}

const Base driver::kFusion = {"CBAInfer", kFlags, makeTasks};
