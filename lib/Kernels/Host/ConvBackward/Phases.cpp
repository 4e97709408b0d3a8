//===- Phases.cpp - Transposed convolution as forward ones ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Phases.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <numeric>

using namespace mlir;
using namespace tarpon;

/// a modulo b for any sign of a.
static int64_t modulo(int64_t a, int64_t b) { return ((a % b) + b) % b; }

PhaseDim tarpon::getPhase(int64_t residue, int64_t size, int64_t kernel,
                          int64_t stride, int64_t dilation, int64_t pad) {
  PhaseDim phase;
  phase.places = size > residue ? llvm::divideCeil(size - residue, stride) : 0;
  // Taps that differ by the step read the same residue.
  int64_t common = std::gcd(stride, dilation);
  int64_t step = stride / common;
  phase.tapStep = step;
  phase.dilation = dilation / common;
  phase.taps = 0;
  for (int64_t tap = 0; tap < std::min(kernel, step); ++tap) {
    int64_t distance = residue + pad - tap * dilation;
    if (modulo(distance, stride) != 0)
      continue;
    phase.taps = llvm::divideCeil(kernel - tap, step);
    phase.lastTap = tap + (phase.taps - 1) * step;
    // With the first tap, which comes last, place 0 reads distance / stride.
    phase.pad = (phase.taps - 1) * phase.dilation - distance / stride;
  }
  return phase;
}

Phases::Phases(const Problem &problem) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  batch = input.shape[0];
  groups = problem.integer("group");
  channels = input.shape[1] / groups;
  outChannels = filter.shape[1];
  auto setDim = [&](size_t dim, int64_t &stride, int64_t &in, int64_t &kernel,
                    std::vector<PhaseDim> &phases) {
    stride = strides[dim];
    in = input.shape[2 + dim];
    kernel = filter.shape[2 + dim];
    phases.clear();
    for (int64_t residue = 0; residue < stride; ++residue)
      phases.push_back(getPhase(residue, problem.result.shape[2 + dim], kernel,
                                stride, dilations[dim], pads[dim]));
  };
  size_t last = strides.size() - 1;
  setDim(last, strideW, inWidth, kernelW, columns);
  if (last >= 1)
    setDim(last - 1, strideH, inHeight, kernelH, rows);
  if (last >= 2)
    setDim(last - 2, strideD, inDepth, kernelD, slices);
}

int64_t Phases::largest() const {
  auto work = [&](int64_t phase) {
    return static_cast<double>(places(phase)) *
           static_cast<double>(taps(phase));
  };
  int64_t largest = 0;
  for (int64_t phase = 1; phase < count(); ++phase)
    if (work(phase) > work(largest))
      largest = phase;
  return largest;
}

igemm::Geometry Phases::getGeometry(int64_t phase) const {
  const PhaseDim &d = depth(phase), &h = height(phase), &w = width(phase);
  igemm::Geometry g;
  g.batch = batch;
  g.groups = groups;
  g.channels = channels;
  g.depth = inDepth;
  g.height = inHeight;
  g.width = inWidth;
  g.outChannels = outChannels;
  g.outDepth = d.places;
  g.outHeight = h.places;
  g.outWidth = w.places;
  g.kernelD = d.taps;
  g.kernelH = h.taps;
  g.kernelW = w.taps;
  g.dilationD = d.dilation;
  g.dilationH = h.dilation;
  g.dilationW = w.dilation;
  g.padFront = d.pad;
  g.padTop = h.pad;
  g.padLeft = w.pad;
  return g;
}

std::vector<char> Phases::makeFilter(int64_t phase, ArrayRef<char> filter,
                                     int64_t elementBytes) const {
  const PhaseDim &d = depth(phase), &h = height(phase), &w = width(phase);
  std::vector<char> bytes(groups * outChannels * channels * taps(phase) *
                          elementBytes);
  char *to = bytes.data();
  auto copyTaps = [&](int64_t matrix) {
    for (int64_t z = 0; z < d.taps; ++z)
      for (int64_t y = 0; y < h.taps; ++y)
        for (int64_t x = 0; x < w.taps; ++x) {
          int64_t slice = matrix * kernelD + d.lastTap - z * d.tapStep;
          int64_t row = slice * kernelH + h.lastTap - y * h.tapStep;
          int64_t from = row * kernelW + w.lastTap - x * w.tapStep;
          std::memcpy(to, filter.data() + from * elementBytes, elementBytes);
          to += elementBytes;
        }
  };
  for (int64_t out = 0; out < groups * outChannels; ++out)
    for (int64_t c = 0; c < channels; ++c) {
      int64_t in = out / outChannels * channels + c;
      copyTaps(in * outChannels + out % outChannels);
    }
  return bytes;
}
