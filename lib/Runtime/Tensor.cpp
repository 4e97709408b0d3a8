//===- Tensor.cpp - Tensors in host memory ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Tensor.h"

#include "ElementChunks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tarpon::runtime {

Result<HostTensor> HostTensor::create(DType dtype, std::vector<int64_t> shape) {
  std::optional<int64_t> count = countElements(shape, dtype);
  if (!count)
    return Error{"a tensor of shape " + shapeToString(shape) +
                 " cannot be allocated"};
  Result<AlignedBuffer> data =
      AlignedBuffer::allocate(*count * dtypeBytes(dtype));
  if (!data)
    return data.error();
  return HostTensor{dtype, std::move(shape), std::move(*data)};
}

Result<HostTensor> HostTensor::clone() const {
  Result<HostTensor> copy = create(dtype, shape);
  if (copy && data.size() > 0)
    std::memcpy(copy->data.data(), data.data(),
                static_cast<size_t>(data.size()));
  return copy;
}

Result<std::vector<HostTensor>> cloneAll(std::span<const HostTensor> tensors) {
  std::vector<HostTensor> copies;
  for (const HostTensor &tensor : tensors) {
    Result<HostTensor> copy = tensor.clone();
    if (!copy)
      return copy.error();
    copies.push_back(std::move(*copy));
  }
  return copies;
}

std::vector<double> toDoubles(const HostTensor &tensor) {
  std::vector<double> values;
  int64_t size = dtypeBytes(tensor.dtype);
  for (int64_t i = 0; i < tensor.data.size(); i += size)
    values.push_back(loadAsDouble(tensor.dtype, tensor.data.data() + i));
  return values;
}

std::string shapeToString(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape) {
    if (!text.empty())
      text += 'x';
    text += std::to_string(extent);
  }
  return text.empty() ? "scalar" : text;
}

//===----------------------------------------------------------------------===//
// Random tensors
//===----------------------------------------------------------------------===//

namespace {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014). Unlike the standard library's distributions, it does not
/// differ between implementations.
class SplitMix64 {
public:
  explicit SplitMix64(uint64_t seed) : state(seed) {}

  /// Leaves numbers out.
  void skip(int64_t count) { state += static_cast<uint64_t>(count) * kStep; }

  uint64_t next() {
    state += kStep;
    uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  uint64_t state;
};

} // namespace

/// The sum of four uniform numbers is close to normal, and exact in f32.
static float bellShaped(uint64_t bits) {
  int32_t sum = 0;
  for (int part = 0; part < 4; ++part)
    sum += static_cast<int32_t>((bits >> (16 * part)) & 0xffff);
  return static_cast<float>(sum - 2 * 0xffff) * 0x1p-17f;
}

void fillRandom(HostTensor &tensor, uint64_t seed) {
  int64_t width = dtypeBytes(tensor.dtype);
  auto fill = [&](int64_t, int64_t begin, int64_t end) {
    SplitMix64 generator(seed);
    generator.skip(begin);
    char *element = tensor.data.data() + begin * width;
    for (int64_t i = begin; i < end; ++i) {
      uint64_t bits = generator.next();
      if (isFloat(tensor.dtype)) {
        storeFromFloat(tensor.dtype, bellShaped(bits), element);
      } else {
        storeWrapped(tensor.dtype, bits, element);
      }
      element += width;
    }
  };
  forEachChunk(tensor.numElements(), fill);
}

