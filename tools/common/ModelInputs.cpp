//===- ModelInputs.cpp - Inputs and outputs of models in files --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInputs.h"

#include "tarpon/Runtime/Npy.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

namespace tarpon {

using namespace runtime;

/// Converts f32, as .npy files hold it, to `dtype`.
static Status convertTo(DType dtype, HostTensor &tensor) {
  Result<HostTensor> narrow = HostTensor::create(dtype, tensor.shape);
  if (!narrow)
    return narrow.error();
  const char *from = tensor.data.data();
  char *to = narrow->data.data();
  for (int64_t i = 0, end = tensor.numElements(); i < end; ++i)
    storeFromFloat(dtype, loadAsFloat(tensor.dtype, from + 4 * i),
                   to + dtypeBytes(dtype) * i);
  tensor = std::move(*narrow);
  return success();
}

Status fitTensor(const TensorInfo &info, HostTensor &tensor,
                 const std::string &what) {
  if (tensor.shape != info.shape)
    return Error{what + " has the shape " + shapeToString(tensor.shape) +
                 ", expected " + shapeToString(info.shape)};
  if (tensor.dtype == DType::F32 && !hasNumPyType(info.dtype))
    return convertTo(info.dtype, tensor);
  if (tensor.dtype != info.dtype)
    return Error{what + " is " + std::string(dtypeName(tensor.dtype)) +
                 ", expected " + std::string(dtypeName(info.dtype))};
  return success();
}

/// Lists the names of the inputs for an error: "'data', 'mask'".
static std::string listNames(const std::vector<TensorInfo> &tensors) {
  std::string text;
  for (const TensorInfo &info : tensors)
    text += (text.empty() ? "'" : ", '") + info.name + "'";
  return text.empty() ? "none" : text;
}

/// Finds a name in the list of inputs. Names may contain '=', so that the
/// longest matching name is taken.
static std::optional<size_t> findInput(const Package &package,
                                       std::string_view argument) {
  std::optional<size_t> best;
  for (size_t i = 0; i < package.inputs.size(); ++i) {
    const std::string &name = package.inputs[i].name;
    if (argument.starts_with(name + "=") &&
        (!best || name.size() > package.inputs[*best].name.size()))
      best = i;
  }
  return best;
}

static Result<std::vector<HostTensor>>
readInputs(const Package &package, const std::vector<std::string> &arguments,
           TensorReader readTensor) {
  std::vector<std::optional<HostTensor>> found(package.inputs.size());
  for (const std::string &argument : arguments) {
    std::optional<size_t> index = findInput(package, argument);
    if (!index)
      return Error{"the model has no input '" +
                   argument.substr(0, argument.find('=')) +
                   "'; its inputs are: " + listNames(package.inputs)};
    const TensorInfo &info = package.inputs[*index];
    if (found[*index])
      return Error{"input '" + info.name + "' is given twice"};
    std::string path = argument.substr(info.name.size() + 1);
    Result<HostTensor> tensor = readTensor(path);
    if (!tensor)
      return tensor.error();
    if (Status status = fitTensor(
            info, *tensor, "input '" + info.name + "' from '" + path + "'");
        !status)
      return status.error();
    found[*index] = std::move(*tensor);
  }
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i])
      return Error{"input '" + package.inputs[i].name +
                   "' is not given; use --input " + package.inputs[i].name +
                   "=FILE"};
    inputs.push_back(std::move(*found[i]));
  }
  return inputs;
}

Result<std::vector<HostTensor>>
makeInputs(const Package &package, const std::vector<std::string> &arguments,
           TensorReader readTensor, uint64_t seed) {
  if (!arguments.empty())
    return readInputs(package, arguments, readTensor);
  std::printf("inputs are generated from seed %llu\n",
              static_cast<unsigned long long>(seed));
  return makeRandomInputs(package, seed);
}

Status writeOutputs(const std::vector<HostTensor> &outputs,
                    const std::string &directory) {
  std::error_code code;
  std::filesystem::create_directories(directory, code);
  if (code)
    return Error{"cannot make the folder '" + directory +
                 "': " + code.message()};
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string name = std::to_string(i) + ".npy";
    std::string path = (std::filesystem::path(directory) / name).string();
    if (Status status = writeNpy(outputs[i], path); !status)
      return status;
  }
  return success();
}

/// Prints one line on an output: its type and its smallest, largest and mean
/// element.
static void printOutput(size_t index, const TensorInfo &info,
                        const HostTensor &tensor) {
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  int64_t nans = 0, count = tensor.numElements();
  const char *element = tensor.data.data();
  for (int64_t i = 0; i < count; ++i) {
    double value = loadAsDouble(tensor.dtype, element);
    element += dtypeBytes(tensor.dtype);
    nans += std::isnan(value);
    low = std::fmin(low, value);
    high = std::fmax(high, value);
    sum += value;
  }
  std::printf("output %zu '%s': %s %s", index, info.name.c_str(),
              shapeToString(tensor.shape).c_str(),
              std::string(dtypeName(tensor.dtype)).c_str());
  if (count > nans)
    std::printf(", min %g, max %g, mean %g", low, high,
                sum / static_cast<double>(count));
  if (nans > 0)
    std::printf(", %lld NaN", static_cast<long long>(nans));
  std::printf("\n");
}

void printOutputs(const std::vector<TensorInfo> &infos,
                  const std::vector<HostTensor> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    printOutput(i, infos[i], outputs[i]);
}

} // namespace tarpon
