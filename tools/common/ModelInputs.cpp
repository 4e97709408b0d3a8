//===- ModelInputs.cpp - Inputs and outputs of models in files --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInputs.h"

#include "tarpon/Runtime/Npy.h"
#include "tarpon/Runtime/SizedPackage.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
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

namespace {

/// A tensor with the name of its file.
struct FileTensor {
  HostTensor tensor;
  std::string path;
};

} // namespace

/// Returns the tensors in the order of the inputs, whose shapes need not fit.
static Result<std::vector<FileTensor>>
readFiles(const Package &package, const std::vector<std::string> &arguments,
          TensorReader readTensor) {
  std::vector<std::optional<FileTensor>> found(package.inputs.size());
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
    found[*index] = {std::move(*tensor), std::move(path)};
  }
  std::vector<FileTensor> inputs;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i])
      return Error{"input '" + package.inputs[i].name +
                   "' is not given; use --input " + package.inputs[i].name +
                   "=FILE"};
    inputs.push_back(std::move(*found[i]));
  }
  return inputs;
}

static Status takeSizesOf(const std::vector<FileTensor> &inputs,
                          Package &package) {
  std::vector<std::vector<int64_t>> shapes;
  for (const FileTensor &input : inputs)
    shapes.push_back(input.tensor.shape);
  Result<std::vector<int64_t>> sizes = findSizes(package, shapes);
  if (!sizes)
    return sizes.error();
  Result<Package> chosen = takeProgram(std::move(package), *sizes);
  if (!chosen)
    return chosen.error();
  package = std::move(*chosen);
  return success();
}

static Result<std::vector<HostTensor>>
readInputs(Package &package, const std::vector<std::string> &arguments,
           TensorReader readTensor) {
  Result<std::vector<FileTensor>> files =
      readFiles(package, arguments, readTensor);
  if (!files)
    return files.error();
  if (!package.dimensions.empty())
    if (Status status = takeSizesOf(*files, package); !status)
      return status.error();
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < files->size(); ++i) {
    const TensorInfo &info = package.inputs[i];
    auto &[tensor, path] = (*files)[i];
    if (Status status = fitTensor(
            info, tensor, "input '" + info.name + "' from '" + path + "'");
        !status)
      return status.error();
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<std::pair<std::string, int64_t>> parseSize(const std::string &text) {
  // Names may contain '='.
  size_t equals = text.rfind('=');
  int64_t size = 0;
  if (equals == std::string::npos || equals == 0)
    return Error{"expected NAME=SIZE, got '" + text + "'"};
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data() + equals + 1, end, size);
  if (stop != end || error != std::errc() || size < 0)
    return Error{"expected NAME=SIZE, got '" + text + "'"};
  return std::pair(text.substr(0, equals), size);
}

Status chooseSizes(Package &package, const std::vector<std::string> &sizes) {
  std::map<std::string, int64_t> named;
  for (const std::string &text : sizes)
    if (auto size = *parseSize(text); !named.insert(size).second)
      return Error{"the size of '" + size.first + "' is given twice"};
  Result<std::vector<int64_t>> found = nameSizes(package, named);
  if (!found)
    return found.error();
  for (size_t i = 0; i < found->size(); ++i)
    std::printf("the size of %s is %lld\n", package.dimensions[i].name.c_str(),
                static_cast<long long>((*found)[i]));
  Result<Package> chosen = takeProgram(std::move(package), *found);
  if (!chosen)
    return chosen.error();
  package = std::move(*chosen);
  return success();
}

Result<std::vector<HostTensor>>
makeInputs(Package &package, const std::vector<std::string> &arguments,
           TensorReader readTensor, uint64_t seed) {
  if (!arguments.empty())
    return readInputs(package, arguments, readTensor);
  if (Status status = chooseSizes(package, std::vector<std::string>()); !status)
    return status.error();
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