Result<std::vector<HostTensor>> makeRandomInputs(const Package &package,
                                                 uint64_t seed) {
  std::vector<HostTensor> inputs;
  SplitMix64 seeds(seed);
  for (const TensorInfo &info : package.inputs) {
    Result<HostTensor> tensor = HostTensor::create(info.dtype, info.shape);
    if (!tensor)
      return Error{"input '" + info.name + "': " + tensor.message()};
    fillRandom(*tensor, seeds.next());
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

Result<std::vector<HostTensor>> makeOutputs(const Package &package) {
  std::vector<HostTensor> outputs;
  for (const TensorInfo &info : package.outputs) {
    Result<HostTensor> tensor = HostTensor::create(info.dtype, info.shape);
    if (!tensor)
      return Error{"output '" + info.name + "': " + tensor.message()};
    outputs.push_back(std::move(*tensor));
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

/// The first `size` places of a tensor along `dim`.
static Result<HostTensor> cutTensor(const HostTensor &tensor, int64_t dim,
                                    int64_t size) {
  std::vector<int64_t> shape = tensor.shape;
  int64_t outer = 1, inner = dtypeBytes(tensor.dtype);
  for (int64_t i = 0; i < dim; ++i)
    outer *= shape[i];
  for (size_t i = dim + 1; i < shape.size(); ++i)
    inner *= shape[i];
  int64_t stride = shape[dim] * inner, taken = size * inner;
  shape[dim] = size;
  Result<HostTensor> cut = HostTensor::create(tensor.dtype, std::move(shape));
  for (int64_t i = 0; cut && i < outer && taken > 0; ++i)
    std::memcpy(cut->data.data() + i * taken, tensor.data.data() + i * stride,
                taken);
  return cut;
}

Result<std::vector<HostTensor>> takeRealSizes(const Package &package,
                                              std::vector<HostTensor> outputs) {
  std::vector<bool> isSize(outputs.size(), false);
  std::vector<HostTensor> results;
  for (const TensorInfo &info : package.outputs)
    if (info.sizeOutput >= 0)
      isSize[info.sizeOutput] = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo &info = package.outputs[i];
    if (isSize[i])
      continue;
    if (info.sizeOutput < 0) {
      results.push_back(std::move(outputs[i]));
      continue;
    }
    int64_t size = 0;
    std::memcpy(&size, outputs[info.sizeOutput].data.data(), sizeof(size));
    if (size < 0 || size > info.shape[info.sizeDim])
      return Error{"output '" + info.name + "' has " + std::to_string(size) +
                   " places, expected at most " +
                   std::to_string(info.shape[info.sizeDim])};
    Result<HostTensor> cut = cutTensor(outputs[i], info.sizeDim, size);
    if (!cut)
      return Error{"output '" + info.name + "': " + cut.message()};
    results.push_back(std::move(*cut));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// |actual - expected|, where equal infinities are equal and NaN never is.
static double elementError(double actual, double expected) {
  if (actual == expected)
    return 0;
  double error = std::abs(actual - expected);
  return std::isnan(error) ? kInfinity : error;
}

static double relativeNorm(double errorSquares, double expectedSquares) {
  if (errorSquares == 0)
    return 0;
  double ratio = std::sqrt(errorSquares) / std::sqrt(expectedSquares);
  return std::isnan(ratio) ? kInfinity : ratio;
}

namespace {

/// The comparison of some elements.
struct PartialComparison {
  TensorComparison result;
  double errorSquares = 0, expectedSquares = 0;
};

} // namespace

static PartialComparison compareElements(const HostTensor &actual,
                                         const HostTensor &expected,
                                         double zero, int64_t begin,
                                         int64_t end) {
  PartialComparison part;
  TensorComparison &result = part.result;
  int64_t leftBytes = dtypeBytes(actual.dtype);
  int64_t rightBytes = dtypeBytes(expected.dtype);
  const char *left = actual.data.data() + begin * leftBytes;
  const char *right = expected.data.data() + begin * rightBytes;
  for (int64_t i = begin; i < end; ++i) {
    double got = loadAsDouble(actual.dtype, left) - zero;
    double wanted = loadAsDouble(expected.dtype, right) - zero;
    left += leftBytes;
    right += rightBytes;
    double error = elementError(got, wanted);
    if (error > result.maxAbsError) {
      result.maxAbsError = error;
      result.worstIndex = i;
    }
    part.errorSquares += error * error;
    if (!std::isfinite(wanted))
      continue;
    result.referenceScale = std::max(result.referenceScale, std::abs(wanted));
    part.expectedSquares += wanted * wanted;
  }
  return part;
}

Result<TensorComparison> compareTensors(const HostTensor &actual,
                                        const HostTensor &expected,
                                        int64_t zeroPoint) {
  if (actual.shape != expected.shape)
    return Error{"cannot compare a tensor of shape " +
                 shapeToString(actual.shape) + " with one of shape " +
                 shapeToString(expected.shape)};
  int64_t count = expected.numElements();
  std::vector<PartialComparison> parts(static_cast<size_t>(countChunks(count)));
  forEachChunk(count, [&](int64_t chunk, int64_t begin, int64_t end) {
    parts[static_cast<size_t>(chunk)] = compareElements(
        actual, expected, static_cast<double>(zeroPoint), begin, end);
  });
  TensorComparison result;
  double errorSquares = 0, expectedSquares = 0;
  for (const PartialComparison &part : parts) {
    if (part.result.maxAbsError > result.maxAbsError) {
      result.maxAbsError = part.result.maxAbsError;
      result.worstIndex = part.result.worstIndex;
    }
    result.referenceScale =
        std::max(result.referenceScale, part.result.referenceScale);
    errorSquares += part.errorSquares;
    expectedSquares += part.expectedSquares;
  }
  result.relativeL2 = relativeNorm(errorSquares, expectedSquares);
  return result;
}

void mergeComparison(TensorComparison &total, const TensorComparison &next) {
  if (next.maxAbsError > total.maxAbsError)
    total.worstIndex = next.worstIndex;
  total.maxAbsError = std::max(total.maxAbsError, next.maxAbsError);
  total.relativeL2 = std::max(total.relativeL2, next.relativeL2);
  total.referenceScale = std::max(total.referenceScale, next.referenceScale);
}

} // namespace tarpon::runtime
