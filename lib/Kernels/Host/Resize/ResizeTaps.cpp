//===- ResizeTaps.cpp - The source elements of a resize -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of ONNX's operator Resize; see also ResizedDim.h.
//
//===----------------------------------------------------------------------===//

#include "ResizeTaps.h"

#include "tarpon/IR/ResizedDim.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tarpon;

namespace {
struct Resized : ResizedDim {
  ResizeMode mode;
  ResizeRounding rounding;
  double cubicA;
  bool excludeOutside;

  double round(double place) const;
};
} // namespace

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

/// The first place around `place`, and the weights from there on.
static std::pair<double, SmallVector<double>> surround(const Resized &resized,
                                                       double place) {
  double first = std::floor(place), ratio = place - first;
  if (resized.mode == ResizeMode::Linear)
    return {first, {1 - ratio, ratio}};
  SmallVector<double> weights;
  for (double distance : {1 + ratio, ratio, 1 - ratio, 2 - ratio})
    weights.push_back(weighCubic(distance, resized.cubicA));
  return {first - 1, weights};
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
  Resized resized;
  resized.coordinates =
      static_cast<ResizeCoordinates>(problem.integer("coordinates"));
  resized.in = static_cast<double>(problem.operands[0].shape[dim]);
  resized.out = static_cast<double>(problem.result.shape[dim]);
  resized.scale = problem.attrs.at("scales")[dim];
  resized.mode = static_cast<ResizeMode>(problem.integer("mode"));
  resized.rounding = static_cast<ResizeRounding>(problem.integer("rounding"));
  resized.cubicA = problem.number("cubic_a");
  resized.excludeOutside = problem.integer("exclude_outside") != 0;
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
