//===- PoolBase.cpp - pool, poolfp16 ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bases.h"

#include "tarpon/Problem/Shapes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::driver;
using runtime::Error;
using runtime::Result;

/// As in MIOpen's driver, -u is the stride of the width, and -v that of the
/// height.
static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "0"},
    {'n', "batchsize", "100"},
    {'c', "in_channels", "3"},
    {'D', "in_d", "0"},
    {'H', "in_h", "32"},
    {'W', "in_w", "32"},
    {'Z', "win_d", "1"},
    {'y', "win_h", "3"},
    {'x', "win_w", "3"},
    {'s', "stride_d", "1"},
    {'v', "stride_h", "1"},
    {'u', "stride_w", "1"},
    {'o', "pad_d", "0"},
    {'p', "pad_h", "0"},
    {'q', "pad_w", "0"},
    {'m', "mode", "max", Use::Text},
    {'I', "index_type", "", Use::Ignored},
    {'M', "index_position", "", Use::Ignored},
    {'L', "layout", "", Use::Text},
    {'z', "pad_mode", "default", Use::Unsupported},
    {'S', "solution", "-1", Use::Text},
    {'P', "print", "1", Use::Ignored},
};

static std::vector<double> readDims(const Flags &flags,
                                    std::initializer_list<const char *> names,
                                    size_t dims) {
  std::vector<double> values;
  for (const char *name : names)
    values.push_back(static_cast<double>(flags.integer(name)));
  values.erase(values.begin(),
               values.begin() + static_cast<long>(values.size() - dims));
  return values;
}

/// Reads the flags of a pool, all but its result's sizes.
static Result<Problem> readPooling(const Flags &flags, DType dtype) {
  Result<std::vector<int64_t>> shape = readInputShape(flags);
  if (!shape)
    return shape.error();
  size_t dims = shape->size() - 2;
  Result<Layout> layout = readLayout(flags.text("layout"), dims + 2);
  if (!layout)
    return layout.error();
  const std::string &mode = flags.text("mode");
  if (mode != "max" && mode != "avg" && mode != "avg_in")
    return Error{"the flag -m (--mode) of pool is '" + mode +
                 "', expected max, avg or avg_in"};
  Problem problem;
  problem.op = mode == "max" ? OpKind::MaxPool : OpKind::AvgPool;
  problem.operands = {makeTensor(dtype, *shape, *layout)};
  problem.result = problem.operands[0];
  problem.attrs["kernel"] = readDims(flags, {"win_d", "win_h", "win_w"}, dims);
  problem.attrs["strides"] =
      readDims(flags, {"stride_d", "stride_h", "stride_w"}, dims);
  std::vector<double> pads = readDims(flags, {"pad_d", "pad_h", "pad_w"}, dims);
  pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<long>(dims));
  problem.attrs["pads"] = pads;
  problem.attrs["dilations"] = std::vector<double>(dims, 1);
  problem.attrs["ceil_mode"] = {0};
  // avg_in divides by the whole window, padding included.
  if (mode != "max")
    problem.attrs["count_include_pad"] = {mode == "avg_in" ? 1.0 : 0.0};
  return problem;
}

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  Result<Problem> pooling = readPooling(flags, dtype);
  if (!pooling)
    return pooling.error();
  std::vector<int64_t> kernel = pooling->ints("kernel"),
                       strides = pooling->ints("strides"),
                       pads = pooling->ints("pads");
  size_t dims = kernel.size();
  for (size_t i = 0; i < dims; ++i) {
    if (kernel[i] < 1 || strides[i] < 1 || pads[i] < 0)
      return Error{"a pooling has a window or stride below 1, or a padding "
                   "below 0"};
    int64_t &size = pooling->result.shape[2 + i];
    WindowDim window = {size, kernel[i], strides[i],
                        1,    pads[i],   pads[dims + i]};
    if (!window.fits())
      return Error{llvm::formatv("a pooling has a window of {0} cells on {1}",
                                 window.getExtent(), window.getPaddedSize())};
    size = window.countPlaces();
  }
  TaskList tasks = {{"Forward Pooling", *pooling}};
  if (flags.isSet("forw"))
    return tasks;
  if (pooling->op == OpKind::MaxPool)
    return Error{"the backward pass of a max pooling needs indices, which are "
                 "not made here, expected -F (--forw) 1"};
  Problem backward = *pooling;
  backward.op = OpKind::AvgPoolBackward;
  std::swap(backward.operands.front(), backward.result);
  tasks.push_back({"Backward Pooling", backward});
  return tasks;
}

const Base driver::kPool = {"pool", kFlags, makeTasks};
