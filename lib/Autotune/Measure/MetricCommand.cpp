//===- MetricCommand.cpp - A user's program that judges results -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/MetricCommand.h"

#include "Search/TempDirectory.h"
#include "tarpon/Runtime/Npy.h"
#include "tarpon/Runtime/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Result;
using runtime::Status;

/// Writes one output of all samples.
static Status writeOutput(const SampleResults &results, size_t index,
                          const runtime::TensorInfo &info,
                          const std::string &path) {
  std::vector<int64_t> shape = info.shape;
  shape.insert(shape.begin(), static_cast<int64_t>(results.size()));
  Result<HostTensor> tensor = HostTensor::create(DType::F32, std::move(shape));
  if (!tensor)
    return tensor.error();
  char *element = tensor->data.data();
  for (const auto &outputs : results)
    for (double value : outputs[index]) {
      runtime::storeFromFloat(DType::F32, static_cast<float>(value), element);
      element += sizeof(float);
    }
  return runtime::writeNpy(*tensor, path);
}

/// Runs the command; its standard error is the user's.
static Result<std::string> runCommand(const std::string &command,
                                      const std::string &folder,
                                      const std::string &answer) {
  // A terminal sends Ctrl-C to it, too, while the tuner may want its answer.
  std::string script = "trap '' INT; " + command + " \"$1\"", message;
  std::optional<llvm::StringRef> redirects[] = {"", answer, std::nullopt};
  int status = llvm::sys::ExecuteAndWait(
      "/bin/sh", {"sh", "-c", script, "sh", folder}, std::nullopt, redirects,
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status != 0)
    return Error{"the metric '" + command + "' failed with exit status " +
                 std::to_string(status)};
  auto text = llvm::MemoryBuffer::getFile(answer);
  if (!text)
    return Error{"cannot read what the metric '" + command +
                 "' printed: " + text.getError().message()};
  return (*text)->getBuffer().trim().str();
}

Result<double> MetricCommand::compute(const SampleResults &results) const {
  Result<std::unique_ptr<TempDirectory>> folder = TempDirectory::create();
  if (!folder)
    return folder.error();
  for (auto [index, info] : llvm::enumerate(outputs))
    if (Status status = writeOutput(
            results, index, info,
            (*folder)->file("output_" + std::to_string(index) + ".npy"));
        !status)
      return status.error();
  Result<std::string> text =
      runCommand(command, (*folder)->file("."), (*folder)->file("answer"));
  if (!text)
    return text.error();
  double value = 0;
  if (text->empty() || !llvm::to_float(*text, value))
    return Error{"the metric '" + command + "' printed '" +
                 text->substr(0, 40) + "', and not one number"};
  return value;
}
