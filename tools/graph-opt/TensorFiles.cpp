//===- TensorFiles.cpp - Inputs and outputs of models in files --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorFiles.h"

#include "tarpon/Import/OnnxTensor.h"
#include "tarpon/Runtime/Npy.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace tarpon {

using namespace runtime;
using llvm::StringRef;

Result<HostTensor> readTensorFile(const std::string &path) {
  StringRef name(path);
  if (name.ends_with(".npy"))
    return readNpy(path);
  if (name.ends_with(".pb"))
    return readOnnxTensorFile(path);
  return Error{"'" + path + "' is neither a .npy nor a .pb file"};
}

static Status convertToBF16(HostTensor &tensor) {
  Result<HostTensor> narrow = HostTensor::create(DType::BF16, tensor.shape);
  if (!narrow)
    return narrow.error();
  const char *from = tensor.data.data();
  char *to = narrow->data.data();
  for (int64_t i = 0, end = tensor.numElements(); i < end; ++i)
    storeFromFloat(DType::BF16, loadAsFloat(tensor.dtype, from + 4 * i),
                   to + 2 * i);
  tensor = std::move(*narrow);
  return success();
}

Status fitTensor(const TensorInfo &info, HostTensor &tensor,
                 const std::string &what) {
  if (tensor.shape != info.shape)
    return Error{what + " has the shape " + shapeToString(tensor.shape) +
                 ", expected " + shapeToString(info.shape)};
  if (tensor.dtype == DType::F32 && info.dtype == DType::BF16)
    return convertToBF16(tensor);
  if (tensor.dtype != info.dtype)
    return Error{what + " is " + std::string(dtypeName(tensor.dtype)) +
                 ", expected " + std::string(dtypeName(info.dtype))};
  return success();
}

/// The names of the inputs, for an error: "'data', 'mask'".
static std::string listNames(const std::vector<TensorInfo> &tensors) {
  std::string text;
  for (const TensorInfo &info : tensors)
    text += (text.empty() ? "'" : ", '") + info.name + "'";
  return text.empty() ? "none" : text;
}

/// Where a name stands in the list of inputs. Names may hold '=', so that the
/// longest input name that fits is meant.
static std::optional<size_t> findInput(const Package &package,
                                       StringRef argument) {
  std::optional<size_t> best;
  for (size_t i = 0; i < package.inputs.size(); ++i) {
    const std::string &name = package.inputs[i].name;
    if (argument.starts_with(name + "=") &&
        (!best || name.size() > package.inputs[*best].name.size()))
      best = i;
  }
  return best;
}

Result<std::vector<HostTensor>>
readInputs(const Package &package, const std::vector<std::string> &arguments) {
  std::vector<std::optional<HostTensor>> found(package.inputs.size());
  for (const std::string &argument : arguments) {
    std::optional<size_t> index = findInput(package, argument);
    if (!index)
      return Error{"the model has no input '" +
                   StringRef(argument).split('=').first.str() +
                   "'; its inputs are: " + listNames(package.inputs)};
    const TensorInfo &info = package.inputs[*index];
    if (found[*index])
      return Error{"input '" + info.name + "' is given twice"};
    std::string path = argument.substr(info.name.size() + 1);
    Result<HostTensor> tensor = readTensorFile(path);
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

} // namespace tarpon
