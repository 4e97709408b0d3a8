//===- SampleFiles.cpp - Inputs from files ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleFiles.h"

#include "tarpon/Runtime/Npy.h"

#include <algorithm>

namespace tarpon::evaluator {

using namespace runtime;

Result<std::vector<HostTensor>>
readTensors(const std::vector<std::string> &paths) {
  std::vector<HostTensor> inputs;
  for (const std::string &path : paths) {
    Result<HostTensor> tensor = readNpy(path);
    if (!tensor)
      return tensor.error();
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

Status loadSample(const std::vector<std::string> &paths, Instance &instance) {
  Result<std::vector<HostTensor>> tensors = readTensors(paths);
  if (!tensors)
    return tensors.error();
  std::vector<HostTensor> &inputs = instance.inputs();
  bool fits = std::equal(inputs.begin(), inputs.end(), tensors->begin(),
                         tensors->end(), [](const auto &a, const auto &b) {
                           return a.dtype == b.dtype && a.shape == b.shape;
                         });
  if (!fits)
    return Error{"samples differ in their types or shapes"};
  for (size_t index = 0; index < inputs.size(); ++index)
    std::copy_n((*tensors)[index].data.data(), inputs[index].data.size(),
                inputs[index].data.data());
  return success();
}

} // namespace tarpon::evaluator
