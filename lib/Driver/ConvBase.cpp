//===- ConvBase.cpp - conv, convfp16, convbfp16, convint8 -----------------===//
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

static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    TARPON_DRIVER_CONV_FLAGS,
    {'F', "forw", "0"},
    {'b', "bias", "", Use::Text},
    {'m', "mode", "conv", Use::Text},
    {'s', "search", "0"},
    {'S', "solution", "-1", Use::Text},
    {'%', "trans_output_pad_d", "0"},
    {'Y', "trans_output_pad_h", "0"},
    {'X', "trans_output_pad_w", "0"},
    {'r', "pad_val", "0", Use::Unsupported},
    {'Z', "tensor_vect", "0", Use::Unsupported},
    {'L', "vector_length", "1", Use::Unsupported},
    {'U', "in_cast_type", "-1", Use::Unsupported},
    {'T', "out_cast_type", "-1", Use::Unsupported},
    {'R', "wei_cast_type", "-1", Use::Unsupported},
    {'d', "in_data", "", Use::Unsupported},
    {'e', "weights", "", Use::Unsupported},
    {'D', "dout_data", "", Use::Unsupported},
    {'a', "bias_data", "", Use::Unsupported},
    {'o', "dump_output", "0", Use::Unsupported},
    {'C', "verification_cache", "", Use::Ignored},
    {'G', "gpualloc", "0", Use::Ignored},
    {'P', "printconv", "1", Use::Ignored},
};

/// -F: the sum of 1, 2 and 4; 0 stands for all of them.
static constexpr int64_t kForward = 1, kBackwardData = 2, kBackwardWeights = 4;

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  int64_t directions = flags.integer("forw");
  if (directions < 0 || directions > 7)
    return Error{llvm::formatv("the flag -F (--forw) of conv is {0}, expected "
                               "0 to 7",
                               directions)};
  if (directions == 0)
    directions = dtype == DType::I8 ? kForward : 7;
  const std::string &mode = flags.text("mode");
  if (mode != "conv" && mode != "trans")
    return Error{"the flag -m (--mode) of conv is '" + mode +
                 "', expected conv or trans"};
  Result<ConvShape> shape =
      readConvShape(flags, /*transposed=*/mode == "trans");
  if (!shape)
    return shape.error();
  // The forward pass of a transposed convolution is a convolution's backward
  // data pass.
  bool isTransposed = mode == "trans";
  TaskList tasks;
  if (directions & kForward)
    tasks.push_back(
        {"Forward Convolution", isTransposed ? makeBackwardData(*shape, dtype)
                                             : makeForward(*shape, dtype)});
  if (directions & kBackwardData)
    tasks.push_back({"Backward Data Convolution",
                     isTransposed ? makeForward(*shape, dtype)
                                  : makeBackwardData(*shape, dtype)});
  if (directions & kBackwardWeights)
    tasks.push_back(
        {"Backward Weights Convolution", makeBackwardWeights(*shape, dtype)});
  const std::string &bias = flags.text("bias");
  if (bias != "" && bias != "0" && (directions & kForward))
    addBias(tasks.front().problem);
  return tasks;
}

const Base driver::kConv = {"conv", kFlags, makeTasks, /*hasInt8=*/true};
