//===- TestData.cpp - ONNX test data sets -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestData.h"

#include "tarpon/Import/OnnxTensor.h"

#include <algorithm>
#include <filesystem>

namespace tarpon {

using namespace runtime;
namespace fs = std::filesystem;

static bool fileExists(const fs::path &path) {
  std::error_code code;
  return fs::exists(path, code);
}

/// Reads the files <role>_0.pb, <role>_1.pb, ... up to the first that is
/// missing.
static Result<std::vector<HostTensor>> readTensors(const fs::path &directory,
                                                   const char *role) {
  std::vector<HostTensor> tensors;
  for (int index = 0;; ++index) {
    fs::path path =
        directory / (std::string(role) + "_" + std::to_string(index) + ".pb");
    if (!fileExists(path))
      return tensors;
    Result<HostTensor> tensor = readOnnxTensorFile(path.string());
    if (!tensor)
      return tensor.error();
    tensors.push_back(std::move(*tensor));
  }
}

static Result<TestDataSet> readSet(const fs::path &directory) {
  Result<std::vector<HostTensor>> inputs = readTensors(directory, "input");
  if (!inputs)
    return inputs.error();
  Result<std::vector<HostTensor>> outputs = readTensors(directory, "output");
  if (!outputs)
    return outputs.error();
  if (outputs->empty())
    return Error{"test data set '" + directory.string() +
                 "' has no file output_0.pb"};
  return TestDataSet{directory.string(), std::move(*inputs),
                     std::move(*outputs)};
}

/// Finds the subfolders test_data_set_<N>, small numbers first.
static Result<std::vector<fs::path>> findSets(const fs::path &directory) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator it(directory, code), end; !code && it != end;
       it.increment(code))
    if (it->path().filename().string().starts_with("test_data_set_"))
      found.push_back(it->path());
  if (code)
    return Error{"cannot read the folder '" + directory.string() +
                 "': " + code.message()};
  std::sort(found.begin(), found.end(),
            [](const fs::path &a, const fs::path &b) {
              std::string left = a.string(), right = b.string();
              return left.size() != right.size() ? left.size() < right.size()
                                                 : left < right;
            });
  return found;
}

Result<std::vector<TestDataSet>> readTestData(const std::string &directory) {
  std::vector<fs::path> folders = {directory};
  if (!fileExists(folders[0] / "output_0.pb") &&
      !fileExists(folders[0] / "input_0.pb")) {
    Result<std::vector<fs::path>> found = findSets(directory);
    if (!found)
      return found.error();
    if (found->empty())
      return Error{"the folder '" + directory +
                   "' holds no test data: neither output_0.pb nor "
                   "test_data_set_0"};
    folders = std::move(*found);
  }
  std::vector<TestDataSet> sets;
  for (const fs::path &folder : folders) {
    Result<TestDataSet> set = readSet(folder);
    if (!set)
      return set.error();
    sets.push_back(std::move(*set));
  }
  return sets;
}

} // namespace tarpon
