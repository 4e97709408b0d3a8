//===- ResizeTaps.cpp - The source elements of a resize -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of ONNX's operator Resize.
//
//===----------------------------------------------------------------------===//

#include "ResizeTaps.h"

#include "tarpon/IR/TarponDialect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

namespace {
struct Resized {
  ResizeMode mode;
  ResizeCoordinates coordinates;
  ResizeRounding rounding;
  double in, out, scale, cubicA;
  double begin = 0, end = 1; ///< the region of interest
  bool excludeOutside;

  double locate(double x) const;
  double round(double place) const;
};
} // namespace

/// The place in the input of place `x` of the result.
double Resized::locate(double x) const {
  // As in ONNX's reference, this is not rounded down.
  double length = scale * in;
  switch (coordinates) {
  case ResizeCoordinates::HalfPixel:
    return (x + 0.5) / scale - 0.5;
  case ResizeCoordinates::PytorchHalfPixel:
    return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
  case ResizeCoordinates::AlignCorners:
    return length == 1 ? 0 : x * (in - 1) / (length - 1);
  case ResizeCoordinates::Asymmetric:
    return x / scale;
  case ResizeCoordinates::TfHalfPixelForNn:
    return (x + 0.5) / scale;
  case ResizeCoordinates::TfCropAndResize:
    break;
  }
  if (out > 1)
    return begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1);
  return 0.5 * (begin + end) * (in - 1);
}

double Resized::round(double place) const {
  switch (rounding) {
  case ResizeRounding::RoundPreferFloor:
    return std::ceil(place - 0.5);
  case ResizeRounding::RoundPreferCeil:
    return std::floor(place + 0.5);
  case ResizeRounding::Floor:
    return std::floor(place);
  case ResizeRounding::Ceil:
    break;
  }
  return std::ceil(place);
}

