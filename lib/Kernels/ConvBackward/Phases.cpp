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
    // Place 0 reads distance / stride with the first tap, which comes last.
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
  size_t last = strides.size() - 1;
  strideW = strides[last];
  inWidth = input.shape.back();
  kernelW = filter.shape.back();
  for (int64_t residue = 0; residue < strideW; ++residue)
    columns.push_back(getPhase(residue, problem.result.shape.back(), kernelW,
                               strideW, dilations[last], pads[last]));
  if (last == 0) {
    rows.emplace_back();
    return;
  }
  strideH = strides[0];
  inHeight = input.shape[2];
  kernelH = filter.shape[2];
  for (int64_t residue = 0; residue < strideH; ++residue)
    rows.push_back(getPhase(residue, problem.result.shape[2], kernelH, strideH,
                            dilations[0], pads[0]));
}

int64_t Phases::largest() const {
  auto work = [&](int64_t phase) {
    const PhaseDim &h = height(phase), &w = width(phase);
    return static_cast<double>(h.places * w.places) *
           static_cast<double>(h.taps * w.taps);
  };
  int64_t largest = 0;
  for (int64_t phase = 1; phase < count(); ++phase)
    if (work(phase) > work(largest))
      largest = phase;
  return largest;
}

igemm::Geometry Phases::getGeometry(int64_t phase) const {
  const PhaseDim &h = height(phase), &w = width(phase);
  igemm::Geometry g;
  g.batch = batch;
  g.groups = groups;
  g.channels = channels;
  g.height = inHeight;
  g.width = inWidth;
  g.outChannels = outChannels;
  g.outHeight = h.places;
  g.outWidth = w.places;
  g.kernelH = h.taps;
  g.kernelW = w.taps;
  g.dilationH = h.dilation;
  g.dilationW = w.dilation;
  g.padTop = h.pad;
  g.padLeft = w.pad;
  return g;
}

std::vector<char> Phases::makeFilter(int64_t phase, ArrayRef<char> filter,
                                     int64_t elementBytes) const {
  const PhaseDim &h = height(phase), &w = width(phase);
  std::vector<char> bytes(groups * outChannels * channels * h.taps * w.taps *
                          elementBytes);
  char *to = bytes.data();
  for (int64_t out = 0; out < groups * outChannels; ++out)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t y = 0; y < h.taps; ++y)
        for (int64_t x = 0; x < w.taps; ++x) {
          int64_t in = out / outChannels * channels + c;
          int64_t row = (in * outChannels + out % outChannels) * kernelH +
                        h.lastTap - y * h.tapStep;
          int64_t from = row * kernelW + w.lastTap - x * w.tapStep;
          std::memcpy(to, filter.data() + from * elementBytes, elementBytes);
          to += elementBytes;
        }
  return bytes;
}
