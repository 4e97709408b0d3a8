//===- CalibrationInputs.cpp - Inputs from a seed or a folder -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/Calibration.h"

#include "Store/Digest.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Import/OnnxTensor.h"
#include "tarpon/Runtime/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Result;
using runtime::Status;
using runtime::TensorInfo;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string computeDigest(const CalibrationInputs &inputs) {
  Digest digest;
  for (const auto &sample : inputs.samples)
    for (const HostTensor &tensor : sample)
      digest.add(llvm::ArrayRef<char>(tensor.data.data(), tensor.data.size()));
  return digest.hex();
}

//===----------------------------------------------------------------------===//
// Generated inputs
//===----------------------------------------------------------------------===//

/// fillRandom gives a deviation of 0.29.
static void scaleToUnitDeviation(HostTensor &tensor) {
  constexpr float kGain = 3.45f;
  bool isScaled = runtime::fitsF32(tensor.dtype);
  int64_t size = runtime::dtypeBytes(tensor.dtype);
  for (int64_t i = 0; isScaled && i < tensor.data.size(); i += size) {
    char *element = tensor.data.data() + i;
    float value = runtime::loadAsFloat(tensor.dtype, element);
    runtime::storeFromFloat(tensor.dtype, value * kGain, element);
  }
}

Result<CalibrationInputs>
tarpon::generateCalibration(const std::vector<TensorInfo> &inputs) {
  runtime::Package shapes;
  shapes.inputs = inputs;
  CalibrationInputs result;
  result.source = "generated";
  result.rangeSamples = policy::kRangeSamples;
  for (int64_t i = 0; i < policy::kGeneratedSamples; ++i) {
    Result<std::vector<HostTensor>> sample =
        runtime::makeRandomInputs(shapes, policy::kGeneratedSeed + i);
    if (!sample)
      return sample.error();
    for (HostTensor &tensor : *sample)
      scaleToUnitDeviation(tensor);
    result.samples.push_back(std::move(*sample));
  }
  result.digest = computeDigest(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Inputs from a folder
//===----------------------------------------------------------------------===//

namespace {

/// The file of each input.
using SampleFiles = std::vector<std::string>;

struct Listing {
  std::vector<std::string> files, folders;
};

} // namespace

/// Orders "2" before "10".
static bool isBefore(const std::string &a, const std::string &b) {
  return llvm::StringRef(a).compare_numeric(b) < 0;
}

static Result<Listing> listFolder(const std::string &directory) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; it != end && !error;
       it.increment(error))
    (fs::is_directory(it->path()) ? listing.folders : listing.files)
        .push_back(it->path());
  if (error)
    return Error{"cannot read folder " + directory + ": " + error.message()};
  llvm::sort(listing.files, isBefore);
  llvm::sort(listing.folders, isBefore);
  return listing;
}

/// Returns the files input_K.npy or input_K.pb of the folder, if there is one
/// for every K.
static std::optional<SampleFiles> findTestDataSet(const std::string &directory,
                                                  size_t inputs) {
  SampleFiles files;
  for (size_t i = 0; i < inputs; ++i) {
    std::string stem = directory + "/input_" + std::to_string(i);
    if (fs::exists(stem + ".npy"))
      files.push_back(stem + ".npy");
    else if (fs::exists(stem + ".pb"))
      files.push_back(stem + ".pb");
    else
      return std::nullopt;
  }
  return files;
}

static std::vector<SampleFiles>
findNamedSamples(const std::string &directory,
                 const std::vector<TensorInfo> &inputs) {
  std::vector<SampleFiles> samples;
  while (true) {
    SampleFiles files;
    for (const TensorInfo &input : inputs) {
      std::string file = directory + "/" + input.name + "_" +
                         std::to_string(samples.size()) + ".npy";
      if (fs::exists(file))
        files.push_back(file);
    }
    if (files.size() != inputs.size() || files.empty())
      return samples;
    samples.push_back(std::move(files));
  }
}

static Result<std::vector<SampleFiles>>
findSamples(const std::string &directory,
            const std::vector<TensorInfo> &inputs) {
  Result<Listing> listing = listFolder(directory);
  if (!listing)
    return listing.error();
  std::vector<SampleFiles> samples;
  for (const std::string &folder : listing->folders)
    if (auto files = findTestDataSet(folder, inputs.size()))
      samples.push_back(std::move(*files));
  if (samples.empty())
    if (auto files = findTestDataSet(directory, inputs.size()))
      samples.push_back(std::move(*files));
  if (samples.empty() && inputs.size() == 1)
    for (const std::string &file : listing->files)
      if (path::extension(file) == ".npy")
        samples.push_back({file});
  if (samples.empty())
    samples = findNamedSamples(directory, inputs);
  if (samples.empty())
    return Error{"folder " + directory +
                 " has no calibration inputs: expected .npy files, or "
                 "sub-folders with input_0.npy or input_0.pb"};
  return samples;
}

static Result<HostTensor> readTensor(const std::string &file) {
  return path::extension(file) == ".pb" ? readOnnxTensorFile(file)
                                        : runtime::readNpy(file);
}

static std::string describe(DType dtype, const std::vector<int64_t> &shape) {
  return std::string(runtime::dtypeName(dtype)) + " " +
         runtime::shapeToString(shape);
}

/// Reads the first samples of a folder.
static Result<CalibrationInputs>
readSamples(const std::string &directory, const std::vector<TensorInfo> &inputs,
            size_t most) {
  Result<std::vector<SampleFiles>> samples = findSamples(directory, inputs);
  if (!samples)
    return samples.error();
  samples->resize(std::min(samples->size(), most));
  CalibrationInputs result;
  result.source = "directory";
  for (const SampleFiles &files : *samples) {
    result.samples.emplace_back();
    for (auto [file, input] : llvm::zip_equal(files, inputs)) {
      Result<HostTensor> tensor = readTensor(file);
      if (!tensor)
        return tensor.error();
      if (tensor->dtype != input.dtype || tensor->shape != input.shape)
        return Error{file + ": expected " + describe(input.dtype, input.shape) +
                     " for input '" + input.name + "', got " +
                     describe(tensor->dtype, tensor->shape)};
      result.samples.back().push_back(std::move(*tensor));
    }
  }
  result.digest = computeDigest(result);
  return result;
}

Result<CalibrationInputs>
tarpon::readCalibration(const std::string &directory,
                        const std::vector<TensorInfo> &inputs) {
  return readSamples(directory, inputs, policy::kMaxSamples);
}

Result<CalibrationInputs>
tarpon::readAllSamples(const std::string &directory,
                       const std::vector<TensorInfo> &inputs) {
  return readSamples(directory, inputs, std::numeric_limits<size_t>::max());
}

Result<CalibrationInputs>
tarpon::getCalibration(const std::string &directory,
                       const std::vector<TensorInfo> &inputs) {
  return directory.empty() ? generateCalibration(inputs)
                           : readCalibration(directory, inputs);
}