/// The weights of the four places around one that lies `ratio` behind the
/// second (R. Keys, "Cubic convolution interpolation", 1981).
static std::array<double, 4> cubicWeights(double ratio, double a) {
  auto far = [&](double d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  return {far(ratio + 1), near(ratio), near(1 - ratio), far(2 - ratio)};
}

/// The first place around `place`, and the weights from there on.
static std::pair<double, SmallVector<double>> surround(const Resized &resized,
                                                       double place) {
  double first = std::floor(place), ratio = place - first;
  if (resized.mode == ResizeMode::Linear)
    return {first, {1 - ratio, ratio}};
  std::array<double, 4> weights = cubicWeights(ratio, resized.cubicA);
  return {first - 1, SmallVector<double>(weights.begin(), weights.end())};
}

static void addPlace(const Resized &resized, int64_t x, ResizeTaps &taps) {
  double place = resized.locate(static_cast<double>(x)), last = resized.in - 1;
  auto set = [&](int64_t tap, double index, double weight) {
    taps.index[tap * taps.places + x] =
        static_cast<int32_t>(std::clamp(index, 0.0, last));
    taps.weight[tap * taps.places + x] = static_cast<float>(weight);
  };
  if (resized.coordinates == ResizeCoordinates::TfCropAndResize &&
      (place < 0 || place > last)) {
    taps.hasOutside = true;
    for (int64_t tap = 0; tap < taps.taps; ++tap)
      taps.index[tap * taps.places + x] = -1;
    return;
  }
  if (resized.mode == ResizeMode::Nearest)
    return set(0, resized.round(place), 1);
  auto [first, weights] = surround(resized, place);
  double sum = 0;
  for (auto [tap, weight] : llvm::enumerate(weights)) {
    double index = first + static_cast<double>(tap);
    if (resized.excludeOutside && (index < 0 || index > last))
      weight = 0;
    sum += weight;
  }
  for (auto [tap, weight] : llvm::enumerate(weights))
    set(static_cast<int64_t>(tap), first + static_cast<double>(tap),
        resized.excludeOutside ? weight / sum : weight);
}

ResizeTaps tarpon::getResizeTaps(const Problem &problem, int64_t dim) {
  std::vector<double> roi = problem.attrs.at("roi");
  int64_t rank = problem.operands[0].rank();
  Resized resized{
      .mode = static_cast<ResizeMode>(problem.integer("mode")),
      .coordinates =
          static_cast<ResizeCoordinates>(problem.integer("coordinates")),
      .rounding = static_cast<ResizeRounding>(problem.integer("rounding")),
      .in = static_cast<double>(problem.operands[0].shape[dim]),
      .out = static_cast<double>(problem.result.shape[dim]),
      .scale = problem.attrs.at("scales")[dim],
      .cubicA = problem.number("cubic_a"),
      .excludeOutside = problem.integer("exclude_outside") != 0};
  if (!roi.empty()) {
    resized.begin = roi[dim];
    resized.end = roi[rank + dim];
  }
  ResizeTaps taps;
  taps.places = problem.result.shape[dim];
  taps.taps = resized.mode == ResizeMode::Nearest  ? 1
              : resized.mode == ResizeMode::Linear ? 2
                                                   : 4;
  taps.index.resize(taps.taps * taps.places, 0);
  taps.weight.resize(taps.taps * taps.places, 0);
  for (int64_t x = 0; x < taps.places; ++x)
    addPlace(resized, x, taps);
  return taps;
}

bool ResizeTaps::isIdentity() const {
  for (int64_t x = 0; x < places; ++x)
    for (int64_t tap = 0; tap < taps; ++tap) {
      float part = weight[tap * places + x];
      if (part != 0 && (part != 1 || index[tap * places + x] != x))
        return false;
    }
  return !hasOutside;
}

int64_t ResizeTaps::repeats() const {
  if (taps != 1 || places == 0)
    return 0;
  int64_t factor = std::count(index.begin(), index.end(), 0);
  for (int64_t x = 0; x < places; ++x)
    if (factor == 0 || index[x] != x / factor)
      return 0;
  return factor;
}

bool ResizeTaps::fitsVector(int64_t lanes) const {
  for (int64_t x = 0; x < places; ++x)
    for (int64_t lane = 0; lane < lanes && x + lane < places; ++lane)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t distance = index[tap * places + x + lane] - index[x];
        if (distance < 0 || distance >= lanes)
          return false;
      }
  return true;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

ResizeTable::ResizeTable(LaunchBuilder &launch, const ResizeTaps &dim)
    : isIdentity(dim.isIdentity()) {
  if (isIdentity)
    return;
  taps = dim.taps;
  auto make = [index = dim.index](const ConstantOperands &) {
    std::vector<char> bytes(index.size() * sizeof(int32_t));
    std::memcpy(bytes.data(), index.data(), bytes.size());
    return bytes;
  };
  indexBuffer = launch.addConstant({std::move(make)});
  if (isWeighted())
    weightBuffer = launch.addFloats(dim.weight);
  placesParam = launch.addParam(dim.places);
}

std::string ResizeTable::symbolPart() const {
  return isIdentity ? "i" : std::to_string(taps);
}

Value ResizeTable::pointer(KernelBuilder &b, int64_t buffer, Value x,
                           int64_t tap) const {
  Value entry = tap == 0 ? x : b.add(b.mul(b.getParam(placesParam), tap), x);
  return b.offset(b.getBuffer(buffer), b.mul(entry, 4));
}

Value ResizeTable::index(KernelBuilder &b, Value x, int64_t tap) const {
  if (isIdentity)
    return x;
  Value stored = b.load(pointer(b, indexBuffer, x, tap), b.getI32Type());
  return arith::ExtSIOp::create(b, b.getI64Type(), stored);
}

Value ResizeTable::weight(KernelBuilder &b, Value x, int64_t tap) const {
  return b.load(pointer(b, weightBuffer, x, tap), b.getF32Type());
}

Value ResizeTable::indices(KernelBuilder &b, Value x, int64_t tap) const {
  return b.load(pointer(b, indexBuffer, x, tap),
                b.vec(b.getI32Type(), b.lanes()));
}

Value ResizeTable::weights(KernelBuilder &b, Value x, int64_t tap) const {
  return b.load(pointer(b, weightBuffer, x, tap),
                b.vec(b.getF32Type(), b.lanes()));
}
