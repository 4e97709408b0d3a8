//===- ResizedDim.cpp - Where places of a resize lie ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ResizedDim.h"

#include <cmath>

using namespace tarpon;

double ResizedDim::locate(double x) const {
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
  case ResizeCoordinates::HalfPixelSymmetric:
    // The middles of input and result coincide, although the result is cut off
    // after a whole number of places.
    return in / 2 * (1 - out / length) + (x + 0.5) / scale - 0.5;
  case ResizeCoordinates::TfCropAndResize:
    break;
  }
  if (out > 1)
    return begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1);
  return 0.5 * (begin + end) * (in - 1);
}

double tarpon::weighCubic(double distance, double a) {
  double d = std::fabs(distance);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}
