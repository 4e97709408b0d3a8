//===- TestPackages.h - Packages for the runtime's tests --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_RUNTIME_TESTPACKAGES_H
#define TARPON_TEST_UNIT_RUNTIME_TESTPACKAGES_H

#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/SizedPackage.h"
#include "tarpon/Runtime/Tensor.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace tarpon::runtime::test {

inline std::vector<char> readBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void writeBytes(const std::string &path,
                       const std::vector<char> &bytes) {
  // ext4 flushes a file that is truncated and written again, which takes long
  // on a busy disk; a new file it does not.
  std::filesystem::remove(path);
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A folder that lives as long as the test.
class TempFolder {
public:
  TempFolder() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "tarpon-runtime-test-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(folder); }
  std::string file(const std::string &name) const {
    return folder + "/" + name;
  }

private:
  std::string folder;
};

/// out = in * 2 + 1 twice over, by way of the arena, on `elements` floats, with
/// `symbol` for the second layer: out = (in * 2 + 1) * 2 + 1 if it is right.
inline Package makeTestPackage(int64_t elements,
                               const std::string &symbol = "scaleAndAdd") {
  Package package;
  package.modelName = "two-layers";
  package.modelSha256 = "0123";
  package.arch = std::string(hostArch());
  package.dtype = "fp32";
  package.layout = "nchw";
  package.fusion = "on";
  package.inputs = {{"data", DType::F32, {1, elements}}};
  package.outputs = {{"result", DType::F32, {1, elements}}};
  int64_t bytes = (elements * 4 + 63) / 64 * 64;
  package.arenaBytes = bytes;
  package.constants.resize(static_cast<size_t>(bytes));
  for (int64_t i = 0; i < elements; ++i) {
    float one = 1.0f;
    std::memcpy(package.constants.data() + 4 * i, &one, sizeof(one));
  }
  BufferRef in{BufferSpace::Input, 0}, out{BufferSpace::Output, 0};
  BufferRef arena{BufferSpace::Arena, 0}, ones{BufferSpace::Constant, 0};
  std::vector<int64_t> params = {floatParam(2.0f), elements};
  Layer first{"first", "problem-1", "test", "{}", "default", 10, 20, {}};
  first.launches.push_back(
      {"scaleAndAdd", {in, ones, arena}, params, elements, 4});
  Layer second{"second", "problem-2", "test", "{}", "default", 30, 40, {}};
  second.launches.push_back({symbol, {arena, ones, out}, params, elements, 4});
  package.layers = {first, second};
  package.kernels = readBytes(TARPON_TEST_KERNELS);
  return package;
}

/// The same model for inputs of `low` to `high` floats.
inline Package makePackageOfSizes(int64_t low, int64_t high) {
  Package package = makeTestPackage(high);
  AlignedBytes constants = std::move(package.constants);
  package = makeTestPackage(low);
  package.constants = std::move(constants);
  package.dimensions = {{"n", low, high, {{0, 1}}}};
  for (int64_t size = low; size <= high; ++size)
    addProgram(package, {size}, makeTestPackage(size));
  return package;
}

/// The output of makeTestPackage's model for this input.
inline float expectedOutput(float input) { return (input * 2 + 1) * 2 + 1; }

inline HostTensor makeTensor(DType dtype, std::vector<int64_t> shape) {
  Result<HostTensor> tensor = HostTensor::create(dtype, std::move(shape));
  EXPECT_TRUE(tensor) << tensor.message();
  return std::move(*tensor);
}

inline float *floatsOf(HostTensor &tensor) {
  return reinterpret_cast<float *>(tensor.data.data());
}

} // namespace tarpon::runtime::test

#endif // TARPON_TEST_UNIT_RUNTIME_TESTPACKAGES_H
